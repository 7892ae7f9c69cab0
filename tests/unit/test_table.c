/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_table.c - the three renderings, at the widths and with the names that hurt.
 */
#include "formats/base/text.h"
#include "report/print/table.h"
#include "tests/unit/test.h"

#include <string.h>

static const struct table_column columns[] = {
	{ "share", "share", TABLE_RIGHT, TABLE_KEEP, true },
	{ "time", "time", TABLE_RIGHT, TABLE_DROP, false },
	{ "function", "function", TABLE_LEFT, TABLE_CUT_END, false },
	{ "path", "path", TABLE_LEFT, TABLE_CUT_START, false },
};

static void fill(struct table *table, struct arena *arena, const char *function, const char *path)
{
	table_init(table, arena);
	table->indent_column = 2;
	for (size_t i = 0; i < ARRAY_LEN(columns); i++)
		table_add_column(table, &columns[i]);
	table_add_row(table, 0, false);
	table_add_cell(table, "50.0 %", "0.5");
	table_add_cell(table, "12.3 s", NULL);
	table_add_cell(table, function, NULL);
	table_add_cell(table, path, NULL);
	table_add_row(table, 1, true);
	table_add_format(table, "%d %%", 7);
	table_add_cell(table, "1 s", NULL);
	table_add_cell(table, "f", NULL);
	table_add_cell(table, "/p", NULL);
}

struct rendering {
	const struct table *table;
	struct terminal term;
};

static void as_text(FILE *out, void *context)
{
	const struct rendering *rendering = context;

	table_print(rendering->table, TABLE_TEXT, "rows", &rendering->term, out);
}

static void as_csv(FILE *out, void *context)
{
	table_print(context, TABLE_CSV, "rows", NULL, out);
}

static void as_json(FILE *out, void *context)
{
	table_print(context, TABLE_JSON, "rows", NULL, out);
}

TEST(table_text_is_aligned_and_indented)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct table table;
	struct rendering rendering = { .table = &table };

	fill(&table, &arena, "main", "/usr/bin/app");
	CHECK_STR(test_printed(as_text, &rendering), " share    time  function  path\n"
						     "50.0 %  12.3 s  main      /usr/bin/app\n"
						     "   7 %     1 s    f       /p\n");
	table_deinit(&table);
}

TEST(table_gives_way_column_by_column_when_room_is_short)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct table table;
	struct rendering rendering = { .table = &table, .term = { .columns = 50, .utf8 = true } };

	fill(&table, &arena, "a::very::long::function(int)", "/usr/lib/x86_64-linux-gnu/libc.so.6");
	CHECK_STR(test_printed(as_text, &rendering),
		  " share  function              path\n"
		  "50.0 %  a::very::long::func\xe2\x80\xa6  \xe2\x80\xa6linux-gnu/libc.so.6\n"
		  "   7 %    f                   /p\n");
	rendering.term.utf8 = false;
	rendering.term.columns = 1; /* no narrower than the least */
	CHECK_STR(test_printed(as_text, &rendering), " share  function    path\n"
						     "50.0 %  a::very:..  libc.so.6\n"
						     "   7 %    f         /p\n");
	table_deinit(&table);
}

/* Of a path the folders go first, of a file's name its end, and never the number of the line. */
TEST(table_keeps_the_file_and_the_line)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct table table;
	struct rendering rendering = { .table = &table, .term = { .columns = 51, .utf8 = true } };

	fill(&table, &arena, "sum", "/home/b/checkouts/component/src/hash_tables_with_shards.cpp:104");
	CHECK(strstr(test_printed(as_text, &rendering), "  \u2026/hash_tables_with_shards.cpp:104\n"));
	rendering.term.columns = 50;
	CHECK(strstr(test_printed(as_text, &rendering), "  hash_tables_with_shards.cpp:104\n"));
	rendering.term.columns = 40;
	CHECK(strstr(test_printed(as_text, &rendering), "  hash_tables_with_\u2026:104\n"));
	table_deinit(&table);
}

TEST(table_leaves_out_what_says_least_before_names_get_too_short)
{
	static const struct table_column three[] = { { "line", "line", TABLE_LEFT, TABLE_CUT_START, false },
						     { "function", "function", TABLE_LEFT, TABLE_CUT_NAME, false },
						     { "module", "module", TABLE_LEFT, TABLE_CUT_LAST, false } };
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct table table;
	struct rendering rendering = { .table = &table, .term = { .columns = 45, .utf8 = true } };

	table_init(&table, &arena);
	table_add_columns(&table, three, ARRAY_LEN(three));
	table_add_row(&table, 0, TABLE_PLAIN);
	table_add_cell(&table, "basic_string.h:1063", NULL);
	table_add_cell(&table, "a_function_of_this_name", NULL);
	table_add_cell(&table, "libc.so.6", NULL);
	CHECK(strstr(test_printed(as_text, &rendering), "module"));
	rendering.term.columns = 42;
	CHECK_STR(test_printed(as_text, &rendering), "line                 function\n"
						     "basic_string.h:1063  a_function_of_this_n\u2026\n");
	table_deinit(&table);
}

TEST(table_lines_fit_the_terminal_whatever_the_names)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct table table;
	struct rendering rendering = { .table = &table, .term = { .columns = 60, .utf8 = true } };
	char *lines, *line;

	fill(&table, &arena,
	     "\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2"
	     "\xe5\xad\x97 wide",
	     "\033[31m\xff\xfe/red/and/broken/\xe2\x80\xae/reversed/path/that/is/long");
	lines = arena_strdup(&arena, test_printed(as_text, &rendering));
	CHECK(!strchr(lines, '\033') && !strchr(lines, '\xff') && !strstr(lines, "\xe2\x80\xae"));
	while ((line = strsep(&lines, "\n")))
		CHECK(text_width(line) <= 60);
	table_deinit(&table);
}

TEST(table_leaves_out_columns_of_zeros_first)
{
	static const struct table_column counts[] = {
		{ .title = "name", .key = "name", .fit = TABLE_CUT_END },
		{ .title = "lost", .key = "lost", .fit = TABLE_DROP_ZERO },
		{ .title = "missed", .key = "missed", .fit = TABLE_DROP_ZERO },
	};
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct rendering rendering = { .term = { .columns = 24, .utf8 = true } };
	struct table table;

	table_init(&table, &arena);
	table_add_columns(&table, counts, ARRAY_LEN(counts));
	table_add_row(&table, 0, TABLE_PLAIN);
	table_add_cell(&table, "seventeen letters", NULL);
	table_add_cell(&table, "0", NULL);
	table_add_cell(&table, "3", NULL);
	rendering.table = &table;
	CHECK_STR(test_printed(as_text, &rendering), "name              missed\n"
						     "seventeen lette\xe2\x80\xa6  3\n");
	rendering.term.columns = 40;
	CHECK_STR(test_printed(as_text, &rendering), "name               lost  missed\n"
						     "seventeen letters  0     3\n");
	table_deinit(&table);
}

TEST(table_text_without_a_terminal_is_never_cut)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct table table;
	struct rendering rendering = { .table = &table };

	fill(&table, &arena, "evil\033[31m\xff", "/p");
	CHECK(strstr(test_printed(as_text, &rendering), "evil\\x1b[31m\\xff  /p\n"));
	table_deinit(&table);
}

TEST(table_csv_quotes_what_needs_it)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct table table;

	fill(&table, &arena, "f(int, \"x\")", "/a,b\n");
	CHECK_STR(test_printed(as_csv, &table), "share,time,function,path\n"
						"0.5,12.3 s,\"f(int, \"\"x\"\")\",\"/a,b\\x0a\"\n"
						"7 %,1 s,f,/p\n");
	table_deinit(&table);
}

TEST(table_json_escapes_hostile_names)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct table table;

	table_init(&table, &arena);
	table_add_column(&table, &columns[0]);
	table_add_column(&table, &columns[2]);
	table_add_row(&table, 0, false);
	table_add_cell(&table, "", NULL);
	table_add_cell(&table, "\"\\\n\x1b\xff\xc3\xa4\xe2\x80\xae", NULL);
	CHECK_STR(test_printed(as_json, &table), "{\n  \"rows\": [\n    {\"share\": null, \"function\": "
						 "\"\\\"\\\\\\u000a\\u001b\\\\xff\xc3\xa4\\u202e\"}\n  ]\n}\n");
	table_deinit(&table);
}

TEST(table_without_rows_is_a_heading_or_an_empty_list)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct table table;
	struct rendering rendering = { .table = &table, .term = { .columns = 80 } };

	table_init(&table, &arena);
	table_add_column(&table, &columns[0]);
	CHECK_STR(test_printed(as_text, &rendering), "share\n");
	CHECK_STR(test_printed(as_csv, &table), "share\n");
	CHECK_STR(test_printed(as_json, &table), "{\n  \"rows\": []\n}\n");
	table_deinit(&table);
}
