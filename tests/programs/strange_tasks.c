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
 *	mapped       the same, as many times as MILLISECONDS says
 *	storm        1000 short processes in a row, each called NAME, each execs this program as "nothing"
 *	swarm        as many short processes as MILLISECONDS says, called NAME0, NAME1, ...; prints the number of each
 *	crowd        as many threads at once, called the same way; prints "ready", and when a line or the end of
 *	             standard input has come each burns a millisecond; prints the number of each
 *	busy, nothing  burn CPU time under the name of the program file; or do not
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
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

static uint64_t asked_ms(void)
{
	return strtoull(args[2], NULL, 10);
}

static void burn(uint64_t ms)
{
	uint64_t end = cpu_ms() + ms;

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
	burn(asked_ms());
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
	burn(asked_ms());
	return 0;
}

static int map_until(uint64_t end_ms, uint64_t most)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	unsigned count = 0;

	while (count < most && cpu_ms() < end_ms) {
		void *page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

		if (page == MAP_FAILED)
			return 1;
		munmap(page, 4096);
		count++;
	}
	printf("%u\n", count);
	return 0;
}

static int mappings(void)
{
	return map_until(cpu_ms() + asked_ms(), UINT64_MAX);
}

static int mapped(void)
{
	return map_until(UINT64_MAX, asked_ms());
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

static void call_oneself(unsigned number)
{
	char text[16];

	snprintf(text, sizeof(text), "%s%u", args[3], number);
	prctl(PR_SET_NAME, text);
}

static int swarm(void)
{
	unsigned count = (unsigned)strtoul(args[2], NULL, 10);

	for (unsigned i = 0; i < count; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			call_oneself(i);
			_exit(0);
		}
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			return 1;
		printf("%d %s%u\n", (int)pid, args[3], i);
	}
	return 0;
}

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint begun;

static void *crowd_thread(void *unused)
{
	unsigned number = atomic_fetch_add(&begun, 1);

	(void)unused;
	call_oneself(number);
	pthread_mutex_lock(&gate);
	printf("%d %s%u\n", (int)gettid(), args[3], number);
	pthread_mutex_unlock(&gate);
	burn(1);
	return NULL;
}

static int crowd(void)
{
	unsigned count = (unsigned)strtoul(args[2], NULL, 10);
	pthread_t *threads = calloc(count, sizeof(*threads));
	pthread_attr_t small;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 * 1024);
	pthread_mutex_lock(&gate);
	for (unsigned i = 0; i < count; i++) {
		if (pthread_create(&threads[i], &small, crowd_thread, NULL))
			return 1;
	}
	while (begun < count)
		usleep(1000);
	printf("ready\n");
	fflush(stdout);
	getchar();
	pthread_mutex_unlock(&gate);
	for (unsigned i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	return 0;
}

static int busy(void)
{
	burn(asked_ms());
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
		{ "mappings", mappings },       { "mapped", mapped },
		{ "storm", storm },             { "busy", busy },
		{ "swarm", swarm },             { "crowd", crowd },
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
