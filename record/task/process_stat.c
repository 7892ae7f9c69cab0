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
#include <sys/stat.h>
#include <unistd.h>

#define TEXT_LEN 4096

bool process_stat_field(const char *text, unsigned field, uint64_t *ret)
{
	const char *at = strrchr(text, ')'); /* of the 2nd */

	for (unsigned i = 2; i < field && at; i++)
		at = strchr(at + 1, ' ');
	return at && sscanf(at, "%" SCNu64, ret) == 1;
}

/* "" if it cannot be read. */
static void read_text(int proc_fd, char text[TEXT_LEN])
{
	int fd = openat(proc_fd, "stat", O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, text, TEXT_LEN - 1);

	if (fd >= 0)
		close(fd);
	text[MAX(len, 0)] = '\0';
}

bool process_stat_u64(int proc_fd, unsigned field, uint64_t *ret)
{
	char text[TEXT_LEN];

	read_text(proc_fd, text);
	return process_stat_field(text, field, ret);
}

char process_stat_state(const char *text)
{
	const char *at = strrchr(text, ')');

	return at && at[1] == ' ' ? at[2] : '\0';
}

char process_state(int proc_fd)
{
	char text[TEXT_LEN];

	read_text(proc_fd, text);
	return process_stat_state(text);
}

uint32_t process_owner(uint32_t pid)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%" PRIu32, pid);
	return stat(path, &st) == 0 ? st.st_uid : UINT32_MAX;
}
