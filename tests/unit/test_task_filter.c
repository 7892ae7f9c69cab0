/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_task_filter.c - who belongs to what is recorded, by forks alone.
 */
#include "record/task/task_filter.h"

#include "formats/base/arena.h"
#include "tests/unit/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TASKS CLEANUP(task_filter_deinit) struct task_filter tasks = { 0 }

static void select_task(struct task_filter *f, pid_t pid, pid_t tid, bool inherit)
{
	struct target target = { .inherit = inherit };

	vec_push(&target.tasks, ((struct target_task){ pid, tid }));
	task_filter_init(f, &target);
	vec_deinit(&target.tasks);
}

static bool forked(struct task_filter *f, uint32_t pid, uint32_t tid, uint32_t parent)
{
	const struct event ev = {
		.kind = EVENT_FORK,
		.pid = pid,
		.tid = tid,
		.fork = { parent, parent },
	};

	return task_filter_event(f, &ev);
}

TEST(task_filter_of_nobody_in_particular_is_everybody)
{
	TASKS;
	const struct event ev = { .kind = EVENT_EXIT, .pid = 7 };

	CHECK(task_filter_has(&tasks, 1, 2));
	CHECK(task_filter_event(&tasks, &ev));
	CHECK(task_filter_lives(&tasks));
}

TEST(task_filter_grows_by_children_of_members)
{
	TASKS;

	select_task(&tasks, 10, 10, true);
	CHECK(task_filter_has(&tasks, 10, 99)); /* a thread that began unseen */
	CHECK(!task_filter_has(&tasks, 11, 11));
	CHECK(forked(&tasks, 11, 11, 10));
	CHECK(forked(&tasks, 12, 12, 11));
	CHECK(forked(&tasks, 10, 13, 10)); /* a thread */
	CHECK(!forked(&tasks, 20, 20, 1));
	CHECK(!forked(&tasks, 21, 21, 20));
	CHECK(task_filter_has(&tasks, 12, 12));
	CHECK(!task_filter_has(&tasks, 21, 21));
	CHECK(forked(&tasks, 20, 20, 12)); /* the number is used again, by one of ours */
	CHECK(task_filter_has(&tasks, 20, 20));
	CHECK(!forked(&tasks, 12, 12, 1)); /* and the other way round */
	CHECK(!task_filter_has(&tasks, 12, 12));
}

TEST(task_filter_of_a_thread_is_that_thread)
{
	TASKS;

	select_task(&tasks, 10, 14, false);
	CHECK(task_filter_has(&tasks, 10, 14));
	CHECK(!task_filter_has(&tasks, 10, 10));
	CHECK(!forked(&tasks, 30, 30, 10));
	CHECK(!task_filter_has(&tasks, 30, 30));
}

TEST(task_filter_keeps_what_concerns_members_and_the_kernel)
{
	TASKS;
	struct event ev = { .kind = EVENT_MMAP, .pid = 11 };

	select_task(&tasks, 10, 10, true);
	CHECK(!task_filter_event(&tasks, &ev));
	ev.mmap.flags = EVENT_MMAP_KERNEL;
	CHECK(task_filter_event(&tasks, &ev));
	ev = (struct event){ .kind = EVENT_COMM, .pid = 10 };
	CHECK(task_filter_event(&tasks, &ev));
	ev = (struct event){ .kind = EVENT_EXIT, .pid = 11 };
	CHECK(!task_filter_event(&tasks, &ev));
	ev = (struct event){ .kind = EVENT_LOST, .pid = UINT32_MAX };
	CHECK(task_filter_event(&tasks, &ev));
	ev.kind = EVENT_KSYMBOL;
	CHECK(task_filter_event(&tasks, &ev));
}

TEST(task_filter_lives_until_its_last_member_has_ended)
{
	TASKS;
	pid_t child = fork();

	if (!child) {
		pause();
		_exit(0);
	}
	select_task(&tasks, child, child, true);
	CHECK(forked(&tasks, (uint32_t)getpid(), (uint32_t)getpid(), (uint32_t)child));
	CHECK(task_filter_lives(&tasks));
	CHECK(!forked(&tasks, (uint32_t)getpid(), (uint32_t)getpid(), 1));
	CHECK(task_filter_lives(&tasks));
	kill(child, SIGKILL);
	siginfo_t info;

	/* Ended but not waited for is ended. */
	CHECK(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) == 0);
	CHECK(!task_filter_lives(&tasks));
	CHECK(task_filter_has(&tasks, (uint32_t)child, (uint32_t)child)); /* its last samples count */
	CHECK(waitpid(child, NULL, 0) == child);
}

TEST(task_filter_forgets_who_left_two_rounds_ago_unless_the_number_lives_again)
{
	TASKS;

	select_task(&tasks, 10, 10, true);
	CHECK(forked(&tasks, 11, 11, 10));
	CHECK(forked(&tasks, 12, 12, 10));
	CHECK(forked(&tasks, 13, 13, 10));
	for (uint32_t pid = 11; pid <= 13; pid++)
		task_filter_leave(&tasks, pid);
	task_filter_leave(&tasks, 77); /* a stranger */
	CHECK(forked(&tasks, 12, 12, 10));
	task_filter_round(&tasks);
	CHECK(task_filter_has(&tasks, 11, 11)); /* its last samples */
	CHECK(forked(&tasks, 13, 13, 10));
	task_filter_leave(&tasks, 13);
	task_filter_round(&tasks);
	CHECK(!task_filter_has(&tasks, 11, 11));
	CHECK(task_filter_has(&tasks, 12, 12));
	CHECK(task_filter_has(&tasks, 13, 13)); /* who has the number now left a round ago */
	task_filter_round(&tasks);
	CHECK(!task_filter_has(&tasks, 13, 13));
	CHECK_UINT(tasks.processes.len, 2);
	CHECK_UINT(tasks.leavers.len, 0);
	CHECK(task_filter_has(&tasks, 10, 10));
}

static void write_members(const char *dir, const char *name, const char *text)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const char *path = arena_printf(&arena, "%s/%s", dir, name);

	CHECK(mkdir(path, 0700) == 0 || errno == EEXIST);
	FILE *file = fopen(arena_printf(&arena, "%s/cgroup.procs", path), "w");

	CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

TEST(task_filter_of_a_cgroup_owns_whom_it_holds_with_their_children)
{
	TASKS;
	char dir[] = "/tmp/precord-test-XXXXXX";

	CHECK(mkdtemp(dir));
	write_members(dir, ".", "0\n10\n11\n");
	write_members(dir, "below", "12\n");

	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct target target = { .system_wide = true, .cgroup_fd = fd };

	task_filter_init(&tasks, &target);
	task_filter_look(&tasks, 1);
	CHECK(task_filter_owns(&tasks, 10, 10) && task_filter_owns(&tasks, 11, 99) && task_filter_owns(&tasks, 12, 12));
	CHECK(!task_filter_owns(&tasks, 13, 13));
	CHECK(forked(&tasks, 14, 14, 12) && forked(&tasks, 15, 15, 13)); /* mappings of others count, who may join */
	CHECK(task_filter_owns(&tasks, 14, 14) && !task_filter_owns(&tasks, 15, 15));
	CHECK(task_filter_has(&tasks, 13, 13)); /* what the kernel hands out */
	write_members(dir, ".", "10\n15\n");
	task_filter_look(&tasks, 2); /* so soon it is not read again */
	CHECK(task_filter_owns(&tasks, 11, 11));
	task_filter_look(&tasks, tasks.next_ns);
	CHECK(!task_filter_owns(&tasks, 11, 11) && task_filter_owns(&tasks, 15, 15));
	close(fd);

	CLEANUP(arena_deinit) struct arena arena = { 0 };

	unlink(arena_printf(&arena, "%s/below/cgroup.procs", dir));
	unlink(arena_printf(&arena, "%s/cgroup.procs", dir));
	rmdir(arena_printf(&arena, "%s/below", dir));
	CHECK(rmdir(dir) == 0);
}
