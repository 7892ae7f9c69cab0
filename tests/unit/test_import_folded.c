/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_import_folded.c - what values mean, and what stands behind names.
 */
#include "formats/profile/import/import_rows.h"
#include "tests/unit/import_case.h"

#include <string.h>

static struct profile *read_text(const char *text)
{
	struct import_case c;
	struct profile *p;

	import_case_text(&c, text);
	p = c.p;
	c.p = NULL;
	import_case_close(&c);
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

TEST(folded_weights_of_no_period_are_no_counts)
{
	struct profile *p = read_text("a;b 30303031\na;c 10101010\na;c 20000000\n");

	CHECK(isnan(profile_total(p, 0).weight_sq));
	CHECK_STR(profile_text(p, p->types.items[0].name), "value");
	profile_free(p);
}

TEST(folded_times_in_microseconds_are_no_counts)
{
	struct import_case c;

	/* As from a .cpuprofile: 1000 is what all have in common, since times are in microseconds. */
	import_case_text(&c, "p;a 1078000\np;b 603000\np;c 13291000\n");
	CHECK(isnan(import_case_sum(&c, "value").weight_sq));
	import_case_close(&c);
	import_case_text(&c, "p;a 1078000\np;b 1000\n");
	CHECK(isnan(import_case_sum(&c, "value").weight_sq));
	import_case_close(&c);
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

static bool is_folded(const char *text, size_t len)
{
	return import_folded.recognise((const uint8_t *)text, len) > 0;
}

TEST(folded_places_are_lines_in_every_dialect)
{
	struct import_case c;

	import_case_text(&c, "app;main (/src/a b.c:3);leaf (x.c:77)_[i] [app] 12\napp;main (/src/a b.c:3);run (job.py:5) 1\n");
	CHECK_STR(import_case_stack(&c, 0), "leaf:77<main:3");
	CHECK_STR(profile_text(c.p, c.p->threads.items[c.p->samples.items[0].thread].process), "app");
	CHECK_UINT(c.p->locations.items[c.p->stacks.items[c.p->samples.items[0].stack].location].kind, PROFILE_FRAME_NATIVE);
	CHECK_UINT(c.p->locations.items[c.p->stacks.items[c.p->samples.items[1].stack].location].kind, PROFILE_FRAME_INTERPRETED);
	import_case_close(&c);
}

TEST(folded_files_are_told_from_others)
{
	CHECK(is_folded("# c\n\na;b 1\n", 11));
	CHECK(is_folded("a 1", 3));
	CHECK(!is_folded("", 0));
	CHECK(!is_folded("a;b\n", 4));
	CHECK(!is_folded("a;b x\n", 6));
	CHECK(!is_folded("a;b \0 1\n", 8));
	CHECK(!is_folded("PERFILE2", 8));
	CHECK(!is_folded("The answer is 42", 16));
}

TEST(folded_differences_are_refused)
{
	struct import_case c;

	CHECK_ERR(import_case_read(&c, "a;b 3 5\na;c 1 0\n", 16, "x"), ERR_UNSUPPORTED, "difference of two profiles");
	import_case_close(&c);
	CHECK_ERR(import_case_read(&c, "a;b 3\na;c -1\n", 13, "x"), ERR_UNSUPPORTED, "line 2 has a negative count");
	import_case_close(&c);
}

TEST(folded_lines_of_py_spy_have_files_and_lines)
{
	struct import_case c;

	import_case_text(&c, "process 12:\"python x.py\";main (a.py:3);f (b c.py:77) 12\r\n"
			     "process 12:\"python x.py\";main (a.py:3) 2\r\n");
	CHECK_STR(import_case_stack(&c, 0), "f:77<main:3");
	CHECK_STR(import_case_stack(&c, 1), "main:3");
	CHECK_STR(profile_text(c.p, c.p->threads.items[c.p->samples.items[0].thread].process),
		  "python x.py");
	CHECK_UINT(c.p->threads.items[c.p->samples.items[0].thread].pid, 12);
	import_case_close(&c);
}

static const struct profile_thread *thread_of_row(const struct import_case *c, size_t row)
{
	return &c->p->threads.items[c->p->samples.items[row].thread];
}

TEST(folded_threads_have_their_numbers_and_names)
{
	struct import_case c;

	/* As py-spy -t -s writes them, with a sample that had no frame yet. */
	import_case_text(&c, " 3\n"
			     "process 12:\"python x.py\";thread (13): burner;main (a.py:3) 2\n"
			     "process 12:\"python x.py\";thread (14);main (a.py:3) 4\n"
			     "process 12:\"python x.py\";other (a.py:9);f (a.py:7) 8\n");
	CHECK_INT(import_case_sum(&c, "samples").weight, 17);
	CHECK_STR(import_case_stack(&c, 0), "");
	CHECK_STR(import_case_stack(&c, 1), "main:3");
	CHECK_UINT(thread_of_row(&c, 1)->pid, 12);
	CHECK_UINT(thread_of_row(&c, 1)->tid, 13);
	CHECK_STR(profile_text(c.p, thread_of_row(&c, 1)->comm), "burner");
	CHECK_STR(profile_text(c.p, thread_of_row(&c, 1)->process), "python x.py");
	CHECK_UINT(thread_of_row(&c, 2)->tid, 14);
	CHECK_UINT(thread_of_row(&c, 3)->tid, PROFILE_NONE); /* the process alone again */
	CHECK_STR(import_case_stack(&c, 3), "f:7<other:9");
	import_case_close(&c);
	import_case_text(&c, "worker-10/11;main;f 2\n");
	CHECK_UINT(thread_of_row(&c, 0)->tid, 11);
	CHECK_STR(import_case_stack(&c, 0), "f<main");
	import_case_close(&c);
	import_case_text(&c, "[main tid=12];java/lang/Thread.run_[0];Foo.bar_[j] 2\n");
	CHECK_UINT(thread_of_row(&c, 0)->tid, 12);
	CHECK_STR(profile_text(c.p, thread_of_row(&c, 0)->comm), "main");
	import_case_close(&c);
}

TEST(folded_needs_more_than_numbers)
{
	CHECK(!is_folded(" 3\n 4\n", 6));
}

TEST(folded_lines_of_async_profiler_have_no_process)
{
	struct import_case c;

	import_case_text(&c, "java/lang/Thread.run_[0];Foo.bar_[j];Foo.baz_[i];do_read_[k] 3\n");
	CHECK_STR(import_case_stack(&c, 0), "do_read<Foo.baz<Foo.bar<java/lang/Thread.run");
	CHECK_STR(profile_text(c.p, c.p->threads.items[0].process), "");
	import_case_close(&c);
}

TEST(folded_lines_of_bcc_have_a_mark_in_front_of_kernel_frames)
{
	struct import_case c;

	import_case_text(&c, "dd;main;-;vfs_read;copy 3\ndd;main;read 2\n");
	CHECK_STR(import_case_stack(&c, 0), "copy<vfs_read<main");
	CHECK_UINT(c.p->locations.items[c.p->stacks.items[c.p->samples.items[0].stack].location].kind,
		   PROFILE_FRAME_KERNEL);
	import_case_close(&c);
}

TEST(folded_text_may_be_utf16)
{
	static const char text[] = "\xff\xfe" "a\0;\0b\0 \0" "7\0\n";
	struct import_case c;

	CHECK_OK(import_case_read(&c, text, sizeof(text), "x"));
	CHECK_UINT(import_case_sum(&c, "samples").weight, 7);
	import_case_close(&c);
}

TEST(folded_lines_share_frames_with_the_line_before_only_where_they_are_the_same)
{
	struct import_case c;

	import_case_text(&c, "p;a;bc 1\np;a;b 1\np;a;bc;d 1\np;a 1\np;ab 1\np 1\nq;a;bc 1\np;a;bc 1\n");
	CHECK_STR(import_case_stack(&c, 0), "bc<a");
	CHECK_STR(import_case_stack(&c, 1), "b<a");
	CHECK_STR(import_case_stack(&c, 2), "d<bc<a");
	CHECK_STR(import_case_stack(&c, 3), "a");
	CHECK_STR(import_case_stack(&c, 4), "ab");
	CHECK_STR(import_case_stack(&c, 5), "p");
	CHECK_UINT(c.p->samples.items[0].count, 2);
	CHECK_STR(profile_text(c.p, c.p->threads.items[c.p->samples.items[6].thread].process), "q");
	import_case_close(&c);
}

TEST(folded_files_survive_damage)
{
	static const char text[] = "# x\np;main [p];work_[i] [p] 3\np;main [p];vfs_[k] [[kernel]] 9\n";

	import_case_damage(text, sizeof(text) - 1, "x.folded");
}
