/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_file.c - files are read whole and trimmed; numbers and "KEY:value" lines are parsed.
 */
#include "record/system/text_file.h"

#include "formats/base/file_bytes.h"
#include "formats/base/text.h"

#include <string.h>

struct err *text_file_read(const char *path, struct arena *arena, const char **ret)
{
	CLEANUP(writer_deinit) struct writer bytes = { 0 };
	struct err *err = file_bytes_read(path, TEXT_FILE_MAX, &bytes);
	size_t len = bytes.len;

	if (err)
		return err;
	while (len && strchr(" \t\n", bytes.data[len - 1]))
		len--;
	*ret = arena_memdup(arena, bytes.data, len);
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
