/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_family.c - who belongs to what is recorded, by forks alone.
 */
#include "record/family.h"

#include "tests/unit/test.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define FAMILY CLEANUP(family_deinit) struct family family = { 0 }

static void select_task(struct family *f, pid_t pid, pid_t tid, bool inherit)
{
	struct target target = { .inherit = inherit };

	vec_push(&target.tasks, ((struct target_task){ pid, tid }));
	family_init(f, &target);
	vec_deinit(&target.tasks);
}

static bool forked(struct family *f, uint32_t pid, uint32_t tid, uint32_t parent)
{
	const struct event ev = {
		.kind = EVENT_FORK,
		.pid = pid,
		.tid = tid,
		.fork = { parent, parent },
	};

	return family_event(f, &ev);
}

TEST(family_of_nobody_in_particular_is_everybody)
{
	FAMILY;
	const struct event ev = { .kind = EVENT_EXIT, .pid = 7 };

	CHECK(family_has(&family, 1, 2));
	CHECK(family_event(&family, &ev));
	CHECK(family_lives(&family));
}

TEST(family_grows_by_children_of_members)
{
	FAMILY;

	select_task(&family, 10, 10, true);
	CHECK(family_has(&family, 10, 99)); /* a thread that began unseen */
	CHECK(!family_has(&family, 11, 11));
	CHECK(forked(&family, 11, 11, 10));
	CHECK(forked(&family, 12, 12, 11));
	CHECK(forked(&family, 10, 13, 10)); /* a thread */
	CHECK(!forked(&family, 20, 20, 1));
	CHECK(!forked(&family, 21, 21, 20));
	CHECK(family_has(&family, 12, 12));
	CHECK(!family_has(&family, 21, 21));
	CHECK(forked(&family, 20, 20, 12)); /* the number is used again, by one of ours */
	CHECK(family_has(&family, 20, 20));
	CHECK(!forked(&family, 12, 12, 1)); /* and the other way round */
	CHECK(!family_has(&family, 12, 12));
}

TEST(family_of_a_thread_is_that_thread)
{
	FAMILY;

	select_task(&family, 10, 14, false);
	CHECK(family_has(&family, 10, 14));
	CHECK(!family_has(&family, 10, 10));
	CHECK(!forked(&family, 30, 30, 10));
	CHECK(!family_has(&family, 30, 30));
}

TEST(family_keeps_what_concerns_members_and_the_kernel)
{
	FAMILY;
	struct event ev = { .kind = EVENT_MMAP, .pid = 11 };

	select_task(&family, 10, 10, true);
	CHECK(!family_event(&family, &ev));
	ev.mmap.flags = EVENT_MMAP_KERNEL;
	CHECK(family_event(&family, &ev));
	ev = (struct event){ .kind = EVENT_COMM, .pid = 10 };
	CHECK(family_event(&family, &ev));
	ev = (struct event){ .kind = EVENT_EXIT, .pid = 11 };
	CHECK(!family_event(&family, &ev));
	ev = (struct event){ .kind = EVENT_LOST, .pid = UINT32_MAX };
	CHECK(family_event(&family, &ev));
	ev.kind = EVENT_KSYMBOL;
	CHECK(family_event(&family, &ev));
}

TEST(family_lives_until_its_last_member_has_ended)
{
	FAMILY;
	pid_t child = fork();

	if (!child) {
		pause();
		_exit(0);
	}
	select_task(&family, child, child, true);
	CHECK(forked(&family, (uint32_t)getpid(), (uint32_t)getpid(), (uint32_t)child));
	CHECK(family_lives(&family));
	CHECK(!forked(&family, (uint32_t)getpid(), (uint32_t)getpid(), 1));
	CHECK(family_lives(&family));
	kill(child, SIGKILL);
	siginfo_t info;

	/* Ended but not waited for is ended. */
	CHECK(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) == 0);
	CHECK(!family_lives(&family));
	CHECK(family_has(&family, (uint32_t)child, (uint32_t)child)); /* its last samples count */
	CHECK(waitpid(child, NULL, 0) == child);
}

TEST(family_forgets_who_left_two_rounds_ago_unless_the_number_lives_again)
{
	FAMILY;

	select_task(&family, 10, 10, true);
	CHECK(forked(&family, 11, 11, 10));
	CHECK(forked(&family, 12, 12, 10));
	CHECK(forked(&family, 13, 13, 10));
	for (uint32_t pid = 11; pid <= 13; pid++)
		family_leave(&family, pid);
	family_leave(&family, 77); /* a stranger */
	CHECK(forked(&family, 12, 12, 10));
	family_round(&family);
	CHECK(family_has(&family, 11, 11)); /* its last samples */
	CHECK(forked(&family, 13, 13, 10));
	family_leave(&family, 13);
	family_round(&family);
	CHECK(!family_has(&family, 11, 11));
	CHECK(family_has(&family, 12, 12));
	CHECK(family_has(&family, 13, 13)); /* who has the number now left a round ago */
	family_round(&family);
	CHECK(!family_has(&family, 13, 13));
	CHECK_UINT(family.processes.len, 2);
	CHECK_UINT(family.leavers.len, 0);
	CHECK(family_has(&family, 10, 10));
}
