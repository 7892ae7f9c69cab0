/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_output.c - safe output for a recorder that runs as root in other users' folders, such as /tmp.
 *
 * Every name is looked up in the folder that was opened at the start, without following links. A file that is opened is
 * either new (O_EXCL) or the one that was checked (path_fd).
 */
#include "record/output/trace_output.h"

#include "formats/base/memory.h"
#include "formats/base/path_fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROOM_TICK_MS 100
#define OTHER_FILE "give another file with -o FILE"

static char *with_suffix(const char *name, const char *suffix)
{
	char *ret;

	if (asprintf(&ret, "%s%s", name, suffix) < 0)
		memory_exhausted(strlen(name));
	return ret;
}

/* ---- the folder ---------------------------------------------------------------------------------------- */

/* Open the folder of @path and keep the last component as the name. */
static struct err *open_folder(const char *path, struct trace_output *ret)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash ? memory_strdup(path) : NULL;

	if (slash)
		folder[MAX(slash - path, 1)] = '\0';
	ret->name = memory_strdup(slash ? slash + 1 : path);
	ret->dir_fd = open(slash ? folder : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int error = errno;

	free(folder);
	if (ret->dir_fd < 0)
		return err_system(error, "cannot create '%s'", path);
	if (!*ret->name)
		return err_new(ERR_USAGE, "'%s' is a directory", path);
	return NULL;
}

/* stat(2) of @name in the folder; false if there is no such file. */
static bool look_at(const struct trace_output *out, const char *name, struct stat *ret_st)
{
	return fstatat(out->dir_fd, name, ret_st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* ---- FIFOs and devices --------------------------------------------------------------------------------- */

static struct err *check_special(const char *path, const struct stat *st)
{
	if (S_ISDIR(st->st_mode))
		return err_new(ERR_USAGE, "'%s' is a directory", path);
	if (S_ISBLK(st->st_mode))
		return err_new(ERR_USAGE, "'%s' is a block device", path);
	if (S_ISSOCK(st->st_mode))
		return err_new(ERR_USAGE, "'%s' is a socket", path);
	if (st->st_uid != 0 && st->st_uid != geteuid())
		return err_remedy(err_new(ERR_USAGE, "'%s' is a FIFO or device of another user", path),
				  "give -o -, and have your shell open it");
	return NULL;
}

/*
 * Open an existing FIFO or device of that name; @ret->fd stays -1 if it is a regular file, a link, or missing. Another
 * user with write access to the folder may have put a FIFO there to get the trace.
 */
static struct err *open_special(struct trace_output *ret)
{
	int path_fd = openat(ret->dir_fd, ret->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct err *err = NULL;
	struct stat st;

	if (path_fd < 0)
		return errno == ENOENT ? NULL : err_system(errno, "cannot create '%s'", ret->path);
	if (fstat(path_fd, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode)) {
		err = check_special(ret->path, &st);
		if (!err)
			ret->fd = path_fd_reopen(path_fd, O_WRONLY | O_NOCTTY);
		if (!err && ret->fd < 0)
			err = err_system(errno, "cannot open '%s'", ret->path);
	}
	close(path_fd);
	if (!err && ret->fd >= 0) { /* written as it is */
		close(ret->dir_fd);
		ret->dir_fd = -1;
	}
	return err;
}

/* ---- NAME.part ----------------------------------------------------------------------------------------- */

static struct err *in_use(const struct trace_output *out)
{
	return err_new(ERR_SYSTEM, "another recorder is writing to '%s'", out->path);
}

/* Is @name still the file open as @fd? */
static bool is_named(const struct trace_output *out, const char *name, int fd)
{
	struct stat ours, there;

	return fstat(fd, &ours) == 0 && look_at(out, name, &there) &&
	       ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

/* On file systems without locks there is none. */
static bool lock(int fd)
{
	return flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

/* NAME.part exists: refuse if another recorder has it locked; if that was killed, rename the part. */
static struct err *keep_part(const struct trace_output *out)
{
	int path_fd = openat(out->dir_fd, out->part, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct err *err = NULL;
	struct stat st;
	int fd;

	if (path_fd < 0)
		return NULL; /* gone again, or the next attempt reports it */
	if (fstat(path_fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid()) {
		close(path_fd);
		return err_new(ERR_SYSTEM, "cannot create '%s': '%s' of another user is in the way",
			       out->path, out->part);
	}
	fd = path_fd_take_regular(path_fd, &st);
	if (fd < 0)
		return err_system(errno, "cannot open '%s'", out->part);
	char *old = with_suffix(out->part, ".old");

	if (!lock(fd))
		err = in_use(out);
	else if (is_named(out, out->part, fd) &&
		 renameat(out->dir_fd, out->part, out->dir_fd, old) < 0)
		err = err_system(errno, "cannot rename '%s'", out->part);
	free(old);
	close(fd);
	return err;
}

static struct err *create_part(struct trace_output *out)
{
	struct err *err = NULL;

	for (int attempt = 0; attempt < 3 && !err && out->fd < 0; attempt++) {
		out->fd = openat(out->dir_fd, out->part,
				 O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (out->fd < 0)
			err = errno == EEXIST ? keep_part(out)
					      : err_system(errno, "cannot create '%s'", out->path);
	}
	if (!err && (out->fd < 0 || !lock(out->fd) || !is_named(out, out->part, out->fd)))
		err = in_use(out);
	if (err && out->fd >= 0) { /* another process has taken the name */
		close(out->fd);
		out->fd = -1;
	}
	return err;
}

/* Fail now rather than when the file is renamed. */
static struct err *check_names(const struct trace_output *out)
{
	char *old = with_suffix(out->name, ".old");
	struct err *err = NULL;
	struct stat st;

	if (look_at(out, out->name, &st) && look_at(out, old, &st) && S_ISDIR(st.st_mode))
		err = err_new(ERR_USAGE, "cannot keep the previous '%s': '%s' is a directory",
			      out->path, old);
	free(old);
	return err;
}

static struct err *open_stdout(struct trace_output *ret)
{
	ret->is_pipe = true;
	if (isatty(STDOUT_FILENO))
		return err_remedy(err_new(ERR_USAGE, "will not write a trace to a terminal"),
				  "give -o FILE, or pipe it into another program");
	ret->fd = STDOUT_FILENO;
	return NULL;
}

struct err *trace_output_open(const char *path, struct trace_output *ret)
{
	*ret = TRACE_OUTPUT_NONE;
	ret->path = path;
	if (!strcmp(path, "-") || !strcmp(path, "/dev/stdout"))
		return open_stdout(ret);
	struct err *err = open_folder(path, ret);

	if (!err)
		err = open_special(ret);
	if (!err && ret->fd >= 0 && isatty(ret->fd))
		err = err_new(ERR_USAGE, "will not write a trace to a terminal");
	if (!err && ret->fd < 0)
		err = check_names(ret);
	if (!err && ret->fd < 0) {
		ret->part = with_suffix(ret->name, ".part");
		err = create_part(ret);
	}
	return err ? err_remedy(err, OTHER_FILE) : NULL;
}

/* ---- writing ------------------------------------------------------------------------------------------- */

/* Wait until it takes PIPE_BUF bytes; regular files always do. */
static struct err *wait_for_room(const struct trace_output *out)
{
	struct pollfd ready = { .fd = out->fd, .events = POLLOUT };

	while (poll(&ready, 1, ROOM_TICK_MS) <= 0) {
		if (stop_time_ends_writing(out->stop))
			return err_new(ERR_SYSTEM, "a signal ended the recording, but '%s' takes no more data: its end is missing",
				       out->path);
	}
	return NULL;
}

struct err *trace_output_write(const struct trace_output *out, const void *data, size_t len)
{
	bool may_wait = out->dir_fd < 0;
	const uint8_t *bytes = data;

	while (len) {
		struct err *err = may_wait ? wait_for_room(out) : NULL;

		if (err)
			return err;
		ssize_t done = write(out->fd, bytes, may_wait ? MIN(len, (size_t)PIPE_BUF) : len);

		if (done < 0 && errno != EINTR && errno != EAGAIN)
			return err_system(errno, "cannot write the trace");
		bytes += MAX(done, 0);
		len -= (size_t)MAX(done, 0);
	}
	return NULL;
}

struct err *trace_output_again(struct trace_output *out)
{
	return out->dir_fd < 0 ? NULL : create_part(out);
}

struct err *trace_output_beside(const struct trace_output *out, const char *suffix,
				struct trace_output *ret)
{
	char *dotted = with_suffix(".", suffix);

	*ret = TRACE_OUTPUT_NONE;
	ret->path = out->path;
	ret->stop = out->stop;
	ret->dir_fd = fcntl(out->dir_fd, F_DUPFD_CLOEXEC, 3);
	ret->name = with_suffix(out->name, dotted);
	ret->part = with_suffix(ret->name, ".part");
	free(dotted);
	if (ret->dir_fd < 0)
		return err_system(errno, "cannot create '%s'", ret->part);
	return create_part(ret);
}

/* ---- the end ------------------------------------------------------------------------------------------- */

static struct err *keep_previous(const struct trace_output *out)
{
	struct err *err = NULL;
	struct stat st;

	if (!look_at(out, out->name, &st))
		return NULL;
	char *old = with_suffix(out->name, ".old");

	if (renameat(out->dir_fd, out->name, out->dir_fd, old) < 0 && errno != ENOENT)
		err = err_system(errno, "cannot keep the previous '%s'; the recording is '%s'",
				 out->path, out->part);
	free(old);
	return err;
}

static struct err *rename_part(const struct trace_output *out, const char *name, bool *ret_exists)
{
	struct stat st;

	if (!is_named(out, out->part, out->fd))
		return err_new(ERR_SYSTEM, "the recording is lost: '%s' was removed or replaced while "
			       "it was written", out->part);
	if (!name) {
		struct err *err = keep_previous(out);

		if (err)
			return err;
	} else if (look_at(out, name, &st)) {
		*ret_exists = true;
		return NULL;
	}
	if (renameat(out->dir_fd, out->part, out->dir_fd, name ? name : out->name) < 0)
		return err_system(errno, "cannot rename '%s' to '%s'", out->part,
				  name ? name : out->name);
	return NULL;
}

struct err *trace_output_place(struct trace_output *out, const char *name, bool *ret_exists)
{
	struct err *err = NULL;
	bool exists = false;

	if (out->fd < 0 || out->is_pipe)
		return NULL;
	if (out->dir_fd >= 0)
		err = rename_part(out, name, &exists);
	if (ret_exists)
		*ret_exists = exists;
	if (exists)
		return NULL;
	if (close(out->fd) < 0 && !err)
		err = err_system(errno, "cannot write '%s'", out->path);
	out->fd = -1;
	return err;
}

struct err *trace_output_remove(const struct trace_output *out, const char *name)
{
	if (unlinkat(out->dir_fd, name, 0) < 0 && errno != ENOENT)
		return err_system(errno, "cannot remove '%s'", name);
	return NULL;
}

void trace_output_close(struct trace_output *out)
{
	if (out->fd >= 0 && !out->is_pipe) {
		if (out->dir_fd >= 0 && is_named(out, out->part, out->fd))
			unlinkat(out->dir_fd, out->part, 0);
		close(out->fd);
	}
	if (out->dir_fd >= 0)
		close(out->dir_fd);
	free(out->name);
	free(out->part);
	*out = TRACE_OUTPUT_NONE;
}
