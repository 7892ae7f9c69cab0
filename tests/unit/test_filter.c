/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_filter.c - what passes, what does not, and which values are refused.
 */
#include "report/view/filter.h"
#include "tests/unit/synthetic.h"
#include "tests/unit/test.h"

#include <string.h>

#define ARGS_MAX 8

/* Parse "--pid=1 --cpu=0-3" into @filter. */
static struct err *parse(struct filter *filter, struct arena *arena, const char *line)
{
	char *argv[ARGS_MAX + 2] = { arena_strdup(arena, "test") };
	char *rest = arena_strdup(arena, line);
	struct opt_result result;
	int argc = 1;

	while (rest && argc <= ARGS_MAX)
		argv[argc++] = strsep(&rest, " ");
	return opt_parse(filter_opts, filter, argc, argv, OPT_ANYWHERE, &result);
}

static const struct profile_facts facts = {
	.start_ns = 1000000000,
	.has_duration = true,
	.duration_ns = 10000000000,
};

/* Of which "instructions" is only counted. */
static struct profile *recorded(void)
{
	static const char *const names[] = { "cycles:u", "instructions", "sched:sched_switch" };
	struct profile *p = profile_new();

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const struct profile_value_type type = {
			.name = profile_string(p, names[i]),
			.counts_only = i == 1,
		};

		profile_add_value_type(p, &type);
	}
	return p;
}

/* filter_bind() to what was recorded() */
static struct err *bind_to(struct filter *filter, const struct profile_facts *to)
{
	struct profile *p = recorded();
	struct err *err = filter_bind(filter, p, to);

	profile_free(p);
	return err;
}

static struct err *bind(struct filter *filter)
{
	return bind_to(filter, &facts);
}

static bool passes(const struct filter *filter, double seconds, uint32_t cpu, uint32_t pid)
{
	struct event ev = { .kind = EVENT_SAMPLE, .cpu = cpu, .pid = pid, .tid = pid + 1 };

	ev.time_ns = facts.start_ns + (uint64_t)(seconds * 1e9);
	return filter_passes_event(filter, &ev);
}

TEST(filter_without_conditions_lets_everything_pass)
{
	CLEANUP(filter_deinit) struct filter filter = { 0 };
	CLEANUP(arena_deinit) struct arena arena = { 0 };

	CHECK(filter_is_empty(&filter));
	CHECK_OK(bind(&filter));
	CHECK(passes(&filter, 0, 0, 1) && passes(&filter, 100, EVENT_NO_CPU, (uint32_t)-1));
	CHECK(filter_passes_names(&filter, "a", "b"));
	CHECK(!filter_needs_stacks(&filter));
	CHECK_STR(filter_describe(&filter, &arena), "");
}

TEST(filter_numbers_are_lists_of_ranges)
{
	CLEANUP(filter_deinit) struct filter filter = { 0 };
	CLEANUP(arena_deinit) struct arena arena = { 0 };

	CHECK_OK(parse(&filter, &arena, "--cpu=0-3,8 --pid=5 --pid=7"));
	CHECK_OK(bind(&filter));
	CHECK(passes(&filter, 0, 3, 5) && passes(&filter, 0, 8, 7));
	CHECK(!passes(&filter, 0, 4, 5) && !passes(&filter, 0, 8, 6));
	CHECK_STR(filter_describe(&filter, &arena), "--pid=5,7 --cpu=0-3,8");
}

TEST(filter_time_is_a_window_in_seconds_or_per_cent)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	static const char *const same[] = { "--time=2,4", "--time=20%,40%", "--time=2s,4000ms",
					    "--time=20%,4" };

	for (size_t i = 0; i < ARRAY_LEN(same); i++) {
		CLEANUP(filter_deinit) struct filter filter = { 0 };

		CHECK_OK(parse(&filter, &arena, same[i]));
		CHECK_OK(bind(&filter));
		CHECK(!passes(&filter, 1.999, 0, 1) && passes(&filter, 2, 0, 1));
		CHECK(passes(&filter, 3.999, 0, 1) && !passes(&filter, 4, 0, 1));
	}

	CLEANUP(filter_deinit) struct filter open_end = { 0 };

	CHECK_OK(parse(&open_end, &arena, "--time=9.5,"));
	CHECK_OK(bind(&open_end));
	CHECK(!passes(&open_end, 9, 0, 1) && passes(&open_end, 1000, 0, 1));
	CHECK_STR(filter_describe(&open_end, &arena), "--time=9.5,");
}

TEST(filter_time_may_be_several_windows)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	static const char *const same[] = { "20%-40%,60%-70%", "60%-70% 20%-40%", "2,4 6,7", "6,7 2,3 3,4", "6,7  2,4 2.5,3" };
	static const char *const wrong[] = { "2,4 x", "2,4 4,3", "20%-40%,", "20%-40%,5", "1,2 3" };
	CLEANUP(filter_deinit) struct filter tenths = { 0 }, none = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(same); i++) {
		CLEANUP(filter_deinit) struct filter filter = { 0 };

		CHECK_OK(filter_parse_window(&filter.window, same[i]));
		CHECK_OK(bind(&filter));
		CHECK_UINT(filter.nbound, 2);
		CHECK(!passes(&filter, 1.999, 0, 1) && passes(&filter, 2, 0, 1) && passes(&filter, 3.999, 0, 1));
		CHECK(!passes(&filter, 4, 0, 1) && !passes(&filter, 5.999, 0, 1));
		CHECK(passes(&filter, 6, 0, 1) && !passes(&filter, 7, 0, 1));
		CHECK_STR(filter_describe(&filter, &arena), arena_printf(&arena, "--time=%s", same[i]));
	}
	CHECK_OK(filter_parse_window(&tenths.window, "10%/1,10%/3"));
	CHECK_OK(bind(&tenths));
	CHECK(passes(&tenths, 0.5, 0, 1) && !passes(&tenths, 1.5, 0, 1) && passes(&tenths, 2.5, 0, 1));
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		CHECK_ERR(filter_parse_window(&none.window, wrong[i]), ERR_USAGE, "");
}

TEST(filter_windows_are_divided_beside_dates)
{
	CLEANUP(filter_deinit) struct filter filter = { 0 };

	CHECK_OK(filter_parse_window(&filter.window, "2026-11-21 14:03,2026-11-21 14:04 2026-11-21 15:00:01,2026-11-21 15:01"));
	CHECK_UINT(filter.nwindows, 2);
	CHECK(filter.wanted[1].from.kind == TIME_ARG_DATE);
}

TEST(filter_per_cent_need_an_end)
{
	CLEANUP(filter_deinit) struct filter filter = { 0 };
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct profile_facts cut = facts;

	cut.has_duration = false;
	CHECK_OK(parse(&filter, &arena, "--time=20%,40%"));
	CHECK_ERR(bind_to(&filter, &cut), ERR_UNSUPPORTED, "without an end");
}

TEST(filter_values_that_make_no_sense_are_refused)
{
	static const char *const wrong[] = {
		"--cpu=",       "--cpu=a",     "--cpu=3-1",     "--cpu=1,,2",
		"--cpu=-1",     "--pid=1.5",   "--tid= 3",      "--time=5",
		"--time=,",     "--time=4,2",  "--time=x,1",    "--time=1,101%",
		"--time=nan,1", "--time=-1,2", "--time=1e999,", "--pid=99999999999999999999",
	};
	CLEANUP(arena_deinit) struct arena arena = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		CLEANUP(filter_deinit) struct filter filter = { 0 };
		CLEANUP(err_freep) struct err *err = parse(&filter, &arena, wrong[i]);

		CHECK(err && err_kind(err) == ERR_USAGE);
	}
}

TEST(filter_events_are_found_with_or_without_modifier)
{
	CLEANUP(filter_deinit) struct filter filter = { 0 };
	CLEANUP(arena_deinit) struct arena arena = { 0 };

	CHECK_OK(parse(&filter, &arena, "--event=cycles"));
	CHECK_OK(bind(&filter));
	CHECK(filter_passes_kind(&filter, 0) && !filter_passes_kind(&filter, 2));
	CHECK_OK(parse(&filter, &arena, "--event=sched:*"));
	CHECK_OK(bind(&filter));
	CHECK(filter_passes_kind(&filter, 0) && filter_passes_kind(&filter, 2));
	CHECK(!filter_passes_kind(&filter, 1) && !filter_passes_kind(&filter, 99));
}

TEST(filter_events_that_were_not_sampled_are_named)
{
	CLEANUP(filter_deinit) struct filter filter = { 0 };
	CLEANUP(arena_deinit) struct arena arena = { 0 };

	CHECK_OK(parse(&filter, &arena, "--event=instructions"));
	CHECK_ERR(bind(&filter), ERR_USAGE,
		  "no event 'instructions' was sampled");
}

TEST(filter_names_are_globs_of_thread_or_process)
{
	CLEANUP(filter_deinit) struct filter filter = { 0 };
	CLEANUP(arena_deinit) struct arena arena = { 0 };

	CHECK_OK(parse(&filter, &arena, "--comm=cc1* --comm=ld"));
	CHECK(filter_passes_names(&filter, "cc1plus", "make"));
	CHECK(filter_passes_names(&filter, "worker", "ld"));
	CHECK(!filter_passes_names(&filter, "gcc1", "make"));
}

TEST(filter_symbols_and_modules_are_the_leafs)
{
	CLEANUP(filter_deinit) struct filter filter = { 0 };
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct profile *p = synthetic_new();
	uint64_t passed = 0;

	synthetic_add(p, &(struct synthetic_sample){ "main;hot(int)", 1, 1, 1, 1 });
	synthetic_add(p, &(struct synthetic_sample){ "main;hot(int);libc:malloc", 1, 1, 1, 1 });
	CHECK_OK(parse(&filter, &arena, "--symbol=hot --module=app"));
	CHECK(filter_needs_stacks(&filter));
	for (size_t i = 0; i < p->samples.len; i++)
		passed += filter_passes_stack(&filter, p, p->samples.items[i].stack);
	CHECK_UINT(passed, 1);
	CHECK(filter_passes_stack(&filter, p, p->samples.items[0].stack));
	profile_free(p);
}

/* Rows of a profile that knows neither processes nor CPUs, of one thread with labels. */
static struct profile *with_labels(void)
{
	struct profile *p = profile_new();
	const struct profile_thread nobody = { .pid = PROFILE_NONE, .tid = PROFILE_NONE };
	const struct profile_value_type type = { .name = profile_string(p, "samples") };
	struct profile_sample sample = { .type = profile_add_value_type(p, &type), .cpu = PROFILE_NONE, .count = 1, .weight = 1 };

	sample.thread = profile_add_thread(p, &nobody);
	for (int i = 0; i < 3; i++) {
		const struct profile_label labels[] = {
			{ .key = profile_string(p, "route"), .text = profile_string(p, i ? "/cart" : "/") },
			{ .key = profile_string(p, "bytes"), .is_number = true, .number = i - 1 },
		};

		sample.labels = profile_add_labels(p, labels, i == 2 ? 1 : 2);
		profile_add_sample(p, &sample);
	}
	return p;
}

static unsigned passing(struct profile *p, const char *line)
{
	CLEANUP(filter_deinit) struct filter filter = { 0 };
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	unsigned bits = 0;

	CHECK_OK(parse(&filter, &arena, line));
	CHECK_OK(filter_bind(&filter, p, &facts));
	CHECK_OK(filter_bind_labels(&filter, p));
	for (size_t i = 0; i < p->samples.len; i++)
		bits |= (unsigned)filter_passes_row(&filter, p, &p->samples.items[i]) << i;
	return bits;
}

TEST(filter_rows_by_label)
{
	struct profile *p = with_labels();

	CHECK_UINT(passing(p, "--where=route==/cart"), 6);
	CHECK_UINT(passing(p, "--where=route~/c*"), 6);
	CHECK_UINT(passing(p, "--where=bytes<0"), 1);
	CHECK_UINT(passing(p, "--where=bytes>=0"), 2); /* the third has no such label */
	CHECK_UINT(passing(p, "--where=bytes!=5&&route!=/"), 2);
	CHECK_UINT(passing(p, "--where=bytes==-1||route==/cart"), 7);
	profile_free(p);
}

TEST(filter_labels_that_are_not_there_are_refused)
{
	static const struct {
		const char *line, *says;
	} cases[] = {
		{ "--where=rote==/", "no sample of the profile has a label 'rote'" },
		{ "--where=bytes==few", "'bytes' is a number, 'few' is none" },
	};
	struct profile *p = with_labels();

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(filter_deinit) struct filter filter = { 0 };
		CLEANUP(arena_deinit) struct arena arena = { 0 };

		CHECK_OK(parse(&filter, &arena, cases[i].line));
		CHECK_ERR(filter_bind_labels(&filter, p), ERR_USAGE, cases[i].says);
	}
	profile_free(p);
}

TEST(filter_numbers_never_match_what_is_not_known)
{
	struct profile *p = with_labels();

	CHECK_UINT(passing(p, "--pid=0-99999999999"), 0);
	CHECK_UINT(passing(p, "--tid=4294967295"), 0);
	CHECK_UINT(passing(p, "--cpu=0-4294967295"), 0);
	CHECK_UINT(passing(p, "--event=samples"), 7);
	profile_free(p);
}
