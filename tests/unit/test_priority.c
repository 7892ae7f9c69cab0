/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_priority.c - the place in line once sampling is over. In a child, since nobody may get the test's own back.
 */
#include "record/system/priority.h"

#include "tests/unit/test.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FINE, WRONG, NOT_PERMITTED };

struct other {
	pthread_barrier_t began, finished;
	int nice;
};

static void *be_other(void *context)
{
	struct other *other = context;

	pthread_barrier_wait(&other->began);
	pthread_barrier_wait(&other->finished);
	other->nice = getpriority(PRIO_PROCESS, (id_t)gettid());
	return NULL;
}

static int in_child(int (*run)(void))
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(run());
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	return WEXITSTATUS(status);
}

static bool is_ordinary(int nice)
{
	return sched_getscheduler(0) == SCHED_OTHER && getpriority(PRIO_PROCESS, 0) == nice;
}

static int finish(void)
{
	struct other other = { .nice = 1 };
	struct priority p;
	pthread_t thread;

	setpriority(PRIO_PROCESS, 0, 5); /* as the user began it */
	if (!priority_raise(&p, 1, /* kept= */ false))
		return NOT_PERMITTED;
	pthread_barrier_init(&other.began, NULL, 2);
	pthread_barrier_init(&other.finished, NULL, 2);
	if (pthread_create(&thread, NULL, be_other, &other) != 0)
		return WRONG;
	pthread_barrier_wait(&other.began);
	priority_finish(&p);
	pthread_barrier_wait(&other.finished);
	pthread_join(thread, NULL);
	bool first = is_ordinary(-20) && other.nice == -20;

	priority_step_back();
	return first && is_ordinary(5) ? FINE : WRONG;
}

static int finish_without(void)
{
	struct priority p = { 0 };

	setpriority(PRIO_PROCESS, 0, 5);
	priority_finish(&p);
	priority_step_back();
	return is_ordinary(5) ? FINE : WRONG;
}

TEST(priority_ends_as_the_first_of_ordinary_threads)
{
	int result = in_child(finish);

	if (result == NOT_PERMITTED)
		SKIP("real-time priority is not permitted");
	CHECK_UINT((unsigned)result, FINE);
}

TEST(priority_that_was_never_raised_stays_where_it_is)
{
	CHECK_UINT((unsigned)in_child(finish_without), FINE);
}
