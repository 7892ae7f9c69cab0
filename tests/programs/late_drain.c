/* SPDX-License-Identifier: Apache-2.0 */
/*
 * late_drain.c - preloaded into precord: each time that its rings wake it, or time has come to look at them, it comes $LATE_MS ms late. What
 * it then reads of a process's memory is that much older than its samples: the control group of tests/oracles/java_agct.sh.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

int epoll_wait(int fd, struct epoll_event *events, int max, int timeout_ms)
{
	static int (*next)(int, struct epoll_event *, int, int);
	const char *late = getenv("LATE_MS");

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "epoll_wait");
	if (late)
		usleep((useconds_t)atoi(late) * 1000);
	return next(fd, events, max, timeout_ms);
}
