/* SPDX-License-Identifier: Apache-2.0 */
/*
 * many.c - PROCESSES that sleep, each with MAPPINGS of code apart from each other; "ready" is printed when all are there.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096

int main(int argc, char **argv)
{
	int processes = argc > 2 ? atoi(argv[1]) : 0, mappings = argc > 2 ? atoi(argv[2]) : 0;
	int fd = open("/proc/self/exe", O_RDONLY);

	for (int i = 0; i < mappings; i++) {
		char *room = mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (room == MAP_FAILED ||
		    mmap(room + PAGE, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED)
			return 1;
	}
	for (int i = 1; i < processes; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return 1;
		if (pid == 0)
			for (;;)
				pause();
	}
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
