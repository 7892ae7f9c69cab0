/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_to.c - each format is one file behind the table here.
 */
#include "report/export/export_to.h"

#include "formats/base/gzip.h"
#include "formats/base/text.h"
#include "report/print/number.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define NAME(id, name) name,
static const char *const format_names[] = { EXPORT_FORMATS(NAME) NULL };
#undef NAME

#define WORD(id, name) " " name
static const char format_words[] = "one of" EXPORT_FORMATS(WORD);
#undef WORD

const struct opt export_to_opts[] = {
	OPT_CHOICE(struct export_to_args, to, "to", 0, "FORMAT",
		   format_words, format_names),
	OPT_GROUP(struct export_to_args, export, export_opts),
	OPT_END,
};

static const struct export_format *format_of(const char *name)
{
	const struct export_row *row = export_table;

	while (strcmp(row->name, name) != 0)
		row++;
	return row->format;
}

static struct err *write_compressed(const struct export_format *format, const struct profile *p,
				    const struct profile_facts *facts, FILE *out)
{
	CLEANUP(memory_freep) char *plain = NULL;
	CLEANUP(writer_deinit) struct writer packed = { 0 };
	size_t len = 0;
	FILE *memory = open_memstream(&plain, &len);

	if (!memory)
		return err_system(errno, "cannot write to memory");

	struct err *err = format->write(p, facts, memory);
	bool failed = ferror(memory) != 0;

	if ((fclose(memory) != 0 || failed) && !err)
		err = err_system(errno, "the file does not fit into memory");
	if (!err)
		err = gzip_encode(plain, len, &packed);
	if (!err)
		fwrite(packed.data, 1, packed.len, out);
	return err;
}

static void say_left_out(const void *args, const struct profile *p, const struct profile_facts *facts)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const struct export_to_args *to = args;
	const char *read = "";

	if (to->format->missing)
		fprintf(stderr, "preport: a%s %s file %s\n", strchr("aeiou", *to->to) ? "n" : "", to->to, to->format->missing);
	for (uint32_t i = 0; i < p->types.len; i++)
		if (p->types.items[i].counts_only)
			read = arena_printf(&arena, "%s%s%s", read, *read ? ", " : "", profile_text(p, p->types.items[i].name));
	if (*read)
		fprintf(stderr,
			"preport: left out: the counts of %s that each sample carries; "
			"'preport --metric' has them\n",
			read);
	if (facts->with_branches && !to->format->branches)
		fprintf(stderr, "preport: left out: the branches of %s; 'preport --by branch' has them\n",
			number_of(&arena, facts->with_branches, "sample"));
	if (to->format->times && !p->times.len)
		fprintf(stderr, "preport: warning: '%s' has no times: each of its stacks is one sample at the beginning\n",
			text_escape(&arena, facts->input));
}

static struct err *write_format(void *args, const struct profile *p, const struct profile_facts *facts, FILE *out)
{
	const struct export_to_args *to = args;
	struct err *err = to->gzip ? write_compressed(to->format, p, facts, out) : to->format->write(p, facts, out);

	if (!err && ferror(out))
		err = err_system(errno, "cannot write the %s file", to->to);
	return err;
}

static bool ends_in_gz(const char *path)
{
	size_t len = path ? strlen(path) : 0;

	return len > 3 && strcmp(path + len - 3, ".gz") == 0;
}

/* Where it goes; NULL: standard output. */
static const char *output_of(const struct export_to_args *to)
{
	if (to->export.output || !isatty(STDOUT_FILENO))
		return to->export.output;
	return to->format->file;
}

struct err *export_as(const struct command *command, struct export_to_args *to)
{
	to->export.times = to->format->times;
	to->export.spans = to->format->spans;
	to->export.branches = to->format->branches;
	to->export.warns_losses = true;
	to->export.left_out = say_left_out;
	to->gzip = to->format->gzip == EXPORT_GZIP_ASKED && ends_in_gz(output_of(to));
	if (!to->format->file)
		return export_run(command, to, write_format);

	const struct export_file file = { to->format->file, to->format->with };

	return export_run_file(command, to, write_format, &file);
}

struct err *export_to(const struct command *command, struct export_to_args *to)
{
	if (!to->to)
		return err_remedy(err_new(ERR_USAGE, "--to is missing"),
				  "it takes %s", format_words);
	to->format = format_of(to->to);
	if (to->format->gzip == EXPORT_GZIP_NEVER && ends_in_gz(output_of(to)))
		return err_remedy(err_new(ERR_USAGE, "a %s file is not compressed", to->to),
				  "what opens it cannot read '%s'; leave '.gz' out",
				  to->export.output);
	return export_as(command, to);
}
