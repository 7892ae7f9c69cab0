/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_short_name.c - the steps by which names get shorter, the same as in tests/web/model.mjs.
 */
#include "report/print/short_name.h"

#include "formats/base/text.h"
#include "tests/unit/test.h"

#include <string.h>

/* The form that is one column shorter, or more, than the whole name. */
static const char *first_step(struct arena *arena, const char *name)
{
	return short_name(arena, name, text_width(name) - 1, /* utf8= */ true);
}

TEST(short_name_leaves_out_arguments_first)
{
	static const char *const cases[][2] = {
		{ "f(int)", "f" },
		{ "(anonymous namespace)::f(int)", "(anonymous namespace)::f" },
		{ "std::vector<int, std::allocator<int> >::push_back(int&&)",
		  "std::vector<int, std::allocator<int> >::push_back" },
		{ "a::operator()(int) const", "a::operator()" },
		{ "a::operator bool() const", "a::operator bool" },
		{ "a::operator<<(std::ostream&, b const&)", "a::operator<<" },
		{ "operator-><int>(x<y>)", "operator-><int>" },
		{ "a::operator<<=(int)", "a::operator<<=" },
		{ "f(int)::{lambda(char)#1}::operator()(char) const",
		  "f::{lambda(char)#1}::operator()" },
		{ "void g<int>(int)", "g<int>" },
		{ "std::enable_if<(1 > 0), int>::type h<int>(int)", "h<int>" },
		{ "f(int) [clone .part.0]", "f [clone .part.0]" },
		{ "f(", "f" },
		{ "<T as core::fmt::Debug>::fmt", "fmt" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(arena_deinit) struct arena arena = { 0 };

		CHECK_STR(first_step(&arena, cases[i][0]), cases[i][1]);
	}
}

TEST(short_name_goes_on_to_templates_and_namespaces)
{
	static const char name[] = "a::b<int>::c(char)";
	static const struct {
		size_t columns;
		const char *want;
	} cases[] = { { 18, name },	       { 17, "a::b<int>::c" }, { 11, "a::b<\u2026>::c" },
		      { 9, "b<\u2026>::c" }, { 6, "c" },	       { 1, "c" }, { 0, "c" } };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(arena_deinit) struct arena arena = { 0 };

		CHECK_STR(short_name(&arena, name, cases[i].columns, true), cases[i].want);
	}
	CLEANUP(arena_deinit) struct arena arena = { 0 };

	CHECK_STR(short_name(&arena, name, 10, /* utf8= */ false), "b<..>::c");
}

TEST(short_name_cuts_a_class_before_it_leaves_it_out)
{
	static const char name[] = "store::detail::ShardedIndex<std::string, long>::sumAll() const";
	static const struct {
		size_t columns;
		const char *want;
	} cases[] = { { 23, "ShardedIndex<\u2026>::sumAll" }, { 21, "ShardedIndex\u2026::sumAll" },
		      { 15, "Sharde\u2026::sumAll" },	     { 13, "Shar\u2026::sumAll" },
		      { 12, "sumAll" },			     { 3, "sumAll" } };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(arena_deinit) struct arena arena = { 0 };

		CHECK_STR(short_name(&arena, name, cases[i].columns, true), cases[i].want);
	}
	CLEANUP(arena_deinit) struct arena arena = { 0 };

	CHECK_STR(short_name(&arena, "a::(anonymous namespace)::function(int)", 16, true), "function");
	CHECK_STR(short_name(&arena, "std::make_heap::{lambda(int)#1}", 12, true), "{lambda(int)#1}");
}

TEST(short_name_leaves_what_is_no_such_name)
{
	static const char *const cases[] = { "main", "[cc1+0x80c900]", "", "::", "a::", "kworker/0:1",
					     "operator", "(((((", "{(<[" };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(arena_deinit) struct arena arena = { 0 };

		CHECK_STR(short_name(&arena, cases[i], 1, true), cases[i]);
	}
}

/* Whatever is given: something comes out, and soon. */
TEST(short_name_survives_hostile_names)
{
	static const char *const pieces[] = { "f(", "a::", "<", ">", "operator<", "(a)::", "operator ", ") const" };

	for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
		CLEANUP(arena_deinit) struct arena arena = { 0 };
		size_t len = strlen(pieces[i]), count = 10000 / len;
		char *name = arena_alloc(&arena, count * len + 1);

		for (size_t at = 0; at < count; at++)
			strcpy(name + at * len, pieces[i]);
		CHECK(*short_name(&arena, name, 20, true));
	}
}
