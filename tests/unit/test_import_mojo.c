/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_import_mojo.c - sums and stacks as mojo2austin of austin-python prints them for these files (tests/data/import/mojo.py).
 */
#include "tests/unit/import_case.h"

#include <stdlib.h>
#include <string.h>

TEST(mojo_of_every_version_is_the_same)
{
	static const char *const files[] = { "mojo-1", "mojo-2", "mojo", "mojo-4" };

	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		const char *type = i == 1 ? "cpu" : "wall"; /* its mode */
		struct import_case c;
		char name[64];

		snprintf(name, sizeof(name), "../fuzz/import/%s", files[i]);
		import_case_file(&c, name);
		CHECK_STR(c.importer->name, "mojo");
		CHECK_INT(import_case_sum(&c, type).weight, i == 3 ? 20270000 : 20200000);
		CHECK_STR(import_case_stack(&c, 0), "work:300<main:10");
		CHECK_STR(import_case_stack(&c, 1), "main:10");
		CHECK_STR(import_case_stack(&c, 2), "do_read<work:300<main:10");
		if (i == 3) /* repeated without what was native */
			CHECK_STR(import_case_stack(&c, 3), "work:300<main:10");
		CHECK_UINT(c.p->threads.items[c.p->samples.items[0].thread].pid, 42);
		CHECK_UINT(c.p->threads.items[c.p->samples.items[0].thread].tid, 0x7f12);
		CHECK_UINT(c.facts.duration_ns, 2000000000);
		import_case_close(&c);
	}
}

TEST(mojo_of_full_mode_has_three_values)
{
	struct import_case c;

	import_case_file(&c, "../fuzz/import/mojo-full");
	CHECK_INT(import_case_sum(&c, "wall").weight, 20200000);
	CHECK_INT(import_case_sum(&c, "cpu").weight, 200000); /* the first one was idle */
	CHECK_INT(import_case_sum(&c, "memory").weight, 4096);
	import_case_close(&c);
}

TEST(mojo_says_where_it_is_damaged)
{
	static const char unknown_event[] = "MOJ\3\x20", unknown_frame[] = "MOJ\3\2\1\0x\0\5\5", newer[] = "MOJ\5\1";
	struct import_case c;

	CHECK_ERR(import_case_read(&c, unknown_event, 5, "x"), ERR_CORRUPT, "event 32 at offset 4");
	import_case_close(&c);
	CHECK_ERR(import_case_read(&c, unknown_frame, 11, "x"), ERR_CORRUPT, "frame 5 at offset 10");
	import_case_close(&c);
	CHECK_ERR(import_case_read(&c, newer, 5, "x"), ERR_UNSUPPORTED, "version 5");
	import_case_close(&c);
}
