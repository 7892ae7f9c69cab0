/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "symbolize/name/jit_map.h"

#include <string.h>

static struct jit_map *parse(const char *text)
{
	return jit_map_new(guarded(text, strlen(text)), strlen(text));
}

static const char *name_at(const struct jit_map *map, uint64_t ip)
{
	const struct jit_symbol *symbol = jit_map_find(map, ip);

	return symbol ? symbol->name : NULL;
}

TEST(jit_map_names_code_and_only_code)
{
	struct jit_map *map = parse("1000 20 LazyCompile:~add /srv/app.js:3\n"
				    "0x2000 0X10 two words \r\n"
				    "  3000\tff\t\ttabbed\n"
				    "FFFFFFFFFFFFFF00 10 high, and no line end");

	CHECK_STR(name_at(map, 0xfff), NULL);
	CHECK_STR(name_at(map, 0x1000), "LazyCompile:~add /srv/app.js:3");
	CHECK_STR(name_at(map, 0x101f), "LazyCompile:~add /srv/app.js:3");
	CHECK_STR(name_at(map, 0x1020), NULL);
	CHECK_STR(name_at(map, 0x200f), "two words ");
	CHECK_STR(name_at(map, 0x30fe), "tabbed");
	CHECK_STR(name_at(map, 0xffffffffffffff00), "high, and no line end");
	CHECK_UINT(jit_map_find(map, 0x1010)->start, 0x1000);
	CHECK_UINT(jit_map_find(map, 0x1010)->len, 0x20);
	CHECK_UINT(jit_map_skipped(map), 0);
	jit_map_free(map);
}

TEST(jit_map_takes_the_later_line_where_memory_was_reused)
{
	struct jit_map *map = parse("1000 100 old\n"
				    "1040 20 new in the middle\n"
				    "10f0 40 new across the end\n"
				    "2000 10 first\n"
				    "2000 10 second\n");
	size_t count;

	CHECK_STR(name_at(map, 0x103f), "old");
	CHECK_STR(name_at(map, 0x1040), "new in the middle");
	CHECK_STR(name_at(map, 0x1060), "old");
	CHECK_STR(name_at(map, 0x10f0), "new across the end");
	CHECK_STR(name_at(map, 0x112f), "new across the end");
	CHECK_STR(name_at(map, 0x2000), "second");
	jit_map_symbols(map, &count);
	CHECK_UINT(count, 5);
	jit_map_free(map);
}

TEST(jit_map_skips_lines_of_another_form)
{
	static const char text[] = "\n"
				   "1000\n"
				   "1000 10\n"
				   "1000 10 \n"
				   "1000 0 nothing\n"
				   "x000 10 not hexadecimal\n"
				   "-1000 10 negative\n"
				   "11111111111111111 10 more than 64 bits\n"
				   "fffffffffffffff0 20 beyond the end of memory\n"
				   "1000 10x glued\n"
				   "1000 10 good\n";
	struct jit_map *map = parse(text);
	size_t count;

	CHECK_STR(name_at(map, 0x1008), "good");
	jit_map_symbols(map, &count);
	CHECK_UINT(count, 1);
	CHECK_UINT(jit_map_skipped(map), 10);
	jit_map_free(map);
}

TEST(jit_map_of_nothing_is_empty)
{
	struct jit_map *map = jit_map_new(NULL, 0);
	struct jit_map *nuls = jit_map_new(guarded("\0\0\n\0", 4), 4);

	CHECK_STR(name_at(map, 0), NULL);
	CHECK_STR(name_at(nuls, 0), NULL);
	jit_map_free(map);
	jit_map_free(nuls);
}

/* What a runtime had not in memory is looked up again: a place that is described twice is what is known best. */
TEST(jit_map_takes_what_was_read_of_a_place_later)
{
	CLEANUP(writer_deinit) struct writer dump = { 0 };
	const struct jitdump_call alone[] = { { 1, 0 } }, with_line[] = { { 1, 7 } }, both[] = { { 2, 3 }, { 1, 7 } };

	jitdump_put_header(&dump, 62, 1, 0);
	jitdump_put_function(&dump, 1, "outer", "a.js", 0);
	jitdump_put_function(&dump, 2, "inner", "a.js", 0);
	jitdump_put_known(&dump, 0x1000, 0x100, "outer");
	jitdump_put_place(&dump, 0x1010, JITDUMP_FRAME_SAVED, 16, alone, 1);
	jitdump_put_place(&dump, 0x1010, JITDUMP_FRAME_SAVED, 16, with_line, 1);
	jitdump_put_place(&dump, 0x1020, JITDUMP_FRAME_SAVED, 16, both, 2);
	jitdump_put_place(&dump, 0x1020, JITDUMP_FRAME_SAVED, 16, with_line, 1);
	struct jit_map *map = jit_map_new_dumped("", 0, dump.data, dump.len);

	CHECK_UINT(jit_map_place(map, 0x1010)->count, 1);
	CHECK_UINT(jit_map_calls(map, jit_map_place(map, 0x1010))->line, 7);
	CHECK_UINT(jit_map_place(map, 0x1020)->count, 2);
	jit_map_free(map);
}

/* Code at 0x1000 with @calls at @ip, from @from_ns on; gone after @until_ns, if that is not 0. */
static void put_code_of(struct writer *dump, uint64_t ip, const struct jitdump_call *calls, uint64_t from_ns, uint64_t until_ns)
{
	size_t begin = dump->len;

	jitdump_put_known(dump, 0x1000, 0x100, "outer");
	jitdump_put_place(dump, ip, JITDUMP_FRAME_UNKNOWN, 0, calls, 2);
	jitdump_set_times(dump, begin, from_ns, from_ns);
	begin = dump->len;
	if (until_ns)
		jitdump_put_gone(dump, 0x1000, 0x100);
	jitdump_set_times(dump, begin, until_ns, until_ns);
}

static void put_code(struct writer *dump, const struct jitdump_call *calls, uint64_t from_ns, uint64_t until_ns)
{
	put_code_of(dump, 0x1010, calls, from_ns, until_ns);
}

/* A collection of garbage moves what belongs to code that stays where it is. */
TEST(jit_map_knows_code_between_two_times_at_which_it_was_the_same)
{
	static const struct jitdump_call one[] = { { 2, 3 }, { 1, 7 } }, other[] = { { 2, 4 }, { 1, 7 } };
	CLEANUP(writer_deinit) struct writer dump = { 0 };
	const uint64_t second = 1000000000;

	jitdump_put_header(&dump, 62, 1, 0);
	jitdump_put_function(&dump, 1, "outer", "a.js", 0);
	jitdump_put_function(&dump, 2, "inner", "a.js", 0);
	put_code(&dump, one, 2 * second, 3 * second);
	put_code(&dump, one, 3 * second + second / 2, 4 * second);
	put_code(&dump, other, 4 * second + second / 2, 5 * second); /* inlined anew */
	put_code(&dump, other, 7 * second, 0);			     /* long after */
	jitdump_put_checked(&dump, 8 * second);
	struct jit_map *map = jit_map_new_timed("", 0, dump.data, dump.len);

	CHECK(code_place_is_unknown(jit_map_at(map, 0x1010, second)));
	CHECK_UINT(jit_map_at(map, 0x1010, 3 * second + second / 4), jit_map_at(map, 0x1010, 2 * second));
	CHECK(code_place_is_unknown(jit_map_at(map, 0x1020, 3 * second + second / 4))); /* nothing is known of what is inlined */
	CHECK(code_place_is_unknown(jit_map_at(map, 0x1010, 4 * second + second / 4)));
	CHECK(code_place_is_unknown(jit_map_at(map, 0x1010, 6 * second)));
	CHECK(!code_place_is_unknown(jit_map_at(map, 0x1010, 8 * second)));
	jit_map_free(map);
}

/* Of one address, only one of both times was read what is inlined there. */
TEST(jit_map_knows_code_between_two_times_with_what_was_read_at_one)
{
	static const struct jitdump_call calls[] = { { 2, 3 }, { 1, 7 } };
	CLEANUP(writer_deinit) struct writer dump = { 0 };
	const uint64_t second = 1000000000;

	jitdump_put_header(&dump, 62, 1, 0);
	jitdump_put_function(&dump, 1, "outer", "a.js", 0);
	jitdump_put_function(&dump, 2, "inner", "a.js", 0);
	put_code_of(&dump, 0x1020, calls, 2 * second, 3 * second);
	put_code_of(&dump, 0x1030, calls, 3 * second + second / 2, 0);
	jitdump_put_checked(&dump, 8 * second);
	struct jit_map *map = jit_map_new_timed("", 0, dump.data, dump.len);

	CHECK_UINT(jit_map_at(map, 0x1020, 3 * second + second / 4), jit_map_at(map, 0x1020, 2 * second));
	CHECK_UINT(jit_map_at(map, 0x1030, 3 * second + second / 4), jit_map_at(map, 0x1030, 4 * second));
	CHECK(code_place_is_unknown(jit_map_at(map, 0x1040, 3 * second + second / 4)));
	jit_map_free(map);
}

/* Memory that was copied has no names, and is found by any of its addresses. */
TEST(jit_map_has_the_bytes_of_code_that_nobody_names)
{
	CLEANUP(writer_deinit) struct writer dump = { 0 };
	size_t len = 0;

	jitdump_put_header(&dump, 62, 1, 0);
	jitdump_put_bytes(&dump, 0x2000, (const uint8_t *)"abcdefgh", 8);
	jitdump_put_bytes(&dump, 0x1000, (const uint8_t *)"early", 5);
	jitdump_put_bytes(&dump, 0x2007, (const uint8_t *)"over", 4); /* left out */
	jitdump_put_bytes(&dump, 0x1005, (const uint8_t *)"behind", 6);
	jitdump_put_bytes(&dump, 0x3000, (const uint8_t *)"", 0);
	jitdump_put_bytes(&dump, 0x4000, (const uint8_t *)"x", 1);
	struct jit_map *map = jit_map_new_dumped("", 0, dump.data, dump.len);

	CHECK(!jit_map_bytes(map, 0x1fff, &len));
	CHECK(memcmp(jit_map_bytes(map, 0x2000, &len), "abcdefgh", 8) == 0);
	CHECK_UINT(len, 8);
	CHECK(*jit_map_bytes(map, 0x2007, &len) == 'h');
	CHECK_UINT(len, 1);
	CHECK(!jit_map_bytes(map, 0x2008, &len));
	CHECK(memcmp(jit_map_bytes(map, 0x1002, &len), "rlybehind", 9) == 0); /* an instruction may lie in both */
	CHECK_UINT(len, 9);
	CHECK(!jit_map_bytes(map, 0x3000, &len));
	CHECK(jit_map_bytes(map, 0x4000, &len));
	CHECK(!jit_map_bytes(map, UINT64_MAX, &len));
	CHECK(!jit_map_find(map, 0x2000));
	jit_map_free(map);
}
