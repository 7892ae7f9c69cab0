/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_import_perfetto.c - the trace that tests/data/import/perfetto_trace.py makes with Perfetto's own classes.
 */
#include "tests/unit/import_case.h"

#include <string.h>

TEST(perfetto_samples_have_stacks_threads_cpus_and_times)
{
	const struct profile_location *leaf;
	const struct profile_module *mod;
	const struct profile_thread *thread;
	struct import_case c;

	import_case_file(&c, "../fuzz/import/perfetto");
	CHECK_STR(c.importer->name, "perfetto");
	CHECK_UINT(import_case_sum(&c, "cpu-clock").count, 5);
	CHECK_UINT(c.p->types.items[0].rate, 100);
	CHECK_STR(import_case_stack(&c, 0), "leaf:7<main");
	CHECK_UINT(c.p->samples.items[0].count, 2);
	CHECK_UINT(c.p->samples.items[0].cpu, 1);
	CHECK_STR(import_case_stack(&c, 1), "sys_read<leaf:7<inlined<main");
	CHECK_STR(import_case_stack(&c, 2), "[app+0x1099]");
	leaf = &c.p->locations.items[c.p->stacks.items[c.p->samples.items[0].stack].location];
	CHECK_UINT(leaf->vaddr, 0x1010);
	mod = profile_module(c.p, leaf->module);
	CHECK_STR(profile_text(c.p, mod->path), "/bin/app");
	CHECK_STR(profile_text(c.p, mod->build_id), "abcdef01234567ff");
	thread = &c.p->threads.items[c.p->samples.items[0].thread];
	CHECK_UINT(thread->pid, 4711);
	CHECK_UINT(thread->tid, 4712);
	CHECK_STR(profile_text(c.p, thread->comm), "worker");
	CHECK_STR(profile_text(c.p, thread->process), "/bin/app");
	import_case_close(&c);
}

/* When a sequence's state is cleared, its numbers mean other things; before, one that nothing had is a sample without a stack. */
TEST(perfetto_numbers_last_until_the_state_is_cleared)
{
	struct diag_entry *entry;
	struct import_case c;

	import_case_file(&c, "../fuzz/import/perfetto");
	CHECK_STR(import_case_stack(&c, 3), "late");
	entry = c.diag.entries;
	CHECK(strstr(entry->message, "no room for: 3"));
	CHECK(strstr(entry->next->message, "skipped: 1"));
	CHECK(strstr(entry->next->next->message, "without a stack, which are left out: 1"));
	import_case_close(&c);
}
