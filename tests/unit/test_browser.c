/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_browser.c - what the terminal interface shows of a profile whose shares are known.
 */
#include "report/tui/browser.h"
#include "tests/unit/synthetic.h"
#include "tests/unit/test.h"

#include <string.h>

static struct profile *filled(void)
{
	static const struct synthetic_sample samples[] = {
		{ "main;run;hot", 1, 1, 30, 10 },
		{ "main;run;libc:malloc", 1, 2, 20, 10 },
		{ "main;other;libc:malloc", 2, 3, 40, 10 },
		{ "", 3, 3, 10, 10 },
	};

	struct profile *p = synthetic_new();

	for (size_t i = 0; i < ARRAY_LEN(samples); i++)
		synthetic_add(p, &samples[i]);
	return p;
}

/* "malloc:60 -run:20 …": names and counts, a '-' for each step in. */
static const char *rows(struct browser *b, struct arena *arena)
{
	size_t count;
	const struct browser_row *row = browser_rows(b, &count);
	const char *text = "";

	for (size_t i = 0; i < count; i++)
		text = arena_printf(arena, "%s%s%.*s%s:%d", text, i ? " " : "", (int)row[i].depth,
				    "----", row[i].name, (int)row[i].sum.count);
	return text;
}

static size_t find(struct browser *b, const char *name)
{
	size_t count;
	const struct browser_row *row = browser_rows(b, &count);

	for (size_t i = 0; i < count; i++) {
		if (strcmp(row[i].name, name) == 0)
			return i;
	}
	CHECK(!"row is there");
	return 0;
}

TEST(browser_unfolds_leaves_into_their_callers)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct profile *p;

	p = filled();
	struct browser *b = browser_new(p, 0, 0);

	CHECK_STR(rows(b, &arena), "malloc:60 hot:30 [no stack]:10");
	browser_toggle(b, 0);
	CHECK_STR(rows(b, &arena), "malloc:60 -other:40 -run:20 hot:30 [no stack]:10");
	browser_toggle(b, find(b, "run"));
	CHECK_STR(rows(b, &arena), "malloc:60 -other:40 -run:20 --main:20 hot:30 [no stack]:10");
	browser_toggle(b, 0);
	CHECK_STR(rows(b, &arena), "malloc:60 hot:30 [no stack]:10");
	browser_toggle(b, 0); /* what was unfolded below is as it was left */
	CHECK_STR(rows(b, &arena), "malloc:60 -other:40 -run:20 --main:20 hot:30 [no stack]:10");
	CHECK_UINT(browser_whole(b).count, 100);
	browser_free(b);
	profile_free(p);
}

TEST(browser_unfolds_sums_into_their_callers_too)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct profile *p;

	p = filled();
	struct browser *b = browser_new(p, 0, 0);

	browser_show(b, BROWSER_TOTALS);
	browser_toggle(b, find(b, "run"));
	browser_search(b, "RUN");
	CHECK_STR(rows(b, &arena), "run:50 -main:50");
	browser_search(b, "");
	CHECK_STR(rows(b, &arena),
		  "main:90 malloc:60 run:50 -main:50 other:40 hot:30 [no stack]:10");
	browser_free(b);
	profile_free(p);
}

TEST(browser_narrows_step_by_step_and_back)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct profile *p;

	p = filled();
	struct browser *b = browser_new(p, 0, 0);

	browser_show(b, BROWSER_MODULES);
	browser_narrow(b, find(b, "libc"));
	CHECK(browser_table(b) == BROWSER_LEAVES);
	CHECK_STR(rows(b, &arena), "malloc:60");
	CHECK_STR(browser_narrowed(b), "module libc");
	CHECK_UINT(browser_whole(b).count, 60);

	browser_show(b, BROWSER_PROCESSES);
	CHECK_UINT(browser_whole(b).count, 60);
	browser_narrow(b, 1);
	CHECK_UINT(browser_whole(b).count, 20);
	browser_toggle(b, 0);
	CHECK_STR(rows(b, &arena), "malloc:20 -run:20");

	CHECK(browser_widen(b));
	CHECK_UINT(browser_whole(b).count, 60);
	CHECK(browser_widen(b));
	CHECK_STR(browser_narrowed(b), "");
	CHECK_UINT(browser_whole(b).count, 100);
	CHECK(!browser_widen(b));

	browser_show(b, BROWSER_THREADS);
	browser_narrow(b, 1);
	CHECK_STR(rows(b, &arena), "hot:30");
	browser_free(b);
	profile_free(p);
}

TEST(browser_shows_calls_from_the_root)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct profile *p = filled();
	struct browser *b = browser_new(p, 0, 0);

	browser_show(b, BROWSER_CALLS);
	CHECK_STR(rows(b, &arena), "main:90 [no stack]:10");
	browser_unfold_chain(b, 0); /* two ways below */
	CHECK_STR(rows(b, &arena), "main:90 -run:50 -other:40 [no stack]:10");
	browser_unfold_chain(b, find(b, "other"));
	CHECK_STR(rows(b, &arena), "main:90 -run:50 -other:40 --malloc:40 [no stack]:10");
	browser_unfold_all(b, 0.25);
	CHECK_STR(rows(b, &arena), "main:90 -run:50 --hot:30 --malloc:20 -other:40 --malloc:40 [no stack]:10");
	browser_fold_all(b);
	CHECK_STR(rows(b, &arena), "main:90 [no stack]:10");
	browser_unfold_all(b, 0.45); /* a row below the share is shown, but not what it calls */
	CHECK_STR(rows(b, &arena), "main:90 -run:50 --hot:30 --malloc:20 -other:40 [no stack]:10");
	browser_free(b);
	profile_free(p);
}

TEST(browser_unfolds_sums_both_ways)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct profile *p = filled();
	struct browser *b = browser_new(p, 0, 0);

	browser_show(b, BROWSER_TOTALS);
	browser_turn_round(b);
	CHECK(browser_shows_callees(b));
	browser_toggle(b, find(b, "run"));
	browser_search(b, "run");
	CHECK_STR(rows(b, &arena), "run:50 -hot:30 -malloc:20");
	browser_turn_round(b); /* what is unfolded one way is not the other */
	CHECK_STR(rows(b, &arena), "run:50");
	browser_free(b);
	profile_free(p);
}

TEST(browser_zooms_into_a_function)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct profile *p = filled();
	struct browser *b = browser_new(p, 0, 0);

	browser_show(b, BROWSER_TOTALS);
	CHECK(browser_zoom(b, find(b, "run")));
	CHECK_STR(browser_narrowed(b), "stacks with run");
	browser_show(b, BROWSER_LEAVES);
	CHECK_STR(rows(b, &arena), "hot:30 malloc:20");
	CHECK(browser_widen(b));
	CHECK(!browser_zoom(b, find(b, "[no stack]")));
	browser_free(b);
	profile_free(p);
}

/* A live view has another profile every moment: what was chosen stays. */
TEST(browser_looks_at_another_profile_in_the_same_way)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct profile *p = filled(), *next = synthetic_new();
	struct browser *b = browser_new(p, 0, 0);

	browser_toggle(b, find(b, "malloc"));
	browser_show(b, BROWSER_PROCESSES);
	browser_narrow(b, find(b, "proc1"));
	CHECK_STR(rows(b, &arena), "hot:30 malloc:20 -run:20");
	synthetic_add(next, &(struct synthetic_sample){ "late;libc:malloc", 1, 2, 60, 10 });
	synthetic_add(next, &(struct synthetic_sample){ "main;other;libc:malloc", 2, 3, 7, 10 });
	browser_look_at(b, next, 0);
	profile_free(p);
	CHECK_STR(rows(b, &arena), "malloc:60 -late:60");
	CHECK_STR(browser_narrowed(b), "process proc1 (pid 1)");
	CHECK(browser_widen(b));
	CHECK_STR(rows(b, &arena), "malloc:67 -late:60 -other:7");
	browser_free(b);
	profile_free(next);
}

TEST(browser_narrows_to_what_each_table_lists)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct profile *p = filled();
	struct browser *b = browser_new(p, 0, 0);

	browser_show(b, BROWSER_PROGRAMS);
	browser_narrow(b, find(b, "proc2"));
	CHECK_STR(rows(b, &arena), "malloc:40");
	CHECK(browser_widen(b));
	browser_show(b, BROWSER_TIMELINE);
	size_t count;

	CHECK_STR(browser_rows(b, &count)[0].detail, "no times");
	for (enum browser_table table = 0; table < BROWSER_TABLES; table++) {
		browser_show(b, table);
		CHECK_UINT(browser_whole(b).count, 100);
	}
	browser_free(b);
	profile_free(p);
}
