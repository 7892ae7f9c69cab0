/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_text.c - a file that is not there, or is no regular file, has no lines.
 */
#include "report/source_text.h"

#include "formats/base/memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE_MAX 4096              /* bytes of a line that are looked at */
#define FILE_MAX (64 * 1024 * 1024) /* no source file; lines behind this are not shown */

struct source_file {
	const char *path;
	char *text; /* lines, each ends with a NUL */
	VEC(char *) lines;
};

static FILE *open_regular(const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	FILE *file = NULL;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		file = fdopen(fd, "r");
	if (!file && fd >= 0)
		close(fd);
	return file;
}

static void read_file(struct source_file *source)
{
	FILE *file = open_regular(source->path);
	char line[LINE_MAX];
	size_t text_len = 0;
	FILE *text = file ? open_memstream(&source->text, &text_len) : NULL;

	while (text && ftell(file) < FILE_MAX && fgets(line, sizeof(line), file)) {
		size_t len = strcspn(line, "\n");
		int c = line[len];

		fwrite(line, 1, len, text);
		fputc(0, text);
		while (c != '\n' && c != EOF) /* the rest of a line that is too long */
			c = fgetc(file);
	}
	if (file)
		fclose(file);
	if (text)
		fclose(text);
	for (size_t at = 0; at < text_len; at += strlen(source->text + at) + 1)
		vec_push(&source->lines, source->text + at);
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
		free(text->files.items[i]->text);
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
