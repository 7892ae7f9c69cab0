/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_data_places.c - samples by the memory that they accessed.
 */
#include "report/load/data_places.h"
#include "report/view/view.h"
#include "report/load/session.h"
#include "tests/unit/event_list.h"
#include "tests/unit/test.h"

#include <linux/perf_event.h>
#include <string.h>

#define CODE  0x400000u
#define HEAP  0x600000u
#define PLAIN 0x700000u
#define STACK 0x7ffd00000000u

struct world {
	struct event_list_source list;
	struct session_args args;
	struct session s;
	struct data_places data;
	struct filter filter;
	struct view view;
};

static struct event access_to(uint64_t addr, uint64_t weight, uint64_t source)
{
	struct event ev = event_list_sample(CODE, 10);

	ev.sample.addr = addr;
	ev.sample.weight = weight;
	ev.sample.data_src = source;
	ev.sample.stack.base = ev.sample.stack.end = STACK;
	return ev;
}

static void run(struct world *w, const struct event *events, size_t count, const char *by)
{
	struct view_spec spec = { 0 };

	*w = (struct world){ 0 };
	event_list_init(&w->list, events, count);
	session_args_init(&w->args);
	w->args.cache = false;
	session_open_source(&w->s, &w->args, &w->list.source);
	CHECK_OK(view_parse_levels(&spec.levels, by));
	CHECK(data_places_wanted(&spec.levels, &w->data));
	data_places_listen(&w->data, &w->s);
	CHECK_OK(session_load(&w->s, &w->filter));
	spec.latencies = w->data.latencies.items;
	spec.nlatencies = w->data.latencies.len;
	view_build(&w->view, w->s.profile, &spec);
	view_sort(&w->view, VIEW_SORT_WEIGHT);
}

static void end(struct world *w)
{
	view_deinit(&w->view);
	session_close(&w->s);
	session_args_deinit(&w->args);
	data_places_deinit(&w->data);
	filter_deinit(&w->filter);
}

static const struct view_group *group(const struct world *w, size_t rank)
{
	return &w->view.groups.items[w->view.order.items[rank]];
}

static const char *field(const struct world *w, size_t rank, unsigned which)
{
	return view_key(&w->view, group(w, rank))->fields[which];
}

TEST(data_places_tell_heap_stack_and_memory_without_a_name_apart)
{
	struct event events[] = {
		event_list_map("/absent/prog", CODE, EVENT_MMAP_EXEC, 0),
		event_list_map("[heap]", HEAP, 0, 0),
		event_list_map("//anon", PLAIN, 0, 0),
		access_to(HEAP + 8, 0, 0),
		access_to(HEAP + 80, 0, 0),
		access_to(HEAP + 800, 0, 0),
		access_to(HEAP + 800, 0, 0),
		access_to(HEAP + 800, 0, 0),
		access_to(STACK + 64, 0, 0),
		access_to(STACK - 64, 0, 0),
		access_to(STACK + 4096, 0, 0),
		access_to(STACK + 4096, 0, 0),
		access_to(PLAIN, 0, 0),
		access_to(PLAIN + 1, 0, 0),
		access_to(PLAIN + 2, 0, 0),
		access_to(0, 0, 0),
		access_to(0, 0, 0),
		access_to(0x123456789, 0, 0),
	};
	struct world w;

	run(&w, events, ARRAY_LEN(events), "data-symbol");
	CHECK_UINT(w.view.ntop, 5);
	CHECK_STR(field(&w, 0, 0), "[heap]");
	CHECK_STR(field(&w, 1, 0), "[stack]");
	CHECK_STR(field(&w, 2, 0), "[anonymous]");
	CHECK_STR(field(&w, 3, 0), "[no address]");
	CHECK_STR(field(&w, 4, 0), "[unknown]");
	CHECK_UINT(group(&w, 0)->sum.count, 5);
	CHECK_UINT(w.data.with_address, 13);
	end(&w);
}

TEST(data_places_of_one_cache_line_are_one)
{
	struct event events[] = {
		event_list_map("[heap]", HEAP, 0, 0),	access_to(HEAP + 1, 0, 0),
		access_to(HEAP + 63, 0, 0),		access_to(HEAP + 64, 0, 0),
	};
	struct world w;

	run(&w, events, ARRAY_LEN(events), "data-line,data-address");
	CHECK_UINT(w.view.ntop, 2);
	CHECK_UINT(w.view.groups.len, 5);
	CHECK_STR(field(&w, 0, 0), "0x600000");
	CHECK_STR(field(&w, 1, 0), "0x600040");
	end(&w);
}

TEST(data_places_have_the_latencies_of_their_samples)
{
	uint64_t l1 = PERF_MEM_S(OP, LOAD) | PERF_MEM_S(LVL, HIT) | PERF_MEM_S(LVL, L1);
	uint64_t ram = PERF_MEM_S(OP, LOAD) | PERF_MEM_S(LVL, HIT) | PERF_MEM_S(LVLNUM, RAM);
	struct event events[] = { access_to(HEAP, 4, l1), access_to(HEAP, 6, l1),
				  access_to(HEAP, 0, l1), access_to(HEAP, 300, ram) };
	struct world w;

	run(&w, events, ARRAY_LEN(events), "data-source");
	CHECK_UINT(w.view.ntop, 2);
	CHECK_STR(field(&w, 0, 0), "load, L1 hit");
	CHECK(stats_ratio_mean(&view_latency(&w.view, group(&w, 0))->mean).mean == 5);
	CHECK_UINT(view_latency(&w.view, group(&w, 0))->count, 2);
	CHECK_STR(field(&w, 1, 0), "load, RAM hit");
	CHECK(stats_ratio_mean(&view_latency(&w.view, group(&w, 1))->mean).mean == 300);
	CHECK_UINT(w.data.with_latency, 3);
	end(&w);
}
