/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strange_tasks.c - processes and threads that are hard to attribute, one way per argument; each burns CPU time under
 * the name that is given, so that samples show whether it was understood.
 *
 * Usage: strange_tasks KIND MILLISECONDS NAME
 *	thread-exec  a thread that is not the leader execs this program as "busy"
 *	leaderless   the leader ends, a thread called NAME goes on
 *	name         the only thread calls itself NAME
 *	mappings     executable pages are mapped and unmapped all the time; prints how many times
 *	storm        1000 short processes in a row, each called NAME, each execs this program as "nothing"
 *	busy, nothing  burn CPU time under the name of the program file; or do not
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char **args;
static volatile uint64_t sink;

static uint64_t cpu_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static void burn(void)
{
	uint64_t end = cpu_ms() + strtoull(args[2], NULL, 10);

	while (cpu_ms() < end) {
		for (int i = 0; i < 20000; i++)
			sink += sink * 3 + 1;
	}
}

static void *exec_busy(void *unused)
{
	(void)unused;
	execl("/proc/self/exe", args[3], "busy", args[2], args[3], (char *)NULL);
	_exit(1);
}

static int thread_exec(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, exec_busy, NULL);
	pause();
	return 1;
}

static void *burn_named(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, args[3]);
	usleep(100000); /* the leader is gone by then */
	burn();
	exit(0);
}

static int leaderless(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, burn_named, NULL);
	pthread_exit(NULL);
}

static int name(void)
{
	prctl(PR_SET_NAME, args[3]);
	burn();
	return 0;
}

static int mappings(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	uint64_t end = cpu_ms() + strtoull(args[2], NULL, 10);
	unsigned count = 0;

	while (cpu_ms() < end) {
		void *page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

		if (page == MAP_FAILED)
			return 1;
		munmap(page, 4096);
		count++;
	}
	printf("%u\n", count);
	return 0;
}

static int storm(void)
{
	for (int i = 0; i < 1000; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			prctl(PR_SET_NAME, args[3]);
			execl("/proc/self/exe", "nothing", "nothing", (char *)NULL);
			_exit(1);
		}
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			return 1;
	}
	return 0;
}

static int busy(void)
{
	burn();
	return 0;
}

static int nothing(void)
{
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} kinds[] = {
		{ "thread-exec", thread_exec }, { "leaderless", leaderless }, { "name", name },
		{ "mappings", mappings },       { "storm", storm },           { "busy", busy },
		{ "nothing", nothing },
	};

	args = argv;
	for (size_t i = 0; argc > 1 && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(argv[1], kinds[i].name) == 0)
			return kinds[i].run();
	}
	fprintf(stderr, "usage: strange_tasks KIND MILLISECONDS NAME\n");
	return 2;
}
