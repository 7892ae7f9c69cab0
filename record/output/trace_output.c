/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_output.c - a new file takes the place of the old one; it is never opened through a link someone else left.
 */
#include "record/output/trace_output.h"

#include "formats/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct err *keep_previous(const char *path)
{
	struct stat st;
	char *old;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? NULL : err_system(errno, "'%s'", path);
	if (S_ISDIR(st.st_mode))
		return err_new(ERR_USAGE, "'%s' is a directory", path);
	if (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
		return NULL; /* a FIFO or a device: written to as it is */
	if (asprintf(&old, "%s.old", path) < 0)
		memory_exhausted(strlen(path));
	int failed = rename(path, old) < 0 ? errno : 0;

	free(old);
	return failed ? err_system(failed, "cannot keep the previous '%s'", path) : NULL;
}

static int create(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	/* What is there now was not moved away because it is a FIFO or a device. */
	if (fd < 0 && errno == EEXIST)
		fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd;
}

struct err *trace_output_open(const char *path, struct trace_output *ret)
{
	*ret = (struct trace_output){ .path = path, .fd = -1, .is_pipe = !strcmp(path, "-") };
	if (ret->is_pipe) {
		if (isatty(STDOUT_FILENO))
			return err_remedy(
				err_new(ERR_USAGE, "will not write a trace to a terminal"),
				"give -o FILE, or pipe it into another program");
		ret->fd = STDOUT_FILENO;
		return NULL;
	}
	struct err *err = keep_previous(path);

	if (err)
		return err_remedy(err, "give another file with -o FILE");
	ret->fd = create(path);
	if (ret->fd < 0)
		return err_remedy(err_system(errno, "cannot create '%s'", path),
				  "give another file with -o FILE");
	return NULL;
}

struct err *trace_output_close(struct trace_output *out)
{
	int fd = out->fd;

	out->fd = -1;
	if (fd < 0 || out->is_pipe || close(fd) == 0)
		return NULL;
	return err_system(errno, "cannot write '%s'", out->path);
}
