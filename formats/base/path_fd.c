/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path_fd.c - /proc/self/fd/N leads to the file itself, whatever its name is by now.
 */
#include "formats/base/path_fd.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int path_fd_reopen(int path_fd, int flags)
{
	char link[64];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", path_fd);
	return open(link, flags | O_CLOEXEC);
}

int path_fd_take_regular(int path_fd, struct stat *ret_st)
{
	int fd = -1;

	if (path_fd < 0)
		return -1;
	if (fstat(path_fd, ret_st) == 0 && S_ISREG(ret_st->st_mode))
		fd = path_fd_reopen(path_fd, O_RDONLY | O_NONBLOCK);
	close(path_fd);
	return fd;
}
