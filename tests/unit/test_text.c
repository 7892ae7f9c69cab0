/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "formats/base/text.h"

#include <string.h>

static void put(FILE *out, void *context)
{
	text_put_escaped(out, context);
}

static void check_escape(const char *text, const char *expected)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const char *hostile = guarded(text, strlen(text) + 1);

	CHECK_STR(text_escape(&arena, hostile), expected);
	CHECK_STR(test_printed(put, (void *)(uintptr_t)hostile), expected);
	if (strcmp(text, expected) == 0)
		CHECK(text_escape(&arena, hostile) == hostile);
}

TEST(text_escapes_what_steers_terminals_and_leaves_the_rest)
{
	check_escape("", "");
	check_escape("std::map<int, char>::operator[](\"\\n\")",
		     "std::map<int, char>::operator[](\"\\n\")");
	check_escape("größe 語 🙂", "größe 語 🙂");
	check_escape("a\x1b[31mb\tc\n", "a\\x1b[31mb\\x09c\\x0a");
	check_escape("\x7f\xc2\x9b", "\\x7f\\xc2\\x9b"); /* DEL, C1 CSI */
	check_escape("a\xe2\x80\xae"
		     "b",
		     "a\\xe2\\x80\\xae"
		     "b"); /* right-to-left override */
	check_escape("a\xd8\x9c"
		     "b\xef\xbb\xbf",
		     "a\\xd8\\x9c"
		     "b\\xef\\xbb\\xbf");
}

TEST(text_escapes_every_byte_that_is_not_utf8)
{
	check_escape("\x80", "\\x80");
	check_escape("a\xff"
		     "b",
		     "a\\xff"
		     "b");
	check_escape("\xc0\xaf", "\\xc0\\xaf");                   /* overlong */
	check_escape("\xe0\x80\xaf", "\\xe0\\x80\\xaf");          /* overlong */
	check_escape("\xed\xa0\x80", "\\xed\\xa0\\x80");          /* surrogate */
	check_escape("a\xef\xbf\xbf\xef\xbf\xbe", "a\\xef\\xbf\\xbf\\xef\\xbf\\xbe"); /* U+FFFF, U+FFFE */
	check_escape("\xf0\x9f\xbf\xbf\xef\xb7\x90", "\\xf0\\x9f\\xbf\\xbf\\xef\\xb7\\x90"); /* U+1FFFF, U+FDD0 */
	check_escape("\xef\xbf\xbd", "\xef\xbf\xbd"); /* U+FFFD is one */
	check_escape("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"); /* past U+10FFFF */
	check_escape("\xe2\x82", "\\xe2\\x82");                   /* cut short */
	check_escape("\xf0\x9f\x99", "\\xf0\\x9f\\x99");
	check_escape("\xe2\x82"
		     "a",
		     "\\xe2\\x82"
		     "a");
}

TEST(text_shell_words_are_one_word_and_quoted_only_if_need_be)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };

	CHECK_STR(text_shell_word(&arena, "std::sort@v1,a+b"), "std::sort@v1,a+b");
	CHECK_STR(text_shell_word(&arena, ""), "''");
	CHECK_STR(text_shell_word(&arena, "--by=line"), "--by=line");
	CHECK_STR(text_shell_word(&arena, "a=b"), "'a=b'");
	CHECK_STR(text_shell_word(&arena, "operator()(int) const"), "'operator()(int) const'");
	CHECK_STR(text_shell_word(&arena, "<Foo<'a> as $(rm)>"), "'<Foo<'\\''a> as $(rm)>'");
}

TEST(text_shell_lines_have_the_words_that_they_are_made_of)
{
	static const char words[] = "precord\0--\0./a b\0\0it's";
	CLEANUP(arena_deinit) struct arena arena = { 0 };

	CHECK_STR(text_shell_line(&arena, words, sizeof(words), false), "precord -- './a b' '' 'it'\\''s'");
	CHECK_STR(text_shell_line(&arena, words, 11, true), "precord -- ...");
	CHECK_STR(text_shell_line(&arena, "", 0, false), "");
}

TEST(text_width_counts_columns_not_bytes)
{
	CHECK_UINT(text_width("abc"), 3);
	CHECK_UINT(text_width("größe"), 5);
	CHECK_UINT(text_width("語語"), 4);
	CHECK_UINT(text_width("e\xcc\x81"), 1); /* e and a combining accent */
	CHECK_UINT(text_width("🙂"), 2);
	CHECK_UINT(text_width("\xff"), 1);
	CHECK_UINT(text_char_len("語"), 3);
	CHECK_UINT(text_char_len(""), 0);
}

TEST(text_distance_counts_edits)
{
	CHECK_UINT(text_distance("", ""), 0);
	CHECK_UINT(text_distance("abc", ""), 3);
	CHECK_UINT(text_distance("annotate", "anotate"), 1);
	CHECK_UINT(text_distance("folded", "foldde"), 1);
	CHECK_UINT(text_distance("FOLDED", "folded"), 0);
	CHECK_UINT(text_distance("kitten", "sitting"), 3);
	CHECK_UINT(text_distance("ab", "ba"), 1);
}

static const char *hint_for(struct arena *arena, const char *wanted, const char *const *names)
{
	struct text_near near = { .wanted = wanted };

	for (; *names; names++)
		text_near_offer(&near, *names);
	return text_near_hint(&near, arena);
}

TEST(text_near_offers_the_nearest_first_and_ties_by_name)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	static const char *const names[] = { "script", "folded", "fold", "info",
					     "folded", "holded", NULL };
	static const char *const functions[] = { "main", "parse_expression", "expression_free",
						 "expr", NULL };
	static const char *const many[] = { "a7", "a6", "a5", "a4", "a3", "a2", "a1", NULL };

	CHECK_STR(hint_for(&arena, "foldd", names), "did you mean 'fold' or 'folded'?");
	CHECK_STR(hint_for(&arena, "inof", names), "did you mean 'info'?");
	CHECK_STR(hint_for(&arena, "xyz", names), NULL);
	CHECK_STR(hint_for(&arena, "expression", functions),
		  "did you mean 'expression_free' or 'parse_expression'?");
	CHECK_STR(hint_for(&arena, "a0", many), "did you mean 'a1', 'a2', 'a3', 'a4' or 'a5'?");
}

TEST(text_parses_whole_numbers_only)
{
	uint64_t value = 5;

	CHECK(text_parse_u64("18446744073709551615", &value));
	CHECK_UINT(value, UINT64_MAX);
	CHECK(text_parse_u64("007", &value));
	CHECK_UINT(value, 7);
	static const char *const bad[] = { "",   " 1", "+1",   "-1",
					   "1 ", "1x", "0x10", "18446744073709551616" };

	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		CHECK(!text_parse_u64(bad[i], &value));
	CHECK_UINT(value, 7);
}

TEST(text_parses_sizes)
{
	uint64_t value = 5;

	CHECK(text_parse_size("64", &value) && value == 64);
	CHECK(text_parse_size("64k", &value) && value == 65536);
	CHECK(text_parse_size("1MB", &value) && value == 1 << 20);
	CHECK(text_parse_size("2Gb", &value) && value == 2ULL << 30);
	CHECK(text_parse_size("7B", &value) && value == 7);
	static const char *const bad[] = { "",    "K",    "1KK",          "1X",
					   "-1K", "1.5M", "17179869184G", "16777216T" };

	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		CHECK(!text_parse_size(bad[i], &value));
	CHECK_UINT(value, 7);
}

TEST(text_size_is_for_people)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };

	CHECK_STR(text_size(&arena, 0), "0 B");
	CHECK_STR(text_size(&arena, 999), "999 B");
	CHECK_STR(text_size(&arena, 1000), "1.0 KB");
	CHECK_STR(text_size(&arena, 99949), "99.9 KB");
	CHECK_STR(text_size(&arena, 99950), "100 KB");
	CHECK_STR(text_size(&arena, 999499), "999 KB");
	CHECK_STR(text_size(&arena, 999500), "1.0 MB");
	CHECK_STR(text_size(&arena, 7600000), "7.6 MB");
	CHECK_STR(text_size(&arena, UINT64_MAX), "18446744 TB");
}

static void put_wrapped(FILE *out, void *context)
{
	text_put_wrapped(out, context, 4, 12);
}

static const char *wrapped(const char *text)
{
	return test_printed(put_wrapped, (void *)(uintptr_t)text);
}

TEST(text_wraps_at_blanks_and_keeps_long_words_whole)
{
	CHECK_STR(wrapped(""), "\n");
	CHECK_STR(wrapped("12345678"), "12345678\n");
	CHECK_STR(wrapped("1234 678 0"), "1234 678\n    0\n");
	CHECK_STR(wrapped("1234 6789 0"), "1234\n    6789 0\n");
	CHECK_STR(wrapped("1 123456789012 2"), "1\n    123456789012\n    2\n");
	CHECK_STR(wrapped("größe üüü x"), "größe\n    üüü x\n");
	CHECK_STR(wrapped("one\n\ntwo"), "one\n\n    two\n");
}

static void put_lines(FILE *out, void *context)
{
	text_put_lines(out, context, 24);
}

TEST(text_lines_go_on_below_their_last_column_or_their_first_word)
{
	CHECK_STR(test_printed(put_lines, "short\n\n  go on below here\n"), "short\n\n  go on below here\n");
	CHECK_STR(test_printed(put_lines, "command    what it is about"),
		  "command    what it is\n           about\n");
	CHECK_STR(test_printed(put_lines, "2. an item that is longer than that"),
		  "2. an item that is\n   longer than that\n");
	CHECK_STR(test_printed(put_lines, "  a far column to the   right one"), "  a far column to the  \n  right one\n");
}
