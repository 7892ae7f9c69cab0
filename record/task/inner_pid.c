/* SPDX-License-Identifier: Apache-2.0 */
#include "record/task/inner_pid.h"

#include "formats/base/compiler.h"

#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEY "\nNSpid:"

/* The last of the numbers is the one in the innermost namespace. */
uint32_t inner_pid_in(const char *status, uint32_t pid)
{
	const char *line = strstr(status, KEY);
	const char *end = line ? strchr(line + strlen(KEY), '\n') : NULL;

	if (!end)
		return pid;
	const char *number = end;

	while (number > line + strlen(KEY) && isdigit((unsigned char)number[-1]))
		number--;
	return (uint32_t)strtoul(number, NULL, 10);
}

uint32_t inner_tid(uint32_t pid, uint32_t tid)
{
	char path[96], text[4096];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32 "/status", pid, tid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	text[MAX(len, 0)] = '\0';
	return inner_pid_in(text, tid);
}
