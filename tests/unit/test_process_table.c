/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_process_table.c - what counts as code in a process, now and a little while after it is gone.
 */
#include "formats/process/process_table.h"

#include "tests/unit/test.h"

#include <string.h>

/* A table and the files that its processes map. */
struct scene {
	struct mapped_files files;
	struct process_table table;
};

static void scene_cleanup(struct scene *s)
{
	process_table_deinit(&s->table);
	mapped_files_deinit(&s->files);
}

static void scene_init(struct scene *s)
{
	mapped_files_init(&s->files, sizeof(struct mapped_file), NULL);
	process_table_init(&s->table);
}

#define TABLE                                         \
	CLEANUP(scene_cleanup) struct scene table;    \
	scene_init(&table)

static void map_file(struct scene *s, uint32_t pid, uint64_t start, uint64_t end, const char *path)
{
	const struct event_mmap map = {
		.start = start,
		.end = end,
		.flags = EVENT_MMAP_EXEC,
		.path = path,
	};

	process_table_map(&s->table, pid, &map, mapped_files_get(&s->files, &map, NULL));
}

static void map_code(struct scene *s, uint32_t pid, uint64_t start, uint64_t end)
{
	map_file(s, pid, start, end, "//anon");
}

static void fork_task(struct scene *s, uint32_t pid, uint32_t tid, uint32_t parent)
{
	const struct event ev = {
		.kind = EVENT_FORK,
		.pid = pid,
		.tid = tid,
		.time_ns = 5,
		.fork = { parent, parent },
	};

	CHECK(!process_table_event(&s->table, &ev));
}

static bool exit_task(struct scene *s, uint32_t pid, uint32_t tid)
{
	const struct event ev = { .kind = EVENT_EXIT, .pid = pid, .tid = tid };

	return process_table_event(&s->table, &ev);
}

static void exec_task(struct scene *s, uint32_t pid)
{
	const struct event ev = {
		.kind = EVENT_COMM,
		.pid = pid,
		.tid = pid,
		.comm = { "new", true },
	};

	CHECK(!process_table_event(&s->table, &ev));
}

static bool is_code(struct scene *s, uint32_t pid, uint64_t addr)
{
	return process_is_code(process_table_look(&s->table, pid), addr);
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

TEST(process_mappings_that_touch_or_overlap_become_one)
{
	TABLE;

	map_code(&table, 1, 0x3000, 0x4000);
	map_code(&table, 1, 0x1000, 0x2000);
	map_code(&table, 1, 0x5000, 0x6000);
	CHECK_UINT(process_table_get(&table.table, 1)->maps->len, 3);
	map_code(&table, 1, 0x1800, 0x3000);
	CHECK_UINT(process_table_get(&table.table, 1)->maps->len, 2);
	map_code(&table, 1, 0x1000, 0x6000);
	CHECK_UINT(process_table_get(&table.table, 1)->maps->len, 1);
	CHECK(is_code(&table, 1, 0x4800));
	for (int i = 0; i < 1000; i++)
		map_code(&table, 1, 0x2000, 0x3000);
	CHECK_UINT(process_table_get(&table.table, 1)->maps->len, 1);
	uint64_t low, high;

	process_code_span(process_table_get(&table.table, 1), &low, &high);
	CHECK_UINT(low, 0x1000);
	CHECK_UINT(high, 0x6000);
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
	CHECK_UINT(process_table_get(&table.table, 1)->maps->len, 5000);
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
	process_table_round(&table.table);
	CHECK(is_code(&table, 1, 0x1000));
	process_table_round(&table.table);
	CHECK(!is_code(&table, 1, 0x1000));
	CHECK(is_code(&table, 1, 0x8000));
	uint64_t low, high;

	process_code_span(process_table_get(&table.table, 1), &low, &high);
	CHECK_UINT(low, 0x8000);
}

TEST(process_ends_with_its_last_thread)
{
	TABLE;

	map_code(&table, 1, 0x1000, 0x2000);
	fork_task(&table, 2, 2, 1);
	fork_task(&table, 2, 3, 2);
	CHECK(!exit_task(&table, 2, 2)); /* the leader goes, its thread stays */
	process_table_round(&table.table);
	process_table_round(&table.table);
	CHECK(is_code(&table, 2, 0x1000));
	CHECK(exit_task(&table, 2, 3));
	CHECK(is_code(&table, 2, 0x1000));
	process_table_round(&table.table);
	process_table_round(&table.table);
	CHECK(!is_code(&table, 2, 0x1000));
	CHECK(!exit_task(&table, 77, 77)); /* never heard of */
}

TEST(process_that_ran_before_is_never_given_up)
{
	TABLE;

	process_table_add_existing(&table.table, 1, 2);
	map_code(&table, 1, 0x1000, 0x2000);
	for (uint32_t tid = 1; tid < 5; tid++)
		CHECK(!exit_task(&table, 1, tid));
	process_table_round(&table.table);
	process_table_round(&table.table);
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
	process_table_round(&table.table);
	process_table_round(&table.table);
	CHECK(!is_code(&table, 2, 0x1000));
	CHECK(is_code(&table, 2, 0x8000));
}

static const char *file_at(struct scene *s, uint32_t pid, uint64_t addr)
{
	const struct process_map *map =
		addr_map_find(process_table_look(&s->table, pid)->maps, addr);

	return map ? map->file->path : NULL;
}

TEST(process_map_agrees_with_a_plain_model_of_memory)
{
	enum { PAGES = 64, ROUNDS = 3000 };
	static const char *const paths[] = { "/a", "/b", "/c", "//anon" };
	int model[PAGES];
	uint32_t state = 1;
	TABLE;

	memset(model, -1, sizeof(model));
	for (int i = 0; i < ROUNDS; i++) {
		state = state * 1664525 + 1013904223;
		unsigned start = state >> 8 & (PAGES - 1), len = 1 + (state >> 16 & 15);
		unsigned which = state >> 24 & 3;

		map_file(&table, 1, start * 0x1000ULL, (start + len) * 0x1000ULL, paths[which]);
		for (unsigned page = start; page < start + len && page < PAGES; page++)
			model[page] = (int)which;
		if (i % 100 == 0)
			fork_task(&table, 2, 2, 1); /* shares it, so that the next change copies */
		for (unsigned page = 0; page < PAGES; page++)
			CHECK_STR(file_at(&table, 1, page * 0x1000ULL + 0x10),
				  model[page] < 0 ? NULL : paths[model[page]]);
	}
	struct addr_map *maps = process_table_get(&table.table, 1)->maps;

	for (size_t i = 0; i + 1 < maps->len; i++) {
		const struct process_map *map = addr_map_item(maps, i), *next = map + 1;

		CHECK(map->start < map->end && map->end <= next->start);
	}
}

TEST(process_mappings_that_were_replaced_are_meant_for_two_rounds)
{
	const struct process_map *maps[4];
	TABLE;

	map_file(&table, 1, 0x1000, 0x9000, "/a");
	map_file(&table, 1, 0x3000, 0x4000, "/b");
	const struct process *proc = process_table_look(&table.table, 1);

	CHECK_UINT(process_table_meanings(&table.table, proc, 0x3800, maps, 4), 2);
	CHECK_STR(maps[0]->file->path, "/b");
	CHECK_STR(maps[1]->file->path, "/a");
	CHECK_UINT(process_table_meanings(&table.table, proc, 0x3800, maps, 1), 1);
	process_table_round(&table.table);
	process_table_round(&table.table);
	CHECK_UINT(process_table_meanings(&table.table, proc, 0x3800, maps, 4), 1);
	exec_task(&table, 1);
	CHECK_UINT(process_table_meanings(&table.table, proc, 0x5000, maps, 4), 1);
	CHECK_STR(maps[0]->file->path, "/a");
	process_table_round(&table.table);
	process_table_round(&table.table);
	CHECK_UINT(process_table_meanings(&table.table, proc, 0x5000, maps, 4), 0);
}

TEST(process_that_forked_before_its_parents_mappings_were_told_means_those)
{
	const struct process_map *maps[4];
	TABLE;

	fork_task(&table, 2, 2, 1);
	map_file(&table, 1, 0x1000, 0x9000, "/a");
	const struct process *proc = process_table_look(&table.table, 2);

	CHECK_UINT(process_table_meanings(&table.table, proc, 0x1000, maps, 4), 1);
	exec_task(&table, 2);
	CHECK_UINT(process_table_meanings(&table.table, proc, 0x1000, maps, 4), 0);
}

TEST(process_of_before_the_recording_inherits_nothing)
{
	const struct event ev = { .kind = EVENT_FORK, .pid = 2, .tid = 2, .fork = { 1, 1 } };
	TABLE;

	map_file(&table, 1, 0x1000, 0x9000, "/a");
	CHECK(!process_table_event(&table.table, &ev));
	CHECK(!is_code(&table, 2, 0x1000));
	CHECK_UINT(process_table_look(&table.table, 2)->lineage[1], 1);
	CHECK(!process_table_is_copy(&table.table, 2, 1));
}

TEST(process_is_its_parents_copy_until_it_calls_exec)
{
	TABLE;

	fork_task(&table, 2, 2, 1);
	fork_task(&table, 3, 3, 2);
	CHECK(process_table_is_copy(&table.table, 2, 1));
	CHECK(process_table_is_copy(&table.table, 2, 2));
	CHECK(!process_table_is_copy(&table.table, 2, 3));
	CHECK(!process_table_is_copy(&table.table, 3, 1));
	CHECK(!process_table_is_copy(&table.table, 9, 1));
	exec_task(&table, 2);
	CHECK(!process_table_is_copy(&table.table, 2, 1));
	CHECK(process_table_is_copy(&table.table, 2, 2));
}

TEST(process_limits_hold_for_one_and_for_all)
{
	TABLE;

	table.table.pool.max_each = 8;
	table.table.pool.max_all = 20;
	for (uint64_t i = 0; i < 10; i++)
		map_file(&table, 1, i * 0x4000, i * 0x4000 + 0x1000, "/a");
	CHECK_UINT(table.table.left_out, 2);
	CHECK(is_code(&table, 1, 7 * 0x4000));
	CHECK(!is_code(&table, 1, 8 * 0x4000));
	/* Forks share; a change of one of them needs a copy, for which there is room once. */
	for (uint32_t pid = 2; pid < 200; pid++)
		fork_task(&table, pid, pid, 1);
	CHECK_UINT(table.table.pool.nranges, 8);
	map_file(&table, 2, 0, 0x1000, "/b");
	CHECK_STR(file_at(&table, 2, 0), "/b");
	CHECK_UINT(table.table.pool.nranges, 16);
	map_file(&table, 3, 0, 0x1000, "/b");
	CHECK_STR(file_at(&table, 3, 0), "/a");
	CHECK_UINT(table.table.left_out, 3);
	CHECK_UINT(table.table.pool.nranges, 16);
}

/* An hour of compiling, without its samples: what lives is bounded, whatever came and went. */
TEST(process_table_holds_what_lives_after_many_short_lived_processes)
{
	enum { PROCESSES = 120000, LIVES = 50 };
	TABLE;

	map_file(&table, 1, 0x1000, 0x2000, "/bin/make");
	for (uint32_t i = 0; i < PROCESSES; i++) {
		uint32_t pid = 1000 + i % 30000;
		char path[32];

		snprintf(path, sizeof(path), "/tmp/conftest%u", i);
		fork_task(&table, pid, pid, 1);
		exec_task(&table, pid);
		map_file(&table, pid, 0x400000, 0x401000, path);
		map_file(&table, pid, 0x7f0000000000, 0x7f0000100000, "/lib/libc.so.6");
		if (i >= LIVES)
			exit_task(&table, 1000 + (i - LIVES) % 30000, 1000 + (i - LIVES) % 30000);
		if (i % 8 == 0)
			process_table_round(&table.table);
		CHECK(table.table.by_pid.len <= LIVES + 32);
		CHECK(table.files.nfiles <= MAPPED_FILES_IDLE_MAX + 2 * LIVES + 64);
		CHECK(table.table.pool.nranges <= 4 * LIVES + 64);
		CHECK(table.table.fading.len <= 2 * LIVES + 32);
	}
}

TEST(process_table_what_lies_in_the_mappings_of_one_process_is_other_than_it_was)
{
	TABLE;

	map_code(&table, 1, 0x1000, 0x2000);
	map_code(&table, 2, 0x1000, 0x2000);
	uint32_t first = process_table_find(&table.table, 1)->serial, second = process_table_find(&table.table, 2)->serial;

	process_table_changed(&table.table, 1);
	process_table_changed(&table.table, 3);
	CHECK(process_table_find(&table.table, 1)->serial > second);
	CHECK(process_table_find(&table.table, 1)->serial != first);
	CHECK(process_table_find(&table.table, 2)->serial == second);
	CHECK(!process_table_find(&table.table, 3));
}
