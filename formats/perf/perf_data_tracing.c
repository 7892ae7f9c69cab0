/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_data_tracing.c - formats are found by the number in their second line, "ID: 315": the event's config.
 */
#include "formats/perf/perf_data_tracing.h"

#include "formats/base/arena.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

static const char magic[] = "\027\010\104tracing"; /* without the zero */

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

static void set_format(struct perf_data_attrs *attrs, const char *system, const char *format)
{
	const char *id = strstr(format, "\nID: ");
	char name[128];
	uint64_t number;

	if (!id || sscanf(id, "\nID: %" SCNu64, &number) != 1 || sscanf(format, "name: %127s", name) != 1)
		return;
	for (size_t i = 0; i < attrs->items.len; i++) {
		struct recording_event *event = &attrs->items.items[i].event;

		if (event->type != PERF_TYPE_TRACEPOINT || event->config != number)
			continue;
		event->format = arena_strdup(attrs->arena, format);
		event->name = arena_printf(attrs->arena, "%s:%s", system, name);
	}
}

static void read_system(struct perf_data_attrs *attrs, struct reader *r)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const char *system = reader_string(r, "system of tracepoints");
	uint32_t count = reader_u32(r, "number of tracepoints");

	for (uint32_t i = 0; i < count && reader_left(r); i++) {
		size_t len;
		const char *text = read_text(r, &len);

		arena_reset(&arena);
		if (len)
			set_format(attrs, system, arena_memdup(&arena, text, len));
	}
}

static void skip_texts(struct reader *r, uint32_t count)
{
	size_t len;

	for (uint32_t i = 0; i < count && reader_left(r); i++)
		read_text(r, &len);
}

void perf_data_tracing_load(struct perf_data_attrs *attrs, struct reader *r)
{
	const char *start = reader_bytes(r, strlen(magic), "tracing data");

	if (!start || memcmp(start, magic, strlen(magic)) != 0) {
		reader_fail(r, "tracing data");
		return;
	}
	reader_string(r, "version of tracing data");
	if (reader_u8(r, "byte order of tracing data")) /* no architecture that is known here */
		reader_fail(r, "byte order of tracing data");
	reader_skip(r, 5, "sizes of long and page");
	for (int i = 0; i < 2; i++) { /* header_page, header_event */
		reader_string(r, "header of tracing data");
		skip_texts(r, 1);
	}
	skip_texts(r, reader_u32(r, "number of ftrace's events"));
	uint32_t nsystems = reader_u32(r, "number of systems of tracepoints");

	for (uint32_t i = 0; i < nsystems && reader_left(r); i++)
		read_system(attrs, r);
}
