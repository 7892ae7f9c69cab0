/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_import_gecko.c - files of Firefox Profiler, of both kinds, as its published types have them.
 */
#include "tests/unit/import_case.h"

#include <stdlib.h>
#include <string.h>

static uint64_t time_of(const struct import_case *c, size_t number)
{
	struct time_cursor cursor = time_series_begin(&c->p->times);
	struct profile_time time = { 0 };

	for (size_t i = 0; i <= number; i++)
		CHECK(time_series_next(&cursor, &time));
	return time.time_ns;
}

TEST(firefox_profile_has_inlined_calls_addresses_and_times)
{
	const struct profile_thread *thread;
	const struct profile_location *leaf;
	struct import_case c;

	import_case_file(&c, "../fuzz/import/firefox");
	CHECK_STR(c.importer->name, "firefox");
	CHECK_UINT(c.p->samples.len, 3);
	CHECK_STR(import_case_stack(&c, 0), "inner:9+outer:7<main:3");
	CHECK_STR(import_case_stack(&c, 1), "sys_read<main:3");
	CHECK_INT(import_case_sum(&c, "wall").weight, 3750000);
	CHECK_UINT(time_of(&c, 2), 3500000);
	leaf = &c.p->locations.items[c.p->stacks.items[c.p->samples.items[0].stack].location];
	CHECK(leaf->has_vaddr && leaf->vaddr == 32);
	CHECK_STR(profile_text(c.p, profile_module(c.p, leaf->module)->path), "/bin/app");
	leaf = &c.p->locations.items[c.p->stacks.items[c.p->samples.items[1].stack].location];
	CHECK_UINT(leaf->kind, PROFILE_FRAME_KERNEL);
	thread = &c.p->threads.items[0];
	CHECK_UINT(thread->pid, 42);
	CHECK_UINT(thread->tid, 43);
	CHECK_STR(profile_text(c.p, thread->process), "app");
	CHECK(c.facts.has_wall && c.facts.wall_ns / 1000000 == 1700000000000);
	import_case_close(&c);
}

TEST(gecko_profile_has_the_threads_of_every_tab)
{
	struct import_case c;

	import_case_file(&c, "../fuzz/import/gecko");
	CHECK_STR(c.importer->name, "firefox");
	CHECK_UINT(import_case_sum(&c, "samples").count, 4);
	CHECK_INT(import_case_sum(&c, "samples").weight, 4);
	CHECK_STR(import_case_stack(&c, 0), "f:12<(root)");
	CHECK_UINT(import_case_part(&c, "samples", "f", "GeckoMain").count, 2);
	CHECK_UINT(import_case_part(&c, "samples", "0x1234", "Web").count, 1);
	CHECK_UINT(time_of(&c, 3), 501000000); /* its process began 500 ms later */
	import_case_close(&c);
}

TEST(firefox_stacks_that_stand_on_themselves_end)
{
	struct import_case c;

	import_case_text(&c, "{\"meta\":{\"preprocessedProfileVersion\":56},\"shared\":{\"stringArray\":[\"a\"]},\"threads\":[{"
			     "\"samples\":{\"stack\":[1,0]},\"stackTable\":{\"frame\":[0,0],\"prefix\":[1,0]},"
			     "\"frameTable\":{\"func\":[0]},\"funcTable\":{\"name\":[0]}}]}");
	CHECK_UINT(import_case_sum(&c, "samples").count, 2);
	CHECK(c.diag.entries && strstr(c.diag.entries->message, "on themselves"));
	import_case_close(&c);
}
