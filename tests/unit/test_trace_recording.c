/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_trace_recording.c - contents of header, image, symbol and end blocks that cannot be.
 *
 * That they come back as they were written is tested in test_trace_reader.c.
 */
#include "formats/trace/trace_recording.h"

#include "formats/trace/trace_attached.h"
#include "formats/trace/trace_block.h"
#include "formats/trace/trace_field.h"
#include "tests/unit/event_check.h"
#include "tests/unit/event_maker.h"
#include "tests/unit/test.h"

#include <string.h>

/* Load @w, which is emptied, as a header. */
static struct err *load_header(struct writer *w, struct recording *rec)
{
	uint32_t nstreams;
	struct reader r;

	*rec = (struct recording){ 0 };
	reader_init(&r, guarded(w->data, w->len), w->len, /* big_endian= */ false);
	writer_reset(w);
	return trace_header_load(&r, rec, &nstreams);
}

/* A header may be cut between two fields, but in none of them. */
TEST(trace_recording_header_is_refused_when_cut_within_a_field)
{
	struct recording rec, got;
	struct writer whole = { 0 };
	size_t loaded = 0;

	maker_recording(&rec);
	trace_header_put(&whole, &rec, 1);
	for (size_t len = 0; len < whole.len; len++) {
		struct writer cut = { 0 };

		writer_bytes(&cut, whole.data, len);

		struct err *err = load_header(&cut, &got);

		CHECK(!err || err_kind(err) == ERR_CORRUPT);
		loaded += !err;
		err_free(err);
		arena_deinit(&got.arena);
		writer_deinit(&cut);
	}
	/* 25 fields of its own and three events, two of which lead themselves or the first one. */
	CHECK(loaded > 20 && loaded < 30);
	arena_deinit(&rec.arena);
	writer_deinit(&whole);
}

TEST(trace_recording_header_must_name_a_known_architecture)
{
	struct writer w = { 0 };
	struct recording rec;

	trace_field_put_bytes(&w, 1, "riscv64", 7);
	CHECK_ERR(load_header(&w, &rec), ERR_UNSUPPORTED, "riscv64");
	arena_deinit(&rec.arena);
	trace_field_put_bytes(&w, 2, "precord", 7);
	CHECK_ERR(load_header(&w, &rec), ERR_CORRUPT, "no architecture");
	arena_deinit(&rec.arena);
	writer_deinit(&w);
}

TEST(trace_recording_header_is_refused_when_numbers_cannot_be)
{
	static const uint8_t event_led_by_7[] = { 14, 1, 7 };
	struct writer w = { 0 };
	struct recording rec;

	trace_field_put_bytes(&w, 1, "x86_64", 6);
	trace_field_put_bytes(&w, 24, event_led_by_7, sizeof(event_led_by_7));
	CHECK_ERR(load_header(&w, &rec), ERR_CORRUPT, "led by event 7 of 1");
	arena_deinit(&rec.arena);
	trace_field_put_bytes(&w, 1, "aarch64", 7);
	trace_field_put_uint(&w, 16, 4);
	CHECK_ERR(load_header(&w, &rec), ERR_CORRUPT, "kind 4");
	arena_deinit(&rec.arena);
	trace_field_put_bytes(&w, 1, "aarch64", 7);
	trace_field_put_uint(&w, 25, TRACE_STREAM_MAX + 2);
	CHECK_ERR(load_header(&w, &rec), ERR_CORRUPT, "4097 streams");
	arena_deinit(&rec.arena);
	trace_field_put_bytes(&w, 1, "aarch64", 7);
	trace_field_put_uint(&w, 8, 1ull << 32); /* CPUs, of 32 bits */
	CHECK_ERR(load_header(&w, &rec), ERR_CORRUPT, "number");
	arena_deinit(&rec.arena);
	trace_field_put_bytes(&w, 1, "aarch64", 7);
	trace_field_put_bytes(&w, 23, "123456789012345678901", 21);
	CHECK_ERR(load_header(&w, &rec), ERR_CORRUPT, "build ID");
	arena_deinit(&rec.arena);
	writer_deinit(&w);
}

TEST(trace_recording_refuses_more_events_than_there_can_be)
{
	struct writer w = { 0 };
	struct recording rec;

	trace_field_put_bytes(&w, 1, "x86_64", 6);
	for (int i = 0; i < 4097; i++)
		trace_field_put_bytes(&w, 24, NULL, 0);
	CHECK_ERR(load_header(&w, &rec), ERR_CORRUPT, "number of fields");
	arena_deinit(&rec.arena);
	writer_deinit(&w);
}

static struct err *load_ksyms(struct writer *w, struct recording *rec)
{
	struct reader r;

	reader_init(&r, guarded(w->data, w->len), w->len, /* big_endian= */ false);
	writer_reset(w);
	return trace_ksyms_load(&r, rec);
}

TEST(trace_recording_symbols_may_go_on_in_a_second_block)
{
	const struct recording_ksym first[] = { { 10, 5, "a", "" }, { 20, 5, "b", "ext4" } };
	const struct recording_ksym second[] = { { 20, 0, "c", "ext4" }, { 30, 1, "d", "" } };
	struct recording rec = { 0 };
	struct writer w = { 0 };

	trace_ksyms_put(&w, first, 2);
	CHECK_OK(load_ksyms(&w, &rec));
	trace_ksyms_put(&w, second, 2);
	CHECK_OK(load_ksyms(&w, &rec));
	CHECK_UINT(rec.nksyms, 4);
	CHECK_STR(rec.ksyms[0].name, "a");
	CHECK_STR(rec.ksyms[2].name, "c");
	CHECK_STR(rec.ksyms[2].module, "ext4");
	CHECK_UINT(rec.ksyms[3].addr, 30);

	trace_ksyms_put(&w, first, 2); /* below what is there already */
	CHECK_ERR(load_ksyms(&w, &rec), ERR_CORRUPT, "kernel symbol");
	CHECK_UINT(rec.nksyms, 4);
	arena_deinit(&rec.arena);
	writer_deinit(&w);
}

TEST(trace_recording_symbols_need_their_module)
{
	struct recording rec = { 0 };
	struct writer w = { 0 };

	trace_field_put_bytes(&w, 1, "ext4", 5);
	trace_field_put_bytes(&w, 2, "\1\1\1f", 5); /* the second module of one */
	CHECK_ERR(load_ksyms(&w, &rec), ERR_CORRUPT, "kernel symbol");
	trace_field_put_bytes(&w, 2, "\1\1\0f", 4); /* a name without its NUL */
	CHECK_ERR(load_ksyms(&w, &rec), ERR_CORRUPT, "kernel symbol");
	CHECK_UINT(rec.nksyms, 0);
	arena_deinit(&rec.arena);
	writer_deinit(&w);
}

TEST(trace_recording_end_must_count_events_that_there_are)
{
	struct recording rec, got = { .nevents = 1 };
	struct writer w = { 0 };
	struct reader r;

	maker_recording(&rec);
	trace_end_put(&w, &rec); /* has counts of events 0 and 2 */
	reader_init(&r, guarded(w.data, w.len), w.len, /* big_endian= */ false);
	CHECK_ERR(trace_end_load(&r, &got), ERR_CORRUPT, "event of a count");
	CHECK(!got.complete);
	CHECK(got.ncounts > 0);
	for (size_t i = 0; i < got.ncounts; i++) /* what is kept may be used as an index */
		CHECK(got.counts[i].event < got.nevents);
	arena_deinit(&rec.arena);
	arena_deinit(&got.arena);
	writer_deinit(&w);
}

/* Two losses of 2^63 would add up to none. */
TEST(trace_recording_end_refuses_counts_that_would_wrap)
{
	struct recording_count counts[2] = { { .lost_kernel = 1ULL << 63 },
					     { .lost_kernel = 1ULL << 63 } };
	struct recording rec = { .counts = counts, .ncounts = 2, .nevents = 1 };
	struct recording got = { .nevents = 1 };
	struct writer w = { 0 };
	struct reader r;

	trace_end_put(&w, &rec);
	reader_init(&r, guarded(w.data, w.len), w.len, /* big_endian= */ false);
	CHECK_ERR(trace_end_load(&r, &got), ERR_CORRUPT, "size of a count");
	CHECK_UINT(got.ncounts, 0);
	arena_deinit(&got.arena);
	writer_deinit(&w);
}
