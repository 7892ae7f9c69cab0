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
#define TAB_WIDTH    4u
#define INDENT_MAX   40u /* columns: what is further in is cut off by most terminals */

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

/* Copy a line, its indentation in blanks. */
static void put_line(struct writer *out, const char *line, const char *eol)
{
	unsigned column = 0;

	for (; line < eol && (*line == ' ' || *line == '\t'); line++)
		column += *line == '\t' ? TAB_WIDTH - column % TAB_WIDTH : 1;
	for (column = line < eol ? MIN(column, INDENT_MAX) : 0; column; column--)
		writer_u8(out, ' ');
	writer_bytes(out, line, (size_t)(eol - line));
	writer_u8(out, '\n');
}

static void read_lines(const char *path, struct writer *out)
{
	CLEANUP(writer_deinit) struct writer raw = { 0 };
	CLEANUP(err_freep) struct err *err = file_bytes_read_regular(path, FILE_LEN_MAX, &raw);

	if (err)
		writer_reset(&raw);
	writer_u8(&raw, '\n');

	const char *end = (const char *)raw.data + raw.len;

	for (const char *line = (const char *)raw.data; line < end;) {
		const char *eol = memchr(line, '\n', (size_t)(end - line));

		put_line(out, line, eol);
		line = eol + 1;
	}
}

static void read_file(struct source_file *file)
{
	read_lines(file->path, &file->text);

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
	return file->lines.items[number - 1];
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
