/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_rename_limit.c - a thread that changes its name without end, and others.
 */
#include "record/sample/rename_limit.h"

#include "tests/unit/test.h"

#include <stdio.h>

#define SECOND 1000000000ULL

static bool keeps(struct rename_limit *l, uint32_t tid, uint64_t time_ns, const char *name)
{
	const struct event ev = { .kind = EVENT_COMM, .pid = 1, .tid = tid, .time_ns = time_ns, .comm = { .comm = name } };

	return rename_limit_keeps(l, &ev);
}

TEST(rename_limit_keeps_the_first_names_and_the_last)
{
	struct rename_limit l = { 0 };
	struct event ev;
	char name[32];
	unsigned kept = 0;

	for (uint32_t i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "%u, which is too long", i);
		kept += keeps(&l, 7, SECOND, name);
		CHECK(keeps(&l, 1000 + i, SECOND, "of another"));
	}
	CHECK_UINT(kept, RENAME_LIMIT_AT_ONCE);
	CHECK_UINT(l.left_out, 1000 - RENAME_LIMIT_AT_ONCE);
	CHECK(!rename_limit_next(&l, SECOND, &ev));
	CHECK(rename_limit_next(&l, 2 * SECOND, &ev));
	CHECK_UINT(ev.tid, 7);
	CHECK_STR(ev.comm.comm, "999, which is t");
	CHECK(!rename_limit_next(&l, 3 * SECOND, &ev));
	CHECK_UINT(l.left_out, 999 - RENAME_LIMIT_AT_ONCE);
	CHECK(keeps(&l, 7, 3 * SECOND, "once a second"));
	rename_limit_deinit(&l);
}

TEST(rename_limit_forgets_what_waits_of_a_thread_that_ends_or_has_a_newer_name)
{
	struct rename_limit l = { 0 };
	struct event ev;

	for (uint32_t tid = 0; tid < 2 * RENAME_LIMIT_WAITING; tid++)
		for (uint32_t i = 0; i <= RENAME_LIMIT_AT_ONCE; i++)
			CHECK(keeps(&l, tid, SECOND, "name") == (i < RENAME_LIMIT_AT_ONCE));
	CHECK_UINT(l.waiting.len, RENAME_LIMIT_WAITING);
	rename_limit_exit(&l, 0);
	CHECK(keeps(&l, 1, 2 * SECOND, "newer"));
	CHECK_UINT(l.waiting.len, RENAME_LIMIT_WAITING - 2);
	CHECK(rename_limit_next(&l, 2 * SECOND, &ev) && ev.tid > 1);
	rename_limit_deinit(&l);
}
