/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_simpleperf_files.c - perf.data of Android's simpleperf: symbols that travel along, names of events, long records.
 */
#include "formats/perf/perf_data.h"
#include "symbolize/elf/image.h"
#include "symbolize/elf/symtab.h"
#include "tests/unit/perf_data_maker.h"
#include "tests/unit/test.h"

#include <string.h>

#define ARCH_FEATURE  6
#define FILE_FEATURE  128
#define META_FEATURE  129
#define FILE2_FEATURE 132

static const struct perf_data_attr_made attr = { .type = PERF_TYPE_RAW, .config = 17, .period = 1, .sample_type = PERF_DATA_SAMPLE_TYPE };

static void close_sourcep(struct event_source **source)
{
	event_source_close(*source);
}

#define MAKER CLEANUP(perf_data_maker_deinit) struct perf_data_maker m = { 0 }

/* A record of simpleperf's, longer than 16 bits can say. */
static void put_long_record(struct perf_data_maker *m)
{
	writer_u32(&m->w, 32769);
	writer_u16(&m->w, 3); /* 3 << 16 | 8 bytes */
	writer_u16(&m->w, 8);
	for (int i = 0; i < 3 << 13; i++)
		writer_u64(&m->w, 1);
}

static void put_file(struct perf_data_maker *m, unsigned feature, const struct writer *file)
{
	perf_data_feature(m, feature);
	writer_u32(&m->features, (uint32_t)file->len);
	writer_bytes(&m->features, file->data, file->len);
}

static void make(struct perf_data_maker *m, unsigned feature, const struct writer *file)
{
	perf_data_begin(m, &attr, 1);
	perf_data_sample(m, 100, 5, 0x10);
	put_long_record(m);
	perf_data_sample(m, 100, 6, 0x20);
	perf_data_feature(m, ARCH_FEATURE);
	perf_data_text(&m->features, "x86_64");
	if (feature == FILE_FEATURE)
		put_file(m, feature, file);
	perf_data_feature(m, META_FEATURE);
	writer_string(&m->features, "simpleperf_version");
	writer_string(&m->features, "1.2");
	writer_string(&m->features, "event_type_info");
	writer_string(&m->features, "other,4,16\nraw-stalls,4,17");
	if (feature == FILE2_FEATURE)
		put_file(m, feature, file);
	perf_data_end(m);
}

/* FILE's fields of /lib/x.so, where "draw" is 0x1400 to 0x1500. */
static void write_plain(struct writer *w)
{
	writer_string(w, "/lib/x.so");
	writer_u32(w, 2);
	writer_u64(w, 0x1000);
	writer_u32(w, 1);
	writer_u64(w, 0x1400);
	writer_u32(w, 0x100);
	writer_string(w, "draw");
	writer_u64(w, 0x200);
}

/* The same as FILE2's message. */
static const char message[] = "\x0a\x09/lib/x.so\x10\x02\x18\x80\x20\x22\x0c\x08\x80\x28\x10\x80\x02\x1a\x04" "draw\x32\x03\x08\x80\x04";

static void check_image(const struct recording_image *recorded)
{
	CLEANUP(image_closep) struct image *img = NULL;
	size_t count;

	CHECK_STR(recorded->path, "/lib/x.so");
	CHECK_OK(image_open_memory(recorded->elf, recorded->elf_len, "x.so", &img));

	const struct image_segment *segments = image_segments(img, &count);

	CHECK_UINT(count, 1);
	CHECK_UINT(segments[0].vaddr, 0x1000);
	CHECK_UINT(segments[0].offset, 0x200);

	struct symtab *tab = symtab_new(img);
	const struct symtab_entry *found = symtab_find(tab, 0x14ff);

	CHECK_STR(found ? found->name : NULL, "draw");
	CHECK(!symtab_find(tab, 0x1500));
	symtab_free(tab);
}

static void check(struct perf_data_maker *m)
{
	CLEANUP(close_sourcep) struct event_source *source = NULL;
	struct event ev;
	size_t samples = 0;

	CHECK_OK(perf_data_open_memory(m->w.data, m->w.len, &source));
	const struct recording *rec = event_source_recording(source);

	CHECK_STR(rec->tool, "simpleperf 1.2");
	CHECK_STR(rec->events[0].name, "raw-stalls");
	CHECK_UINT(rec->nimages, 1);
	check_image(&rec->images[0]);
	while (event_source_next(source, &ev))
		samples += ev.kind == EVENT_SAMPLE;
	CHECK_UINT(samples, 2);
}

TEST(simpleperf_symbols_and_event_names_are_used)
{
	CLEANUP(writer_deinit) struct writer file = { 0 };
	MAKER;

	write_plain(&file);
	make(&m, FILE_FEATURE, &file);
	check(&m);
}

TEST(simpleperf_symbols_may_be_messages)
{
	CLEANUP(writer_deinit) struct writer file = { 0 };
	MAKER;

	writer_bytes(&file, message, sizeof(message) - 1);
	make(&m, FILE2_FEATURE, &file);
	check(&m);
}

static void open_and_close(const void *data, size_t len)
{
	CLEANUP(close_sourcep) struct event_source *source = NULL;
	struct err *err = perf_data_open_memory(guarded(data, len), len, &source);

	err_free(err);
}

/* What is cut or flipped in the symbols: no crash, whatever else. */
TEST(simpleperf_symbols_survive_every_cut_and_flip)
{
	CLEANUP(writer_deinit) struct writer file = { 0 };
	MAKER;

	write_plain(&file);
	make(&m, FILE_FEATURE, &file);
	for (size_t i = m.w.len - 240; i < m.w.len; i++) {
		open_and_close(m.w.data, i);
		m.w.data[i] ^= 0x81;
		open_and_close(m.w.data, m.w.len);
		m.w.data[i] ^= 0x81;
	}
}
