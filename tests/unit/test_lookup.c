/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_lookup.c - which function a name means.
 */
#include "report/view/lookup.h"
#include "tests/unit/synthetic.h"
#include "tests/unit/test.h"

#include <string.h>

static struct profile *functions(void)
{
	struct profile *p = synthetic_new();

	synthetic_add(
		p, &(struct synthetic_sample){ "main;sort(int*);sort(long*);qsort", 1, 1, 1, 1 });
	synthetic_add(p,
		      &(struct synthetic_sample){ "main;libc:malloc;jemalloc:malloc", 1, 1, 1, 1 });
	return p;
}

static uint64_t matched(const struct profile *p, const struct lookup *found)
{
	uint64_t count = 0;

	for (size_t i = 0; i < p->functions.len; i++)
		count += found->matches[i];
	return count;
}

TEST(lookup_takes_a_name_with_and_without_arguments_and_a_glob)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct profile *p = functions();
	struct lookup found;

	CHECK_OK(lookup_function(p, "sort(int*)", &arena, &found));
	CHECK_UINT(matched(p, &found), 1);
	CHECK_OK(lookup_function(p, "qsort", &arena, &found));
	CHECK_STR(found.name, "qsort");
	CHECK_OK(lookup_function(p, "*sort*", &arena, &found));
	CHECK_UINT(matched(p, &found), 3);
	CHECK_STR(found.name, "*sort*");
	profile_free(p);
}

/* What people type: the name without its class, and without what the compiler wrote behind it. */
TEST(lookup_takes_the_last_part_of_a_name_and_all_copies_of_a_function)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct profile *p = synthetic_new();
	struct lookup found;

	synthetic_add(p, &(struct synthetic_sample){ "main;prog:app::Store<long>::sum() const;step.isra.0", 1, 1, 1, 1 });
	synthetic_add(p, &(struct synthetic_sample){ "main;step.constprop.1;step;step(int) [clone .part.2]", 1, 1, 1, 1 });
	synthetic_add(p, &(struct synthetic_sample){ "main;prog:a::put(int);prog:b::put(int)", 1, 1, 1, 1 });
	CHECK_OK(lookup_function(p, "sum", &arena, &found));
	CHECK_STR(found.name, "app::Store<long>::sum() const");
	CHECK_OK(lookup_function(p, "step", &arena, &found));
	CHECK_UINT(matched(p, &found), 3);
	CHECK_OK(lookup_function(p, "step.constprop.1", &arena, &found));
	CHECK_UINT(matched(p, &found), 1);
	CHECK_ERR(lookup_function(p, "put", &arena, &found), ERR_USAGE, "several functions");
	CHECK_ERR(lookup_function(p, "um", &arena, &found), ERR_USAGE, "no function");
	profile_free(p);
}

TEST(lookup_tells_modules_apart)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct profile *p = functions();
	struct lookup found;

	CHECK_OK(lookup_function(p, "libc:malloc", &arena, &found));
	CHECK_UINT(matched(p, &found), 1);
	CHECK_OK(lookup_function(p, "/lib/je*:malloc", &arena, &found));
	CHECK_UINT(matched(p, &found), 1);
	CHECK_OK(lookup_function(p, "mallo[c]", &arena, &found));
	CHECK_UINT(matched(p, &found), 2);
	profile_free(p);
}

TEST(lookup_names_the_choices_or_the_neighbours)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct profile *p = functions();
	struct lookup found;
	CLEANUP(err_freep) struct err *several = lookup_function(p, "malloc", &arena, &found);
	CLEANUP(err_freep) struct err *none = lookup_function(p, "quort", &arena, &found);

	CHECK(several && err_kind(several) == ERR_USAGE);
	CHECK(strstr(err_hint(several), "'jemalloc:malloc', 'libc:malloc'"));
	CHECK(none && err_kind(none) == ERR_USAGE);
	CHECK_STR(err_message(none), "no function 'quort' in the samples");
	CHECK(strstr(err_hint(none), "'qsort'"));
	CHECK_ERR(lookup_function(p, "sort", &arena, &found), ERR_USAGE, "several functions");
	profile_free(p);
}

TEST(lookup_finds_where_arguments_begin)
{
	CHECK_UINT(lookup_base_len("f(int)"), 1);
	CHECK_UINT(lookup_base_len("(anonymous namespace)::f(int)"), 24);
	CHECK_UINT(lookup_base_len("A::operator()(int) const"), 13);
	CHECK_UINT(lookup_base_len("plain"), 5);
	CHECK_UINT(lookup_base_len("(odd"), 4);
	CHECK_UINT(lookup_base_len(""), 0);
}
