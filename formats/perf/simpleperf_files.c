/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simpleperf_files.c - a file's symbols become a small ELF file with a symbol table, as a trace embeds them, so that modules
 * are named in one way whatever their names came from.
 */
#include "formats/perf/simpleperf_files.h"

#include "formats/base/mini_elf.h"
#include "formats/base/proto_reader.h"
#include "formats/base/writer.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL_HALF (1ULL << 63)

enum file_kind {
	FILE_KERNEL = 0,
	FILE_ELF = 2,
};

struct file {
	const char *path; /* in the arena of the load */
	uint64_t kind, lowest, lowest_offset;
	uint64_t end; /* of the highest symbol */
	struct writer symbols, strings;
	size_t nsymbols;
	VEC(struct recording_ksym) ksyms;
};

struct load {
	struct recording *rec;
	struct arena arena;
	VEC(struct recording_image) images;
	VEC(struct recording_ksym) ksyms;
};

static void file_deinit(struct file *file)
{
	writer_deinit(&file->symbols);
	writer_deinit(&file->strings);
	vec_deinit(&file->ksyms);
}

static void add_symbol(struct load *load, struct file *file, uint64_t addr, uint32_t len, const char *name)
{
	Elf64_Sym symbol = {
		.st_name = (uint32_t)MAX(file->strings.len, 1),
		.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
		.st_shndx = SHN_ABS,
		.st_value = addr,
		.st_size = len,
	};

	if (!*name || addr > UINT64_MAX - len)
		return;
	if (addr >= KERNEL_HALF) {
		vec_push(&file->ksyms, ((struct recording_ksym){ addr, len, arena_strdup(&load->rec->arena, name), "" }));
		return;
	}
	if (!file->nsymbols++) {
		writer_u8(&file->strings, 0);
		writer_bytes(&file->symbols, &(Elf64_Sym){ 0 }, sizeof(symbol));
	}
	file->end = MAX(file->end, addr + len);
	writer_bytes(&file->symbols, &symbol, sizeof(symbol));
	writer_string(&file->strings, name);
}

/* ---- FILE ---- */

static void read_plain(struct load *load, struct reader *r, struct file *file)
{
	file->path = reader_string(r, "path");
	file->kind = reader_u32(r, "kind of a file");
	file->lowest = reader_u64(r, "lowest address");
	uint32_t count = reader_u32(r, "number of symbols");

	for (uint32_t i = 0; i < count && reader_left(r); i++) {
		uint64_t addr = reader_u64(r, "symbol");
		uint32_t len = reader_u32(r, "symbol");
		const char *name = reader_string(r, "symbol");

		if (!r->failed)
			add_symbol(load, file, addr, len, name);
	}
	if (file->kind == FILE_ELF && reader_left(r))
		file->lowest_offset = reader_u64(r, "offset of the lowest address");
}

/* ---- FILE2 ---- */

static const char *text_of(struct load *load, const struct proto_field *field)
{
	return arena_memdup(&load->arena, field->bytes.pos, reader_left(&field->bytes));
}

static void read_symbol_message(struct load *load, struct reader *r, struct file *file)
{
	struct proto_field field;
	const char *name = "";
	uint64_t addr = 0;
	uint32_t len = 0;

	while (proto_next(r, &field)) {
		if (field.number == 1)
			addr = field.value;
		else if (field.number == 2)
			len = (uint32_t)field.value;
		else if (field.number == 3 && field.wire == PROTO_BYTES)
			name = text_of(load, &field);
	}
	if (!r->failed)
		add_symbol(load, file, addr, len, name);
}

static uint64_t first_number(struct reader r)
{
	struct proto_field field;

	while (proto_next(&r, &field)) {
		if (field.number == 1)
			return field.value;
	}
	return 0;
}

static void read_message(struct load *load, struct reader *r, struct file *file)
{
	struct proto_field field;

	while (proto_next(r, &field)) {
		if (field.number == 1 && field.wire == PROTO_BYTES)
			file->path = text_of(load, &field);
		else if (field.number == 2)
			file->kind = field.value;
		else if (field.number == 3)
			file->lowest = field.value;
		else if (field.number == 4 && field.wire == PROTO_BYTES)
			read_symbol_message(load, &field.bytes, file);
		else if (field.number == 6 && field.wire == PROTO_BYTES) /* of ELF files */
			file->lowest_offset = first_number(field.bytes);
	}
}

/* ---- both ---- */

static void make_image(struct load *load, struct file *file)
{
	CLEANUP(mini_elf_deinit) struct mini_elf elf = { .machine = load->rec->arch ? load->rec->arch->elf_machine : EM_NONE };
	CLEANUP(writer_deinit) struct writer out = { 0 };
	uint64_t lowest = MIN(file->lowest, file->end), len = file->end - lowest;

	struct mini_elf_section strings = {
		.name = ".strtab", .type = SHT_STRTAB, .data = file->strings.data, .len = file->strings.len
	};
	struct mini_elf_section symbols = {
		.name = ".symtab", .type = SHT_SYMTAB, .data = file->symbols.data, .len = file->symbols.len,
		.link = (uint32_t)mini_elf_section(&elf, strings), .info = 1, .entry_len = sizeof(Elf64_Sym),
	};

	mini_elf_section(&elf, symbols);
	mini_elf_segment(&elf, (struct mini_elf_segment){ PT_LOAD, PF_R | PF_X, file->lowest_offset, lowest, len, len, 0 });
	mini_elf_finish(&elf, &out);
	vec_push(&load->images, ((struct recording_image){
					.path = arena_strdup(&load->rec->arena, file->path),
					.partial = true,
					.elf = (const uint8_t *)arena_memdup(&load->rec->arena, out.data, out.len),
					.elf_len = out.len,
				}));
}

static void read_file(struct load *load, struct reader *r, bool messages)
{
	CLEANUP(file_deinit) struct file file = { .path = "" };

	if (messages)
		read_message(load, r, &file);
	else
		read_plain(load, r, &file);
	if (r->failed)
		return;
	if (file.nsymbols && file.kind == FILE_ELF && *file.path)
		make_image(load, &file);
	for (size_t i = 0; i < file.ksyms.len && file.kind == FILE_KERNEL; i++)
		vec_push(&load->ksyms, file.ksyms.items[i]);
}

static int by_address(const void *a, const void *b)
{
	const struct recording_ksym *x = a, *y = b;

	return COMPARE(x->addr, y->addr);
}

void simpleperf_files_load(struct recording *rec, struct reader *r, bool messages)
{
	struct load load = { .rec = rec };

	while (reader_left(r)) {
		uint32_t len = reader_u32(r, "length of a file's symbols");
		struct reader file = reader_slice(r, len, "file's symbols");

		arena_reset(&load.arena);
		read_file(&load, &file, messages);
		if (file.failed)
			reader_fail(r, file.failed);
	}
	if (load.images.len) {
		rec->images = ARENA_ARRAY(&rec->arena, struct recording_image, load.images.len);
		rec->nimages = load.images.len;
		memcpy(rec->images, load.images.items, load.images.len * sizeof(*rec->images));
	}
	if (load.ksyms.len) {
		qsort(load.ksyms.items, load.ksyms.len, sizeof(*rec->ksyms), by_address);
		rec->ksyms = ARENA_ARRAY(&rec->arena, struct recording_ksym, load.ksyms.len);
		rec->nksyms = load.ksyms.len;
		memcpy(rec->ksyms, load.ksyms.items, load.ksyms.len * sizeof(*rec->ksyms));
	}
	vec_deinit(&load.images);
	vec_deinit(&load.ksyms);
	arena_deinit(&load.arena);
}

/* ---- META_INFO ---- */

/* @line is "NAME,TYPE,CONFIG". */
static void name_event(struct perf_data_attrs *attrs, const char *line, size_t len)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	char *name = arena_memdup(&arena, line, len), *comma = strchr(name, ',');
	uint32_t type;
	uint64_t config;

	if (!comma || sscanf(comma, ",%" SCNu32 ",%" SCNu64, &type, &config) != 2)
		return;
	*comma = '\0';
	for (size_t i = 0; i < attrs->items.len && *name; i++) {
		struct recording_event *event = &attrs->items.items[i].event;

		if (event->type == type && event->config == config)
			event->name = arena_strdup(attrs->arena, name);
	}
}

void simpleperf_meta_load(struct recording *rec, struct perf_data_attrs *attrs, struct reader *r)
{
	while (reader_left(r)) {
		const char *key = reader_string(r, "key"), *value = reader_string(r, "value");

		if (r->failed)
			return;
		if (strcmp(key, "simpleperf_version") == 0)
			rec->tool = arena_printf(&rec->arena, "simpleperf %s", value);
		if (strcmp(key, "event_type_info") != 0)
			continue;
		for (const char *line = value; *line;) {
			size_t len = strcspn(line, "\n");

			name_event(attrs, line, len);
			line += len + (line[len] == '\n');
		}
	}
}
