/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_folded_read.c - what values mean, and what stands behind names.
 */
#include "formats/profile/folded_read.h"
#include "tests/unit/test.h"

#include <string.h>

static struct profile *read_text(const char *text)
{
	struct profile *p = profile_new();
	struct err *err = folded_read(text, strlen(text), p);

	CHECK(!err);
	err_free(err);
	return p;
}

/* The leaf of row @row. */
static const struct profile_function *leaf(const struct profile *p, size_t row)
{
	const struct profile_stack *stack = &p->stacks.items[p->samples.items[row].stack];
	uint32_t line = p->locations.items[stack->location].first_line;

	return &p->functions.items[p->lines.items[line].function];
}

TEST(folded_values_below_a_thousand_count_samples)
{
	struct profile *p = read_text("a;b 4000\na;c 6\n");
	struct profile_sum sum = profile_total(p, 0);

	CHECK_UINT(sum.count, 4006);
	CHECK_UINT(sum.weight, 4006);
	CHECK(sum.weight_sq == 4006);
	profile_free(p);
}

TEST(folded_weights_of_one_period_are_counted)
{
	struct profile *p = read_text("a;b 30303030\na;c 10101010\n");
	struct profile_sum sum = profile_total(p, 0);

	CHECK_UINT(sum.count, 4);
	CHECK_UINT(sum.weight, 40404040);
	CHECK(sum.weight_sq == 4 * 10101010.0 * 10101010.0);
	profile_free(p);
}

TEST(folded_weights_of_no_period_are_a_sample_each)
{
	struct profile *p = read_text("a;b 30303031\na;c 10101010\na;c 20000000\n");

	CHECK_UINT(profile_total(p, 0).count, 3);
	profile_free(p);
}

TEST(folded_names_keep_blanks_and_lose_marks)
{
	struct profile *p = read_text("x y;std::map<a, b>::at (int) [my lib.so] 5\r\n"
				      "x;do_sys_[k] [[kernel]] 1\nx;jit_[j] 1\nonly 2\nx;;y 1");

	CHECK_UINT(p->samples.len, 5);
	CHECK_STR(profile_text(p, leaf(p, 0)->name), "std::map<a, b>::at (int)");
	CHECK_STR(profile_text(p, profile_module(p, leaf(p, 0)->module)->name), "my lib.so");
	CHECK_STR(profile_text(p, p->threads.items[p->samples.items[0].thread].process), "x y");
	CHECK_STR(profile_text(p, leaf(p, 1)->name), "do_sys");
	CHECK_STR(profile_text(p, profile_module(p, leaf(p, 1)->module)->name), "[kernel]");
	CHECK(profile_module(p, leaf(p, 1)->module)->kind == PROFILE_KERNEL);
	CHECK_UINT(leaf(p, 2)->module, PROFILE_NONE);
	CHECK_UINT(p->locations.items[p->stacks.items[p->samples.items[2].stack].location].kind,
		   PROFILE_FRAME_JIT);
	CHECK_STR(profile_text(p, leaf(p, 3)->name), "only");
	CHECK_STR(profile_text(p, p->threads.items[p->samples.items[3].thread].process), "");
	profile_free(p);
}

TEST(folded_files_are_told_from_others)
{
	CHECK(folded_is("# c\n\na;b 1\n", 11));
	CHECK(folded_is("a 1", 3));
	CHECK(!folded_is("", 0));
	CHECK(!folded_is("a;b\n", 4));
	CHECK(!folded_is("a;b x\n", 6));
	CHECK(!folded_is("a;b \0 1\n", 8));
	CHECK(!folded_is("PERFILE2", 8));
}
