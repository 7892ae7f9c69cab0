/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_process_info.c - what is told of processes of our own.
 */
#include "record/task/process_info.h"

#include "tests/unit/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534

/* Another user's, into which nobody may look. */
static pid_t start_undumpable(int fds[2])
{
	pid_t child = fork();
	char byte;

	if (child)
		return child;
	close(fds[0]);
	if (setresgid(NOBODY, NOBODY, NOBODY) != 0 || setresuid(NOBODY, NOBODY, NOBODY) != 0)
		_exit(1);
	prctl(PR_SET_DUMPABLE, 0);
	byte = 'x';
	if (write(fds[1], &byte, 1) != 1)
		_exit(1);
	_exit(read(fds[1], &byte, 1) > 0);
}

TEST(process_info_knows_the_user_of_a_process_that_may_not_be_looked_into)
{
	static struct process_info_texts texts;
	const struct process_info info = { 0 };
	char path[32], byte;
	int fds[2];

	if (getuid() != 0)
		SKIP("only root can be another user");
	if (getenv("EMULATOR"))
		SKIP("the emulator keeps the flag to itself");
	CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	pid_t child = start_undumpable(fds);

	close(fds[1]);
	bool started = read(fds[0], &byte, 1) == 1;

	snprintf(path, sizeof(path), "/proc/%d", child);
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (started)
		process_info_read(&info, fd, &texts);
	close(fd);
	close(fds[0]);
	waitpid(child, NULL, 0);
	if (!started)
		SKIP("another user is not permitted here");
	CHECK_UINT(texts.uid, NOBODY);
}

struct told {
	size_t count;
	uint32_t pids[200];
	uint64_t times_ns[200];
	bool named; /* each by its command line */
};

static struct err *keep(void *context, const struct event *ev)
{
	struct told *told = context;

	CHECK_INT(ev->kind, EVENT_PROCESS);
	told->named &= ev->process.cmdline[0] != '\0' && ev->process.uid == getuid();
	told->pids[told->count] = ev->pid;
	told->times_ns[told->count++] = ev->time_ns;
	return NULL;
}

TEST(process_info_tells_of_many_at_once_and_leaves_out_who_is_gone)
{
	struct process_info info = { 0 };
	struct told told = { .named = true };
	uint32_t pid = (uint32_t)getpid();

	for (uint64_t i = 0; i < 150; i++)
		process_info_after_exec(&info, i % 3 == 1 ? 0x7ffffff0 : pid, 1000000000 + i);
	CHECK_OK(process_info_tell(&info, 1000000200, keep, &told));
	CHECK_UINT(told.count, 100);
	CHECK(told.named);
	for (uint64_t i = 0, at = 0; i < 150; i++) {
		if (i % 3 == 1)
			continue;
		CHECK_UINT(told.pids[at], pid);
		CHECK_UINT(told.times_ns[at++], 1000000000 + i);
	}
	told.count = 0;
	CHECK_OK(process_info_tell(&info, 1000000200, keep, &told));
	CHECK_UINT(told.count, 0);
	CHECK_UINT(info.skipped, 0);
	process_info_deinit(&info);
}

TEST(process_info_reads_so_many_a_second)
{
	struct process_info info = { 0 };

	for (uint64_t i = 0; i < 250; i++)
		process_info_after_exec(&info, 1, 1000000000);
	CHECK_UINT(info.execs.len, PROCESS_INFO_RATE);
	CHECK_UINT(info.skipped, 50);
	process_info_deinit(&info);
}

TEST(process_info_reads_what_was_beyond_the_rate_later_if_it_lasts)
{
	struct process_info info = { 0 };
	struct told told = { .named = true };
	uint64_t begin_ns = 1000000000, later_ns = begin_ns + PROCESS_INFO_LATER_NS;

	for (unsigned i = 0; i < PROCESS_INFO_RATE + 1000; i++)
		process_info_after_exec(&info, 0x7ffffff0, begin_ns);
	process_info_after_exec(&info, (uint32_t)getpid(), begin_ns);
	CHECK_UINT(info.skipped, 1001);
	CHECK_OK(process_info_tell(&info, later_ns - 1, keep, &told));
	CHECK_UINT(told.count, 0);
	CHECK_OK(process_info_tell(&info, later_ns, keep, &told));
	CHECK_UINT(told.count, 1);
	CHECK(told.named);
	CHECK_UINT(told.pids[0], getpid());
	CHECK_UINT(told.times_ns[0], later_ns);
	CHECK_UINT(info.skipped, 1000);
	CHECK_UINT(info.later.len, 0);
	for (unsigned i = 0; i < 2 * PROCESS_INFO_LATER_MAX; i++)
		process_info_after_exec(&info, 1, later_ns);
	CHECK_UINT(info.later.len, PROCESS_INFO_LATER_MAX);
	process_info_deinit(&info);
}
