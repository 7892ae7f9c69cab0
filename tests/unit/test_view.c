/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_view.c - groups of profiles whose shares are known by construction.
 */
#include "report/commands.h"
#include "report/view/view.h"
#include "tests/unit/synthetic.h"
#include "tests/unit/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct profile *mixed(void)
{
	static const struct synthetic_sample samples[] = {
		{ "main;run;hot", 1, 1, 30, 10 },
		{ "main;run;libc:malloc", 1, 2, 20, 10 },
		{ "main;rec;rec;rec;leaf", 1, 1, 10, 10 },
		{ "main;outer+middle+inner", 2, 2, 25, 10 },
		{ "main;rec;rec", 2, 3, 10, 10 },
		{ "", 3, 3, 5, 10 },
	};
	struct profile *p = synthetic_new();

	for (size_t i = 0; i < ARRAY_LEN(samples); i++)
		synthetic_add(p, &samples[i]);
	return p;
}

static void build(struct view *view, const struct profile *p, const char *levels)
{
	struct view_spec spec = { .event = 0 };

	CHECK_OK(view_parse_levels(&spec.levels, levels));
	view_build(view, p, &spec);
	view_sort(view, VIEW_SORT_WEIGHT);
}

/* Samples of the outermost group whose first fields are @first and @second (NULL: any). */
static uint64_t count_of(const struct view *view, const char *first, const char *second)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < view->ntop; i++) {
		const struct view_group *group = &view->groups.items[view->order.items[i]];
		const struct view_key *key = view_key(view, group);

		if (strcmp(key->fields[0], first) == 0 &&
		    (!second || strcmp(key->fields[1], second) == 0))
			count += group->sum.count;
	}
	return count;
}

TEST(view_leaf_is_the_innermost_inlined_function)
{
	struct profile *p = mixed();
	struct view view;

	build(&view, p, "leaf");
	CHECK_UINT(count_of(&view, "hot", "app"), 30);
	CHECK_UINT(count_of(&view, "malloc", "libc"), 20);
	CHECK_UINT(count_of(&view, "inner", "app"), 25);
	CHECK_UINT(count_of(&view, "outer", NULL), 0);
	CHECK_UINT(count_of(&view, "rec", NULL), 10);
	CHECK_UINT(count_of(&view, "[no stack]", NULL), 5);
	CHECK_UINT(view.whole.count, 100);
	CHECK_UINT(view.whole.weight, 1000);
	view_deinit(&view);
	profile_free(p);
}

TEST(view_total_counts_a_function_once_a_stack_however_often_it_recurses)
{
	struct profile *p = mixed();
	struct view view;

	build(&view, p, "total");
	CHECK_UINT(count_of(&view, "main", NULL), 95);
	CHECK_UINT(count_of(&view, "rec", NULL), 20);
	CHECK_UINT(count_of(&view, "middle", NULL), 25);
	CHECK_UINT(count_of(&view, "run", NULL), 50);
	for (uint32_t i = 0; i < view.ntop; i++) {
		const struct view_group *group = &view.groups.items[view.order.items[i]];
		const char *name = view_key(&view, group)->fields[0];
		bool passed = strcmp(name, "main") == 0 || strcmp(name, "run") == 0;

		if (strcmp(name, "rec") == 0)
			CHECK_UINT(group->self.count, 10);
		if (strcmp(name, "main") == 0)
			CHECK_UINT(group->self.count, 0);
		/* run is on 50 of the 60 stacks of process 1: not nearly all; main is on all of 1 and 2 */
		CHECK(view_is_passed_through(&view, group) == (passed && strcmp(name, "run") != 0));
	}
	view_deinit(&view);
	profile_free(p);
}

TEST(view_caller_crosses_inlined_calls)
{
	struct profile *p = mixed();
	struct view view;

	build(&view, p, "caller");
	CHECK_UINT(count_of(&view, "inner", "middle"), 25);
	CHECK_UINT(count_of(&view, "malloc", "run"), 20);
	CHECK_UINT(count_of(&view, "leaf", "rec"), 10);
	CHECK_UINT(count_of(&view, "rec", "rec"), 10);
	view_deinit(&view);
	profile_free(p);
}

TEST(view_sums_are_equal_at_every_level_but_total)
{
	static const char *const levels[] = { "leaf",    "caller",  "module", "thread",
					      "process", "comm",    "cpu",    "line",
					      "address", "depth=1", "depth=3" };
	struct profile *p = mixed();

	for (size_t l = 0; l < ARRAY_LEN(levels); l++) {
		struct profile_sum sum = { 0 };
		struct view view;

		build(&view, p, levels[l]);
		for (size_t i = 0; i < view.groups.len; i++) {
			sum.count += view.groups.items[i].sum.count;
			sum.weight += view.groups.items[i].sum.weight;
		}
		CHECK_UINT(sum.count, 100);
		CHECK_UINT(sum.weight, 1000);
		view_deinit(&view);
	}
	profile_free(p);
}

TEST(view_depth_counts_from_the_root)
{
	struct profile *p = mixed();
	struct view view;

	build(&view, p, "depth=2");
	CHECK_UINT(count_of(&view, "run", NULL), 50);
	CHECK_UINT(count_of(&view, "outer", NULL), 25);
	CHECK_UINT(count_of(&view, "rec", NULL), 20);
	view_deinit(&view);
	build(&view, p, "depth=4");
	CHECK_UINT(count_of(&view, "inner", NULL), 25);
	CHECK_UINT(count_of(&view, "[stack ends before]", NULL), 60);
	view_deinit(&view);
	profile_free(p);
}

TEST(view_levels_nest_and_children_sum_up_to_their_parent)
{
	struct profile *p = mixed();
	struct view view;

	build(&view, p, "process,thread,leaf");
	CHECK_UINT(view.ntop, 3);
	for (size_t i = 0; i < view.groups.len; i++) {
		const struct view_group *group = &view.groups.items[i];
		uint64_t count = 0;

		for (uint32_t c = 0; c < group->count; c++) {
			uint32_t child = view.order.items[group->first + c];

			CHECK_UINT(view.groups.items[child].parent, i);
			count += view.groups.items[child].sum.count;
		}
		CHECK(group->level == 2 ? group->count == 0 : count == group->sum.count);
	}
	const struct view_group *top = &view.groups.items[view.order.items[0]];

	CHECK_STR(view_key(&view, top)->fields[0], "proc1");
	CHECK_UINT(top->sum.count, 60);
	view_deinit(&view);
	profile_free(p);
}

static void cut(struct view *view, const struct profile *p, const char *levels, enum view_cut how,
		const char *name)
{
	static bool at[64];
	struct view_spec spec = { .event = 0, .cut = how, .cut_at = at };

	for (size_t i = 0; i < p->functions.len; i++)
		at[i] = strcmp(profile_text(p, p->functions.items[i].name), name) == 0;
	CHECK_OK(view_parse_levels(&spec.levels, levels));
	view_build(view, p, &spec);
	view_sort(view, VIEW_SORT_WEIGHT);
}

TEST(view_intervals_reach_as_far_up_as_what_was_lost)
{
	struct profile *p = mixed();
	struct stats_share share, plain;
	struct view view;

	p->samples.items[1].state = PROFILE_STATE_LOST; /* malloc's 20 % */
	build(&view, p, "leaf");
	CHECK_INT(view.lost_weight, 200);
	for (uint32_t i = 0; i < view.groups.len; i++) {
		const struct view_group *group = &view.groups.items[i];

		plain = stats_share(&group->sum, &view.whole);
		share = view_share(&view, group);
		CHECK(share.share == plain.share && share.low == plain.low);
		CHECK(fabs(share.high - plain.high - (group->lost_weight ? 0 : 0.2)) < 1e-9);
	}
	view_deinit(&view);
	build(&view, p, "thread"); /* whose time it is is known */
	for (uint32_t i = 0; i < view.groups.len; i++) {
		plain = stats_share(&view.groups.items[i].sum, &view.whole);
		CHECK(view_share(&view, &view.groups.items[i]).high == plain.high);
	}
	view_deinit(&view);
	profile_free(p);
}

TEST(view_callers_are_those_of_the_outermost_call)
{
	struct profile *p = mixed();
	struct view view;

	cut(&view, p, "leaf", VIEW_CALLERS, "rec");
	CHECK_UINT(view.whole.count, 20);
	CHECK_UINT(view.all.count, 100);
	CHECK_UINT(view.ntop, 1);
	CHECK_UINT(count_of(&view, "main", NULL), 20);
	view_deinit(&view);
	cut(&view, p, "leaf", VIEW_CALLERS, "main");
	CHECK_UINT(count_of(&view, "[no caller]", NULL), 95);
	view_deinit(&view);
	profile_free(p);
}

TEST(view_callees_are_those_of_the_innermost_call)
{
	struct profile *p = mixed();
	struct view view;

	cut(&view, p, "depth=1", VIEW_CALLEES, "rec");
	CHECK_UINT(view.ntop, 2);
	CHECK_UINT(count_of(&view, "leaf", NULL), 10);
	CHECK_UINT(count_of(&view, "[self]", NULL), 10);
	view_deinit(&view);
	cut(&view, p, "total", VIEW_CALLEES, "outer");
	CHECK_UINT(count_of(&view, "middle", NULL), 25);
	CHECK_UINT(count_of(&view, "inner", NULL), 25);
	view_deinit(&view);
	profile_free(p);
}

TEST(view_ties_are_broken_by_name)
{
	static const char *const stacks[] = { "main;c", "main;a", "main;b" };
	struct profile *p = synthetic_new();
	struct view view;

	for (size_t i = 0; i < ARRAY_LEN(stacks); i++)
		synthetic_add(p, &(struct synthetic_sample){ stacks[i], 1, 1, 5, 1 });
	build(&view, p, "leaf");
	for (uint32_t i = 0; i < 3; i++) {
		const char name[] = { (char)('a' + i), 0 };

		CHECK_STR(view_key(&view, &view.groups.items[view.order.items[i]])->fields[0],
			  name);
	}
	view_deinit(&view);
	profile_free(p);
}

TEST(view_periods_weigh)
{
	struct profile *p = synthetic_new();
	struct view view;

	synthetic_add(p, &(struct synthetic_sample){ "main;rare", 1, 1, 1, 100 });
	synthetic_add(p, &(struct synthetic_sample){ "main;often", 1, 1, 10, 1 });
	build(&view, p, "leaf");
	CHECK_STR(view_key(&view, &view.groups.items[view.order.items[0]])->fields[0], "rare");
	view_sort(&view, VIEW_SORT_SAMPLES);
	CHECK_STR(view_key(&view, &view.groups.items[view.order.items[0]])->fields[0], "often");
	view_deinit(&view);
	profile_free(p);
}

TEST(view_levels_are_parsed_and_wrong_ones_explained)
{
	struct view_levels levels = { 0 };

	CHECK_OK(view_parse_levels(&levels, "process,depth=12,leaf"));
	CHECK_UINT(levels.len, 3);
	CHECK_UINT(levels.items[1].depth, 12);
	CHECK_ERR(view_parse_levels(&levels, "leav"), ERR_USAGE, "unknown level 'leav'");
	CHECK_ERR(view_parse_levels(&levels, ""), ERR_USAGE, "unknown level ''");
	CHECK_ERR(view_parse_levels(&levels, "depth"), ERR_USAGE, "depth needs a number");
	CHECK_ERR(view_parse_levels(&levels, "depth=0"), ERR_USAGE, "depth needs a number");
	CHECK_ERR(view_parse_levels(&levels, "depth=99999999999999999999"), ERR_USAGE,
		  "depth needs");
	CHECK_ERR(view_parse_levels(&levels, "leaf=3"), ERR_USAGE, "takes no value");
	CHECK_ERR(view_parse_levels(&levels, "leaf,leaf,leaf,leaf,leaf,leaf,leaf,leaf,leaf"), ERR_USAGE,
		  "more than 8 levels");
	CHECK_UINT(levels.len, 3); /* untouched on failure */
}

/* A stack of scripts and C, the root first: "app.py:main", "_json.so:encode" of a C module, "[internal]:sleep" of an interpreter. */
static uint32_t script_stack(struct profile *p, uint32_t stack, const char *path, const char *name, uint32_t at)
{
	const char *slash = strrchr(path, '/');
	struct profile_module module = { .name = profile_string(p, slash ? slash + 1 : path),
					 .path = profile_string(p, path) };
	uint32_t number = profile_add_module(p, &module);
	struct profile_function function = { .name = profile_string(p, name), .module = number,
					     .file = profile_string(p, path) };
	struct profile_line line = { .function = profile_add_function(p, &function),
				     .file = function.file, .line = at };

	return profile_add_stack(p, stack,
				 profile_add_named_location(p, at || !slash ? PROFILE_FRAME_INTERPRETED : PROFILE_FRAME_NATIVE,
							    number, &line, 1),
				 PROFILE_HOW_SURE);
}

static void add_script_sample(struct profile *p, uint32_t stack, int64_t weight)
{
	struct profile_thread thread = { .pid = 1, .tid = 1, .process = profile_string(p, "python3") };
	struct profile_sample sample = { .stack = stack, .weight = weight, .count = (uint64_t)weight };

	sample.thread = profile_add_thread(p, &thread);
	profile_add_sample(p, &sample);
}

static const char *help_of(const struct opt *opts, const char *name)
{
	for (; opts->kind != OPT_KIND_END; opts++)
		if (opts->name && strcmp(opts->name, name) == 0)
			return opts->help;
	return "";
}

TEST(view_levels_are_all_named_in_the_help)
{
	const char *help = help_of(cmd_report.opts, "by");

	for (const char *const *name = view_level_names; *name; name++) {
		char word[VIEW_NAME_MAX];
		size_t len = strcspn(*name, "=");
		const char *at = help;

		snprintf(word, sizeof(word), "%.*s", (int)len, *name);
		while ((at = strstr(at, word)) && (at[-1] != ' ' || !strchr(",.=", at[len])))
			at++;
		CHECK_STR(at ? word : "not in the help", word);
	}
}

TEST(view_script_is_ones_own_innermost_function_whichever_library_and_c_it_called)
{
	struct profile *p = synthetic_new();
	uint32_t own = script_stack(p, 0, "/home/me/app.py", "main", 3);
	uint32_t library = script_stack(p, own, "/usr/lib/python3.11/json/__init__.py", "dumps", 200);
	uint32_t c = script_stack(p, library, "/usr/lib/python3.11/lib-dynload/_json.so", "encode", 0);
	uint32_t starter = script_stack(p, 0, "/usr/bin/pip", "<module>", 2);
	uint32_t tool = script_stack(p, starter, "/usr/lib/python3/dist-packages/pip/main.py", "pip", 7);
	uint32_t program = script_stack(p, 0, "/bin/app", "main", 0);
	struct view view;

	add_script_sample(p, own, 1);
	add_script_sample(p, library, 2);
	add_script_sample(p, c, 4);
	add_script_sample(p, script_stack(p, tool, "/usr/lib/libz.so", "deflate", 0), 8);
	add_script_sample(p, program, 16);
	add_script_sample(p, script_stack(p, tool, "[internal]", "IO.select", 0), 32);
	build(&view, p, "script");
	CHECK_UINT(count_of(&view, "main", "app.py"), 7);
	CHECK_UINT(count_of(&view, "pip", "main.py"), 40);
	CHECK_UINT(count_of(&view, "[no script]", NULL), 16);
	view_deinit(&view);
	build(&view, p, "script-line");
	CHECK_UINT(count_of(&view, "/home/me/app.py:3", "main"), 7);
	view_deinit(&view);
	build(&view, p, "mine");
	CHECK_UINT(count_of(&view, "main", "app.py"), 7);
	CHECK_UINT(count_of(&view, "deflate", NULL), 8);
	CHECK_UINT(count_of(&view, "main", "app"), 16);
	view_deinit(&view);
	profile_free(p);
}

/* Thread 11 waits in f and g, measured; thread 12 in one place all along, of which nothing is known; thread 13 was thinned. */
static struct profile *waits(void)
{
	static const struct synthetic_sample samples[] = {
		{ "main;f", 1, 11, 1, 120 }, { "main;g", 1, 11, 9, 70 }, { "", 1, 12, 1, 1000 },
		{ "main;f", 1, 13, 5, 100 }, { "main;h", 1, 13, 5, 100 },
	};
	struct profile *p = synthetic_new();

	for (size_t i = 0; i < ARRAY_LEN(samples); i++) {
		synthetic_add(p, &samples[i]);
		p->samples.items[i].state = PROFILE_STATE_BLOCKED;
		p->samples.items[i].exact = p->samples.items[i].weight;
		p->samples.items[i].weight_sq = 0;
	}
	return p;
}

static struct stats_share share_named(const struct view *view, uint32_t level, const char *name)
{
	for (uint32_t i = 0; i < view->groups.len; i++) {
		const struct view_group *group = &view->groups.items[i];

		if (group->level == level && strcmp(view_key(view, group)->fields[0], name) == 0)
			return view_share(view, group);
	}
	CHECK(!"a group of this name");
	return (struct stats_share){ 0 };
}

TEST(view_intervals_of_waits_come_from_what_was_sampled_only)
{
	struct profile *p = waits();
	struct stats_share share;
	struct view view;

	build(&view, p, "leaf");
	for (uint32_t i = 0; i < view.groups.len; i++) {
		share = view_share(&view, &view.groups.items[i]);
		CHECK(share.exact && share.low == share.share && share.high == share.share);
	}
	view_deinit(&view);

	/* 1,000 more of thread 13, estimated to be half in f and half in h, by few samples. */
	for (size_t i = 3; i < 5; i++) {
		p->samples.items[i].weight += 500;
		p->samples.items[i].weight_sq = 500 * 200;
	}
	build(&view, p, "leaf");
	share = share_named(&view, 0, "f");
	CHECK(fabs(share.share - 1120.0 / 3750) < 1e-9);
	CHECK(share.low > 620.0 / 3750 && share.low < 1020.0 / 3750 && share.high > 1220.0 / 3750 && share.high < 1620.0 / 3750);
	CHECK(share_named(&view, 0, "[stack not sampled]").exact); /* a row of its own */
	view_deinit(&view);
	build(&view, p, "tid,leaf"); /* which thread it was is known, and that others had none of it */
	for (uint32_t i = 0; i < view.groups.len; i++) {
		const struct view_group *group = &view.groups.items[i];

		share = view_share(&view, group);
		CHECK(share.exact == (group->level == 0 || group->sum.exact == group->sum.weight));
		CHECK(share.high <= 2000.0 / 3750 + 1e-9);
	}
	view_deinit(&view);
	profile_free(p);
}
