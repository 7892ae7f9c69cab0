/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_file.c - such files have no length before they are read, so they are read until they end.
 */
#include "record/text_file.h"

#include "formats/base/text.h"
#include "formats/base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

struct bytes {
	VEC(char) data;
};

static void bytes_deinit(struct bytes *bytes)
{
	vec_deinit(&bytes->data);
}

/* 0, or the errno. */
static int read_all(int fd, struct bytes *bytes)
{
	for (;;) {
		vec_reserve(&bytes->data, 4096);
		ssize_t len = read(fd, bytes->data.items + bytes->data.len, 4096);

		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0)
			return errno;
		if (len == 0)
			return 0;
		bytes->data.len += (size_t)len;
		if (bytes->data.len > TEXT_FILE_MAX)
			return EFBIG;
	}
}

struct err *text_file_read(const char *path, struct arena *arena, const char **ret)
{
	CLEANUP(bytes_deinit) struct bytes bytes = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return err_system(errno, "cannot open '%s'", path);

	int errnum = read_all(fd, &bytes);

	close(fd);
	if (errnum)
		return err_system(errnum, "cannot read '%s'", path);

	size_t len = bytes.data.len;

	while (len && strchr(" \t\n", bytes.data.items[len - 1]))
		len--;
	*ret = arena_memdup(arena, bytes.data.items, len);
	return NULL;
}

bool text_file_u64(const char *path, uint64_t *ret)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const char *text = NULL;
	CLEANUP(err_freep) struct err *err = text_file_read(path, &arena, &text);

	return !err && text_parse_u64(text, ret);
}

const char *text_file_field(const char *path, const char *key, struct arena *arena)
{
	const char *text = NULL;
	CLEANUP(err_freep) struct err *err = text_file_read(path, arena, &text);
	size_t key_len = strlen(key);

	if (err)
		return NULL;
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, key_len) != 0 || line[key_len] != ':')
			continue;
		line += key_len + 1;
		line += strspn(line, " \t");
		return arena_memdup(arena, line, strcspn(line, "\n"));
	}
	return NULL;
}
