/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracing_data.c - formats have their number in the second line, "ID: 315", and their name in the first.
 */
#include "formats/perf/tracing_data.h"

#include "formats/base/arena.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Texts come with their lengths; *@ret_len is 0 where none is left. */
static const char *read_text(struct reader *r, size_t *ret_len)
{
	uint64_t len = reader_u64(r, "length of a tracepoint's format");

	if (len > reader_left(r))
		reader_fail(r, "length of a tracepoint's format");
	const char *text = reader_bytes(r, r->failed ? 0 : (size_t)len, "tracepoint's format");

	*ret_len = text ? (size_t)len : 0;
	return text;
}

void tracing_data_start(struct reader *r, struct tracing_data_start *ret)
{
	const char *start = reader_bytes(r, strlen(TRACING_DATA_MAGIC), "tracing data");

	*ret = (struct tracing_data_start){ 0 };
	if (!start || memcmp(start, TRACING_DATA_MAGIC, strlen(TRACING_DATA_MAGIC)) != 0) {
		reader_fail(r, "tracing data");
		return;
	}
	ret->version = reader_string(r, "version of tracing data");
	ret->big_endian = reader_u8(r, "byte order of tracing data") != 0;
	r->big_endian = ret->big_endian;
	reader_skip(r, 1, "size of long");
	ret->page_len = reader_u32(r, "size of a page");
}

/* "field: local_t commit;	offset:8;	size:8;	signed:1;" and "field: char data;	offset:16; ..." */
static struct tracing_data_page read_page(const char *text)
{
	struct tracing_data_page page = { .data_offset = 16, .long_len = 8 };
	const char *commit = strstr(text, "commit;"), *data = strstr(text, " data;");
	uint32_t offset, len;

	if (commit && sscanf(commit, "commit; offset:%" SCNu32 "; size:%" SCNu32 ";", &offset, &len) == 2 && len == 4)
		page = (struct tracing_data_page){ .data_offset = 12, .long_len = 4 };
	if (data && sscanf(data, " data; offset:%" SCNu32 ";", &offset) == 1 && offset >= 8 + page.long_len)
		page.data_offset = offset;
	return page;
}

void tracing_data_headers(struct reader *r, struct tracing_data_page *ret)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	size_t len;

	reader_string(r, "header of tracing data");
	const char *text = read_text(r, &len);

	*ret = read_page(len ? arena_memdup(&arena, text, len) : "");
	reader_string(r, "header of tracing data");
	read_text(r, &len);
}

static void take_format(const struct tracing_data_taker *taker, const char *system, const char *text)
{
	struct tracing_data_format format = { .system = system, .text = text };
	const char *id = strstr(text, "\nID: ");
	char name[128];

	if (!id || sscanf(id, "\nID: %" SCNu32, &format.id) != 1 || sscanf(text, "name: %127s", name) != 1)
		return;
	format.name = name;
	taker->take(taker->to, &format);
}

static void read_formats(struct reader *r, uint32_t count, const char *system, const struct tracing_data_taker *taker)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };

	for (uint32_t i = 0; i < count && reader_left(r); i++) {
		size_t len;
		const char *text = read_text(r, &len);

		arena_reset(&arena);
		if (len)
			take_format(taker, system, arena_memdup(&arena, text, len));
	}
}

void tracing_data_ftrace(struct reader *r, const struct tracing_data_taker *taker)
{
	read_formats(r, reader_u32(r, "number of ftrace's events"), "ftrace", taker);
}

void tracing_data_systems(struct reader *r, const struct tracing_data_taker *taker)
{
	uint32_t nsystems = reader_u32(r, "number of systems of tracepoints");

	for (uint32_t i = 0; i < nsystems && reader_left(r); i++) {
		const char *system = reader_string(r, "system of tracepoints");
		uint32_t count = reader_u32(r, "number of tracepoints");

		read_formats(r, count, system ? system : "", taker);
	}
}
