/* SPDX-License-Identifier: Apache-2.0 */
/*
 * priority.c - sched_setscheduler(2), round robin, so that two recorders share.
 */
#include "record/system/priority.h"

#include "formats/base/clock.h"

#include <dirent.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/resource.h>

#define ORDINARY_NS 10000000000ULL /* at least, after the budget was exceeded */
#define NICE_FIRST  (-20)
#define CHECK_NS    5000000ULL	   /* so often at most it is asked what was used: a system call, and little beside what the budget allows */

static bool set(struct priority *p, bool raised)
{
	const struct sched_param param = { .sched_priority = raised ? p->level : 0 };
	int policy = raised ? SCHED_RR | SCHED_RESET_ON_FORK : SCHED_OTHER;

	if (sched_setscheduler(0, policy, &param) != 0)
		return false;
	p->raised = raised;
	p->was_raised |= raised;
	return true;
}

bool priority_raise(struct priority *p, int level, bool kept)
{
	*p = (struct priority){ .level = level, .kept = kept };
	if (!set(p, true))
		p->level = 0;
	priority_begin(p);
	return p->raised;
}

void priority_join(struct priority *p, const struct priority *first)
{
	if (p->joined)
		return;
	if (first->level)
		priority_raise(p, first->level, first->kept);
	p->joined = true;
}

void priority_begin(struct priority *p)
{
	budget_init(&p->budget, clock_now_ns(CLOCK_MONOTONIC), clock_now_ns(CLOCK_THREAD_CPUTIME_ID));
}

void priority_check(struct priority *p)
{
	if (!p->level || p->kept)
		return;
	uint64_t now = clock_now_ns(CLOCK_MONOTONIC);

	if (now - p->checked_ns < CHECK_NS)
		return;
	p->checked_ns = now;
	bool left = budget_charge(&p->budget, now, clock_now_ns(CLOCK_THREAD_CPUTIME_ID));

	if (p->raised && !left && set(p, false)) {
		p->given_up++;
		p->given_up_ns = now;
	} else if (!p->raised && budget_is_full(&p->budget) && now - p->given_up_ns >= ORDINARY_NS) {
		set(p, true);
	}
}

/* Each thread has a value of its own. */
static void renice_threads(int nice)
{
	DIR *threads = opendir("/proc/self/task");
	const struct dirent *entry;

	while (threads && (entry = readdir(threads))) {
		id_t tid = (id_t)strtoul(entry->d_name, NULL, 10);

		if (tid)
			setpriority(PRIO_PROCESS, tid, nice);
	}
	if (threads)
		closedir(threads);
}

/* What the process had before it went first; processes that it starts inherit that, too. */
static int former_nice = NICE_FIRST;

static void remember_nice(void)
{
	int now = getpriority(PRIO_PROCESS, 0);

	if (now != NICE_FIRST)
		former_nice = now;
}

void priority_finish(struct priority *p)
{
	if (p->raised)
		set(p, false);
	if (p->was_raised) {
		remember_nice();
		renice_threads(NICE_FIRST);
	}
	p->level = 0;
}

void priority_go_first(void)
{
	remember_nice();
	setpriority(PRIO_PROCESS, 0, NICE_FIRST);
}

void priority_step_back(void)
{
	if (getpriority(PRIO_PROCESS, 0) == NICE_FIRST)
		setpriority(PRIO_PROCESS, 0, former_nice);
}

void priority_mutex_init(pthread_mutex_t *mutex)
{
	pthread_mutexattr_t how;

	pthread_mutexattr_init(&how);
	/* Without priority inheritance: an ordinary lock. */
	pthread_mutexattr_setprotocol(&how, PTHREAD_PRIO_INHERIT);
	if (pthread_mutex_init(mutex, &how) != 0)
		pthread_mutex_init(mutex, NULL);
	pthread_mutexattr_destroy(&how);
}
