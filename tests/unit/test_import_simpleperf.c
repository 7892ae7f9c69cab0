/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_import_simpleperf.c - the file that tests/data/import/simpleperf.py makes: its names, threads, events and ends.
 */
#include "tests/unit/import_case.h"

#include <stdlib.h>
#include <string.h>

TEST(simpleperf_has_events_threads_names_and_addresses)
{
	struct import_case c;
	const struct profile_thread *thread;
	const struct profile_location *leaf;

	import_case_file(&c, "../fuzz/import/simpleperf");
	CHECK_STR(c.importer->name, "simpleperf");
	CHECK_UINT(import_case_sum(&c, "cpu-cycles:u").count, 3);
	CHECK_INT(import_case_sum(&c, "cpu-cycles:u").weight, 800000);
	CHECK_INT(import_case_part(&c, "cpu-clock", "com.example.App.run", "com.example.app").weight, 1000000);
	CHECK_STR(import_case_stack(&c, 0), "ns::leaf(int)<outer");
	CHECK_STR(import_case_stack(&c, 1), "sys_read<ns::leaf(int)<outer");
	CHECK_STR(import_case_stack(&c, 3), "[libapp.so+0x99]");
	leaf = &c.p->locations.items[c.p->stacks.items[c.p->samples.items[0].stack].location];
	CHECK_UINT(leaf->vaddr, 0x1010);
	CHECK_STR(profile_text(c.p, c.p->functions.items[c.p->lines.items[leaf->first_line].function].linkage_name), "_ZN2ns4leafEi");
	thread = &c.p->threads.items[c.p->samples.items[0].thread];
	CHECK_UINT(thread->pid, 4711);
	CHECK_UINT(thread->tid, 4712);
	CHECK_STR(profile_text(c.p, thread->comm), "worker");
	CHECK_STR(profile_text(c.p, thread->process), "com.example.app");
	CHECK_STR(c.facts.comment, "com.example.app");
	CHECK_UINT(c.p->times.len, 5);
	CHECK(strstr(c.diag.entries->message, "2 samples were lost"));
	import_case_close(&c);
}

/* Names and threads stand at the end: without them there are addresses and numbers. */
TEST(simpleperf_that_is_cut_says_what_may_be_missing)
{
	size_t len;
	uint8_t *data = import_case_bytes("../fuzz/import/simpleperf", &len);
	struct import_case c;

	CHECK_OK(import_case_read(&c, data, len / 3, "cut"));
	CHECK(c.p->samples.len > 0);
	CHECK(c.diag.entries && strstr(c.diag.entries->message, "may be missing"));
	import_case_close(&c);
	free(data);
}
