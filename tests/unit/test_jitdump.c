/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "formats/perf/jitdump.h"
#include "record/embed/jit_code.h"
#include "symbolize/name/jit_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint8_t code[] = { 0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3 };

/* The beginning of a record whose length is filled in by end(). */
static size_t begin(struct writer *w, uint32_t kind)
{
	size_t at = w->len;

	writer_u32(w, kind);
	writer_u32(w, 0);
	writer_u64(w, 7);
	return at;
}

static void end(struct writer *w, size_t at)
{
	uint32_t len = (uint32_t)(w->len - at);

	memcpy(w->data + at + 4, &len, sizeof(len));
}

static void put_entry(struct writer *w, uint64_t ip, uint32_t line, const char *file, size_t len)
{
	writer_u64(w, ip);
	writer_u32(w, line);
	writer_u32(w, 0);
	writer_bytes(w, file, len);
	writer_u8(w, 0);
}

static void put_move(struct writer *w, uint64_t old_ip, uint64_t ip)
{
	size_t at = begin(w, JITDUMP_MOVE);

	writer_u64(w, 0);
	writer_u64(w, ip);
	writer_u64(w, old_ip);
	writer_u64(w, ip);
	writer_u64(w, sizeof(code));
	writer_u64(w, 1);
	end(w, at);
}

static void put_lines(struct writer *w, uint64_t ip)
{
	size_t at = begin(w, JITDUMP_DEBUG_INFO);

	writer_u64(w, ip);
	writer_u64(w, 2);
	put_entry(w, ip + 3, 8, "\xff", 1);
	put_entry(w, ip + 1, 7, "A.java", 6);
	end(w, at);
}

static struct jit_map *parse(const struct writer *w)
{
	return jit_map_new_dumped("1000 40 by perf map\n", 20, guarded(w->data, w->len), w->len);
}

static const char *name_at(const struct jit_map *map, uint64_t ip)
{
	const struct jit_symbol *symbol = jit_map_find(map, ip);

	return symbol ? symbol->name : NULL;
}

TEST(jitdump_is_known_by_its_name)
{
	CHECK(jitdump_is_path("/srv/jit-4711.dump"));
	CHECK(jitdump_is_path("jit-0.dump (deleted)"));
	CHECK(!jitdump_is_path("/srv/jit-.dump"));
	CHECK(!jitdump_is_path("/srv/jit-1x.dump"));
	CHECK(!jitdump_is_path("/srv/jit-1.dump/other"));
	CHECK(!jitdump_is_path("/srv/a-jit-1.dump"));
	CHECK(!jitdump_is_path(""));
}

TEST(jitdump_names_code_and_lines_over_the_perf_map)
{
	CLEANUP(writer_deinit) struct writer w = { 0 };
	const char *file = NULL;
	uint32_t line = 0;

	jitdump_put_header(&w, 62, 42, 5);
	put_lines(&w, 0x1010);
	jitdump_put_load(&w, 42, 0x1010, "run", code, sizeof(code));
	struct jit_map *map = parse(&w);
	const struct jit_symbol *run = jit_map_find(map, 0x1015);

	CHECK_STR(name_at(map, 0x100f), "by perf map");
	CHECK_STR(name_at(map, 0x1016), "by perf map");
	CHECK_STR(run->name, "run");
	CHECK_MEM(run->code, code, sizeof(code));
	CHECK(!jit_symbol_line(run, 0x1010, &file, &line));
	CHECK(jit_symbol_line(run, 0x1012, &file, &line));
	CHECK_STR(file, "A.java");
	CHECK_UINT(line, 7);
	CHECK(jit_symbol_line(run, 0x1015, &file, &line));
	CHECK_UINT(line, 8);
	jit_map_free(map);
}

TEST(jitdump_follows_code_that_moves)
{
	CLEANUP(writer_deinit) struct writer w = { 0 };

	jitdump_put_header(&w, 62, 42, 5);
	jitdump_put_load(&w, 42, 0x2000, "moved", code, sizeof(code));
	put_move(&w, 0x2000, 0x3000);
	put_move(&w, 0x3000, 0x4000);
	jitdump_put_load(&w, 42, 0x2000, "next", code, sizeof(code));
	struct jit_map *map = parse(&w);

	CHECK_STR(name_at(map, 0x4005), "moved");
	CHECK_STR(name_at(map, 0x2000), "next");
	CHECK_MEM(jit_map_find(map, 0x4000)->code, code, sizeof(code));
	jit_map_free(map);
}

TEST(jitdump_follows_code_however_often_it_moves)
{
	CLEANUP(writer_deinit) struct writer w = { 0 };
	const unsigned nmoves = 50000;

	jitdump_put_header(&w, 62, 42, 5);
	jitdump_put_load(&w, 42, 0x2000, "moved", code, sizeof(code));
	for (unsigned i = 0; i < nmoves; i++)
		put_move(&w, 0x2000 + i * 0x10, 0x2010 + i * 0x10);
	struct jit_map *map = parse(&w);

	CHECK_STR(name_at(map, 0x2000 + nmoves * 0x10), "moved");
	jit_map_free(map);
}

TEST(jitdump_of_v8_has_biased_lines_and_names_that_may_be_anything)
{
	CLEANUP(writer_deinit) struct writer w = { 0 };
	const char *file = NULL;
	uint32_t line = 0, pad = 0xdeadbeef;

	jitdump_put_header(&w, 62, 42, 5);
	memcpy(w.data + 16, &pad, sizeof(pad));
	size_t at = begin(&w, JITDUMP_DEBUG_INFO);

	writer_u64(&w, 0x2000);
	writer_u64(&w, 2);
	put_entry(&w, 0x2040, 3, "\1\0\2\0", 4);
	put_entry(&w, 0x2044, 4, "\0\0\0\3", 4);
	writer_u32(&w, 0); /* padding */
	end(&w, at);
	jitdump_put_load(&w, 42, 0x2000, "JS:*add /srv/my app.js:3:9", code, sizeof(code));
	struct jit_map *map = parse(&w);

	CHECK(jit_symbol_line(jit_map_find(map, 0x2000), 0x2000, &file, &line));
	CHECK_STR(file, "/srv/my app.js");
	CHECK_UINT(line, 3);
	CHECK(jit_symbol_line(jit_map_find(map, 0x2000), 0x2005, &file, &line));
	CHECK_UINT(line, 4);
	jit_map_free(map);
}

TEST(jitdump_that_is_cut_anywhere_ends_before_the_cut)
{
	CLEANUP(writer_deinit) struct writer w = { 0 };

	jitdump_put_header(&w, 62, 42, 5);
	put_lines(&w, 0x2000);
	jitdump_put_load(&w, 42, 0x2000, "run", code, sizeof(code));
	for (size_t len = 0; len < w.len; len++) {
		struct jit_map *map = jit_map_new_dumped("", 0, guarded(w.data, len), len);
		struct jitdump dump;
		struct jitdump_record rec;
		size_t count;
		CLEANUP(err_freep) struct err *err =
			jitdump_open(&dump, guarded(w.data, len), len);

		CHECK(!err == (len >= 40));
		for (count = 0; !err && jitdump_next(&dump, &rec);)
			count++;
		CHECK(count < 2);
		jit_map_symbols(map, &count);
		CHECK_UINT(count, 0);
		jit_map_free(map);
	}
}

TEST(jitdump_is_refused_if_it_is_none)
{
	CLEANUP(writer_deinit) struct writer w = { 0 };
	struct jitdump dump;

	jitdump_put_header(&w, 62, 42, 5);
	w.data[4] = 2;
	CLEANUP(err_freep) struct err *version = jitdump_open(&dump, w.data, w.len);

	CHECK(version && err_kind(version) == ERR_UNSUPPORTED);
	w.data[0] ^= 1;
	CLEANUP(err_freep) struct err *magic = jitdump_open(&dump, w.data, w.len);

	CHECK(magic && err_kind(magic) == ERR_CORRUPT);
}

/* Only what was sampled travels; where it came from does too. */
TEST(jit_code_keeps_the_records_of_addresses_that_were_seen)
{
	static const uint64_t addresses[] = { 0x1005, 0x4002 };
	CLEANUP(writer_deinit) struct writer w = { 0 };
	CLEANUP(writer_deinit) struct writer out = { 0 };
	size_t count;

	jitdump_put_header(&w, 62, 42, 5);
	put_lines(&w, 0x1000);
	jitdump_put_load(&w, 42, 0x1000, "seen", code, sizeof(code));
	jitdump_put_load(&w, 42, 0x1100, "not seen", code, sizeof(code));
	jitdump_put_load(&w, 42, 0x2000, "moved", code, sizeof(code));
	put_move(&w, 0x2000, 0x3000);
	put_move(&w, 0x3000, 0x4000);
	CHECK(jit_code_filter(guarded(w.data, w.len), w.len, addresses, 2, &out));
	struct jit_map *map = parse(&out);

	CHECK_UINT(jit_map_find(map, 0x1005)->nlines, 2);
	CHECK_STR(name_at(map, 0x1100), NULL);
	CHECK_STR(name_at(map, 0x4005), "moved");
	jit_map_symbols(map, &count);
	CHECK_UINT(count, 1 + 4); /* with the line of the perf map, and each place of what moved */
	jit_map_free(map);

	writer_reset(&out);
	CHECK(jit_code_filter(w.data, w.len, (uint64_t[]){ 0x9000 }, 1, &out));
	CHECK_UINT(out.len, 0);
	CHECK(jit_code_filter("no dump", 7, addresses, 2, &out));
	CHECK_UINT(out.len, 0);
}

__attribute__((noinline, aligned(64))) static int some_code(int x)
{
	return x * 3 + 1;
}

/* A function may be as long as all that is kept; one that is longer is not left out in silence. */
TEST(jit_code_in_memory_may_be_long_but_not_without_limit)
{
	if (getenv("EMULATOR"))
		SKIP("it reads the memory of the emulator");

	struct perf_map *map = perf_map_new((uint32_t)getpid(), /* keep_open= */ true, NULL);
	size_t len = 3 << 20;
	char *bytes = malloc(len), text[100];

	memset(bytes, 1, len); /* only pages that are present are read */

	for (int twice = 0; twice < 2; twice++) {
		CLEANUP(writer_deinit) struct writer out = { 0 };
		int text_len = snprintf(text, sizeof(text), "%lx %lx long\n%s",
					(unsigned long)(uintptr_t)bytes, (unsigned long)len,
					twice ? "10 1000001 more than is kept\n" : "");

		CHECK(jit_code_from_memory(map, 62, text, (size_t)text_len, &out) == !twice);
		struct jit_map *found = jit_map_new_dumped("", 0, out.data, out.len);

		CHECK_STR(name_at(found, (uintptr_t)bytes + len - 1), "long");
		jit_map_free(found);
	}
	free(bytes);
	perf_map_free(map);
}

/* This process's own memory. */
TEST(jit_code_is_read_from_memory_where_the_perf_map_says_it_is)
{
	if (getenv("EMULATOR"))
		SKIP("it reads the memory of the emulator");

	CLEANUP(writer_deinit) struct writer out = { 0 };
	struct perf_map *map = perf_map_new((uint32_t)getpid(), /* keep_open= */ true, NULL);
	char text[100];

	CHECK(some_code(1) == 4);
	int len = snprintf(text, sizeof(text), "%lx 4 some code\n10 10 nothing is there\n",
			   (unsigned long)(uintptr_t)some_code);

	CHECK(jit_code_from_memory(map, 62, text, (size_t)len, &out));
	struct jit_map *found = jit_map_new_dumped("", 0, out.data, out.len);
	const struct jit_symbol *symbol = jit_map_find(found, (uintptr_t)some_code + 1);

	CHECK_STR(symbol->name, "some code");
	CHECK_MEM(symbol->code, (const void *)(uintptr_t)some_code, 4);
	CHECK_STR(name_at(found, 0x10), NULL);
	jit_map_free(found);
	perf_map_free(map);
}

static void put_unwinding(struct writer *w, const char *frames, size_t len, uint64_t header_len)
{
	size_t at = begin(w, JITDUMP_UNWINDING);

	writer_u64(w, len + header_len);
	writer_u64(w, header_len);
	writer_u64(w, len + header_len);
	writer_bytes(w, frames, len);
	for (uint64_t i = 0; i < header_len && i < 64; i++)
		writer_u8(w, 0xee);
	end(w, at);
}

TEST(jitdump_rules_belong_to_the_next_code)
{
	CLEANUP(writer_deinit) struct writer w = { 0 }, kept = { 0 };
	static const uint64_t addresses[] = { 0x2011 };

	jitdump_put_header(&w, 62, 42, 5);
	put_unwinding(&w, "frames", 6, 20);
	jitdump_put_load(&w, 42, 0x2010, "ruled", code, sizeof(code));
	jitdump_put_load(&w, 42, 0x3010, "not ruled", code, sizeof(code));
	put_move(&w, 0x2010, 0x4010);
	/* As the recorder keeps it, too. */
	CHECK(jit_code_filter(w.data, w.len, addresses, ARRAY_LEN(addresses), &kept));
	for (int i = 0; i < 2; i++) {
		struct jit_map *map = parse(i ? &kept : &w);
		const struct jit_symbol *ruled = jit_map_find(map, 0x2010);

		CHECK_STR(ruled->name, "ruled");
		CHECK_UINT(ruled->frames_len, 6);
		CHECK_MEM(ruled->frames, "frames", 6);
		CHECK(i || !jit_map_find(map, 0x3010)->frames);
		CHECK(i || jit_map_find(map, 0x4010)->frames == ruled->frames);
		jit_map_free(map);
	}
}

TEST(jitdump_rules_that_do_not_fit_are_passed_over)
{
	CLEANUP(writer_deinit) struct writer w = { 0 };

	jitdump_put_header(&w, 62, 42, 5);
	put_unwinding(&w, "frames", 6, UINT64_MAX - 3);
	jitdump_put_load(&w, 42, 0x2010, "run", code, sizeof(code));
	struct jit_map *map = parse(&w);

	CHECK_STR(name_at(map, 0x2010), "run");
	CHECK(!jit_map_find(map, 0x2010)->frames);
	jit_map_free(map);
}

TEST(jitdump_ends_where_it_was_closed)
{
	CLEANUP(writer_deinit) struct writer w = { 0 };

	jitdump_put_header(&w, 62, 42, 5);
	jitdump_put_load(&w, 42, 0x2010, "run", code, sizeof(code));
	end(&w, begin(&w, JITDUMP_CLOSE));
	jitdump_put_load(&w, 42, 0x3010, "what was there before", code, sizeof(code));
	struct jit_map *map = parse(&w);

	CHECK_STR(name_at(map, 0x2010), "run");
	CHECK_STR(name_at(map, 0x3010), NULL);
	jit_map_free(map);
}

/* ---- code after code ------------------------------------------------------------------------------- */

#define SECOND 1000000000ULL

static void put_known_at(struct writer *w, uint64_t ip, uint64_t len, const char *name, uint64_t time_ns)
{
	size_t begin = w->len;

	jitdump_put_known(w, ip, len, name);
	jitdump_set_times(w, begin, time_ns * SECOND, 0);
}

static void put_place_at(struct writer *w, uint64_t ip, uint32_t function, uint32_t line, uint64_t time_ns)
{
	const struct jitdump_call call = { function, line };
	size_t begin = w->len;

	jitdump_put_place(w, ip, JITDUMP_FRAME_UNKNOWN, 0, &call, 1);
	jitdump_set_times(w, begin, time_ns * SECOND, 0);
}

static const char *name_then(const struct jit_map *map, uint64_t ip, uint64_t time_ns)
{
	const struct jit_symbol *symbol = jit_map_find(map, jit_map_at(map, ip, time_ns * SECOND));

	return symbol ? symbol->name : NULL;
}

static uint32_t line_then(const struct jit_map *map, uint64_t ip, uint64_t time_ns)
{
	const struct jit_place *place = jit_map_place(map, jit_map_at(map, ip, time_ns * SECOND));

	return place && place->count ? jit_map_calls(map, place)->line : 0;
}

TEST(jit_map_knows_what_was_at_an_address_at_its_time)
{
	struct writer w = { 0 };
	size_t begin;

	jitdump_put_header(&w, 62, 1, 0);
	jitdump_put_function(&w, 0, "f", "f.js", 7);
	put_known_at(&w, 0x1000, 0x100, "first", 50);
	put_place_at(&w, 0x1010, 0, 11, 50);
	put_known_at(&w, 0x1000, 0x40, "second", 100);
	put_place_at(&w, 0x1010, 0, 22, 100);
	put_place_at(&w, 0x1010, 0, 33, 120); /* of the same code: the first holds */
	begin = w.len;
	jitdump_put_gone(&w, 0x1000, 0x40);
	jitdump_set_times(&w, begin, 0, 200 * SECOND);
	put_known_at(&w, 0x1020, 0x10, "third", 300);
	put_place_at(&w, 0x1025, 0, 44, 300);
	struct jit_map *map = jit_map_new_timed("1000 100 line\n", 14, w.data, w.len);

	CHECK_STR(name_then(map, 0x1010, 1), "first"); /* it was there before it was described */
	CHECK_STR(name_then(map, 0x1010, 99), "first");
	CHECK_UINT(line_then(map, 0x1010, 99), 11);
	CHECK_UINT(jit_map_calls(map, jit_map_place(map, jit_map_at(map, 0x1010, 99 * SECOND)))->begin, 7);
	CHECK_STR(name_then(map, 0x1010, 100), "second");
	CHECK_UINT(line_then(map, 0x1010, 150), 22);
	CHECK_STR(name_then(map, 0x1080, 150), "first");
	CHECK_STR(name_then(map, 0x1010, 200), "second");
	CHECK_STR(name_then(map, 0x1010, 201), NULL);
	CHECK_UINT(line_then(map, 0x1010, 201), 0);
	CHECK_STR(name_then(map, 0x1025, 250), NULL);
	CHECK_STR(name_then(map, 0x1025, 300), "third");
	/* Code is read soon after it was sampled. */
	CHECK_STR(jit_map_find(map, jit_map_at(map, 0x1025, 300 * SECOND - 40000000))->name, "third");
	CHECK_STR(jit_map_find(map, jit_map_at(map, 0x1035, 300 * SECOND - 40000000)) ? "?" : NULL, NULL);
	CHECK_UINT(jit_map_changes(map, 99 * SECOND), 0);
	CHECK_UINT(jit_map_changes(map, 100 * SECOND), 1);
	CHECK_UINT(jit_map_changes(map, UINT64_MAX), 3);
	uint64_t place = jit_map_at(map, 0x1025, 300 * SECOND);

	CHECK_UINT(code_place_address(place), 0x1025);
	CHECK_UINT(jit_map_at(map, place, 1), place);
	CHECK_UINT(code_place_address(0xffffffffffffff00), 0xffffffffffffff00);
	jit_map_free(map);
	/* Of times that mean nothing here, the last code holds, and the first place. */
	map = jit_map_new_dumped("", 0, w.data, w.len);
	CHECK_STR(name_then(map, 0x1010, 99), "second");
	CHECK_UINT(line_then(map, 0x1010, 300), 11);
	CHECK_UINT(jit_map_changes(map, UINT64_MAX), 0);
	jit_map_free(map);
	writer_deinit(&w);
}

TEST(jit_map_takes_code_and_what_was_known_of_it_for_one)
{
	struct writer w = { 0 };
	size_t begin;

	jitdump_put_header(&w, 62, 1, 0);
	put_known_at(&w, 0x1000, sizeof(code), "f", 50);
	begin = w.len;
	jitdump_put_load(&w, 1, 0x1000, "f", code, sizeof(code));
	jitdump_set_times(&w, begin, 70 * SECOND, 0);
	struct jit_map *map = jit_map_new_timed("", 0, w.data, w.len);

	CHECK_UINT(jit_map_changes(map, UINT64_MAX), 0);
	CHECK(jit_map_find(map, jit_map_at(map, 0x1001, 60 * SECOND))->code);
	jit_map_free(map);
	writer_deinit(&w);
}

/* A dump that says when code certainly was there: at other times nothing is known of the address, rather than what came before or after. */
TEST(jit_map_knows_nothing_of_times_that_no_code_is_certain_of)
{
	struct writer w = { 0 };
	size_t begin;

	jitdump_put_header(&w, 62, 1, 0);
	jitdump_put_function(&w, 0, "f", "f.java", 0);
	put_known_at(&w, 0x1000, 0x40, "first", 50);
	put_place_at(&w, 0x1010, 0, 11, 60);
	begin = w.len;
	jitdump_put_gone(&w, 0x1000, 0x40);
	jitdump_set_times(&w, begin, 0, 90 * SECOND);
	put_known_at(&w, 0x1000, 0x40, "second", 100);
	put_place_at(&w, 0x1010, 0, 22, 101);
	jitdump_put_checked(&w, 200 * SECOND);
	struct jit_map *map = jit_map_new_timed("", 0, w.data, w.len);

	CHECK_STR(name_then(map, 0x1010, 49), NULL);
	CHECK_UINT(line_then(map, 0x1010, 49), 0);
	CHECK_STR(name_then(map, 0x1010, 50), "first");
	CHECK_UINT(line_then(map, 0x1010, 90), 11);
	CHECK_STR(name_then(map, 0x1010, 91), NULL);
	/* Not even a moment before the second was read. */
	CHECK_STR(jit_map_find(map, jit_map_at(map, 0x1010, 100 * SECOND - 1)) ? "?" : NULL, NULL);
	CHECK_STR(name_then(map, 0x1010, 100), "second");
	CHECK_UINT(line_then(map, 0x1010, 200), 22);
	CHECK_STR(name_then(map, 0x1010, 201), NULL);
	CHECK_UINT(line_then(map, 0x1010, 201), 0);
	jit_map_free(map);
	writer_deinit(&w);
}

/* Code that is replaced more often than there are levels: what came last has no name, rather than another one's. */
TEST(jit_map_has_a_limit_of_levels)
{
	struct writer w = { 0 };
	char name[16];

	jitdump_put_header(&w, 62, 1, 0);
	for (unsigned i = 0; i < 3 * CODE_PLACE_LEVELS; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		put_known_at(&w, 0x1000, 16, name, 10 * (i + 1));
	}
	struct jit_map *map = jit_map_new_timed("", 0, w.data, w.len);

	CHECK_STR(name_then(map, 0x1000, 10 * 5 + 9), "f4");
	snprintf(name, sizeof(name), "f%u", CODE_PLACE_LEVELS - 2);
	CHECK_STR(name_then(map, 0x1000, 10 * (CODE_PLACE_LEVELS - 1) + 9), name);
	CHECK_STR(name_then(map, 0x1000, 10 * 3 * CODE_PLACE_LEVELS), NULL);
	jit_map_free(map);
	writer_deinit(&w);
}
