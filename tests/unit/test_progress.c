/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_progress.c - what the line says, and that there is none where it could not be erased.
 */
#include "report/print/progress.h"
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>

TEST(progress_says_how_far_and_how_long_still)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };

	CHECK_STR(progress_text(&arena, "a.trace", 25, 100, 1234567, 4000000000),
		  "25 % of a.trace, 1,234,567 samples, 12 s left");
	CHECK_STR(progress_text(&arena, "a.trace", 100, 100, 1, 4000000000),
		  "100 % of a.trace, 1 sample, 0 s left");
}

TEST(progress_promises_nothing_before_something_is_read)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };

	CHECK_STR(progress_text(&arena, "a.trace", 0, 100, 5, 4000000000), "a.trace: 5 samples");
	CHECK_STR(progress_text(&arena, "-", 0, 0, 0, 0), "-: 0 samples");
}

TEST(progress_is_silent_where_there_is_no_terminal)
{
	struct progress p;
	FILE *out = tmpfile();

	CHECK(out);
	progress_begin(&p, out, /* wanted= */ true);
	for (int i = 0; i < 1000; i++)
		CHECK(!progress_due(&p));
	progress_show(&p, "text");
	progress_end(&p);
	CHECK_UINT((uint64_t)ftell(out), 0);
	fclose(out);
}

TEST(progress_ends_though_it_never_began)
{
	struct progress p = { 0 };

	CHECK(!progress_due(&p));
	progress_end(&p);
	progress_end(&p);
}
