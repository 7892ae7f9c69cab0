/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_export.c - the profile for other tools. Each format is one file behind the table here.
 */
#include "formats/base/gzip.h"
#include "report/commands.h"
#include "report/export/export.h"
#include "report/export/export_format.h"
#include "report/export/export_to.h"
#include "report/print/number.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define FORMAT(id, name) &export_##id,
static const struct export_format *const formats[] = { EXPORT_FORMATS(FORMAT) };
static const char *const format_names[] = { EXPORT_FORMATS(EXPORT_NAME) NULL };

static const struct opt export_to_opts[] = {
	OPT_CHOICE(struct export_to_args, to, "to", 0, "FORMAT",
		   "one of" EXPORT_FORMATS(EXPORT_WORD), format_names),
	OPT_GROUP(struct export_to_args, export, export_opts),
	OPT_END,
};

static const struct export_format *format_of(const char *name)
{
	size_t i = 0;

	while (strcmp(format_names[i], name) != 0)
		i++;
	return formats[i];
}

static struct err *write_compressed(const struct export_format *format,
				    const struct export_input *in, FILE *out)
{
	CLEANUP(memory_freep) char *plain = NULL;
	CLEANUP(writer_deinit) struct writer packed = { 0 };
	size_t len = 0;
	FILE *memory = open_memstream(&plain, &len);

	if (!memory)
		return err_system(errno, "cannot write to memory");
	format->write(in, memory);

	bool failed = ferror(memory) != 0;

	if (fclose(memory) != 0 || failed)
		return err_system(errno, "the file does not fit into memory");

	struct err *err = gzip_encode(plain, len, &packed);

	if (err)
		return err;
	fwrite(packed.data, 1, packed.len, out);
	return NULL;
}

/* What the recording has and the file has not. */
static void say_missing(struct session *s, const struct export_to_args *to)
{
	const struct profile *p = s->profile;
	const char *read = "";

	fprintf(stderr, "preport: a %s file %s\n", to->to, to->format->missing);
	export_warn_losses(s);
	for (uint32_t i = 0; i < p->types.len; i++)
		if (p->types.items[i].counts_only)
			read = arena_printf(&s->arena, "%s%s%s", read, *read ? ", " : "",
					    profile_text(p, p->types.items[i].name));
	if (*read)
		fprintf(stderr,
			"preport: left out: the counts of %s that each sample carries; "
			"'preport --metric' has them\n",
			read);
	if (s->stream.with_branches && !to->format->branches)
		fprintf(stderr, "preport: left out: the branches of %s; 'preport --by branch' has them\n",
			number_of(&s->arena, s->stream.with_branches, "sample"));
}

static struct err *write_format(void *args, struct session *s, FILE *out)
{
	const struct export_to_args *to = args;
	struct err *err = NULL;
	struct export_input in = { .profile = s->profile,
				   .facts = &s->facts,
				   .first_type = s->facts.first_type,
				   .branches = to->format->branches ? &to->export.kept : NULL };

	if (to->format->times && !s->profile->times.len)
		diag_warn(&s->diag,
			  "'%s' has no times: each of its stacks is one sample at the beginning",
			  s->args->input);
	if (to->gzip)
		err = write_compressed(to->format, &in, out);
	else
		to->format->write(&in, out);
	if (!err && ferror(out))
		err = err_system(errno, "cannot write the %s file", to->to);
	if (!err)
		say_missing(s, to);
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

static struct err *export_to_run(void *args, char **operands, int noperands, int *ret_status)
{
	struct export_to_args *to = args;

	(void)operands;
	(void)noperands;
	(void)ret_status;
	if (!to->to)
		return err_remedy(err_new(ERR_USAGE, "--to is missing"),
				  "it takes one of" EXPORT_FORMATS(EXPORT_WORD));
	to->format = format_of(to->to);
	to->export.times = to->format->times;
	to->export.branches = to->format->branches;
	to->gzip = ends_in_gz(output_of(to));
	if (to->gzip && !to->format->gzip)
		return err_remedy(err_new(ERR_USAGE, "a %s file is not compressed", to->to),
				  "what opens it cannot read '%s'; leave '.gz' out",
				  to->export.output);
	if (!to->format->file)
		return export_run(&cmd_export, args, write_format);

	const struct export_file file = { to->format->file, to->format->with };

	return export_run_file(&cmd_export, args, write_format, &file);
}

const struct command cmd_export = {
	.name = "export",
	.summary = "the profile for Firefox Profiler, speedscope, Chrome, KCachegrind, or as perf script has it",
	.operands = "",
	.details = "With -o FILE.gz the file is compressed, where its tool takes that.",
	.opts = export_to_opts,
	.args_size = sizeof(struct export_to_args),
	.defaults = export_defaults,
	.run = export_to_run,
	.release = export_release,
};
