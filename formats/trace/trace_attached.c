/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_attached.c - images, lines, JIT maps and kernel symbols: all that gives addresses a meaning.
 */
#include "formats/trace/trace_attached.h"

#include "formats/trace/trace_field.h"

#include <string.h>

#define IMAGE(tag, kind, member)                                                  \
	{                                                                         \
		tag, TRACE_FIELD_##kind, offsetof(struct recording_image, member) \
	}

static const struct trace_field image_fields[] = {
	IMAGE(1, STRING, path),
	IMAGE(2, BUILD_ID, build_id_len),
	IMAGE(3, BOOL, partial),
	{ 0 },
};

#define IMAGE_ELF 4 /* bytes of an ELF file */

static const struct trace_field lines_fields[] = {
	{ 1, TRACE_FIELD_STRING, offsetof(struct recording_lines, path) },
	{ 2, TRACE_FIELD_BUILD_ID, offsetof(struct recording_lines, build_id_len) },
	{ 0 },
};

#define LINES_TABLE 3 /* the table */

static const struct trace_field jit_map_fields[] = {
	{ 1, TRACE_FIELD_U32, offsetof(struct recording_jit_map, pid) },
	{ 0 },
};

#define JIT_MAP_TEXT 2
#define JIT_MAP_DUMP 3

static const struct trace_field kernel_code_fields[] = {
	{ 1, TRACE_FIELD_U32, offsetof(struct recording_kernel_code, status) },
	{ 2, TRACE_FIELD_U64, offsetof(struct recording_kernel_code, time_ns) },
	{ 3, TRACE_FIELD_U32, offsetof(struct recording_kernel_code, functions) },
	{ 4, TRACE_FIELD_U32, offsetof(struct recording_kernel_code, unread) },
	{ 0 },
};

#define KERNEL_CODE_ELF 5

_Static_assert(sizeof(enum recording_code) == sizeof(uint32_t), "as TRACE_FIELD_U32 wants it");

#define KSYMS_MAX     (4u << 20)

#define KSYMS_MODULES 1 /* names, each with its NUL */
#define KSYMS_SYMBOLS 2

_Static_assert(offsetof(struct recording_image, build_id) ==
		       offsetof(struct recording_image, build_id_len) + 1,
	       "as TRACE_FIELD_BUILD_ID wants it");
_Static_assert(offsetof(struct recording_lines, build_id) ==
		       offsetof(struct recording_lines, build_id_len) + 1,
	       "as TRACE_FIELD_BUILD_ID wants it");

void trace_image_put(struct writer *w, const struct recording_image *image)
{
	struct writer fields = { 0 };

	trace_fields_put(&fields, image_fields, image);
	writer_uleb(&fields, IMAGE_ELF);
	writer_uleb(&fields, image->elf_len);
	writer_uleb(w, TRACE_IMAGE_TAG);
	writer_uleb(w, fields.len + image->elf_len);
	writer_bytes(w, fields.data, fields.len);
	writer_bytes(w, image->elf, image->elf_len);
	writer_deinit(&fields);
}

void trace_lines_put(struct writer *w, const struct recording_lines *lines)
{
	trace_fields_put(w, lines_fields, lines);
	trace_field_put_bytes(w, LINES_TABLE, lines->table, lines->table_len);
}

void trace_jit_map_put(struct writer *w, const struct recording_jit_map *map)
{
	trace_fields_put(w, jit_map_fields, map);
	trace_field_put_bytes(w, JIT_MAP_TEXT, map->text, map->len);
	if (map->dump_len)
		trace_field_put_bytes(w, JIT_MAP_DUMP, map->dump, map->dump_len);
}

void trace_kernel_code_put(struct writer *w, const struct recording_kernel_code *code)
{
	trace_fields_put(w, kernel_code_fields, code);
	if (code->elf_len)
		trace_field_put_bytes(w, KERNEL_CODE_ELF, code->elf, code->elf_len);
}

/* The number of @name in @modules, which it joins if need be. There are a few hundred at most. */
static uint64_t module_number(struct writer *modules, uint64_t *count, const char *name)
{
	const char *pos = (const char *)modules->data;

	for (uint64_t i = 0; i < *count; i++) {
		if (strcmp(pos, name) == 0)
			return i;
		pos += strlen(pos) + 1;
	}
	writer_string(modules, name);
	return (*count)++;
}

void trace_ksyms_put(struct writer *w, const struct recording_ksym *ksyms, size_t count)
{
	struct writer modules = { 0 }, symbols = { 0 };
	uint64_t last = 0, nmodules = 0;

	for (size_t i = 0; i < count; i++) {
		writer_uleb(&symbols, ksyms[i].addr - last);
		writer_uleb(&symbols, ksyms[i].len);
		writer_uleb(&symbols, module_number(&modules, &nmodules, ksyms[i].module));
		writer_string(&symbols, ksyms[i].name);
		last = ksyms[i].addr;
	}
	trace_field_put_bytes(w, KSYMS_MODULES, modules.data, modules.len);
	trace_field_put_bytes(w, KSYMS_SYMBOLS, symbols.data, symbols.len);
	writer_deinit(&modules);
	writer_deinit(&symbols);
}

struct err *trace_image_load(struct reader *r, struct recording *rec, struct recording_image *ret)
{
	struct recording_image image = { .path = "" };
	struct reader value;
	uint64_t tag;

	while (trace_field_next(r, &tag, &value)) {
		if (tag == IMAGE_ELF) {
			image.elf_len = reader_left(&value);
			image.elf = reader_bytes(&value, image.elf_len, "ELF image");
		} else {
			trace_field_load(image_fields, tag, &value, &rec->arena, &image);
		}
		if (value.failed)
			return reader_check(&value);
	}
	struct err *err = reader_check(r);

	if (!err)
		*ret = image;
	return err;
}

struct err *trace_lines_load(struct reader *r, struct recording *rec, struct recording_lines *ret)
{
	struct recording_lines lines = { .path = "" };
	struct reader value;
	uint64_t tag;

	while (trace_field_next(r, &tag, &value)) {
		if (tag == LINES_TABLE) {
			lines.table_len = reader_left(&value);
			lines.table = reader_bytes(&value, lines.table_len, "line table");
		} else {
			trace_field_load(lines_fields, tag, &value, &rec->arena, &lines);
		}
		if (value.failed)
			return reader_check(&value);
	}
	struct err *err = reader_check(r);

	if (!err)
		*ret = lines;
	return err;
}

struct err *trace_jit_map_load(struct reader *r, struct recording *rec,
			       struct recording_jit_map *ret)
{
	struct recording_jit_map map = { .text = "" };
	struct reader value;
	uint64_t tag;

	while (trace_field_next(r, &tag, &value)) {
		if (tag == JIT_MAP_TEXT) {
			map.len = reader_left(&value);
			map.text = reader_bytes(&value, map.len, "JIT map");
		} else if (tag == JIT_MAP_DUMP) {
			map.dump_len = reader_left(&value);
			map.dump = reader_bytes(&value, map.dump_len, "JIT dump");
		} else {
			trace_field_load(jit_map_fields, tag, &value, &rec->arena, &map);
		}
		if (value.failed)
			return reader_check(&value);
	}
	struct err *err = reader_check(r);

	if (!err)
		*ret = map;
	return err;
}

struct err *trace_kernel_code_load(struct reader *r, struct recording *rec)
{
	struct recording_kernel_code code = { 0 };
	struct reader value;
	uint64_t tag;

	while (trace_field_next(r, &tag, &value)) {
		if (tag == KERNEL_CODE_ELF) {
			code.elf_len = reader_left(&value);
			code.elf = reader_bytes(&value, code.elf_len, "kernel code");
		} else {
			trace_field_load(kernel_code_fields, tag, &value, &rec->arena, &code);
		}
		if (value.failed)
			return reader_check(&value);
	}
	struct err *err = reader_check(r);

	if (!err)
		rec->kernel_code = code;
	return err;
}

/* The strings of @r in @arena; there are no more than bytes. */
static const char **load_names(struct reader *r, struct arena *arena, size_t *ret_count)
{
	size_t count = 0;

	for (const uint8_t *p = r->pos; p < r->end; p++)
		count += *p == 0;

	const char **names = ARENA_ARRAY(arena, const char *, count);

	for (size_t i = 0; i < count; i++) {
		const char *name = reader_string(r, "module name");

		names[i] = name ? arena_strdup(arena, name) : "";
	}
	*ret_count = count;
	return names;
}

/* A symbol takes at least four bytes. */
#define KSYM_LEN_MIN 4

static void load_ksym_list(struct reader *r, struct recording *rec, const char **modules,
			   size_t nmodules)
{
	size_t cap = MIN(rec->nksyms + reader_left(r) / KSYM_LEN_MIN, KSYMS_MAX);
	struct recording_ksym *all = ARENA_ARRAY(&rec->arena, struct recording_ksym, cap);
	uint64_t last = 0;
	size_t count = rec->nksyms;

	if (count)
		memcpy(all, rec->ksyms, count * sizeof(*all));
	while (reader_left(r) && count < cap) {
		struct recording_ksym *sym = &all[count];
		uint64_t distance = reader_uleb(r, "kernel symbol");
		uint64_t below = count ? all[count - 1].addr : 0;

		sym->addr = last + distance;
		sym->len = reader_uleb(r, "kernel symbol length");
		uint64_t module = reader_uleb(r, "module number");
		const char *name = reader_string(r, "kernel symbol name");

		if (sym->addr < last || sym->addr < below || module >= nmodules)
			reader_fail(r, "kernel symbol");
		if (r->failed)
			return;
		sym->module = modules[module];
		sym->name = arena_strdup(&rec->arena, name);
		last = sym->addr;
		count++;
	}
	if (reader_left(r))
		reader_fail(r, "kernel symbol");
	rec->ksyms = all;
	rec->nksyms = count;
}

struct err *trace_ksyms_load(struct reader *r, struct recording *rec)
{
	const char **modules = NULL;
	size_t nmodules = 0;
	struct reader value;
	uint64_t tag;

	while (trace_field_next(r, &tag, &value)) {
		if (tag == KSYMS_MODULES)
			modules = load_names(&value, &rec->arena, &nmodules);
		else if (tag == KSYMS_SYMBOLS)
			load_ksym_list(&value, rec, modules, nmodules);
		if (value.failed)
			return reader_check(&value);
	}
	return reader_check(r);
}
