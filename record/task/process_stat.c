/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_stat.c - behind the name, which may hold anything, fields are counted by blanks.
 */
#include "record/task/process_stat.h"

#include "formats/base/compiler.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool process_stat_field(const char *text, unsigned field, uint64_t *ret)
{
	const char *at = strrchr(text, ')'); /* of the 2nd */

	for (unsigned i = 2; i < field && at; i++)
		at = strchr(at + 1, ' ');
	return at && sscanf(at, "%" SCNu64, ret) == 1;
}

bool process_stat_u64(int proc_fd, unsigned field, uint64_t *ret)
{
	int fd = openat(proc_fd, "stat", O_RDONLY | O_CLOEXEC);
	char text[4096];
	ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	text[MAX(len, 0)] = '\0';
	return process_stat_field(text, field, ret);
}
