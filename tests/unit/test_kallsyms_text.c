/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_kallsyms_text.c - the kernel's names are asked for anew only when modules have changed.
 */
#include "record/embed/kallsyms_text.h"
#include "tests/unit/test.h"

#include <string.h>

static void put(const char *path, const char *text)
{
	FILE *out = fopen(path, "w");

	fputs(text, out);
	fclose(out);
}

/* The first line of what is opened. */
static void check_reads(struct kallsyms_text *kallsyms, const char *path, const char *modules, const char *wanted)
{
	FILE *in = kallsyms_text_open(kallsyms, path, modules);
	char line[64] = "";

	CHECK(in && fgets(line, sizeof(line), in));
	fclose(in);
	CHECK_STR(line, wanted);
}

TEST(kallsyms_are_kept_until_modules_change)
{
	const char *path = test_path("kallsyms"), *modules = test_path("modules");
	struct kallsyms_text kallsyms = { 0 };

	put(path, "one");
	put(modules, "nfs 1");
	check_reads(&kallsyms, path, modules, "one");
	CHECK_UINT(kallsyms.text.len, 0); /* nothing is kept of a recording of one file */
	put(path, "two");
	check_reads(&kallsyms, path, modules, "two");
	put(path, "three");
	check_reads(&kallsyms, path, modules, "two");
	put(modules, "nfs 1\nxfs 2");
	check_reads(&kallsyms, path, modules, "three");
	kallsyms_text_deinit(&kallsyms);
}

TEST(kallsyms_without_modules_and_without_a_file)
{
	const char *path = test_path("kallsyms"), *none = test_path("none");
	struct kallsyms_text kallsyms = { 0 };

	put(path, "one");
	check_reads(&kallsyms, path, none, "one");
	check_reads(&kallsyms, path, none, "one");
	put(path, "two");
	check_reads(&kallsyms, path, none, "one");
	kallsyms_text_deinit(&kallsyms);
	CHECK(!kallsyms_text_open(&kallsyms, none, none));
	CHECK(!kallsyms_text_open(&kallsyms, none, none));
	kallsyms_text_deinit(&kallsyms);
}
