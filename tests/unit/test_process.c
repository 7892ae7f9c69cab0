/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_process.c - what counts as code in a process, now and a little while after it is gone.
 */
#include "record/task/process.h"

#include "tests/unit/test.h"

static void table_cleanup(struct process_table *table)
{
	process_table_deinit(table);
}

#define TABLE CLEANUP(table_cleanup) struct process_table table = { 0 }

static void map_code(struct process_table *table, uint32_t pid, uint64_t start, uint64_t end)
{
	const struct event ev = {
		.kind = EVENT_MMAP,
		.pid = pid,
		.mmap = { .start = start, .end = end, .flags = EVENT_MMAP_EXEC },
	};

	CHECK(!process_table_event(table, &ev));
}

static void fork_task(struct process_table *table, uint32_t pid, uint32_t tid, uint32_t parent)
{
	const struct event ev = {
		.kind = EVENT_FORK,
		.pid = pid,
		.tid = tid,
		.fork = { parent, parent },
	};

	CHECK(!process_table_event(table, &ev));
}

static bool exit_task(struct process_table *table, uint32_t pid, uint32_t tid)
{
	const struct event ev = { .kind = EVENT_EXIT, .pid = pid, .tid = tid };

	return process_table_event(table, &ev);
}

static void exec_task(struct process_table *table, uint32_t pid)
{
	const struct event ev = {
		.kind = EVENT_COMM,
		.pid = pid,
		.tid = pid,
		.comm = { "new", true },
	};

	CHECK(!process_table_event(table, &ev));
}

static bool is_code(struct process_table *table, uint32_t pid, uint64_t addr)
{
	return process_is_code(process_get(table, pid), addr);
}

TEST(process_code_is_what_was_mapped_to_the_byte)
{
	TABLE;

	map_code(&table, 1, 0x400000, 0x402000);
	map_code(&table, 1, 0x7f0000000000, 0x7f0000001000);
	CHECK(!is_code(&table, 1, 0x3fffff));
	CHECK(is_code(&table, 1, 0x400000));
	CHECK(is_code(&table, 1, 0x401fff));
	CHECK(!is_code(&table, 1, 0x402000));
	CHECK(is_code(&table, 1, 0x7f0000000fff));
	CHECK(!is_code(&table, 1, 0x7f0000001000));
	CHECK(!is_code(&table, 1, 0));
	CHECK(!is_code(&table, 1, UINT64_MAX));
	CHECK(!is_code(&table, 2, 0x400000));
}

TEST(process_mappings_that_are_data_or_kernel_are_no_code)
{
	TABLE;
	struct event ev = {
		.kind = EVENT_MMAP,
		.pid = 1,
		.mmap = { .start = 0x1000, .end = 0x2000 },
	};

	CHECK(!process_table_event(&table, &ev));
	CHECK(!is_code(&table, 1, 0x1000));
	ev.mmap.flags = EVENT_MMAP_EXEC | EVENT_MMAP_KERNEL;
	CHECK(!process_table_event(&table, &ev));
	CHECK(!is_code(&table, 1, 0x1000));
}

TEST(process_mappings_that_touch_or_overlap_become_one)
{
	TABLE;

	map_code(&table, 1, 0x3000, 0x4000);
	map_code(&table, 1, 0x1000, 0x2000);
	map_code(&table, 1, 0x5000, 0x6000);
	CHECK_UINT(process_get(&table, 1)->code.len, 3);
	map_code(&table, 1, 0x1800, 0x3000);
	CHECK_UINT(process_get(&table, 1)->code.len, 2);
	map_code(&table, 1, 0x1000, 0x6000);
	CHECK_UINT(process_get(&table, 1)->code.len, 1);
	CHECK(is_code(&table, 1, 0x4800));
	for (int i = 0; i < 1000; i++)
		map_code(&table, 1, 0x2000, 0x3000);
	CHECK_UINT(process_get(&table, 1)->code.len, 1);
	CHECK(process_get(&table, 1)->low == 0x1000 && process_get(&table, 1)->high == 0x6000);
}

TEST(process_with_an_enormous_mapping_is_still_right)
{
	TABLE;

	map_code(&table, 1, 0x100000000, 0x7f0000000000);
	CHECK(is_code(&table, 1, 0x123456789a));
	CHECK(!is_code(&table, 1, 0xfffffff0));
	map_code(&table, 1, 0x2000, 0x1000); /* nonsense adds nothing */
	CHECK(!is_code(&table, 1, 0x1800));
}

TEST(process_many_ranges_are_all_found)
{
	TABLE;

	for (uint64_t i = 0; i < 5000; i++)
		map_code(&table, 1, (i * 7919 % 5000) * 0x4000,
			 (i * 7919 % 5000) * 0x4000 + 0x1000);
	CHECK_UINT(process_get(&table, 1)->code.len, 5000);
	for (uint64_t i = 0; i < 5000; i++) {
		CHECK(is_code(&table, 1, i * 0x4000 + 0xfff));
		CHECK(!is_code(&table, 1, i * 0x4000 + 0x1000));
	}
}

TEST(process_child_has_its_parents_code_and_then_its_own)
{
	TABLE;

	map_code(&table, 1, 0x1000, 0x2000);
	fork_task(&table, 2, 2, 1);
	CHECK(is_code(&table, 2, 0x1000));
	map_code(&table, 2, 0x8000, 0x9000);
	CHECK(!is_code(&table, 1, 0x8000));
	fork_task(&table, 1, 3, 1); /* a thread is no process */
	CHECK(!is_code(&table, 3, 0x1000));
}

TEST(process_code_before_an_exec_lasts_two_rounds)
{
	TABLE;

	map_code(&table, 1, 0x1000, 0x2000);
	exec_task(&table, 1);
	map_code(&table, 1, 0x8000, 0x9000);
	CHECK(is_code(&table, 1, 0x1000));
	process_table_round(&table);
	CHECK(is_code(&table, 1, 0x1000));
	process_table_round(&table);
	CHECK(!is_code(&table, 1, 0x1000));
	CHECK(is_code(&table, 1, 0x8000));
	CHECK_UINT(process_get(&table, 1)->low, 0x8000);
}

TEST(process_ends_with_its_last_thread)
{
	TABLE;

	map_code(&table, 1, 0x1000, 0x2000);
	fork_task(&table, 2, 2, 1);
	fork_task(&table, 2, 3, 2);
	CHECK(!exit_task(&table, 2, 2)); /* the leader goes, its thread stays */
	process_table_round(&table);
	process_table_round(&table);
	CHECK(is_code(&table, 2, 0x1000));
	CHECK(exit_task(&table, 2, 3));
	CHECK(is_code(&table, 2, 0x1000));
	process_table_round(&table);
	process_table_round(&table);
	CHECK(!is_code(&table, 2, 0x1000));
	CHECK(!exit_task(&table, 77, 77)); /* never heard of */
}

TEST(process_that_ran_before_is_never_given_up)
{
	TABLE;

	process_add_existing(&table, 1, 2);
	map_code(&table, 1, 0x1000, 0x2000);
	for (uint32_t tid = 1; tid < 5; tid++)
		CHECK(!exit_task(&table, 1, tid));
	process_table_round(&table);
	process_table_round(&table);
	CHECK(is_code(&table, 1, 0x1000));
}

TEST(process_number_used_again_is_a_new_process)
{
	TABLE;

	map_code(&table, 1, 0x1000, 0x2000);
	map_code(&table, 5, 0x8000, 0x9000);
	fork_task(&table, 2, 2, 1);
	CHECK(exit_task(&table, 2, 2));
	fork_task(&table, 2, 2, 5);
	CHECK(is_code(&table, 2, 0x1000)); /* samples of the first may still come */
	CHECK(is_code(&table, 2, 0x8000));
	process_table_round(&table);
	process_table_round(&table);
	CHECK(!is_code(&table, 2, 0x1000));
	CHECK(is_code(&table, 2, 0x8000));
}
