/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_stretches.c - what is known of threads whose switches were lost: as much as their accounts confirm, and no more.
 */
#include "report/load/derive/stretches.h"
#include "tests/unit/derive_chain.h"
#include "tests/unit/test.h"

/* A ring of switches says that records were lost; @cpu as in chain_switch() or EVENT_NO_CPU. */
static void feed_switch_loss(struct chain *c, uint32_t cpu, uint64_t time_ns)
{
	chain_feed(c, (struct event){ .kind = EVENT_LOST, .tid = 9, .time_ns = time_ns, .cpu = cpu,
				.lost = { RECORDING_NO_EVENT, 2, false } }, 0);
}

/* Thread 5 waits with stack 7, runs from 3,000 to 9,000, waits with stack 8; a loss is told at 6,000, after a record at 4,000. */
static void feed_loss(struct chain *c, uint32_t cpu, uint64_t turns)
{
	chain_account(c, 5, START, &(struct event_task_times){ 100000, 2000, 100 });
	chain_switch(c, 5, START, true, false);
	chain_sample(c, 5, START + 1000, 1, 7);
	chain_switch(c, 5, START + 1000, false, false);
	chain_switch(c, 5, START + 3000, true, false);
	chain_switch(c, 6, START + 4000, true, false);
	feed_switch_loss(c, cpu, START + 6000);
	chain_sample(c, 5, START + 9000, 1, 8);
	chain_switch(c, 5, START + 9000, false, false);
	chain_switch(c, 5, START + 20000, true, false);
	if (turns)
		chain_account(c, 5, START + 30000, &(struct event_task_times){ 110000, 2000, turns });
	derive_finish(c->derive);
	CHECK_UINT(chain_sum(c, WALL, 5), END - START);
}

TEST(stretches_keeps_what_records_say_where_the_account_knows_of_no_other_turn)
{
	struct chain c;

	chain_begin(&c, true);
	feed_loss(&c, 0, 103);
	CHECK_UINT(chain_sum_of_stack(&c, 1, 7), 2000);
	CHECK_UINT(chain_sum_of_stack(&c, 1, 8), 11000);
	CHECK_UINT(chain_sum_of_state(&c, WALL, 5, PROFILE_STATE_LOST), 0);
	chain_end(&c);
}

TEST(stretches_does_not_know_what_a_thread_did_where_its_account_knows_of_more_turns_than_records)
{
	struct chain c;

	chain_begin(&c, true);
	feed_loss(&c, 0, 104);
	CHECK_UINT(chain_sum_of_state(&c, WALL, 5, PROFILE_STATE_LOST), 2000);
	CHECK_UINT(chain_sum_of_state(&c, WALL, 5, PROFILE_STATE_ON_CPU), 1000 + 4000 + (END - START - 20000));
	chain_end(&c);
	/* On another CPU it cannot have been. */
	chain_begin(&c, true);
	feed_loss(&c, 2, 104);
	CHECK_UINT(chain_sum_of_state(&c, WALL, 5, PROFILE_STATE_LOST), 0);
	chain_end(&c);
	/* No account follows. */
	chain_begin(&c, true);
	feed_loss(&c, 0, 0);
	CHECK_UINT(chain_sum_of_state(&c, WALL, 5, PROFILE_STATE_LOST), 2000);
	chain_end(&c);
}

TEST(stretches_does_not_know_what_a_thread_waits_for_that_may_have_run_unseen)
{
	for (uint64_t turns = 101; turns <= 102; turns++) {
		struct chain c;

		chain_begin(&c, true);
		chain_account(&c, 5, START, &(struct event_task_times){ 100000, 2000, 100 });
		chain_switch(&c, 5, START, true, false);
		chain_sample(&c, 5, START + 1000, 1, 7);
		chain_switch(&c, 5, START + 1000, false, false);
		chain_switch(&c, 6, START + 4000, true, false);
		feed_switch_loss(&c, 0, START + 6000);
		chain_account(&c, 5, START + 30000, &(struct event_task_times){ 101000, 2000, turns });
		derive_finish(c.derive);
		CHECK_UINT(chain_sum(&c, WALL, 5), END - START);
		CHECK_UINT(chain_sum_of_stack(&c, 1, 7), turns == 101 ? END - START - 1000 : 3000);
		CHECK_UINT(chain_sum_of_state(&c, WALL, 5, PROFILE_STATE_LOST), turns == 101 ? 0 : END - START - 4000);
		chain_end(&c);
	}
}

/* That it left a CPU for good shows in no turn: it was read to have run for less. */
TEST(stretches_of_a_thread_that_left_its_cpu_unseen)
{
	for (int seen = 0; seen < 2; seen++) {
		struct chain c;

		chain_begin(&c, true);
		c.recording.end_ns = START + 100000000;
		chain_account(&c, 5, START, &(struct event_task_times){ 1000, 2000, 100 });
		chain_switch(&c, 5, START + 1000, true, false);
		chain_switch(&c, 6, START + 4000, true, false);
		feed_switch_loss(&c, EVENT_NO_CPU, START + 99000000);
		chain_account(&c, 5, START + 100000000,
			      &(struct event_task_times){ seen ? 95000000 : 50000000, 2000, 101 });
		derive_finish(c.derive);
		CHECK_UINT(chain_sum(&c, WALL, 5), 100000000);
		CHECK_UINT(chain_sum_of_state(&c, WALL, 5, PROFILE_STATE_LOST), seen ? 0 : 99000000 - 1000);
		chain_end(&c);
	}
}

/* What a thread is known to have done of the kind, at least, and at most, if all that is not known was that. */
static void check_within(const struct chain *c, enum profile_state state, uint64_t truth_ns)
{
	uint64_t known_ns = chain_sum_of_state(c, WALL, 5, state), lost_ns = chain_sum_of_state(c, WALL, 5, PROFILE_STATE_LOST);

	CHECK(known_ns <= truth_ns && truth_ns <= known_ns + lost_ns);
}

/* One CPU, from which records vanish in runs; the account is read once meanwhile, and at the end. */
TEST(stretches_says_how_much_is_not_known_whatever_is_lost)
{
	uint64_t seed = 1;

	for (int round = 0; round < 500; round++) {
		struct event_task_times account = { 1000, 0, 10 };
		uint64_t at = START, read = START + 20000, waited = 0, ran = 0;
		bool on_cpu = false;
		int lose = 0, lost = 0;
		struct chain c;

		chain_begin(&c, true);
		chain_account(&c, 5, START, &account);
		for (bool in = true; at < START + 30000; in = !in) {
			uint64_t step = 1 + (seed = seed * 6364136223846793005u + 1442695040888963407u) % 911;

			waited += in ? step : 0;
			ran += in ? 0 : step;
			account.run_ns += in ? 0 : step;
			account.turns += in;
			at += step;
			/* The last records are there: that a thread left for good is the account's to tell. */
			lose = at > START + 28000 ? 0 : lose ? lose - 1 : (seed >> 33) % 40 ? 0 : (int)((seed >> 20) % 9);
			if (lose) {
				lost++;
			} else {
				if (lost)
					feed_switch_loss(&c, 0, at);
				lost = 0;
				chain_switch(&c, 5, at, in, false);
			}
			if (at >= read) {
				chain_account(&c, 5, at, &account);
				read = at + 20000;
			}
			on_cpu = in;
		}
		waited += on_cpu ? 0 : END - at;
		ran += on_cpu ? END - at : 0;
		if (lost)
			feed_switch_loss(&c, EVENT_NO_CPU, END);
		chain_account(&c, 5, END, &account);
		derive_finish(c.derive);
		CHECK_UINT(chain_sum(&c, WALL, 5), END - START);
		check_within(&c, PROFILE_STATE_ON_CPU, ran);
		check_within(&c, PROFILE_STATE_BLOCKED, waited - chain_sum_of_state(&c, WALL, 5, PROFILE_STATE_EARLIER));
		chain_end(&c);
	}
}
