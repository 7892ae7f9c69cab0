/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path_fd.c - /proc/self/fd/N leads to the file itself, whatever its name is by now.
 */
#include "formats/base/path_fd.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

int path_fd_reopen(int path_fd, int flags)
{
	char link[64];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", path_fd);
	return open(link, flags | O_CLOEXEC);
}

int path_fd_in_root(uint32_t pid, const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	char name[64];

	snprintf(name, sizeof(name), "/proc/%" PRIu32 "/root", pid);
	int root = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (root < 0)
		return -1;
	int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));

	close(root);
	return fd;
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
