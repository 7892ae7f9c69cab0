/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_perf_fds.c - with the events of a real kernel, where that lets us have any.
 */
#include "record/sample/perf_fds.h"

#include "record/event/event_list.h"
#include "tests/unit/test.h"

#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define RING_LEN (1u << 18)

/* The clock, with stacks, on all CPUs. */
struct opened {
	struct event_list list;
	struct event_plan plan;
	struct target target;
	struct diag diag;
	struct perf_fds fds;
};

static bool open_event(struct opened *o, const struct event_desc *desc)
{
	const struct target_args all = { .all = true };
	struct event_request request = { .rate = { EVENT_RATE_FREQ, 99 }, .chain = RECORDING_CHAIN_DWARF, .stack_len = 32768,
					 .probe = { .pid = -1, .cgroup_fd = -1 } };
	struct err *err = target_find(&all, 0, &o->target);

	vec_push(&o->list, *desc);
	request.probe.cpu = err ? 0 : (int)o->target.cpus.cpus[0];
	if (!err)
		err = event_plan_make(&o->list, &request, &o->plan);
	if (!err)
		err = perf_fds_open(&o->plan, &o->target, RING_LEN, &o->diag, &o->fds);
	bool is_open = !err;

	err_free(err);
	return is_open;
}

static bool open_all(struct opened *o)
{
	const struct event_desc clock = { .name = "cpu-clock", .unit = "ns", .type = PERF_TYPE_SOFTWARE,
					  .config = PERF_COUNT_SW_CPU_CLOCK, .samples = true, .format = "" };

	return open_event(o, &clock);
}

static bool open_waits(struct opened *o)
{
	const struct event_desc waits = { .name = "off-cpu", .unit = "ns", .type = PERF_TYPE_SOFTWARE,
					  .config = PERF_COUNT_SW_CONTEXT_SWITCHES, .samples = true, .format = "" };

	return open_event(o, &waits);
}

static void close_all(struct opened *o)
{
	perf_fds_close(&o->fds);
	event_plan_deinit(&o->plan);
	target_deinit(&o->target);
	event_list_deinit(&o->list);
	diag_deinit(&o->diag);
}

/* Of those from number @first on: how many wake, and of the others each has a twin that does. */
static size_t count_waking(const struct perf_fds *s, size_t first)
{
	size_t waking = 0, plain = 0;

	for (size_t i = first; i < s->items.len; i++) {
		const struct perf_fd *perf_fd = &s->items.items[i];

		if (perf_fd->event == PERF_FD_SIDE_BAND)
			continue;
		CHECK(perf_fd->paired);
		waking += perf_fd->wakes;
		plain += !perf_fd->wakes;
	}
	CHECK_UINT(waking, plain);
	return waking;
}

TEST(perf_fds_of_a_cpu_that_came_back_wake_and_have_their_period)
{
	static struct opened o;

	if (getenv("EMULATOR") || !open_all(&o)) {
		SKIP("events of CPUs are not permitted here");
	}
	uint32_t cpu = o.target.cpus.cpus[0];

	CHECK(perf_fds_set_waking(&o.fds, &o.target, true));
	perf_fds_set_period(&o.fds, 0, cpu, 4000000);
	perf_fds_set_waking(&o.fds, &o.target, false);
	size_t first = o.fds.items.len;

	CHECK_OK(perf_fds_reopen(&o.fds, &o.target, cpu, true));
	CHECK(count_waking(&o.fds, first) > 0);
	for (size_t i = first; i < o.fds.items.len; i++)
		if (o.fds.items.items[i].event != PERF_FD_SIDE_BAND)
			CHECK_UINT(o.fds.items.items[i].period, 4000000);
	close_all(&o);
}

TEST(perf_fds_that_wake_later_have_the_period_that_was_set_before)
{
	static struct opened o;

	if (getenv("EMULATOR") || !open_all(&o)) {
		SKIP("events of CPUs are not permitted here");
	}
	uint32_t cpu = o.target.cpus.cpus[0];

	perf_fds_set_period(&o.fds, 0, cpu, 4000000);
	CHECK(perf_fds_set_waking(&o.fds, &o.target, true));
	for (size_t i = 0; i < o.fds.items.len; i++)
		if (o.fds.items.items[i].event != PERF_FD_SIDE_BAND && o.fds.items.items[i].cpu == cpu)
			CHECK_UINT(o.fds.items.items[i].period, 4000000);
	close_all(&o);
}

/* The readings of the events of @o's task, and what the last of them says; of events that are closed, too. */
static struct perf_fd_reading read_task(const struct opened *o)
{
	struct perf_fd_reading sum = { 0 }, one;

	for (size_t i = 0; i < o->fds.items.len; i++) {
		const struct perf_fd *perf_fd = &o->fds.items.items[i];

		if (!perf_fd->task || perf_fd->event == PERF_FD_SIDE_BAND || !perf_fds_read(&o->fds, perf_fd, &one))
			continue;
		sum.value += one.value;
		sum.enabled_ns += one.enabled_ns;
		sum.running_ns += one.running_ns;
	}
	return sum;
}

TEST(perf_fds_of_a_task_that_ran_elsewhere_were_not_multiplexed_and_are_known_when_closed)
{
	static struct opened o;
	struct perf_fd_reading open, closed;

	if (getenv("EMULATOR") || !open_waits(&o) || o.target.cpus.len < 2) {
		SKIP("events of CPUs are not permitted here, or there is only one");
	}
	perf_fds_enable(&o.fds);
	CHECK_OK(perf_fds_add_task(&o.fds, getpid(), false));
	perf_fds_narrow(&o.fds, true, &o.diag);
	for (int i = 0; i < 3; i++)
		nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
	open = read_task(&o);
	CHECK(open.value >= 3 && open.running_ns);
	CHECK_UINT(open.enabled_ns, open.running_ns);
	perf_fds_narrow(&o.fds, false, &o.diag);
	closed = read_task(&o);
	CHECK(closed.value >= open.value && closed.running_ns >= open.running_ns);
	CHECK_UINT(closed.enabled_ns, closed.running_ns);
	close_all(&o);
}

/* Samples of this process on CPU @cpu, where it is moved, until the bell of ring 0 rings. */
static bool rings_on(const struct wake_filter *filter, uint32_t cpu)
{
	cpu_set_t set, before;
	clock_t until = clock() + 2 * CLOCKS_PER_SEC;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_getaffinity(0, sizeof(before), &before);
	sched_setaffinity(0, sizeof(set), &set);
	while (!wake_filter_waits(filter, 0) && clock() < until)
		;
	sched_setaffinity(0, sizeof(before), &before);
	return wake_filter_waits(filter, 0);
}

TEST(perf_fds_of_a_cpu_that_came_back_run_through_the_filter)
{
	static struct opened o;

	if (getenv("EMULATOR") || !open_all(&o)) {
		SKIP("events of CPUs are not permitted here");
	}
	struct wake_filter *filter = wake_filter_new(o.fds.samples.len);
	uint32_t cpu = o.target.cpus.cpus[0];

	if (!filter || !perf_fds_filter(&o.fds, filter)) {
		wake_filter_free(filter);
		close_all(&o);
		SKIP("this kernel has no BPF for us");
	}
	/* The old ones stay off, as if the CPU had been off line. */
	o.fds.enabled = true;
	wake_filter_mark(filter, (uint32_t)getpid());
	CHECK_OK(perf_fds_reopen(&o.fds, &o.target, cpu, true));
	CHECK(rings_on(filter, cpu));
	close_all(&o);
	wake_filter_free(filter);
}
