/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_memory.c - how a program ends that gets no more memory.
 */
#include "formats/base/memory.h"
#include "tests/unit/test.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
#include <sys/resource.h>
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

/* Twenty times 64 KiB, and the end. */
static void need_memory(void *context)
{
	for (int i = 0; i < 20; i++)
		memory_zeroed(1, 65536);
	if (write(*(int *)context, "end", 3) != 3)
		_exit(1);
}

/* What a process writes before it ends with status 7, when it was refused memory. */
static void check_end(void (*words)(void *context), bool limited)
{
	char text[4] = "";
	int fds[2], status;

	CHECK(pipe(fds) == 0);
	pid_t pid = fork();

	if (pid == 0) {
		dup2(open("/dev/null", O_WRONLY), 2);
		memory_last_words(words, &fds[1], 7);
		if (limited)
			setrlimit(RLIMIT_DATA, &(struct rlimit){ 1000, 1000 });
		memory_exhausted(1);
	}
	close(fds[1]);
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	CHECK(read(fds[0], text, 3) == 3);
	CHECK_STR(text, "end");
	close(fds[0]);
}

TEST(memory_that_runs_out_in_two_threads_lets_the_first_write_the_end)
{
	check_end(write_end, false);
}

TEST(memory_that_is_set_free_for_last_words_is_there_though_the_system_gives_no_more)
{
#if defined(__SANITIZE_ADDRESS__)
	SKIP("AddressSanitizer has a heap of its own");
#endif
	check_end(need_memory, true);
}
