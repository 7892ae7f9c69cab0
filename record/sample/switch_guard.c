/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switch_guard.c - the busiest CPU decides for all: threads migrate, and a thread whose switches are recorded only on some
 * CPUs could not be analysed. Tasks that are not recorded do not count: a program beside a busy neighbour keeps all its
 * switches.
 */
#include "record/sample/switch_guard.h"

#include "formats/base/compiler.h"

#define LOOK_NS	     100000000 /* at the rate, so often */
#define FIRST_ON_NS  50000000
#define LEAST_ON_NS  5000000
#define CYCLE_NS     100000000 /* a thread that exits while recording is off is lost for that time */
#define TURN_SHARE   33	      /* switching on and off takes at most a 33rd of the time */
#define RECORD_NS    1500	      /* cost of a record, for recorder and thread together */
#define BUSY_CPUS    8	      /* that may be at the rate at a time: all come to one recorder */
#define SLACK	     1.25      /* tolerated factor above the rate */

void switch_guard_begin(struct switch_guard *g, bool wanted, uint64_t now_ns)
{
	*g = (struct switch_guard){ .wanted = wanted, .since_ns = now_ns, .on_ns = FIRST_ON_NS,
				    .next_ns = wanted ? now_ns + FIRST_ON_NS : UINT64_MAX, .random = now_ns | 1 };
}

void switch_guard_deinit(struct switch_guard *g)
{
	vec_deinit(&g->counts);
}

void switch_guard_count(struct switch_guard *g, size_t ring, uint64_t count)
{
	while (g->counts.len <= ring)
		vec_push(&g->counts, 0);
	g->counts.items[ring] += count;
}

static void begin_count(struct switch_guard *g, uint64_t now_ns)
{
	for (size_t i = 0; i < g->counts.len; i++)
		g->counts.items[i] = 0;
	g->since_ns = now_ns;
}

/* 0.75 to 1.25 (xorshift). */
static double about_one(struct switch_guard *g)
{
	g->random ^= g->random << 13;
	g->random ^= g->random >> 7;
	g->random ^= g->random << 17;
	return 0.75 + (double)(g->random % 1024) / 2048;
}

static uint64_t all_records(const struct switch_guard *g)
{
	uint64_t all = 0;

	for (size_t i = 0; i < g->counts.len; i++)
		all += g->counts.items[i];
	return all;
}

/* Records of the busiest CPU since the last count, or of all CPUs where that is more load for the recorder. */
static uint64_t busiest(const struct switch_guard *g)
{
	uint64_t most = all_records(g) / BUSY_CPUS;

	for (size_t i = 0; i < g->counts.len; i++)
		most = MAX(most, g->counts.items[i]);
	return most;
}

/* Do the saved records cost more than turning off and on, at the rate of the last @elapsed_ns? */
static bool is_worth_it(const struct switch_guard *g, uint64_t elapsed_ns, double share)
{
	double turns_ns = 2 * (double)g->turn_cost_ns, cycle_ns = MAX((double)CYCLE_NS, TURN_SHARE * turns_ns);

	return (double)all_records(g) / (double)elapsed_ns * RECORD_NS * cycle_ns * (1 - share) > turns_ns;
}

bool switch_guard_decide(struct switch_guard *g, uint64_t now_ns)
{
	uint64_t elapsed_ns = MAX(now_ns - MIN(g->since_ns, now_ns), 1);

	if (!g->wanted)
		return false;
	if (g->off)
		return now_ns >= g->next_ns;
	if (elapsed_ns < g->on_ns)
		return false;

	double share = SWITCH_GUARD_RATE / ((double)MAX(busiest(g), 1) * 1e9 / (double)elapsed_ns);

	if (share * SLACK > 1 || !is_worth_it(g, elapsed_ns, share)) {
		if (elapsed_ns >= LOOK_NS)
			begin_count(g, now_ns);
		g->next_ns = UINT64_MAX;
		return false;
	}
	uint64_t off_ns = (uint64_t)((double)elapsed_ns * (1 / share - 1) * about_one(g));

	g->next_ns = now_ns + MIN(off_ns, MAX(CYCLE_NS, TURN_SHARE * 2 * g->turn_cost_ns));
	g->share = share;
	return true;
}

void switch_guard_end(struct switch_guard *g, uint64_t now_ns)
{
	if (g->off)
		g->off_ns += now_ns - MIN(g->since_ns, now_ns);
}

void switch_guard_turned(struct switch_guard *g, uint64_t now_ns, uint64_t cost_ns)
{
	g->turn_cost_ns = cost_ns;
	switch_guard_end(g, now_ns);
	if (g->off) {
		/* If turning takes long, as with thousands of threads, do it rarely. */
		g->on_ns = MAX((uint64_t)LEAST_ON_NS,
			       (uint64_t)(g->share * (double)MAX(CYCLE_NS, TURN_SHARE * 2 * cost_ns)));
		g->next_ns = now_ns + g->on_ns;
	}
	g->off = !g->off;
	begin_count(g, now_ns);
}
