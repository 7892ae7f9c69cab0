/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "formats/base/diag.h"

static void print(FILE *out, void *context)
{
	diag_print(context, "preport", out);
}

TEST(diag_counts_equal_messages_and_prints_them_in_order)
{
	CLEANUP(diag_deinit) struct diag diag = { 0 };

	CHECK_STR(test_printed(print, &diag), "");
	diag_warn(&diag, "no symbols in '%s'", "a\x1b");
	for (int i = 0; i < 3; i++)
		diag_err(&diag, err_remedy(err_new(ERR_CORRUPT, "bad table"), "run ldconfig"));
	diag_warn(&diag, "no symbols in '%s'", "b");
	diag_warn(&diag, "no symbols in '%s'", "a\x1b");
	CHECK_STR(test_printed(print, &diag), "preport: warning: no symbols in 'a\\x1b' (2 times)\n"
					      "preport: warning: bad table (3 times)\n"
					      "preport: run ldconfig\n"
					      "preport: warning: no symbols in 'b'\n");
}

TEST(diag_lumps_together_what_comes_after_a_hundred_messages)
{
	CLEANUP(diag_deinit) struct diag diag = { 0 };
	size_t entries = 0;
	uint64_t count = 0;

	for (int i = 0; i < 5000; i++)
		diag_warn(&diag, "bad record at offset %d", i);
	for (const struct diag_entry *entry = diag.entries; entry; entry = entry->next) {
		entries++;
		count += entry->count;
	}
	CHECK_UINT(entries, 101);
	CHECK_UINT(count, 5000);
}
