/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_derive.c - from records of switches to time off the CPU: by thread and state, with stacks where there are any.
 */
#include "formats/trace/trace_writer.h"
#include "report/load/derive/derive.h"
#include "report/load/session.h"
#include "tests/unit/derive_chain.h"
#include "tests/unit/test.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <unistd.h>

/* Event 0 is a clock, event 1 looks at threads that wait. */
static void chain_begin_idle(struct chain *c)
{
	static const char *const names[] = { "cpu-clock", DERIVE_IDLE };

	*c = (struct chain){ .events = { { .name = "cpu-clock", .unit = "ns", .type = PERF_TYPE_SOFTWARE,
					   .config = PERF_COUNT_SW_CPU_CLOCK, .format = "", .samples = true },
					 { .name = DERIVE_IDLE, .unit = "ns", .type = PERF_TYPE_SOFTWARE,
					   .config = PERF_COUNT_SW_DUMMY, .format = "", .samples = true } } };
	c->recording = (struct recording){ .events = c->events, .nevents = 2, .start_ns = START, .end_ns = END };
	c->profile = profile_new();
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		profile_add_value_type(c->profile, &(struct profile_value_type){ .name = profile_string(c->profile, names[i]),
										 .unit = profile_string(c->profile, "ns") });

	struct derive_request request = { .profile = c->profile, .recording = &c->recording, .to_ns = END, .added = { DERIVE_WALL } };

	c->derive = derive_new(&request, &(struct derive_out){ .add = chain_keep, .thread = chain_same_number, .context = c });
}

TEST(what_a_last_look_behind_the_end_stands_for_is_part_of_the_wall)
{
	struct chain c;
	uint64_t ns = 0;

	chain_begin_idle(&c);
	chain_feed(&c, (struct event){ .kind = EVENT_SAMPLE, .time_ns = END - 300, .tid = 5, .sample = { .event = 1, .period = 500 } }, 1);
	chain_feed(&c, (struct event){ .kind = EVENT_SAMPLE, .time_ns = END + 7, .tid = 5, .sample = { .event = 1, .period = 300 } }, 1);
	chain_feed(&c, (struct event){ .kind = EVENT_SAMPLE, .time_ns = END + 8, .tid = 5, .sample = { .event = 0, .period = 100 } }, 1);
	for (size_t i = 0; i < c.out.len; i++) {
		const struct derived *d = &c.out.items[i];

		ns += d->event == 2 ? d->weight : 0;
		CHECK(d->event != 2 || d->time_ns < END);
	}
	CHECK_UINT(ns, 800);
	chain_end(&c);
}

TEST(derived_events_are_wanted_by_name_or_when_none_is_named)
{
	const char *added[DERIVE_ADDED_MAX + 1] = { NULL };

	CHECK(derive_want(added, NULL));
	CHECK_STR(added[0], DERIVE_OFF_CPU);
	CHECK_STR(added[1], DERIVE_SYSCALLS);
	CHECK_STR(added[2], DERIVE_BLOCK);
	CHECK_STR(added[3], DERIVE_KERNEL_LOCK);
	CHECK(!added[4]);
	CHECK(!derive_want(added, "wal*")); /* time on a CPU would be counted twice */
	CHECK(!derive_want(added, "cycles"));
	CHECK(derive_want(added, "off*"));
	CHECK(!added[4]);
	CHECK(derive_want(added, "wall"));
	CHECK_STR(added[4], DERIVE_WALL);
}

TEST(derive_pairs_switches_into_waits_with_the_stack_that_waited)
{
	struct chain c;

	chain_begin(&c, false);
	chain_sample(&c, 7, START + 100, 1, 42);
	chain_switch(&c, 7, START + 101, false, false);
	chain_switch(&c, 7, START + 601, true, false);
	chain_switch(&c, 7, START + 700, false, true); /* no stack was sampled */
	chain_switch(&c, 7, START + 900, true, false);
	derive_finish(c.derive);

	CHECK_UINT(c.out.len, 2);
	CHECK_UINT(c.out.items[0].event, 1);
	CHECK_UINT(c.out.items[0].weight, 500);
	CHECK_UINT(c.out.items[0].stack, 42);
	CHECK_UINT(c.out.items[0].cpu, 3);
	CHECK_UINT(c.out.items[0].state, PROFILE_STATE_BLOCKED);
	CHECK_UINT(c.out.items[0].time_ns, START + 101);
	CHECK_UINT(c.out.items[1].weight, 200);
	CHECK_UINT(c.out.items[1].stack, 0);
	CHECK_UINT(c.out.items[1].state, PROFILE_STATE_RUNNABLE);
	chain_end(&c);
}

TEST(derive_pieces_lie_in_the_windows)
{
	static const struct derive_window windows[] = { { 100, 200 }, { 300, 400 } };
	struct derive_request request = { .from_ns = 100, .to_ns = 390, .windows = windows, .nwindows = 2 };
	struct derive_pieces pieces = { 0 }, point = { 0 }, between = { 0 };

	CHECK(derive_next_piece(&request, 150, 1000, &pieces));
	CHECK(pieces.at.from_ns == 150 && pieces.at.to_ns == 200);
	CHECK(derive_next_piece(&request, 150, 1000, &pieces));
	CHECK(pieces.at.from_ns == 300 && pieces.at.to_ns == 390);
	CHECK(!derive_next_piece(&request, 150, 1000, &pieces));
	CHECK(derive_next_piece(&request, 350, 350, &point));
	CHECK(!derive_next_piece(&request, 350, 350, &point));
	CHECK(!derive_next_piece(&request, 200, 300, &between));
	CHECK_UINT(derive_looked_at(&request, 0, UINT64_MAX), 190);
	request.nwindows = 0;
	CHECK_UINT(derive_looked_at(&request, 0, UINT64_MAX), 290);
}

TEST(derive_counts_a_wait_that_is_not_over_and_one_that_began_before)
{
	struct chain c;

	chain_begin(&c, false);
	chain_feed(&c, (struct event){ .kind = EVENT_FORK, .tid = 5 }, 0); /* it was there before */
	chain_feed(&c, (struct event){ .kind = EVENT_FORK, .tid = 6 }, 0); /* and never ran */
	chain_switch(&c, 5, START + 1000, true, false);
	chain_switch(&c, 5, START + 3000, false, false);
	derive_finish(c.derive);
	CHECK_UINT(chain_sum(&c, 1, 5), 1000 + (END - START - 3000));
	CHECK_UINT(chain_sum(&c, 1, 6), END - START);
	chain_end(&c);
}

TEST(derive_wall_adds_up_to_the_length_of_the_recording_whatever_happens)
{
	struct chain c;

	chain_begin(&c, true);
	chain_feed(&c, (struct event){ .kind = EVENT_FORK, .tid = 5 }, 0);
	for (uint64_t t = START + 10; t < END - 1000; t += 997) {
		chain_sample(&c, 5, t, 0, 1);
		if (t % 3)
			chain_sample(&c, 5, t + 1, 1, 2);
		if (t % 11) /* some records are lost */
			chain_switch(&c, 5, t + 2, false, t % 2);
		if (t % 13)
			chain_switch(&c, 5, t + 500, true, false);
	}
	derive_finish(c.derive);
	CHECK_UINT(c.profile->types.len, 5);
	CHECK_UINT(chain_sum(&c, WALL, 5), END - START);
	chain_end(&c);
}

TEST(derive_waits_of_a_thread_begin_with_it_and_end_with_it)
{
	struct chain c;

	chain_begin(&c, true);
	chain_feed(&c, (struct event){ .kind = EVENT_FORK, .tid = 8, .time_ns = START + 5000 }, 0);
	chain_switch(&c, 8, START + 5300, true, false);
	chain_feed(&c, (struct event){ .kind = EVENT_EXIT, .tid = 8, .time_ns = START + 9000 }, 0);
	chain_switch(&c, 8, START + 9001, false, false);
	derive_finish(c.derive);
	CHECK_UINT(chain_sum(&c, 1, 8), 300);
	CHECK_UINT(c.out.items[0].state, PROFILE_STATE_RUNNABLE);
	CHECK_UINT(chain_sum(&c, WALL, 8), 4000);
	chain_end(&c);
}

TEST(derive_gives_waits_without_stacks_to_those_that_stand_for_them_where_stacks_were_thinned)
{
	struct chain c;
	uint64_t known = 0;

	chain_begin(&c, true);
	for (uint64_t i = 0; i < 100; i++) {
		struct event ev = { .kind = EVENT_SAMPLE, .tid = 5, .time_ns = START + i * 1000, .cpu = 0,
				    .sample = { .event = 1, .period = 10 } };

		if (i % 10 == 0)
			chain_feed(&c, ev, 1 + i / 10 % 2);
		chain_switch(&c, 5, START + i * 1000 + 1, false, false);
		chain_switch(&c, 5, START + i * 1000 + 501, true, false);
	}
	derive_finish(c.derive);
	for (size_t i = 0; i < c.out.len; i++)
		if (c.out.items[i].event == 1)
			known += c.out.items[i].stack ? c.out.items[i].weight : 0;
	CHECK_UINT(chain_sum(&c, 1, 5), 100 * 500);
	CHECK_UINT(known, 100 * 500);
	CHECK_UINT(chain_sum(&c, WALL, 5), END - START);
	CHECK_UINT(derive_lives(c.derive).estimated_ns, 90 * 500);
	CHECK_UINT(derive_lives(c.derive).thinned, 10);
	chain_end(&c);
}

TEST(derive_gives_waits_whose_sample_was_lost_to_those_that_stand_for_them)
{
	struct chain c;

	chain_begin(&c, true);
	for (uint64_t i = 0; i < 20; i++) {
		struct event sample = { .kind = EVENT_SAMPLE, .tid = 5, .time_ns = START + i * 1000, .cpu = 0,
					.sample = { .event = 1, .period = 1 } };

		if (i == 0 || i >= 10)
			chain_feed(&c, sample, 1);
		if (i == 1)
			chain_feed(&c, (struct event){ .kind = EVENT_LOST, .tid = 6, .time_ns = START + 1000, .lost = { 1, 9, false } }, 0);
		chain_switch(&c, 5, START + i * 1000 + 1, false, false);
		chain_switch(&c, 5, START + i * 1000 + 501, true, false);
	}
	derive_finish(c.derive);
	CHECK_UINT(chain_sum_of_stack(&c, 1, 1), 20 * 500);
	CHECK(derive_lives(c.derive).stacks_lost);
	CHECK_UINT(derive_lives(c.derive).estimated_ns, 9 * 500);
	CHECK_UINT(derive_lives(c.derive).thinned, 0);
	chain_end(&c);
}

/* One stack in ten; waits of 500 ns each microsecond from @from_ns on. */
static void feed_thinned(struct chain *c, uint32_t tid, uint64_t from_ns, uint32_t stack)
{
	for (uint64_t i = 0; i < 50; i++) {
		struct event ev = { .kind = EVENT_SAMPLE, .tid = tid, .time_ns = from_ns + i * 1000, .cpu = 0,
				    .sample = { .event = 1, .period = 10 } };

		if (i % 10 == 0)
			chain_feed(c, ev, stack);
		chain_switch(c, tid, from_ns + i * 1000 + 1, false, false);
		chain_switch(c, tid, from_ns + i * 1000 + 501, true, false);
	}
}

TEST(derive_gives_nothing_of_a_thread_that_ended_to_one_that_has_its_number_now)
{
	struct chain c;

	chain_begin(&c, true);
	chain_feed(&c, (struct event){ .kind = EVENT_FORK, .tid = 5, .time_ns = START + 1 }, 0);
	feed_thinned(&c, 5, START + 10, 1);
	chain_feed(&c, (struct event){ .kind = EVENT_EXIT, .tid = 5, .time_ns = START + 60000 }, 0);
	chain_feed(&c, (struct event){ .kind = EVENT_FORK, .tid = 5, .time_ns = START + 70000 }, 0);
	chain_switch(&c, 5, START + 70000, true, false);
	feed_thinned(&c, 5, START + 70010, 2);
	derive_finish(c.derive);
	CHECK_UINT(chain_sum_of_stack(&c, 1, 1), 50 * 500);
	CHECK_UINT(chain_sum_of_stack(&c, 1, 2), 50 * 500);
	CHECK_UINT(chain_sum(&c, WALL, 5), 60000 - 1 + (END - START - 70000));
	CHECK_UINT(derive_lives(c.derive).threads, 2);
	chain_end(&c);
}

TEST(derive_ends_a_thread_whose_end_was_lost_where_its_number_begins_anew)
{
	struct chain c;

	chain_begin(&c, true);
	chain_feed(&c, (struct event){ .kind = EVENT_FORK, .tid = 5, .time_ns = START + 1000 }, 0);
	chain_switch(&c, 5, START + 1000, true, false);
	chain_switch(&c, 5, START + 2000, false, false);
	chain_feed(&c, (struct event){ .kind = EVENT_FORK, .tid = 5, .time_ns = START + 5000 }, 0);
	/* The list of who lives, as new files have it, says nothing new. */
	chain_feed(&c, (struct event){ .kind = EVENT_FORK, .tid = 5 }, 0);
	derive_finish(c.derive);
	CHECK_UINT(chain_sum(&c, WALL, 5), END - START - 1000);
	CHECK_UINT(derive_lives(c.derive).life_ns, END - START - 1000);
	chain_end(&c);
}

TEST(derive_counts_a_thread_that_ends_while_it_waits_until_its_end)
{
	struct chain c;

	chain_begin(&c, true);
	chain_feed(&c, (struct event){ .kind = EVENT_FORK, .tid = 5, .time_ns = START + 1000 }, 0);
	chain_switch(&c, 5, START + 1500, true, false);
	chain_switch(&c, 5, START + 2000, false, false);
	/* That it came to a CPU to end there was lost. */
	chain_feed(&c, (struct event){ .kind = EVENT_EXIT, .tid = 5, .time_ns = START + 9000 }, 0);
	derive_finish(c.derive);
	CHECK_UINT(chain_sum(&c, WALL, 5), 8000);
	CHECK_UINT(chain_sum(&c, 1, 5), 7500);
	CHECK_UINT(c.out.items[c.out.len - 1].state, PROFILE_STATE_LOST);
	CHECK_UINT(derive_lives(c.derive).life_ns, 8000);
	chain_end(&c);
}

TEST(derive_knows_of_no_wait_where_no_switch_was_recorded)
{
	struct chain c;

	chain_begin(&c, false);
	chain_sample(&c, 1, START + 10, 0, 7);
	chain_feed(&c, (struct event){ .kind = EVENT_FORK, .tid = 2, .time_ns = START + 20 }, 0);
	chain_feed(&c, (struct event){ .kind = EVENT_EXIT, .tid = 2, .time_ns = START + 90 }, 0);
	derive_finish(c.derive);
	for (size_t i = 0; i < c.out.len; i++)
		CHECK_UINT(c.out.items[i].event, 0);
	CHECK_UINT(chain_sum(&c, 1, 2), 0);
	chain_end(&c);
}

TEST(derive_takes_a_stack_that_no_cpu_sampled_for_the_wait_it_was_found_in)
{
	struct event found = { .kind = EVENT_SAMPLE, .cpu = EVENT_NO_CPU, .sample = { .event = 1, .period = 1 } };
	struct chain c;

	chain_begin(&c, false);
	for (uint32_t tid = 5; tid <= 7; tid++)
		chain_feed(&c, (struct event){ .kind = EVENT_FORK, .tid = tid }, 0);
	found.time_ns = START + 100;
	found.tid = 5; /* sleeps all along */
	chain_feed(&c, found, 50);
	found.tid = 6; /* sleeps since before, and once more */
	chain_feed(&c, found, 60);
	chain_switch(&c, 6, START + 1000, true, false);
	chain_feed(&c, found, 61); /* it runs: nothing can be found */
	chain_switch(&c, 6, START + 2000, false, false);
	found.time_ns = START + 3000;
	chain_feed(&c, found, 62);
	derive_finish(c.derive);
	CHECK_UINT(chain_sum_of_stack(&c, 1, 50), END - START);
	CHECK_UINT(chain_sum_of_stack(&c, 1, 60), 1000);
	CHECK_UINT(chain_sum_of_stack(&c, 1, 61), 0);
	CHECK_UINT(chain_sum_of_stack(&c, 1, 62), END - START - 2000);
	for (size_t i = 0; i < c.out.len; i++)
		CHECK_UINT(c.out.items[i].state, c.out.items[i].thread == 7 ? PROFILE_STATE_EARLIER : PROFILE_STATE_BLOCKED);
	chain_end(&c);
}

TEST(derive_knows_that_stacks_are_thinned_on_a_cpu_without_a_sample_too)
{
	struct chain c;

	chain_begin(&c, false);
	feed_thinned(&c, 5, START + 10, 1);
	for (uint64_t i = 0; i < 10; i++) {
		chain_feed(&c, (struct event){ .kind = EVENT_SWITCH, .tid = 5, .cpu = 1, .time_ns = START + 60000 + i * 1000 }, 0);
		chain_switch(&c, 5, START + 60500 + i * 1000, true, false);
	}
	/* A new thread has not left a CPU yet: nobody's stack is its. */
	chain_feed(&c, (struct event){ .kind = EVENT_FORK, .tid = 6, .time_ns = START + 90000 }, 0);
	chain_switch(&c, 6, START + 90500, true, false);
	derive_finish(c.derive);
	CHECK_UINT(chain_sum_of_stack(&c, 1, 1), 60 * 500);
	CHECK_UINT(chain_sum_of_stack(&c, 1, 0), 500);
	chain_end(&c);
}

TEST(derive_gives_waits_without_stacks_to_those_of_their_length_only)
{
	struct chain c;

	chain_begin(&c, false);
	feed_thinned(&c, 5, START + 10, 1);
	chain_switch(&c, 5, START + 60000, false, false); /* nine tenths of all are not sampled */
	chain_switch(&c, 5, START + 460000, true, false);
	derive_finish(c.derive);
	CHECK_UINT(chain_sum_of_stack(&c, 1, 1), 50 * 500);
	CHECK_UINT(chain_sum_of_stack(&c, 1, 0), 400000);
	CHECK_UINT(derive_lives(c.derive).estimated_ns, 45 * 500);
	chain_end(&c);
}

static void feed_look(struct chain *c, uint64_t time_ns, const char *name)
{
	chain_feed(c, (struct event){ .kind = EVENT_DESCRIPTOR, .tid = 1, .time_ns = time_ns, .descriptor = { 3, name } }, 0);
}

/* Of thread 5, for descriptor 3. */
static void feed_read(struct chain *c, uint64_t from_ns, uint64_t to_ns)
{
	chain_feed(c, (struct event){ .kind = EVENT_SAMPLE, .tid = 5, .time_ns = from_ns - 1, .cpu = 3,
				.sample = { .event = 1, .period = 1, .addr = 3 + 1 } }, 42);
	chain_switch(c, 5, from_ns, false, false);
	chain_switch(c, 5, to_ns, true, false);
}

TEST(derive_says_what_descriptor_was_waited_for_where_looks_agree)
{
	static const char *const files[] = { "pipe:[1]", "pipe:[1]", "", "/var/x" };
	struct chain c;

	chain_begin(&c, false);
	feed_read(&c, START + 100, START + 200);
	feed_look(&c, START + 300, "pipe:[1]");
	feed_read(&c, START + 400, START + 500);
	feed_look(&c, START + 600, "pipe:[1]");
	feed_read(&c, START + 700, START + 800);
	feed_look(&c, START + 900, "/var/x");
	feed_read(&c, START + 1000, START + 1100);
	feed_look(&c, START + 1200, "/var/x");
	derive_finish(c.derive);

	CHECK_UINT(chain_sum(&c, 1, 5), 400);
	CHECK_UINT(c.out.len, ARRAY_LEN(files));
	for (size_t i = 0; i < c.out.len; i++) {
		const struct derived *span = &c.out.items[i];
		/* When looks agreed on a pipe before and behind it, the first one was settled, rightly. */
		CHECK_STR(profile_text(c.profile, span->file), files[(span->time_ns - START) / 300]);
		CHECK_UINT(span->stack, 42);
	}
	chain_end(&c);
}

TEST(derive_cuts_a_wait_where_the_thread_was_woken_and_says_by_whom)
{
	struct chain c;
	uint8_t raw[36] = { [24] = 5 };
	struct event waking = { .kind = EVENT_SAMPLE, .tid = 9, .time_ns = START + 700,
				.sample = { .event = 2, .period = 1, .raw = raw, .raw_len = sizeof(raw) } };

	chain_begin(&c, false);
	chain_switch(&c, 5, START + 100, false, false);
	waking.sample.raw_len = 27; /* too short to hold the number */
	chain_feed(&c, waking, 0);
	waking.sample.raw_len = sizeof(raw);
	waking.time_ns = START + 800;
	chain_feed(&c, waking, 0);
	chain_switch(&c, 5, START + 1000, true, false);
	derive_finish(c.derive);
	CHECK_UINT(chain_sum(&c, 1, 5), 900);
	CHECK_UINT(c.out.len, 4); /* the two of sched_waking itself as well */
	CHECK_UINT(c.out.items[2].weight, 700);
	CHECK_UINT(c.out.items[2].state, PROFILE_STATE_BLOCKED);
	CHECK_UINT(c.out.items[2].waker, 9);
	CHECK_UINT(c.out.items[3].weight, 200);
	CHECK_UINT(c.out.items[3].state, PROFILE_STATE_RUNNABLE);
	chain_end(&c);
}

/* ---- switches as tracepoints ---- */

#define STATE_SLEEPS	0x1
#define STATE_DEAD	0x10
#define STATE_PREEMPTED 0x100

/* @tid leaves CPU 3, and @next comes. */
static void feed_point(struct chain *c, uint32_t tid, uint64_t time_ns, uint64_t state, uint32_t next, uint32_t stack)
{
	uint8_t raw[64] = { [24] = (uint8_t)tid, [56] = (uint8_t)next };
	struct event ev = { .kind = EVENT_SAMPLE, .tid = state == STATE_DEAD ? UINT32_MAX : tid, .time_ns = time_ns, .cpu = 3,
			    .sample = { .event = 3, .period = 1, .raw = raw, .raw_len = sizeof(raw) } };

	raw[32] = (uint8_t)state;
	raw[33] = (uint8_t)(state >> 8);
	chain_feed(c, ev, stack);
}

/* A stack of @depth frames. */
static uint32_t deep_stack(struct chain *c, unsigned depth)
{
	uint32_t stack = 0;

	for (unsigned i = 0; i < depth; i++)
		stack = profile_add_stack(c->profile, stack, profile_add_location(c->profile, 0, i, PROFILE_FRAME_NATIVE), 0);
	return stack;
}

TEST(derive_makes_waits_of_the_tracepoint_of_switches)
{
	struct chain c;
	uint8_t raw[36] = { [24] = 5 };

	chain_begin(&c, true);
	chain_feed(&c, (struct event){ .kind = EVENT_FORK, .tid = 5 }, 0);
	chain_feed(&c, (struct event){ .kind = EVENT_FORK, .tid = 6 }, 0);
	uint32_t stack = deep_stack(&c, 2);

	feed_point(&c, 5, START + 1000, STATE_SLEEPS, 6, stack);
	chain_feed(&c, (struct event){ .kind = EVENT_SAMPLE, .tid = 6, .time_ns = START + 1600,
				 .sample = { .event = 2, .period = 1, .raw = raw, .raw_len = sizeof(raw) } }, 0);
	feed_point(&c, 6, START + 2000, STATE_PREEMPTED, 5, deep_stack(&c, 1));
	chain_feed(&c, (struct event){ .kind = EVENT_EXIT, .tid = 5, .time_ns = START + 2900 }, 0);
	feed_point(&c, 5, START + 3000, STATE_DEAD, 6, 0); /* where it went, its record came before */
	derive_finish(c.derive);

	CHECK_UINT(chain_sum_of_state(&c, WALL, 5, PROFILE_STATE_ON_CPU), 1000 + 1000);
	CHECK_UINT(chain_sum_of_state(&c, WALL, 5, PROFILE_STATE_BLOCKED), 600);
	CHECK_UINT(chain_sum_of_state(&c, WALL, 5, PROFILE_STATE_RUNNABLE), 400);
	CHECK_UINT(chain_sum(&c, WALL, 5), 3000);
	CHECK_UINT(chain_sum_of_state(&c, WALL, 6, PROFILE_STATE_EARLIER), 1000);
	CHECK_UINT(chain_sum_of_state(&c, WALL, 6, PROFILE_STATE_RUNNABLE), 1000);
	CHECK_UINT(chain_sum(&c, WALL, 6), END - START);
	for (size_t i = 0; i < c.out.len; i++) {
		const struct derived *span = &c.out.items[i];

		if (span->event != WALL || span->state == PROFILE_STATE_ON_CPU)
			continue;
		/* The place of the tracepoint alone says nothing. */
		CHECK_UINT(span->stack, span->thread == 5 ? stack : 0);
		if (span->state == PROFILE_STATE_BLOCKED)
			CHECK_UINT(span->waker, 6);
	}
	chain_end(&c);
}

/* Thread 5 waits with @waits; 6 wakes it, which two samples tell: @first of them has @wakes. */
static void feed_wake(struct chain *c, bool first, uint32_t waits, uint32_t wakes)
{
	uint8_t raw[36] = { [24] = 5 };
	struct event waking = { .kind = EVENT_SAMPLE, .tid = 6, .time_ns = START + 1600,
				.sample = { .event = 2, .period = 1, .raw = raw, .raw_len = sizeof(raw) } };

	chain_sample(c, 5, START + 999, 1, waits);
	chain_switch(c, 5, START + 1000, false, false);
	chain_feed(c, waking, first ? wakes : 0);
	waking.time_ns += 300;
	chain_feed(c, waking, first ? 0 : wakes);
	waking.time_ns += 300000; /* wakes it in vain */
	chain_feed(c, waking, deep_stack(c, 7));
	chain_switch(c, 5, START + 500000, true, false);
	derive_finish(c->derive);
}

TEST(derive_knows_the_stack_of_who_ended_a_wait)
{
	for (int first = 0; first < 2; first++) {
		struct chain c;
		unsigned found = 0;

		chain_begin(&c, true);
		uint32_t waits = deep_stack(&c, 2), wakes = deep_stack(&c, 3);

		feed_wake(&c, first, waits, wakes);
		for (size_t i = 0; i < c.out.len; i++) {
			const struct derived *span = &c.out.items[i];

			if (span->event != WALL || span->stack != waits)
				continue;
			CHECK_UINT(span->waker_stack, wakes);
			CHECK_UINT(span->waker, 6);
			found++;
		}
		CHECK_UINT(found, 2); /* until it was woken, and until it had a CPU */
		chain_end(&c);
	}
}

TEST(derive_joins_the_stack_that_waited_and_the_one_that_woke_it)
{
	struct chain c;
	const char *added[DERIVE_ADDED_MAX + 1] = { NULL };

	CHECK(derive_want(added, DERIVE_OFF_WAKE));
	chain_begin(&c, true);
	derive_free(c.derive);
	for (int i = 0; i < 8; i++)
		profile_add_thread(c.profile, &(struct profile_thread){ .tid = (uint32_t)i, .comm = profile_string(c.profile, "waker") });

	struct derive_request request = { .profile = c.profile, .recording = &c.recording, .to_ns = UINT64_MAX,
					  .added = { DERIVE_OFF_WAKE } };

	c.derive = derive_new(&request, &(struct derive_out){ .add = chain_keep, .thread = chain_same_number, .context = &c });

	uint32_t waits = deep_stack(&c, 2), wakes = deep_stack(&c, 3), event = c.profile->types.len - 1;

	feed_wake(&c, true, waits, wakes);
	for (size_t i = 0; i < c.out.len; i++) {
		const struct derived *span = &c.out.items[i];

		if (span->event != event || span->weight != 600)
			continue;
		const struct profile_stack *stacks = c.profile->stacks.items;
		uint32_t at = span->stack;

		CHECK_UINT(stacks[at].depth, 2 + 1 + 3 + 1);
		at = stacks[at].parent; /* from the thread's name to the waker's outermost call */
		CHECK_UINT(c.profile->locations.items[stacks[at].location].vaddr, 0);
		for (int frame = 0; frame < 4; frame++) /* its other two, "--", the leaf that waited */
			at = stacks[at].parent;
		CHECK_UINT(at, waits);
		chain_end(&c);
		return;
	}
	CHECK(!"no joined stack");
	chain_end(&c);
}

TEST(derive_takes_the_stacks_of_the_tracepoint_where_there_are_records_of_switches)
{
	struct chain c;

	chain_begin(&c, true);
	uint32_t stack = deep_stack(&c, 3);

	feed_point(&c, 5, START + 1000, STATE_SLEEPS, 6, stack); /* nobody knows yet that records follow */
	chain_switch(&c, 5, START + 1001, false, false);
	chain_switch(&c, 6, START + 1002, true, false);
	feed_point(&c, 6, START + 2000, STATE_SLEEPS, 5, stack);
	chain_switch(&c, 6, START + 2001, false, false);
	chain_switch(&c, 5, START + 2002, true, false);
	derive_finish(c.derive);
	CHECK_UINT(chain_sum(&c, WALL, 5), END - START);
	CHECK_UINT(chain_sum_of_state(&c, WALL, 5, PROFILE_STATE_BLOCKED), 1002);
	CHECK_UINT(chain_sum_of_state(&c, WALL, 6, PROFILE_STATE_BLOCKED), END - START - 2001);
	CHECK_UINT(chain_sum_of_state(&c, WALL, 6, PROFILE_STATE_LOST), 0);
	chain_end(&c);
}

/* ---- a whole trace ---- */

static void write_switch(struct trace_writer *w, uint32_t tid, uint64_t time_ns, bool in)
{
	struct event ev = { .kind = EVENT_SWITCH, .time_ns = time_ns, .pid = 100, .tid = tid,
			    .cpu_switch = { .in = in } };

	CHECK_OK(trace_writer_event(w, &ev));
}

static const char *write_trace(void)
{
	const char *path = test_path("switches.trace");
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct trace_writer *w = trace_writer_new(fd);
	struct recording_event event = { .name = "cpu-clock", .unit = "ns", .format = "",
					 .type = PERF_TYPE_SOFTWARE, .samples = true };
	struct recording rec = { .tool = "test", .cmdline = "", .hostname = "", .os_release = "",
				 .cpu_model = "", .container = "", .arch = &arch_x86_64,
				 .start_ns = START, .events = &event, .nevents = 1 };

	CHECK(fd >= 0);
	CHECK_OK(trace_writer_begin(w, &rec));
	write_switch(w, 101, START + 1000, false);
	write_switch(w, 102, START + 2000, false);
	write_switch(w, 102, START + 2500, true);
	write_switch(w, 101, START + 9000, true);
	rec.end_ns = START + 10000;
	CHECK_OK(trace_writer_end(w, &rec));
	trace_writer_free(w);
	close(fd);
	return path;
}

static void write_name(struct trace_writer *w, uint32_t tid, const char *comm)
{
	struct event ev = { .kind = EVENT_COMM, .pid = tid, .tid = tid, .comm = { .comm = comm } };

	CHECK_OK(trace_writer_event(w, &ev));
}

/* A thread that was forked by "old" and is called "new" since. */
static const char *write_renamed(void)
{
	const char *path = test_path("renamed.trace");
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct trace_writer *w = trace_writer_new(fd);
	struct recording_event event = { .name = "cpu-clock", .unit = "ns", .format = "",
					 .type = PERF_TYPE_SOFTWARE, .samples = true };
	struct recording rec = { .tool = "test", .cmdline = "", .hostname = "", .os_release = "",
				 .cpu_model = "", .container = "", .arch = &arch_x86_64,
				 .start_ns = START, .events = &event, .nevents = 1 };
	struct event fork = { .kind = EVENT_FORK, .pid = 200, .tid = 200, .fork = { 100, 100 } };

	CHECK(fd >= 0);
	CHECK_OK(trace_writer_begin(w, &rec));
	write_name(w, 100, "old");
	CHECK_OK(trace_writer_event(w, &fork));
	write_name(w, 200, "new");
	for (uint32_t i = 0; i < 2; i++) {
		struct event ev = { .kind = EVENT_SWITCH, .time_ns = START + 1000 + i * 500, .pid = 100, .tid = 100,
				    .cpu_switch = { .in = i } };

		CHECK_OK(trace_writer_event(w, &ev));
		ev.pid = ev.tid = 200;
		ev.time_ns += 1000;
		CHECK_OK(trace_writer_event(w, &ev));
	}
	rec.end_ns = START + 10000;
	CHECK_OK(trace_writer_end(w, &rec));
	trace_writer_free(w);
	close(fd);
	return path;
}

TEST(session_follows_threads_through_their_names_and_shows_those_of_the_filter)
{
	struct session_args args;
	struct filter filter = { 0 };
	struct session s;

	vec_push(&filter.comms, "old");
	session_args_init(&args);
	args.input = write_renamed();
	CHECK_OK(session_open(&s, &args));
	CHECK_OK(session_load(&s, &filter));
	CHECK_UINT(s.matched.count, 1);
	CHECK_UINT(s.matched.weight, 500);
	CHECK_UINT(s.facts.lives.threads, 1);
	session_close(&s);
	session_args_deinit(&args);
	vec_deinit(&filter.comms);
}

TEST(session_turns_switches_into_time_off_the_cpu_by_thread_and_state)
{
	struct session_args args;
	struct filter filter = { 0 };
	struct session s;

	session_args_init(&args);
	args.input = write_trace();
	CHECK_OK(session_open(&s, &args));
	CHECK_OK(session_load(&s, &filter));
	CHECK_UINT(s.profile->types.len, 2);
	CHECK_STR(profile_text(s.profile, s.profile->types.items[1].name), DERIVE_OFF_CPU);
	CHECK_UINT(s.facts.first_type, 1);
	CHECK_UINT(s.profile->samples.len, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct profile_sample *row = &s.profile->samples.items[i];
		uint32_t tid = s.profile->threads.items[row->thread].tid;

		CHECK_UINT(row->weight, tid == 101 ? 8000 : 500);
		CHECK_UINT(row->state, PROFILE_STATE_BLOCKED);
	}
	session_close(&s);
	session_args_deinit(&args);
}

static void feed_times(struct chain *c, uint32_t tid, uint64_t time_ns, uint64_t run_ns, uint64_t wait_ns)
{
	chain_feed(c, (struct event){ .kind = EVENT_TASK_TIMES, .tid = tid, .time_ns = time_ns,
				.task_times = { .run_ns = run_ns, .wait_ns = wait_ns, .turns = 1 } }, 0);
}

TEST(derive_holds_the_schedulers_account_against_the_switches)
{
	struct profile_account account;
	struct chain c;

	chain_begin(&c, false);
	chain_feed(&c, (struct event){ .kind = EVENT_FORK, .tid = 5 }, 0); /* was there, and on a CPU, as its first switch tells */
	feed_times(&c, 5, START + 10, 7000, 300);
	chain_switch(&c, 5, START + 100, false, false);
	chain_switch(&c, 5, START + 300, true, false);
	feed_times(&c, 5, START + 400, 7185, 340);
	chain_feed(&c, (struct event){ .kind = EVENT_FORK, .tid = 6, .time_ns = START + 500 }, 0); /* new: all of its account counts */
	chain_switch(&c, 6, START + 520, true, false);
	feed_times(&c, 6, START + 600, 79, 20);
	chain_feed(&c, (struct event){ .kind = EVENT_EXIT, .tid = 6, .time_ns = START + 700 }, 0);
	chain_feed(&c, (struct event){ .kind = EVENT_FORK, .tid = 8, .time_ns = START + 500 }, 0); /* ends before it is read */
	chain_feed(&c, (struct event){ .kind = EVENT_EXIT, .tid = 8, .time_ns = START + 700 }, 0);
	derive_finish(c.derive);

	account = derive_lives(c.derive).account;
	CHECK_UINT(account.threads, 2);
	CHECK_UINT(account.run_ns, 185 + 79);
	CHECK_UINT(account.own_run_ns, 90 + 100 + 80);
	CHECK_UINT(account.wait_ns, 40 + 20);
	CHECK_UINT(account.ns, END - START - 10 + 100);
	chain_end(&c);
}

/* The recorder leaves switches out from @time_ns on, or takes them again. */
static void feed_guard(struct chain *c, uint64_t time_ns, bool stopped)
{
	chain_feed(c, (struct event){ .kind = EVENT_THROTTLE, .tid = UINT32_MAX, .time_ns = time_ns,
				.throttle = { .event = 1, .stopped = stopped, .by_recorder = true } }, 0);
}

/* Thread 5 waits with stack 7 and with stack 8, thrice as long; then switches are left out from 10,000 to 50,000. */
static void feed_left_out(struct chain *c, const struct event_task_times *behind)
{
	chain_switch(c, 5, START, true, false);
	chain_sample(c, 5, START + 1000, 1, 7);
	chain_switch(c, 5, START + 1000, false, false);
	chain_switch(c, 5, START + 2000, true, false);
	chain_sample(c, 5, START + 3000, 1, 8);
	chain_switch(c, 5, START + 3000, false, false);
	chain_switch(c, 5, START + 6000, true, false);
	chain_sample(c, 5, START + 9000, 1, 7);
	chain_switch(c, 5, START + 9000, false, false);
	feed_guard(c, START + 10000, true);
	chain_account(c, 5, START + 10000, &(struct event_task_times){ 105000, 2000, 103 });
	chain_switch(c, 5, START + 10001, true, false); /* on its way while the events went off: of no use */
	if (behind)
		chain_account(c, 5, START + 50000, behind);
	feed_guard(c, START + 50000, false);
}

TEST(derive_takes_from_the_schedulers_account_what_threads_did_while_switches_were_left_out)
{
	struct chain c;

	chain_begin(&c, true);
	/* Its life before: 100,000 on a CPU with 100 turns, and 3 turns with 5,000 since the start. */
	chain_account(&c, 5, START, &(struct event_task_times){ 100000, 2000, 100 });
	feed_left_out(&c, &(struct event_task_times){ 115000, 7000, 120 });
	chain_switch(&c, 5, START + 51000, true, false);
	derive_finish(c.derive);

	/* 40,000 were left out: 10,000 on a CPU, 5,000 ready, 25,000 blocked; then 1,000 until its next switch. */
	CHECK_UINT(chain_sum(&c, WALL, 5), END - START);
	CHECK_UINT(chain_sum_of_state(&c, WALL, 5, PROFILE_STATE_ON_CPU), 1000 + 1000 + 3000 + 10000 + (END - START - 51000));
	CHECK_UINT(chain_sum_of_state(&c, WALL, 5, PROFILE_STATE_RUNNABLE), 5000);
	CHECK_UINT(chain_sum_of_state(&c, WALL, 5, PROFILE_STATE_BLOCKED), 1000 + 3000 + 1000 + 25000 + 1000);
	/* In proportion to what was seen: 1,000 and 1,000 in one place, 3,000 in the other. */
	CHECK_UINT(chain_sum_of_stack(&c, 1, 7), 2000 + 31000 * 2 / 5);
	CHECK_UINT(chain_sum_of_stack(&c, 1, 8), 3000 + 31000 * 3 / 5);
	CHECK_UINT(derive_lives(c.derive).estimated_ns, 31000);
	CHECK_UINT(derive_lives(c.derive).unwatched_ns, 40000);
	CHECK_UINT(derive_lives(c.derive).by_state[PROFILE_STATE_LOST], 0);
	chain_end(&c);
}

TEST(derive_goes_on_with_the_wait_of_a_thread_that_did_not_run_while_switches_were_left_out)
{
	struct chain c;

	chain_begin(&c, true);
	chain_account(&c, 5, START, &(struct event_task_times){ 100000, 2000, 100 });
	feed_left_out(&c, NULL);
	chain_switch(&c, 5, START + 51000, true, false);
	chain_switch(&c, 5, END - 100, false, false);
	derive_finish(c.derive);
	CHECK_UINT(chain_sum_of_stack(&c, 1, 7), 1000 + 42000);
	CHECK_UINT(chain_sum(&c, WALL, 5), END - START);
	CHECK_UINT(derive_lives(c.derive).estimated_ns, 0);
	chain_end(&c);
}

/* Thread 5 is found with stack 9 at @found_ns, in the first part or in the gap from 10,000 to 50,000, in which it runs. */
static uint64_t found_before_gap(uint64_t found_ns, bool had_switch)
{
	struct event found = { .kind = EVENT_SAMPLE, .tid = 5, .time_ns = found_ns, .cpu = EVENT_NO_CPU,
			       .sample = { .event = 1, .period = 1 } };
	struct chain c;
	uint64_t ns;

	chain_begin(&c, true);
	chain_account(&c, 5, START, &(struct event_task_times){ 100000, 2000, 100 });
	if (had_switch)
		chain_switch(&c, 5, START, true, false);
	if (had_switch)
		chain_switch(&c, 5, START + 1000, false, false);
	if (found_ns < START + 10000)
		chain_feed(&c, found, 9);
	feed_guard(&c, START + 10000, true);
	if (found_ns >= START + 10000)
		chain_feed(&c, found, 9);
	chain_account(&c, 5, START + 50000, &(struct event_task_times){ 110000, 2000, 110 });
	feed_guard(&c, START + 50000, false);
	derive_finish(c.derive);
	CHECK_UINT(chain_sum(&c, WALL, 5), END - START);
	ns = 0;
	for (size_t i = 0; i < c.out.len; i++) /* but for what it stands for */
		ns += c.out.items[i].event == 1 && c.out.items[i].stack == 9 && !c.out.items[i].more ? c.out.items[i].weight : 0;
	chain_end(&c);
	return ns;
}

TEST(derive_knows_what_a_thread_waited_for_until_switches_were_left_out_if_it_was_found_before)
{
	CHECK_UINT(found_before_gap(START + 5000, false), 10000);
	CHECK_UINT(found_before_gap(START + 5000, true), 9000);
	CHECK_UINT(found_before_gap(START + 40000, false), 0); /* perhaps another wait */
	CHECK_UINT(found_before_gap(START + 40000, true), 0);
}

TEST(derive_does_not_know_what_a_thread_did_that_ended_while_switches_were_left_out)
{
	struct chain c;

	chain_begin(&c, true);
	chain_account(&c, 5, START, &(struct event_task_times){ 100000, 2000, 100 });
	feed_left_out(&c, NULL);
	feed_guard(&c, START + 60000, true);
	chain_feed(&c, (struct event){ .kind = EVENT_EXIT, .tid = 5, .time_ns = START + 80000 }, 0);
	derive_finish(c.derive);
	CHECK_UINT(chain_sum(&c, WALL, 5), 80000);
	CHECK_UINT(derive_lives(c.derive).by_state[PROFILE_STATE_LEFT_OUT], 20000);
	chain_end(&c);
}

TEST(derive_does_not_know_what_threads_did_while_switches_were_left_out_where_there_is_no_account)
{
	struct chain c;

	chain_begin(&c, true);
	chain_switch(&c, 5, START, true, false);
	chain_sample(&c, 5, START + 1000, 1, 7);
	chain_switch(&c, 5, START + 1000, false, false);
	feed_guard(&c, START + 10000, true);
	feed_guard(&c, START + 50000, false);
	chain_switch(&c, 5, START + 51000, true, false);
	derive_finish(c.derive);
	CHECK_UINT(chain_sum(&c, WALL, 5), END - START);
	CHECK_UINT(derive_lives(c.derive).by_state[PROFILE_STATE_LEFT_OUT], 40000);
	CHECK_UINT(chain_sum_of_stack(&c, 1, 7), 9000 + 1000); /* it waited until its next switch */
	chain_end(&c);
}
