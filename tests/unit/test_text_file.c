/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"
#include "tests/unit/fake_sysfs.h"

#include "record/system/text_file.h"

#include <string.h>
#include <unistd.h>

static const char *files(void)
{
	static const struct fake_file all[] = {
		{ "number", "42" },
		{ "negative", "-1" },
		{ "words", "one two \t\n" },
		{ "empty", "" },
		{ "status", "Name:\tx\nCapEff:\t000001ffffffffff\nCap:\tshort\nSeccomp:\t2" },
		{ 0 },
	};

	return fake_sysfs("files", all);
}

TEST(text_file_reads_all_but_the_blanks_at_the_end)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const char *root = files(), *text;
	uint64_t value = 7;

	CHECK_OK(text_file_read(arena_printf(&arena, "%s/words", root), &arena, &text));
	CHECK_STR(text, "one two");
	CHECK_OK(text_file_read(arena_printf(&arena, "%s/empty", root), &arena, &text));
	CHECK_STR(text, "");
	CHECK(text_file_u64(arena_printf(&arena, "%s/number", root), &value));
	CHECK_UINT(value, 42);
	CHECK(!text_file_u64(arena_printf(&arena, "%s/negative", root), &value));
	CHECK(!text_file_u64(arena_printf(&arena, "%s/absent", root), &value));
	CHECK_UINT(value, 42);
	CHECK_ERR(text_file_read(root, &arena, &text), ERR_SYSTEM, "cannot read");
}

TEST(text_file_field_finds_whole_keys_only)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const char *path = arena_printf(&arena, "%s/status", files());

	CHECK_STR(text_file_field(path, "Name", &arena), "x");
	CHECK_STR(text_file_field(path, "Cap", &arena), "short");
	CHECK_STR(text_file_field(path, "Seccomp", &arena), "2");
	CHECK_STR(text_file_field(path, "Eff", &arena), NULL);
	CHECK_STR(text_file_field(path, "Absent", &arena), NULL);
}

TEST(text_file_refuses_what_does_not_end)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const char *text;

	CHECK_ERR(text_file_read("/dev/zero", &arena, &text), ERR_UNSUPPORTED,
		  "'/dev/zero' is longer than 1 MiB");
}
