/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_trace.c - trace files, and the contents of their blocks without the checksums around them.
 *
 * An input that begins with a letter of "CEHIJKLN" is the content of a block of the kernel's code, events, the
 * header, images, a JIT map, kernel symbols, lines or the end. Everything else is a file.
 */
#include "tests/fuzz/event_check.h"

#include "formats/trace/trace_attached.h"
#include "formats/trace/trace_decoder.h"
#include "formats/trace/trace_field.h"
#include "formats/trace/trace_reader.h"
#include "formats/trace/trace_recording.h"
#include "symbolize/debug/line_table.h"

#include <string.h>

static void fuzz_file(const uint8_t *data, size_t len)
{
	struct event_source *source;
	struct event ev;
	uint64_t last_ns = 0, late = 0;
	struct err *err = trace_reader_open_memory(data, len, &source);

	if (err) {
		CHECK(err_kind(err) == ERR_CORRUPT || err_kind(err) == ERR_UNSUPPORTED);
		err_free(err);
		return;
	}
	check_recording(event_source_recording(source));
	while (event_source_next(source, &ev)) {
		check_event(&ev, event_source_recording(source));
		late += ev.time_ns < last_ns;
		last_ns = ev.time_ns > last_ns ? ev.time_ns : last_ns;
	}
	CHECK(late == event_source_recording(source)->late_events);
	err = event_source_finish(source);
	CHECK(!err); /* memory cannot refuse to be read */
	event_source_close(source);
}

static void fuzz_events(const uint8_t *data, size_t len, const struct recording *rec)
{
	struct trace_events events = { 0 };
	struct err *err = trace_events_decode(data, len, rec, /* number= */ 0, &events);

	CHECK(!err || (err_kind(err) == ERR_CORRUPT && events.count == 0));
	for (size_t i = 0; i < events.count; i++)
		check_event(&events.events[i], rec);
	err_free(err);
	trace_events_deinit(&events);
}

static struct err *load_images(struct reader *r, struct recording *rec)
{
	struct recording_image image;
	struct reader value;
	uint64_t tag;

	while (trace_field_next(r, &tag, &value)) {
		struct err *err = trace_image_load(&value, rec, &image);

		if (err)
			return err;
		check_string(image.path);
		CHECK(image.build_id_len <= 20);
	}
	return reader_check(r);
}

static struct err *load_lines(struct reader *r, struct recording *rec)
{
	struct debug_frame found[DEBUG_INFO_FRAMES_MAX];
	struct recording_lines lines;
	struct line_table *table;
	struct err *err = trace_lines_load(r, rec, &lines);

	if (!err)
		err = line_table_new(lines.table, lines.table_len, &table);
	if (err)
		return err;
	for (uint64_t vaddr = 0; vaddr < 4096; vaddr++) {
		size_t count = line_table_find(table, vaddr, found);

		CHECK(count <= DEBUG_INFO_FRAMES_MAX);
		for (size_t i = 0; i < count; i++)
			CHECK(!found[i].name || strlen(found[i].name) < SIZE_MAX);
	}
	line_table_free(table);
	return NULL;
}

static struct err *load_content(char kind, struct reader *r, struct recording *rec)
{
	struct recording_jit_map map;
	uint32_t nstreams;

	switch (kind) {
	case 'H':
		return trace_header_load(r, rec, &nstreams);
	case 'I':
		return load_images(r, rec);
	case 'J':
		return trace_jit_map_load(r, rec, &map);
	case 'C':
		return trace_kernel_code_load(r, rec);
	case 'L':
		return load_lines(r, rec);
	case 'K':
		return trace_ksyms_load(r, rec);
	default:
		return trace_end_load(r, rec);
	}
}

static void fuzz_content(char kind, const uint8_t *data, size_t len)
{
	struct recording_event events[3] = { { .name = "a" }, { .name = "b" }, { .name = "c" } };
	struct recording rec = { .arch = &arch_x86_64, .events = events, .nevents = 3 };
	struct reader r;

	if (kind == 'E') {
		fuzz_events(data, len, &rec);
		return;
	}
	if (kind == 'H')
		rec.nevents = 0;
	rec.tool = rec.cmdline = "";
	reader_init(&r, data, len, /* big_endian= */ false);

	struct err *err = load_content(kind, &r, &rec);

	CHECK(!err || err_kind(err) == ERR_CORRUPT || err_kind(err) == ERR_UNSUPPORTED);
	if (!err)
		check_recording(&rec);
	err_free(err);
	arena_deinit(&rec.arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	if (len && memchr("CEHIJKLN", data[0], 8))
		fuzz_content((char)data[0], data + 1, len - 1);
	else
		fuzz_file(data, len);
	return 0;
}
