/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_wait_chain.c - who waits for whom, from waits and who ended them.
 */
#include "report/view/wait_chain.h"
#include "tests/unit/test.h"

#include <stdio.h>
#include <string.h>

struct world {
	struct profile *p;
};

static uint32_t stack_of(struct profile *p, const char *user, const char *kernel)
{
	const char *names[] = { user, kernel };
	uint32_t stack = 0;

	for (unsigned i = 0; i < 2; i++) {
		const char *module = i ? "[kernel]" : "app";
		struct profile_module mod = { .name = profile_string(p, module), .path = profile_string(p, module),
					      .kind = i ? PROFILE_KERNEL : PROFILE_USER };
		struct profile_function function = { .name = profile_string(p, names[i]),
						     .module = profile_add_module(p, &mod) };
		struct profile_line line = { .function = profile_add_function(p, &function) };
		uint32_t location = profile_add_location(p, function.module, line.function + 1,
							       i ? PROFILE_FRAME_KERNEL : PROFILE_FRAME_NATIVE);

		if (!p->locations.items[location].nlines)
			profile_set_lines(p, location, &line, 1);
		stack = profile_add_stack(p, stack, location, PROFILE_HOW_SURE);
	}
	return stack;
}

/* Thread @tid, called by a letter, waits in @user; @waker ends it. */
static void add_wait(struct world *w, uint32_t tid, const char *user, const char *kernel, uint64_t from, uint64_t to,
		     uint32_t waker)
{
	struct profile *p = w->p;
	char name[2] = { (char)('A' + tid - 1), 0 }, text[16];
	struct profile_label label = { .key = profile_string(p, "waker") };

	snprintf(text, sizeof(text), "%c %u", (char)('A' + waker - 1), waker);
	label.text = profile_string(p, text);

	struct profile_sample row = {
		.stack = stack_of(p, user, kernel),
		.thread = profile_add_thread(p, &(struct profile_thread){ .pid = 1, .tid = tid, .comm = profile_string(p, name) }),
		.cpu = PROFILE_NONE,
		.state = PROFILE_STATE_BLOCKED,
		.labels = waker ? profile_add_labels(p, &label, 1) : 0,
		.count = 1,
		.weight = (int64_t)(to - from),
	};

	time_series_add(&p->times, &(struct profile_time){ .time_ns = from, .duration_ns = to - from, .has_duration = true,
							   .weight = row.weight, .row = profile_add_sample(p, &row) });
}

static void begin(struct world *w)
{
	w->p = profile_new();
	profile_add_value_type(w->p, &(struct profile_value_type){ .name = profile_string(w->p, "off-cpu") });
}

static void check_row(const struct wait_chain *chain, size_t at, unsigned depth, const char *thread, const char *function,
		      uint64_t ns)
{
	CHECK(at < chain->rows.len);
	CHECK_UINT(chain->rows.items[at].depth, depth);
	CHECK_STR(chain->rows.items[at].thread, thread);
	CHECK_STR(chain->rows.items[at].function ? chain->rows.items[at].function : "runs", function);
	CHECK_UINT(chain->rows.items[at].ns, ns);
}

TEST(wait_chain_tells_what_the_waker_did_meanwhile_and_its_waker)
{
	struct wait_chain chain = { 0 };
	struct world w;

	begin(&w);
	add_wait(&w, 1, "want_outer", "futex_wait", 1000, 2000, 2);
	add_wait(&w, 2, "want_inner", "futex_wait", 1100, 1900, 3);
	add_wait(&w, 3, "rest", "do_nanosleep", 500, 1800, 2); /* a timer ends it, in whatever runs then */
	add_wait(&w, 1, "want_outer", "futex_wait", 5000, 5010, 0);
	wait_chain_collect(&chain, w.p, 0, "A");
	CHECK(chain.with_wakers && !chain.cut);
	CHECK_UINT(chain.waits, 2);
	CHECK_UINT(chain.ns, 1010);
	CHECK_UINT(chain.rows.len, 5);
	check_row(&chain, 0, 0, "A", "want_outer", 1010);
	check_row(&chain, 1, 1, "B", "want_inner", 800);
	check_row(&chain, 2, 2, "C", "rest", 700);
	check_row(&chain, 3, 2, "C", "runs", 100);
	check_row(&chain, 4, 1, "B", "runs", 200);
	wait_chain_deinit(&chain);

	chain = (struct wait_chain){ 0 };
	wait_chain_collect(&chain, w.p, 0, "want_inner"); /* a function, and a thread by its number */
	check_row(&chain, 0, 0, "B", "want_inner", 800);
	wait_chain_deinit(&chain);
	chain = (struct wait_chain){ 0 };
	wait_chain_collect(&chain, w.p, 0, "3");
	CHECK_UINT(chain.rows.len, 1);
	check_row(&chain, 0, 0, "C", "rest", 1300);
	wait_chain_deinit(&chain);
	chain = (struct wait_chain){ 0 };
	wait_chain_collect(&chain, w.p, 0, "nobody");
	CHECK_UINT(chain.waits, 0);
	wait_chain_deinit(&chain);
	profile_free(w.p);
}

TEST(wait_chain_ends_where_threads_wait_for_each_other_and_in_the_depth)
{
	struct wait_chain chain = { 0 };
	struct world w;

	begin(&w);
	add_wait(&w, 1, "ping", "pipe_read", 0, 1000, 2);
	add_wait(&w, 2, "pong", "pipe_read", 0, 1000, 1);
	for (uint32_t tid = 3; tid < 3 + 2 * WAIT_CHAIN_DEPTH; tid++)
		add_wait(&w, tid, "next", "futex_wait", 0, 1000, tid + 1);
	wait_chain_collect(&chain, w.p, 0, "A");
	CHECK_UINT(chain.rows.len, 2);
	check_row(&chain, 1, 1, "B", "pong", 1000);
	wait_chain_deinit(&chain);
	chain = (struct wait_chain){ 0 };
	wait_chain_collect(&chain, w.p, 0, "C");
	CHECK_UINT(chain.rows.len, WAIT_CHAIN_DEPTH);
	wait_chain_deinit(&chain);
	profile_free(w.p);
}
