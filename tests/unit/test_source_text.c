/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "formats/base/arena.h"
#include "report/code/source_text.h"

#include <string.h>

static const char *file_with(const char *text, size_t len)
{
	const char *path = test_path("source.c");
	FILE *file = fopen(path, "w");

	fwrite(text, 1, len, file);
	fclose(file);
	return path;
}

static const char *file_of(const char *text)
{
	return file_with(text, strlen(text));
}

TEST(source_text_has_the_lines_of_a_file_by_their_number)
{
	struct source_text text = { 0 };
	const char *path = file_of("one\n\t two\n\nfour");

	CHECK_STR(source_text_line(&text, path, 0), "");
	CHECK_STR(source_text_line(&text, path, 1), "one");
	CHECK_STR(source_text_line(&text, path, 2), "     two"); /* a tab ends at column 4 */
	CHECK_STR(source_text_line(&text, path, 3), "");
	CHECK_STR(source_text_line(&text, path, 4), "four");
	CHECK_STR(source_text_line(&text, path, 5), "");
	CHECK_STR(source_text_line(&text, "/no/such/file", 1), "");
	source_text_deinit(&text);
}

TEST(source_text_marks_where_a_line_was_cut)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct source_text text = { 0 };
	char *content = arena_alloc(&arena, 5002 + 1);

	memset(content, 'x', 5000);
	memcpy(content + 5000, "\ny", 3);

	const char *path = file_of(content);
	const char *line = source_text_line(&text, path, 1);

	CHECK_UINT(strlen(line), 4096);
	CHECK_STR(line + 4092, "x...");
	CHECK_STR(source_text_line(&text, path, 2), "y");
	source_text_deinit(&text);
}

/* A zero ends a line for those who print it, but not for those who count lines. */
TEST(source_text_counts_lines_behind_a_zero)
{
	struct source_text text = { 0 };
	static const char content[] = "one\0hidden\ntwo\n";
	const char *path = file_with(content, sizeof(content) - 1);

	CHECK_STR(source_text_line(&text, path, 1), "one");
	CHECK_STR(source_text_line(&text, path, 2), "two");
	source_text_deinit(&text);
}
