/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_branches.c - branches are counted where their addresses were mapped at that moment.
 */
#include "report/load/branches.h"
#include "tests/unit/event_list.h"
#include "tests/unit/test.h"

#include <math.h>
#include <string.h>

#define CODE   0x400000u
#define MISSED 1u
#define HIT    2u
#define CYCLES(n) ((uint64_t)(n) << 4)

static struct err *take(void *context, const struct walked_event *event)
{
	CHECK(!event->chain);
	if (event->ev->kind == EVENT_SAMPLE)
		branches_take(context, event->ev);
	return NULL;
}

struct world {
	struct event_list_source list;
	struct session_args args;
	struct session s;
	struct branches b;
};

static void run(struct world *w, const struct event *events, size_t count, struct filter *filter,
		enum branches_by by)
{
	struct loader_listener listener = { .event = take, .context = &w->b, .flat = true };

	event_list_init(&w->list, events, count);
	session_args_init(&w->args);
	w->args.cache = false;
	session_open_source(&w->s, &w->args, &w->list.source);
	branches_init(&w->b, &w->s, by);
	CHECK_OK(session_each(&w->s, filter, &listener));
	branches_finish(&w->b);
	branches_sort(&w->b, BRANCHES_SORT_COUNT);
}

static void end(struct world *w)
{
	branches_deinit(&w->b);
	session_close(&w->s);
	session_args_deinit(&w->args);
}

static struct event map_file(const char *path, uint64_t time_ns)
{
	return event_list_map(path, CODE, EVENT_MMAP_EXEC, time_ns);
}

static struct event sample(uint64_t time_ns, const struct event_branch *branches, size_t count)
{
	struct event ev = event_list_sample(CODE, time_ns);

	ev.sample.nbranches = count;
	ev.sample.branches = branches;
	return ev;
}

static const struct event_branch loop[] = {
	{ CODE + 0x20, CODE + 0x10, MISSED | CYCLES(4) },
	{ CODE + 0x20, CODE + 0x10, HIT | CYCLES(8) },
	{ CODE + 0x20, CODE + 0x10, HIT },
	{ CODE + 0x30, 0xdead0000, 0 },
};

TEST(branches_are_counted_by_both_ends)
{
	struct event events[] = { map_file("/absent/a", 0), sample(10, loop, 4), sample(20, loop, 3),
				  sample(30, NULL, 0) };
	struct filter filter = { 0 };
	struct world w;

	run(&w, events, ARRAY_LEN(events), &filter, BRANCHES_BY_ADDRESS);
	CHECK_UINT(w.b.rows.len, 2);
	CHECK_UINT(w.b.samples, 3);
	CHECK_UINT(w.b.all.nbunches, 2);
	CHECK(w.b.all.whole == 7);

	const struct branches_row *row = &w.b.rows.items[0];

	CHECK(row->count.part == 6 && row->count.whole == 7);
	CHECK(row->missed.part == 2 && row->missed.whole == 6);
	CHECK(row->cycles.part == 24 && row->cycles.whole == 4);
	CHECK(fabs(stats_ratio_mean(&row->cycles).mean - 6) < 1e-12);
	CHECK_STR(branches_module(&w.b, row->from), "a");
	row = &w.b.rows.items[1];
	CHECK(row->count.part == 1 && row->missed.whole == 0 && row->cycles.whole == 0);
	CHECK_STR(branches_function(&w.b, row->to), "[unknown]");
	end(&w);
}

TEST(branches_lie_where_their_addresses_were_mapped_at_that_moment)
{
	struct event events[] = { map_file("/absent/a", 0), sample(10, loop, 1),
				  map_file("/absent/b", 15), sample(20, loop, 2) };
	struct filter filter = { 0 };
	struct world w;

	run(&w, events, ARRAY_LEN(events), &filter, BRANCHES_BY_FUNCTION);
	CHECK_UINT(w.b.rows.len, 2);
	CHECK_STR(branches_module(&w.b, w.b.rows.items[0].from), "b");
	CHECK(w.b.rows.items[0].count.part == 2);
	CHECK_STR(branches_module(&w.b, w.b.rows.items[1].to), "a");
	CHECK(w.b.rows.items[1].count.part == 1);
	end(&w);
}

TEST(branches_pass_a_filter_with_either_end)
{
	struct event events[] = { map_file("/absent/a", 0), sample(10, loop, 4) };
	struct filter filter = { 0 };
	struct world w;

	vec_push(&filter.modules, "b");
	run(&w, events, ARRAY_LEN(events), &filter, BRANCHES_BY_ADDRESS);
	CHECK_UINT(w.b.rows.len, 0);
	end(&w);
	filter.modules.items[0] = "a";
	run(&w, events, ARRAY_LEN(events), &filter, BRANCHES_BY_ADDRESS);
	CHECK(w.b.all.whole == 4);
	end(&w);
	filter_deinit(&filter);
}

/* A busy sample must not be quadratic in its branches. */
TEST(branches_of_one_sample_may_be_many)
{
	enum { MANY = 60000 };
	struct event_branch *many = memory_zeroed(MANY, sizeof(*many));
	struct filter filter = { 0 };
	struct world w;

	for (size_t i = 0; i < MANY; i++)
		many[i] = (struct event_branch){ i * 977, ~(uint64_t)i, UINT64_MAX };
	struct event events[] = { sample(10, many, MANY) };

	run(&w, events, ARRAY_LEN(events), &filter, BRANCHES_BY_FUNCTION);
	CHECK_UINT(w.b.rows.len, 1);
	CHECK(w.b.rows.items[0].missed.part == MANY);
	end(&w);
	free(many);
}
