/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_runtime_news.c - why the code of a runtime has no names.
 */
#include "record/runtime/runtime_news.h"

#include "formats/base/diag.h"
#include "tests/unit/test.h"

#include <string.h>

/* What is said of two processes with @version of V8. */
static void check_v8(struct runtime_unread version, const char *expected)
{
	struct runtime_news news;
	struct diag notes = { 0 };

	runtime_news_init(&news);
	runtime_news_put_unread(&news, RUNTIME_V8, version);
	runtime_news_put_unread(&news, RUNTIME_V8, version);
	runtime_news_report(&news, &notes);
	CHECK(notes.entries && !notes.entries->next);
	CHECK(strstr(notes.entries->message, expected));
	runtime_news_report(&news, &notes); /* once */
	CHECK_UINT(notes.entries->count, 1);
	diag_deinit(&notes);
	runtime_news_deinit(&news);
}

TEST(runtime_news_say_why_v8_is_not_read)
{
	check_v8((struct runtime_unread){ .major = 99, .minor = 1, .newer = true }, "V8 99.1 is newer");
	check_v8((struct runtime_unread){ .major = 9, .minor = 4 }, "V8 9.4 is not among those");
	check_v8((struct runtime_unread){ 0 }, "could not be read: 2;");
	check_v8((struct runtime_unread){ .stripped = true }, "stripped of the symbols that describe its data: 2; ");
	check_v8((struct runtime_unread){ .stripped = true }, "perf-basic-prof");
}
