/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_bytes.c - read() until it says that there is no more, or until there is too much.
 */
#include "formats/base/file_bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE ((size_t)64 << 10)

static struct err *too_long(const char *name, size_t limit)
{
	return err_new(ERR_UNSUPPORTED, "'%s' is longer than %zu MiB", name, limit >> 20);
}

struct err *file_bytes_take(int fd, const char *name, size_t limit, struct writer *out)
{
	size_t begin = out->len;

	for (;;) {
		writer_reserve(out, PIECE);
		ssize_t got = read(fd, out->data + out->len, PIECE);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_system(errno, "cannot read '%s'", name);
		if (got == 0)
			return NULL;
		out->len += (size_t)got;
		if (out->len - begin > limit)
			return too_long(name, limit);
	}
}

struct err *file_bytes_read(const char *path, size_t limit, struct writer *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct err *err;

	if (fd < 0)
		return err_system(errno, "cannot open '%s'", path);
	err = file_bytes_take(fd, path, limit, out);
	close(fd);
	return err;
}

/* A file that is too long already need not be read to know that. */
static struct err *check_regular(int fd, const char *path, size_t limit)
{
	struct stat st;

	if (fstat(fd, &st))
		return err_system(errno, "cannot look at '%s'", path);
	if (!S_ISREG(st.st_mode))
		return err_new(ERR_UNSUPPORTED, "'%s' is not a regular file", path);
	if ((uint64_t)st.st_size > limit)
		return too_long(path, limit);
	return NULL;
}

struct err *file_bytes_read_regular(const char *path, size_t limit, struct writer *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct err *err;

	if (fd < 0)
		return err_system(errno, "cannot open '%s'", path);
	err = check_regular(fd, path, limit);
	if (!err)
		err = file_bytes_take(fd, path, limit, out);
	close(fd);
	return err;
}
