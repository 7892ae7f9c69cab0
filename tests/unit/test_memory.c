/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_memory.c - how a program ends that gets no more memory.
 */
#include "formats/base/memory.h"
#include "tests/unit/test.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
#include <sys/wait.h>

static void *run_out(void *context)
{
	(void)context;
	memory_exhausted(1);
}

/* While the end is written another thread has no memory either. */
static void write_end(void *context)
{
	int *fd = context;
	pthread_t thread;

	if (pthread_create(&thread, NULL, run_out, NULL) != 0)
		return;
	usleep(100000);
	if (write(*fd, "end", 3) != 3)
		_exit(1);
}

TEST(memory_that_runs_out_in_two_threads_lets_the_first_write_the_end)
{
	char text[4] = "";
	int fds[2], status;

	CHECK(pipe(fds) == 0);
	pid_t pid = fork();

	if (pid == 0) {
		dup2(open("/dev/null", O_WRONLY), 2);
		memory_last_words(write_end, &fds[1], 7);
		memory_exhausted(1);
	}
	close(fds[1]);
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	CHECK(read(fds[0], text, 3) == 3);
	CHECK_STR(text, "end");
	close(fds[0]);
}
