/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_managed_table.c - a process that maps files with an interpreter's name for ever.
 */
#include "record/managed/managed_table.h"

#include "tests/unit/test.h"

#include <string.h>
#include <unistd.h>

#define EVENTS_MAX 1000000

static void map_file(struct managed_table *t, uint32_t pid)
{
	char path[] = "/nowhere/libpython3.11.so.1.0";
	const struct event ev = {
		.kind = EVENT_MMAP,
		.time_ns = 1,
		.pid = pid,
		.tid = pid,
		.mmap = { .start = 0x1000, .end = 0x2000, .flags = EVENT_MMAP_EXEC, .path = path },
	};

	managed_table_event(t, &ev);
}

TEST(managed_table_looks_at_others_beside_one_that_maps_for_ever)
{
	struct managed_table *t = managed_table_new(-1, NULL);
	uint32_t busy = (uint32_t)getpid(), other = (uint32_t)getppid();
	unsigned i;

	for (i = 0; i < 1000; i++) /* it is being looked at */
		map_file(t, busy);
	map_file(t, other);
	for (i = 0; i < EVENTS_MAX && managed_table_look(t, other) == MANAGED_PENDING; i++)
		map_file(t, busy);
	CHECK(i < EVENTS_MAX);

	struct managed_refusals refusals = managed_table_refusals(t);

	for (i = 0; i < EVENTS_MAX && !refusals.len; i++) {
		map_file(t, busy);
		refusals = managed_table_refusals(t);
	}
	CHECK(refusals.len == 1 && strstr(refusals.items[0].why, "again and again"));
	managed_table_free(t);
}
