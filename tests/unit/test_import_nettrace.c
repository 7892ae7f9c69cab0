/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_import_nettrace.c - a file of .NET 8, counted by another reader, and the small one that tests/data/import/nettrace.py makes.
 */
#include "tests/unit/import_case.h"

#include <stdlib.h>
#include <string.h>

static uint64_t samples_of(const struct import_case *c, uint32_t tid)
{
	uint64_t count = 0;

	for (size_t i = 0; i < c->p->samples.len; i++)
		if (c->p->samples.items[i].type == 0 && c->p->threads.items[c->p->samples.items[i].thread].tid == tid)
			count += c->p->samples.items[i].count;
	return count;
}

TEST(nettrace_of_a_runtime_has_all_samples_and_names)
{
	struct import_case c;
	unsigned unnamed = 0;

	import_case_file(&c, "nettrace.gz");
	CHECK_STR(c.importer->name, "nettrace");
	CHECK_UINT(import_case_sum(&c, "samples").count, 188);
	CHECK_UINT(samples_of(&c, 5667), 137);
	CHECK_UINT(samples_of(&c, 5728), 51);
	CHECK_UINT(import_case_sum(&c, "alloc").count, 6);
	CHECK_UINT(import_case_part(&c, "samples", "W.Fib", NULL).count, 102);
	for (size_t i = 0; i < c.p->functions.len; i++)
		unnamed += c.p->functions.items[i].unnamed;
	CHECK_UINT(unnamed, 1); /* a stub between native and managed code, which the runtime does not report */
	CHECK(!c.diag.entries);
	import_case_close(&c);
}

/* Heads of both kinds, a sequence point behind which stacks have other numbers, and a return address behind its method's end. */
TEST(nettrace_has_stacks_times_threads_and_modules)
{
	struct time_cursor cursor;
	struct profile_time time;
	struct import_case c;

	import_case_file(&c, "../fuzz/import/nettrace");
	CHECK_UINT(c.p->samples.len, 3);
	CHECK_STR(import_case_stack(&c, 0), "App.Work.Leaf<App.Work.Run<Main");
	CHECK_UINT(c.p->samples.items[0].count, 2);
	CHECK_STR(import_case_stack(&c, 1), "App.Work.Run<Main");
	CHECK_INT(import_case_sum(&c, "alloc").weight, 5000000000);
	CHECK_STR(import_case_stack(&c, 2), "[unknown+0x9000]");
	CHECK_STR(profile_text(c.p, c.p->modules.items[0].path), "/app/App.dll");
	CHECK_UINT(c.p->threads.items[c.p->samples.items[2].thread].tid, 4713);
	CHECK_UINT(c.p->threads.items[c.p->samples.items[2].thread].pid, 4711);
	cursor = time_series_begin(&c.p->times);
	CHECK(time_series_next(&cursor, &time));
	CHECK_UINT(time.time_ns, 1000000); /* 1,000 ticks of a microsecond after the clock's time */
	CHECK_UINT(c.facts.wall_ns, 1795784791250000000);
	CHECK(strstr(c.diag.entries->message, "without a stack, which are left out: 1"));
	import_case_close(&c);
}

/* As a process that is killed leaves it: the names, which come last, are missing. */
TEST(nettrace_without_its_end_says_so)
{
	size_t len;
	uint8_t *data = import_case_bytes("../fuzz/import/nettrace", &len);
	struct import_case c;

	CHECK_OK(import_case_read(&c, data, len - 200, "cut"));
	CHECK_STR(import_case_stack(&c, 0), "[unknown+0x1010]<[unknown+0x201f]<[unknown+0x2fff]");
	CHECK(c.diag.entries && strstr(c.diag.entries->message, "the file has no end"));
	import_case_close(&c);
	free(data);
}
