/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path_fd.h - look at a file before it is opened.
 *
 * A name that others may change is opened with O_PATH, which has no side effects, and looked at with fstat(). What is
 * opened then is the very file that was looked at: the name is not looked up again. Needs /proc.
 */
#ifndef BASE_PATH_FD_H
#define BASE_PATH_FD_H

#include <stdint.h>
#include <sys/stat.h>

/* Open with @flags what @path_fd refers to; -1 and errno if that fails. @path_fd stays open. */
int path_fd_reopen(int path_fd, int flags);

/*
 * An O_PATH descriptor of @path as process @pid sees it, or -1: links below its root do not lead out of it, nor through
 * another process's /proc (openat2(2), since Linux 5.6).
 */
int path_fd_in_root(uint32_t pid, const char *path);

/* Open for reading what @path_fd, which is closed, refers to, if it is a regular file; otherwise -1. -1 is fine. */
int path_fd_take_regular(int path_fd, struct stat *ret_st);

#endif
