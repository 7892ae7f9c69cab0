/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_line_table.c - a table answers as the debug information that it was made from, and malformed ones are refused.
 */
#include "symbolize/debug/line_table.h"

#include "tests/unit/test.h"

#include <string.h>

static const struct debug_frame outer = {
	.linkage_name = "_Z5outeri", .name = "outer", .file = "a.c", .line = 10, .column = 3,
	.decl_file = "a.c", .decl_line = 8,
};
static const struct debug_frame inlined[] = {
	{ .name = "inner", .file = "b.h", .line = 4294967295u, .decl_file = "b.h", .decl_line = 2 },
	{ .linkage_name = "_Z5outeri", .name = "outer", .file = "a.c", .line = 11,
	  .decl_file = "a.c", .decl_line = 8 },
};
static const struct debug_frame bare = { .file = "c.s", .line = 7 };

static struct writer make(void)
{
	struct line_table_maker *maker = line_table_maker_new();
	struct writer bytes = { 0 };

	line_table_maker_add(maker, 0x1000, 0x1008, &outer, 1);
	line_table_maker_add(maker, 0x1008, 0x100c, &outer, 1); /* joins */
	line_table_maker_add(maker, 0x100c, 0x1010, inlined, 2);
	line_table_maker_add(maker, 0x1010, 0x1010, &outer, 1); /* empty */
	line_table_maker_add(maker, 0xffffffff81000000, 0xffffffff81000001, &bare, 1);
	CHECK_UINT(line_table_maker_len(maker), 3);
	line_table_maker_finish(maker, &bytes);
	line_table_maker_free(maker);
	return bytes;
}

static void check_text(const char *a, const char *b)
{
	CHECK(!a == !b);
	if (a && b)
		CHECK_STR(a, b);
}

static void check_frame(const struct debug_frame *a, const struct debug_frame *b)
{
	check_text(a->linkage_name, b->linkage_name);
	check_text(a->name, b->name);
	check_text(a->file, b->file);
	check_text(a->decl_file, b->decl_file);
	CHECK_UINT(a->line, b->line);
	CHECK_UINT(a->column, b->column);
	CHECK_UINT(a->decl_line, b->decl_line);
}

TEST(line_table_answers_what_was_put_in)
{
	struct debug_frame found[DEBUG_INFO_FRAMES_MAX];
	struct writer bytes = make();
	struct line_table *table;

	CHECK_OK(line_table_new(bytes.data, bytes.len, &table));
	CHECK(!line_table_is_empty(table));
	CHECK_UINT(line_table_find(table, 0xfff, found), 0);
	for (uint64_t vaddr = 0x1000; vaddr < 0x100c; vaddr++) {
		CHECK_UINT(line_table_find(table, vaddr, found), 1);
		check_frame(&found[0], &outer);
	}
	CHECK_UINT(line_table_find(table, 0x100c, found), 2);
	check_frame(&found[0], &inlined[0]);
	check_frame(&found[1], &inlined[1]);
	CHECK_UINT(line_table_find(table, 0x1010, found), 0);
	CHECK_UINT(line_table_find(table, 0xffffffff81000000, found), 1);
	check_frame(&found[0], &bare);
	CHECK_UINT(line_table_find(table, UINT64_MAX, found), 0);
	line_table_free(table);
	writer_deinit(&bytes);
}

TEST(line_table_refuses_every_truncation)
{
	struct writer bytes = make();

	for (size_t len = 0; len < bytes.len; len++) {
		struct line_table *table = NULL;
		struct err *err = line_table_new(guarded(bytes.data, len), len, &table);

		CHECK(err && err_kind(err) == ERR_CORRUPT && !table);
		err_free(err);
	}
	writer_deinit(&bytes);
}

/* Whatever a byte is changed to: refused, or it answers. */
TEST(line_table_survives_every_changed_byte)
{
	struct debug_frame found[DEBUG_INFO_FRAMES_MAX];
	struct writer bytes = make();

	for (size_t i = 0; i < bytes.len * 255; i++) {
		struct line_table *table = NULL;
		uint8_t *byte = &bytes.data[i / 255];
		uint8_t before = *byte;

		*byte = (uint8_t)(before + 1 + i % 255);
		struct err *err =
			line_table_new(guarded(bytes.data, bytes.len), bytes.len, &table);

		*byte = before;
		err_free(err);
		if (err)
			continue;
		for (uint64_t vaddr = 0x0ff0; vaddr < 0x1020; vaddr++)
			CHECK(line_table_find(table, vaddr, found) <= DEBUG_INFO_FRAMES_MAX);
		line_table_free(table);
	}
	writer_deinit(&bytes);
}

TEST(line_table_of_a_module_is_found_by_path_and_build_id)
{
	struct writer bytes = make();
	uint8_t id[2] = { 1, 2 }, other[2] = { 1, 3 };
	struct recording_lines lines[] = {
		{ .path = "/a", .build_id_len = 2, .build_id = { 1, 2 }, .table = bytes.data, .table_len = bytes.len },
		{ .path = "/bad", .table = bytes.data, .table_len = 3 },
	};
	struct recording rec = { .lines = lines, .nlines = 2 };
	CLEANUP(diag_deinit) struct diag diag = { 0 };
	struct line_table *table = line_table_find_recorded(&rec, "/a", id, 2, &diag);

	CHECK(table);
	line_table_free(table);
	CHECK(!line_table_find_recorded(&rec, "/a", other, 2, &diag));
	CHECK(!line_table_find_recorded(&rec, "/a", id, 0, &diag));
	CHECK(!line_table_find_recorded(&rec, "/b", id, 2, &diag));
	CHECK(!diag.entries);
	CHECK(!line_table_find_recorded(&rec, "/bad", id, 0, &diag));
	CHECK(diag.entries); /* not the same as having none */
	writer_deinit(&bytes);
}
