/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_text.c - a file that is not there, is no regular file, or is far too long for a source has no lines.
 */
#include "report/code/source_text.h"

#include "formats/base/file_bytes.h"
#include "formats/base/memory.h"

#include <stdlib.h>
#include <string.h>

#define FILE_LEN_MAX (64u << 20) /* longer ones are no source */
#define LINE_LEN_MAX 4096        /* bytes, for the sake of scripts that were packed into one line */
#define CUT_MARK     "..."

struct source_file {
	const char *path;
	struct writer text; /* lines, each ends with a NUL */
	VEC(char *) lines;
};

static void end_line(char *line, char *end)
{
	*end = '\0';
	if (end - line > LINE_LEN_MAX)
		memcpy(line + LINE_LEN_MAX - strlen(CUT_MARK), CUT_MARK, sizeof(CUT_MARK));
}

static void read_file(struct source_file *file)
{
	CLEANUP(err_freep)
	struct err *err = file_bytes_read_regular(file->path, FILE_LEN_MAX, &file->text);

	if (err)
		writer_reset(&file->text);
	writer_u8(&file->text, '\n');

	char *end = (char *)file->text.data + file->text.len;

	for (char *line = (char *)file->text.data; line < end;) {
		char *eol = memchr(line, '\n', (size_t)(end - line));

		end_line(line, eol);
		vec_push(&file->lines, line);
		line = eol + 1;
	}
}

const char *source_text_line(struct source_text *text, const char *path, uint32_t number)
{
	struct source_file *file = NULL;

	for (size_t i = 0; i < text->files.len; i++)
		if (strcmp(text->files.items[i]->path, path) == 0)
			file = text->files.items[i];
	if (!file) {
		file = memory_zeroed(1, sizeof(*file));
		file->path = path;
		read_file(file);
		vec_push(&text->files, file);
	}
	if (!number || number > file->lines.len)
		return "";
	const char *line = file->lines.items[number - 1];

	return line + strspn(line, "\t ");
}

void source_text_deinit(struct source_text *text)
{
	for (size_t i = 0; i < text->files.len; i++) {
		writer_deinit(&text->files.items[i]->text);
		vec_deinit(&text->files.items[i]->lines);
		free(text->files.items[i]);
	}
	vec_deinit(&text->files);
}

const char *source_text_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}
