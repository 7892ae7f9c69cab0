/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_bundle.c - puts into a trace what this machine knows about its code, so that another one need not.
 */
#include "report/commands.h"
#include "report/load/session.h"
#include "report/rewrite/trace_copy.h"
#include "symbolize/debug/line_table.h"
#include "symbolize/elf/bundle.h"
#include "symbolize/name/symbolizer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what preport bundle adds to a trace ---- */

/* The addresses of the profile, module by module, and what this machine knows about them. */

struct bundle_parts {
	struct arena arena;
	VEC(struct recording_lines) lines;
	VEC(struct recording_image) images; /* those of the recording first */
	VEC(struct writer) bytes;           /* that the above point into */
	VEC(struct module *) without;       /* sampled files that no lines were found for */
	size_t added_lines, added_images;   /* how many are new */
	uint64_t nranges;
};

/* Code of one module that lines are wanted for. */
struct extent {
	uint64_t begin, end;
};

struct extents {
	struct extent *items;
	size_t len, cap;
};

struct addresses {
	struct bundle_address *items;
	size_t len, cap;
};

/* Of each location: how many samples were taken there. */
static uint64_t *count_leaves(const struct profile *p)
{
	uint64_t *leaves = memory_zeroed(p->locations.len + 1, sizeof(*leaves));

	for (size_t i = 0; i < p->samples.len; i++) {
		uint32_t stack = p->samples.items[i].stack;

		if (stack)
			leaves[p->stacks.items[stack].location] += p->samples.items[i].count;
	}
	return leaves;
}

static int by_begin(const void *a, const void *b)
{
	const struct extent *x = a, *y = b;

	return COMPARE(x->begin, y->begin);
}

/* The whole function where samples were taken, which annotate may list; otherwise the one address. */
static struct extent extent_of(struct session *s, struct module *mod, uint64_t vaddr, bool leaf)
{
	size_t count;
	const struct symbol_frame *frames = symbolizer_find(s->binaries.symbolizer, mod, vaddr, &count);
	uint64_t begin = frames[count - 1].function_vaddr, len = frames[count - 1].function_len;

	if (!leaf || vaddr - begin >= len || begin + len < begin)
		return (struct extent){ vaddr, vaddr + 1 };
	return (struct extent){ begin, begin + len };
}

static void merge(struct extents *extents)
{
	size_t kept = 0;

	vec_sort(extents, by_begin);
	for (size_t i = 0; i < extents->len; i++) {
		struct extent *last = kept ? &extents->items[kept - 1] : NULL;

		if (last && extents->items[i].begin <= last->end)
			last->end = MAX(last->end, extents->items[i].end);
		else
			extents->items[kept++] = extents->items[i];
	}
	extents->len = kept;
}

static struct writer *new_bytes(struct bundle_parts *parts)
{
	vec_push(&parts->bytes, ((struct writer){ 0 }));
	return &parts->bytes.items[parts->bytes.len - 1];
}

static bool is_for(const struct recording_lines *lines, const struct module *mod)
{
	return strcmp(lines->path, mod->path) == 0 && lines->build_id_len == mod->build_id_len &&
	       memcmp(lines->build_id, mod->build_id, mod->build_id_len) == 0;
}

/* Put the table into @parts, instead of one that an earlier bundle left there. */
static void put_lines(struct bundle_parts *parts, const struct module *mod,
		      const struct line_table_maker *maker)
{
	struct writer *bytes = new_bytes(parts);
	struct recording_lines lines = { .path = mod->path, .build_id_len = mod->build_id_len };
	size_t at = 0;

	line_table_maker_finish(maker, bytes);
	memcpy(lines.build_id, mod->build_id, mod->build_id_len);
	lines.table = bytes->data;
	lines.table_len = bytes->len;
	while (at < parts->lines.len && !is_for(&parts->lines.items[at], mod))
		at++;
	if (at < parts->lines.len)
		parts->lines.items[at] = lines;
	else
		vec_push(&parts->lines, lines);
	parts->added_lines++;
	parts->nranges += line_table_maker_len(maker);
}

static bool has_lines(const struct bundle_parts *parts, const struct module *mod)
{
	for (size_t i = 0; i < parts->lines.len; i++) {
		if (is_for(&parts->lines.items[i], mod))
			return true;
	}
	return false;
}

static void add_lines(struct bundle_parts *parts, struct session *s, struct module *mod,
		      const struct extents *extents)
{
	struct line_table_maker *maker = line_table_maker_new();

	for (size_t i = 0; i < extents->len; i++)
		symbolizer_lines(s->binaries.symbolizer, mod, extents->items[i].begin,
				 extents->items[i].end, maker);
	if (line_table_maker_len(maker))
		put_lines(parts, mod, maker);
	else if (mod->kind == MODULE_FILE && !has_lines(parts, mod))
		vec_push(&parts->without, mod);
	line_table_maker_free(maker);
}

/* Rules, symbols and code for @addresses, for a trace made with --bundle=none. */
static void add_image(struct bundle_parts *parts, struct session *s, struct module *mod,
		      struct addresses *addresses)
{
	struct image *img = module_image(s->binaries.modules, mod);

	if (mod->kind != MODULE_FILE || !img || module_image_is_embedded(mod, img))
		return;
	struct cfi_section *cfi = cfi_section_new(img);
	struct symtab *symbols = symtab_new(img);
	struct writer *bytes = new_bytes(parts);
	struct recording_image image = { .path = mod->path, .partial = true };
	struct bundle_counts counts;
	size_t id_len;
	const uint8_t *id = image_build_id(img, &id_len);

	vec_sort(addresses, bundle_address_ascending);
	struct bundle_source source = {
		.image = img,
		.cfi = cfi,
		.symbols = symbols,
		.addresses = addresses->items,
		.naddresses = addresses->len,
		.hot = 1,
	};

	bundle_write(&source, bytes, &counts);
	image.build_id_len = (uint8_t)MIN(id_len, sizeof(image.build_id));
	if (image.build_id_len)
		memcpy(image.build_id, id, image.build_id_len);
	image.elf = bytes->data;
	image.elf_len = bytes->len;
	vec_push(&parts->images, image);
	parts->added_images++;
	symtab_free(symbols);
	cfi_section_free(cfi);
}

/* @locations are the module's, up to @end. */
static void add_module(struct bundle_parts *parts, struct session *s, uint32_t module,
		       const uint64_t *leaves)
{
	const struct profile *p = s->profile;
	struct module *mod = session_module(s, module);
	struct extents extents = { 0 };
	struct addresses addresses = { 0 };

	for (size_t i = 0; i < p->locations.len; i++) {
		uint64_t vaddr = p->locations.items[i].vaddr;

		if (p->locations.items[i].module != module)
			continue;
		vec_push(&extents, extent_of(s, mod, vaddr, leaves[i]));
		vec_push(&addresses, ((struct bundle_address){ vaddr, leaves[i] }));
	}
	merge(&extents);
	add_lines(parts, s, mod, &extents);
	if (addresses.len)
		add_image(parts, s, mod, &addresses);
	vec_deinit(&extents);
	vec_deinit(&addresses);
}

/* Gather for all modules of @s, which is loaded. */
static void bundle_parts_make(struct bundle_parts *parts, struct session *s)
{
	uint64_t *leaves = count_leaves(s->profile);

	for (size_t i = 0; i < s->recording->nlines; i++)
		vec_push(&parts->lines, s->recording->lines[i]);
	for (size_t i = 0; i < s->recording->nimages; i++)
		vec_push(&parts->images, s->recording->images[i]);
	for (uint32_t i = 0; i < s->profile->modules.len; i++)
		add_module(parts, s, i, leaves);
	free(leaves);
}

static void bundle_parts_deinit(struct bundle_parts *parts)
{
	for (size_t i = 0; i < parts->bytes.len; i++)
		writer_deinit(&parts->bytes.items[i]);
	vec_deinit(&parts->bytes);
	vec_deinit(&parts->lines);
	vec_deinit(&parts->images);
	vec_deinit(&parts->without);
}

/* ---- the command ---- */

struct bundle_args {
	struct session_args session;
	const char *output; /* NULL: the trace itself */
};

static const struct opt bundle_opts[] = {
	OPT_STR(struct bundle_args, output, "output", 'o', "FILE",
		"write to FILE instead of replacing the trace"),
	OPT_GROUP(struct bundle_args, session, session_opts),
	OPT_END,
};

/* What could not be added, and what to do about it. */
static void name_missing(struct session *s, const struct bundle_parts *parts)
{
	for (size_t i = 0; i < parts->without.len; i++) {
		struct module *mod = parts->without.items[i];

		diag_warn(&s->diag, "'%s': no lines were found (%s)", mod->path,
			  symbolizer_note(s->binaries.symbolizer, mod));
	}
}

static struct err *bundle(struct session *s, void *args_)
{
	const struct bundle_args *args = args_;
	CLEANUP(bundle_parts_deinit) struct bundle_parts parts = { 0 };
	struct filter everything = { 0 };
	struct recording as = *s->recording;
	struct trace_copy copy = {
		.input = args->session.input,
		.output = args->output ? args->output : args->session.input,
		.as = &as,
	};
	uint64_t len = 0;
	struct err *err = session_load(s, &everything);

	if (err)
		return err;
	bundle_parts_make(&parts, s);
	name_missing(s, &parts);
	as.lines = parts.lines.items;
	as.nlines = parts.lines.len;
	as.images = parts.images.items;
	as.nimages = parts.images.len;
	err = trace_copy(&copy, &len);
	if (!err)
		fprintf(stderr,
			"preport: '%s': %" PRIu64 " bytes, with lines and inlined calls of %zu "
			"file%s (%" PRIu64 " ranges) and %zu file%s added\n",
			copy.output, len, parts.added_lines, parts.added_lines == 1 ? "" : "s",
			parts.nranges, parts.added_images, parts.added_images == 1 ? "" : "s");
	return err;
}

static struct err *bundle_run(void *args_, char **operands, int noperands, int *ret_status)
{
	struct bundle_args *args = args_;
	struct err *err = trace_copy_input(operands, noperands, &args->session.input);

	(void)ret_status;
	if (!err && !args->session.inlines)
		err = err_new(ERR_USAGE, "with --no-inline there is nothing to bundle");
	return err ? err : session_run(&cmd_bundle, &args->session, bundle, args);
}

const struct command cmd_bundle = {
	.name = "bundle",
	.summary = "add lines and inlined calls to a trace",
	.operands = "[TRACE]",
	.needs = "code",
	.details = "Run it where the debug information is; the trace can then be read anywhere.",
	.examples = "  preport bundle                          add lines to precord.trace\n"
		    "  preport bundle -o full.trace run.trace  leave run.trace as it is\n",
	.manual = "preport-bundle(1)",
	.opts = bundle_opts,
	.args_size = sizeof(struct bundle_args),
	.run = bundle_run,
};
