/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_age.c - behind the name, which may hold anything, fields are counted by blanks.
 */
#include "record/task/process_age.h"

#include "formats/base/clock.h"
#include "formats/base/compiler.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

uint64_t process_begin_ns(int proc_fd)
{
	int fd = openat(proc_fd, "stat", O_RDONLY | O_CLOEXEC);
	char text[4096];
	ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	uint64_t ticks = 0;

	if (fd >= 0)
		close(fd);
	text[MAX(len, 0)] = '\0';
	const char *field = strrchr(text, ')');

	for (int i = 0; i < 20 && field; i++)
		field = strchr(field + 1, ' ');
	if (!field || sscanf(field, "%" SCNu64, &ticks) != 1)
		return UINT64_MAX;
	return ticks * (1000000000ULL / (uint64_t)sysconf(_SC_CLK_TCK));
}

uint64_t process_age_ns(int proc_fd)
{
	uint64_t begin_ns = process_begin_ns(proc_fd), now_ns = clock_now_ns(CLOCK_BOOTTIME);

	return begin_ns == UINT64_MAX ? UINT64_MAX : now_ns - MIN(begin_ns, now_ns);
}
