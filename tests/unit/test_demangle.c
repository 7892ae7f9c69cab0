/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "symbolize/name/demangle.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *linkage_name, *name;
} names[] = {
	{ "main", "main" },
	{ "", "" },
	{ "_", "_" },
	{ "_Z", "_Z" },
	{ "_start", "_start" },
	{ "malloc@plt", "malloc@plt" },
	{ "_Z3addii", "add(int, int)" },
	{ "_ZN4deep1DILi2EE1fEi", "deep::D<2>::f(int)" },
	{ "_ZNK3fooIcE3barEv", "foo<char>::bar() const" },
	{ "_Z3addii.cold", "add(int, int) [clone .cold]" },
	{ "_Z3addii.part.0", "add(int, int) [clone .part.0]" },
	{ "_Z3addii@plt", "add(int, int)@plt" },
	{ "_ZdlPv@plt", "operator delete(void*)@plt" },
	{ "_ZN3FooC4Ev", "Foo::Foo()" },
	{ "_ZN4core3fmt9Formatter3pad17h5d9f4a3b2c1e0f7aE", "core::fmt::Formatter::pad" },
	{ "_RNvCskwGfYPst2Cb_3foo16example_function", "foo::example_function" },
	{ "_RNCNvMs4_NtCsgY6Mt91CT9J_14rustc_demangle2v0NtB7_7Printer10print_type0B9_",
	  "<rustc_demangle::v0::Printer>::print_type::{closure#0}" },
	{ "_ZN", "_ZN" },
	{ "_Z3ad", "_Z3ad" },
};

TEST(demangle_spells_names_as_the_source_does)
{
	struct demangler *d = demangler_new(DEMANGLE_FULL);

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		CHECK_STR(demangler_name(d, names[i].linkage_name), names[i].name);
	demangler_free(d);
}

TEST(demangle_gives_the_same_string_for_the_same_name)
{
	struct demangler *d = demangler_new(DEMANGLE_FULL);
	char copy[] = "_Z3addii";
	const char *first = demangler_name(d, "_Z3addii");

	CHECK(demangler_name(d, copy) == first);
	demangler_free(d);
}

/* f(a, p<a, a>, p<p<a, a>, p<a, a>>, ...): each argument is twice as long as the one before. */
static void bomb(char *ret, unsigned levels)
{
	ret += sprintf(ret, "_Z1f1a1pIS_S_E");
	for (unsigned i = 0; i < levels; i++) {
		char c = (char)(i < 9 ? '1' + i : 'A' + i - 9);

		ret += sprintf(ret, "S0_IS%c_S%c_E", c, c);
	}
}

TEST(demangle_leaves_a_name_that_would_explode_as_it_is)
{
	struct demangler *d = demangler_new(DEMANGLE_FULL);
	char name[1024];

	bomb(name, 30);
	CHECK_STR(demangler_name(d, name), name);
	bomb(name, 2);
	CHECK_STR(demangler_name(d, name),
		  "f(a, p<a, a>, p<p<a, a>, p<a, a> >, p<p<p<a, a>, p<a, a> >, "
		  "p<p<a, a>, p<a, a> > >)");
	CHECK_STR(demangler_name(d, "_Z3addii"), "add(int, int)"); /* and goes on working */
	demangler_free(d);
}

TEST(demangle_simple_leaves_out_arguments)
{
	struct demangler *d = demangler_new(DEMANGLE_SIMPLE);

	CHECK_STR(demangler_name(d, "_Z3addii"), "add");
	CHECK_STR(demangler_name(d, "_ZNK5store5IndexIlE3sumEv"), "store::Index<long>::sum");
	CHECK_STR(demangler_name(d, "main"), "main");
	demangler_free(d);
}

TEST(demangle_spells_names_of_d)
{
	struct demangler *d = demangler_new(DEMANGLE_FULL), *simple = demangler_new(DEMANGLE_SIMPLE);

	CHECK_STR(demangler_name(d, "_Dmain"), "D main");
	CHECK_STR(demangler_name(d, "_D4prog5outerFiZi"), "prog.outer(int)");
	CHECK_STR(demangler_name(simple, "_D4prog5outerFiZi"), "prog.outer");
	CHECK_STR(demangler_name(d, "_D4core8lifetime__T11moveEmplaceTiZQqFNaNbNiKiKiZv"),
		  "core.lifetime.moveEmplace!(int).moveEmplace(ref int, ref int)");
	CHECK_STR(demangler_name(d, "_Do_it"), "_Do_it"); /* a C function */
	CHECK_STR(demangler_name(d, "_D4prog5"), "_D4prog5");
	demangler_free(d);
	demangler_free(simple);
}

/* Each level stands for two of the last one. */
TEST(demangle_leaves_a_name_of_d_that_would_explode_as_it_is)
{
	struct demangler *d = demangler_new(DEMANGLE_FULL);
	char name[1024] = "_D1fFG1i";
	size_t level = 5; /* where the last one begins */

	for (int i = 0; i < 30; i++) {
		size_t at = strlen(name);

		/* a pointer to a function of the last one, twice */
		snprintf(name + at, sizeof(name) - at, "PFQ%cQ%cZv", (char)('a' + at + 3 - level - 1), (char)('a' + at + 5 - level - 1));
		level = at;
	}
	strcat(name, "Zv");
	CHECK_STR(demangler_name(d, name), name);
	CHECK_STR(demangler_name(d, "_D4prog5outerFiZi"), "prog.outer(int)");
	demangler_free(d);
}
