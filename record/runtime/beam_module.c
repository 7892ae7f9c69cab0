/* SPDX-License-Identifier: Apache-2.0 */
/*
 * beam_module.c - one pass over the bytes finds the range of an address; only the number of each function is kept.
 */
#include "record/runtime/beam_module.h"

#include "formats/base/map.h"
#include "formats/base/memory.h"
#include "formats/base/reader.h"
#include "formats/perf/jitdump.h"

#include <stdlib.h>
#include <string.h>

#define HEAD_LEN 26
#define KIND	 1
#define CODE_MAX (1U << 28)
#define NAME_MAX_LEN 1024
#define PAD	 2 /* behind a name */
#define HEAD_PAD 6

struct beam_module {
	uint64_t base;
	struct map functions; /* offset of a range's record -> number + 1 */
	size_t len;
	uint8_t bytes[];
};

struct range {
	uint32_t start, end, nlines;
	uint16_t name_len;
	const char *name;
	uint64_t at; /* offset of its record */
};

struct line {
	uint32_t offset, line;
	uint16_t file_len;
	const char *file;
};

static struct reader reader_of(const struct beam_module *module)
{
	struct reader r;

	reader_init(&r, module->bytes, module->len, /* big_endian= */ false);
	return r;
}

/* In front of the ranges; their number is returned. */
static uint32_t read_head(struct reader *r, struct beam_module_head *ret)
{
	uint32_t kind = reader_u32(r, "kind"), nranges;

	reader_skip(r, 4, "pad");
	ret->base = reader_u64(r, "base");
	nranges = reader_u32(r, "number of ranges");
	ret->code_len = reader_u32(r, "length of the code");
	if (kind != KIND || !ret->base || !ret->code_len || ret->code_len > CODE_MAX || ret->base > UINT64_MAX - CODE_MAX)
		reader_fail(r, "head of a module");
	return nranges;
}

bool beam_module_read_head(struct managed_view *view, uint64_t addr, uint64_t len, struct beam_module_head *ret)
{
	uint8_t bytes[HEAD_LEN];
	struct reader r;

	if (len < sizeof(bytes) || !managed_view_try(view, addr, bytes, sizeof(bytes)))
		return false;
	reader_init(&r, bytes, sizeof(bytes), /* big_endian= */ false);
	read_head(&r, ret);
	return !r.failed;
}

struct beam_module *beam_module_read(struct managed_view *view, uint64_t addr, uint64_t len)
{
	struct beam_module *module;

	if (len < HEAD_LEN || len > BEAM_MODULE_LEN_MAX)
		return NULL;
	module = memory_zeroed(1, sizeof(*module) + (size_t)len);
	module->len = (size_t)len;
	if (managed_view_try(view, addr, module->bytes, module->len))
		return module;
	beam_module_free(module);
	return NULL;
}

void beam_module_free(struct beam_module *module)
{
	if (!module)
		return;
	map_deinit(&module->functions);
	free(module);
}

static struct range read_range(struct reader *r)
{
	struct range range = { .at = r->offset };

	range.start = reader_u32(r, "start");
	range.end = reader_u32(r, "end");
	range.nlines = reader_u32(r, "number of lines");
	range.name_len = reader_u16(r, "length of the name");
	range.name = reader_bytes(r, range.name_len, "name");
	reader_skip(r, PAD, "pad");
	return range;
}

static struct line read_line(struct reader *r)
{
	struct line line = { 0 };

	line.offset = reader_u32(r, "offset");
	line.line = reader_u32(r, "line");
	line.file_len = reader_u16(r, "length of the file's name");
	line.file = reader_bytes(r, line.file_len, "file's name");
	reader_skip(r, PAD, "pad");
	return line;
}

/* The last line at @offset or before it; line.file NULL if there is none. */
static struct line line_at(struct reader *r, const struct range *range, uint32_t offset)
{
	struct line best = { 0 };

	for (uint32_t i = 0; i < range->nlines && reader_left(r); i++) {
		struct line line = read_line(r);

		if (!r->failed && line.offset <= offset && (!best.file || line.offset >= best.offset))
			best = line;
	}
	return best;
}

/* A copy of @text, which has @len bytes; what would disturb a terminal becomes '?'. */
static void copy_text(const char *text, size_t len, char ret[NAME_MAX_LEN])
{
	size_t n = 0;

	for (; text && n < len && n < NAME_MAX_LEN - 1 && text[n]; n++)
		ret[n] = (unsigned char)text[n] < ' ' || text[n] == 0x7f ? '?' : text[n];
	ret[n] = '\0';
}

/* What stands in front of a function, its name and arity for the machine, counts as the function. */
static void function_name(const struct range *range, char ret[NAME_MAX_LEN])
{
	static const char suffix[] = "-CodeInfoPrologue";
	size_t len;

	copy_text(range->name, range->name_len, ret);
	len = strlen(ret);
	if (len > sizeof(suffix) - 1 && strcmp(ret + len - (sizeof(suffix) - 1), suffix) == 0)
		ret[len - (sizeof(suffix) - 1)] = '\0';
}

/* The number of @range's function, which is written if it is new. */
static uint32_t number_of(struct beam_module *module, const struct range *range, const char *file, uint32_t *nfunctions,
			  struct writer *out)
{
	char name[NAME_MAX_LEN];
	uint64_t *slot = map_put(&module->functions, range->at, NULL);

	if (!*slot) {
		function_name(range, name);
		jitdump_put_function(out, *nfunctions, name, file, /* line= */ 0);
		jitdump_put_known(out, module->base + range->start, range->end - range->start, name);
		*slot = ++*nfunctions;
	}
	return (uint32_t)*slot - 1;
}

static bool starts_with(const struct range *range, const char *prefix)
{
	return range->name_len > strlen(prefix) && strncmp(range->name, prefix, strlen(prefix)) == 0;
}

/* A process of Erlang begins with the address of what ends it, and what a scheduler does between two with its own loop. */
static enum jitdump_frame frame_of(const struct range *range)
{
	static const char *const outermost[] = { "erts_beamasm:normal_exit/", "erts_beamasm:run_process/", "global::process_main" };

	for (size_t i = 0; i < ARRAY_LEN(outermost); i++) {
		if (starts_with(range, outermost[i]))
			return JITDUMP_FRAME_OUTERMOST;
	}
	return JITDUMP_FRAME_ERLANG;
}

static void put_place(struct beam_module *module, const struct range *range, struct reader lines, uint64_t ip,
		      struct beam_module_writing *w)
{
	char file[NAME_MAX_LEN];
	struct line line = line_at(&lines, range, (uint32_t)(ip - module->base));

	copy_text(line.file, line.file_len, file);
	struct jitdump_call call = { number_of(module, range, file, &w->nfunctions, w->out), line.line };

	jitdump_put_place(w->out, ip, frame_of(range), 0, &call, 1);
}

bool beam_module_look(struct beam_module *module, uint64_t ip, bool is_leaf, struct beam_module_writing *w)
{
	struct reader r = reader_of(module);
	struct beam_module_head head;
	uint32_t nranges = read_head(&r, &head);
	uint64_t offset = ip - !is_leaf - head.base;

	reader_skip(&r, reader_u16(&r, "length of the name"), "name");
	reader_skip(&r, HEAD_PAD, "pad");
	module->base = head.base;
	for (uint32_t i = 0; i < nranges && reader_left(&r); i++) {
		struct range range = read_range(&r);

		if (!r.failed && offset >= range.start && offset < range.end) {
			put_place(module, &range, r, ip - !is_leaf, w);
			return true;
		}
		for (uint32_t line = 0; line < range.nlines && reader_left(&r); line++)
			read_line(&r);
	}
	return false;
}
