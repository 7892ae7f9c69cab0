/* SPDX-License-Identifier: Apache-2.0 */
/*
 * count.c - counts an event of a command with as little as possible around it, as perf stat does.
 *
 *	count EVENT... COMMAND [ARG...]    EVENT: cycles or instructions, in user mode; prints "EVENT COUNT" for each
 */
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int open_counter(const char *name)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.disabled = 1,
		.inherit = 1,
		.enable_on_exec = 1,
		.exclude_kernel = 1,
	};

	if (strcmp(name, "cycles") == 0)
		attr.config = PERF_COUNT_HW_CPU_CYCLES;
	else if (strcmp(name, "instructions") == 0)
		attr.config = PERF_COUNT_HW_INSTRUCTIONS;
	else
		return -1;
	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
}

int main(int argc, char **argv)
{
	int fds[8], nevents = 0, status;

	while (nevents < 8 && nevents + 1 < argc && (fds[nevents] = open_counter(argv[nevents + 1])) >= 0)
		nevents++;
	if (!nevents || nevents + 1 == argc) {
		fprintf(stderr, "usage: count EVENT... COMMAND [ARG...]\n");
		return 2;
	}
	if (fork() == 0) {
		execvp(argv[nevents + 1], argv + nevents + 1);
		_exit(127);
	}
	wait(&status);
	for (int i = 0; i < nevents; i++) {
		uint64_t count;

		if (read(fds[i], &count, sizeof(count)) != sizeof(count))
			return 1;
		printf("%s %llu\n", argv[i + 1], (unsigned long long)count);
	}
	return status != 0;
}
