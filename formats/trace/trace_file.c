/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_file.c - pread() with its short reads taken care of, and the copy of what cannot seek.
 */
#include "formats/trace/trace_file.h"

#include "formats/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COPY_LEN (1u << 20)

/* A file without a name in the folder for temporary files. */
static struct err *open_temporary(int *ret)
{
	const char *folder = getenv("TMPDIR");
	char path[4096];
	int fd;

	if (!folder || !*folder)
		folder = "/tmp";
	fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0) { /* not every file system has those */
		if (snprintf(path, sizeof(path), "%s/precord-XXXXXX", folder) >= (int)sizeof(path))
			return err_system(ENAMETOOLONG, "cannot use '%s' for temporary files",
					  folder);
		fd = mkostemp(path, O_CLOEXEC);
		if (fd >= 0)
			unlink(path);
	}
	if (fd < 0)
		return err_system(errno, "cannot make a temporary file in '%s'", folder);
	*ret = fd;
	return NULL;
}

static struct err *write_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t done = write(fd, data, len);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return err_system(errno, "cannot write a temporary copy of the trace");
		data += done;
		len -= (size_t)done;
	}
	return NULL;
}

static struct err *copy_stream(int from, int to, uint64_t *ret_len)
{
	CLEANUP(memory_freep) char *buffer = memory_alloc(COPY_LEN);
	uint64_t len = 0;

	for (;;) {
		ssize_t got = read(from, buffer, COPY_LEN);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_system(errno, "cannot read the trace");
		if (got == 0)
			break;
		struct err *err = write_all(to, buffer, (size_t)got);

		if (err)
			return err;
		len += (uint64_t)got;
	}
	*ret_len = len;
	return NULL;
}

static struct err *open_copy(int from, struct trace_file *ret)
{
	struct trace_file file = { .fd = -1 };
	struct err *err = open_temporary(&file.fd);

	if (!err)
		err = copy_stream(from, file.fd, &file.len);
	if (err)
		trace_file_close(&file);
	else
		*ret = file;
	return err;
}

static struct err *open_descriptor(int fd, const char *path, struct trace_file *ret)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_system(errno, "cannot look at '%s'", path);
	if (S_ISDIR(st.st_mode))
		return err_system(EISDIR, "cannot read '%s'", path);
	if (!S_ISREG(st.st_mode)) {
		struct err *err = open_copy(fd, ret);

		if (!err)
			close(fd);
		return err;
	}
	ret->fd = fd;
	ret->len = (uint64_t)st.st_size;
	return NULL;
}

struct err *trace_file_open(const char *path, struct trace_file *ret)
{
	struct trace_file file = { .fd = -1 };
	int fd;

	if (strcmp(path, "-") == 0) {
		struct err *err = open_copy(STDIN_FILENO, ret);

		return err ? err_wrap(err, "standard input") : NULL;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_system(errno, "cannot open '%s'", path);

	struct err *err = open_descriptor(fd, path, &file);

	if (err)
		close(fd);
	else
		*ret = file;
	return err;
}

struct trace_file trace_file_memory(const void *data, size_t len)
{
	return (struct trace_file){ .fd = -1, .data = data, .len = len };
}

struct err *trace_file_read(const struct trace_file *file, uint64_t offset, void *buffer,
			    size_t len, size_t *ret_len)
{
	size_t done = 0;

	if (offset >= file->len)
		len = 0;
	else if (len > file->len - offset)
		len = (size_t)(file->len - offset);
	if (file->fd < 0 && len) {
		memcpy(buffer, file->data + offset, len);
		done = len;
	}
	while (done < len) {
		ssize_t got =
			pread(file->fd, (char *)buffer + done, len - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_system(errno, "cannot read the trace");
		if (got == 0)
			break; /* it shrank */
		done += (size_t)got;
	}
	*ret_len = done;
	return NULL;
}

void trace_file_close(struct trace_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}
