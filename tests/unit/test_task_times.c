/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_task_times.c - the scheduler's account of this very thread.
 */
#include "record/task/task_times.h"
#include "tests/unit/test.h"

#include <unistd.h>

struct told {
	unsigned own, others;
	uint64_t run_ns;
};

static struct err *hear(void *context, const struct event *ev)
{
	struct told *told = context;

	CHECK_UINT(ev->kind, EVENT_TASK_TIMES);
	if (ev->tid != (uint32_t)gettid()) {
		told->others++;
		return NULL;
	}
	told->own++;
	CHECK_UINT(ev->pid, (uint32_t)getpid());
	CHECK(ev->task_times.run_ns >= told->run_ns);
	told->run_ns = ev->task_times.run_ns;
	return NULL;
}

TEST(task_times_tell_of_the_threads_that_are_recorded)
{
	const struct target_task self = { .pid = getpid() };
	const struct target target = { .inherit = true, .tasks = { .items = (struct target_task *)&self, .len = 1 } };
	struct task_filter filter = { 0 };
	struct task_times times;
	struct told told = { 0 };

	if (access("/proc/self/task", R_OK) || access("/proc/self/schedstat", R_OK))
		SKIP("this kernel keeps no such account");
	task_filter_init(&filter, &target);
	task_times_begin(&times, true, 0, NULL);
	CHECK_OK(task_times_read(&times, &filter, hear, &told));
	CHECK_UINT(told.own, 1);
	CHECK(told.others < 100); /* threads of the test program alone */
	CHECK(times.next_ns > 0 && times.next_ns != UINT64_MAX);
	task_times_deinit(&times);
	task_filter_deinit(&filter);
}

TEST(task_times_read_nothing_without_switches_to_compare)
{
	struct task_filter filter = { 0 };
	struct task_times times;
	struct told told = { 0 };

	task_times_begin(&times, false, 0, NULL);
	CHECK_OK(task_times_read(&times, &filter, hear, &told));
	CHECK_UINT(told.own + told.others, 0);
	CHECK_UINT(times.next_ns, UINT64_MAX);
	task_times_deinit(&times);
}
