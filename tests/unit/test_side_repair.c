/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_side_repair.c - what of /proc is news beside what the side-band has told.
 */
#include "record/sample/side_repair.h"
#include "tests/unit/test.h"

#include <string.h>

#define KNOWN 10
#define NEW   20
#define TIME  77

/* What was told is written down as text, a word for each event. */
struct bench {
	struct mapped_files files;
	struct process_table table;
	struct task_filter tasks;
	struct side_repair repair;
	char told[512];
};

static struct err *note(void *context, const struct event *ev)
{
	struct bench *b = context;
	size_t len = strlen(b->told);

	CHECK_UINT(ev->time_ns, TIME);
	if (ev->kind == EVENT_FORK)
		snprintf(b->told + len, sizeof(b->told) - len, "fork:%u/%u ", ev->pid, ev->tid);
	else if (ev->kind == EVENT_COMM)
		snprintf(b->told + len, sizeof(b->told) - len, "%s:%u/%u ", ev->comm.exec ? "exec" : "name", ev->pid, ev->tid);
	else
		snprintf(b->told + len, sizeof(b->told) - len, "map:%s ", ev->mmap.path);
	return NULL;
}

static struct event_mmap map_of(const char *path, uint64_t start, uint64_t end, uint64_t offset)
{
	return (struct event_mmap){ .start = start, .end = end, .file_offset = offset, .flags = EVENT_MMAP_EXEC, .path = path };
}

/* Process KNOWN has a thread, and /lib/a at 0x1000 to 0x3000. */
static struct bench *bench_new(void)
{
	static struct bench b;
	struct event_mmap map = map_of("/lib/a", 0x1000, 0x3000, 0x500);
	struct event fork = { .kind = EVENT_FORK, .pid = KNOWN, .tid = KNOWN, .fork = { 1, 1 } };

	memset(&b, 0, sizeof(b));
	mapped_files_init(&b.files, sizeof(struct mapped_file), NULL);
	process_table_init(&b.table);
	process_table_event(&b.table, &fork);
	process_table_map(&b.table, KNOWN, &map, mapped_files_get(&b.files, &map, NULL));
	b.repair = (struct side_repair){ .processes = &b.table, .tasks = &b.tasks, .event = note, .context = &b, .time_ns = TIME };
	return &b;
}

static void bench_free(struct bench *b)
{
	task_filter_deinit(&b->tasks);
	process_table_deinit(&b->table);
	mapped_files_deinit(&b->files);
}

static void show_task(struct bench *b, uint32_t pid, uint32_t tid, uint32_t parent)
{
	struct event fork = { .kind = EVENT_FORK, .pid = pid, .tid = tid, .fork = { parent, parent } };
	struct event comm = { .kind = EVENT_COMM, .pid = pid, .tid = tid, .comm = { .comm = "name" } };

	CHECK_OK(side_repair_take(&b->repair, &fork));
	CHECK_OK(side_repair_take(&b->repair, &comm));
}

static void show_map(struct bench *b, uint32_t pid, struct event_mmap map)
{
	struct event ev = { .kind = EVENT_MMAP, .pid = pid, .tid = pid, .mmap = map };

	CHECK_OK(side_repair_take(&b->repair, &ev));
}

TEST(side_repair_tells_of_a_process_that_nobody_knows_as_of_a_fork_and_an_exec)
{
	struct bench *b = bench_new();

	show_task(b, NEW, NEW, 1);
	show_task(b, NEW, NEW + 1, NEW);
	show_map(b, NEW, map_of("/lib/a", 0x1000, 0x3000, 0x500));
	CHECK_STR(b->told, "fork:20/20 exec:20/20 fork:20/21 name:20/21 map:/lib/a ");
	bench_free(b);
}

TEST(side_repair_tells_of_a_process_that_is_known_only_what_is_not)
{
	struct bench *b = bench_new();

	show_task(b, KNOWN, KNOWN, 1);
	CHECK_STR(b->told, "name:10/10 ");
	b->told[0] = '\0';
	show_map(b, KNOWN, map_of("/lib/a", 0x1000, 0x3000, 0x500));
	show_map(b, KNOWN, map_of("/lib/a", 0x2000, 0x3000, 0x1500)); /* a part of it */
	CHECK_STR(b->told, "");
	show_map(b, KNOWN, map_of("/lib/longer", 0x1000, 0x3001, 0x500));
	show_map(b, KNOWN, map_of("/lib/b", 0x1000, 0x3000, 0x500));
	show_map(b, KNOWN, map_of("/lib/a", 0x1000, 0x3000, 0x600));
	show_map(b, KNOWN, map_of("/lib/c", 0x4000, 0x5000, 0));
	CHECK_STR(b->told, "map:/lib/longer map:/lib/b map:/lib/a map:/lib/c ");
	bench_free(b);
}

TEST(side_repair_takes_a_process_whose_end_is_known_for_another_one_of_its_number)
{
	struct bench *b = bench_new();
	struct event end = { .kind = EVENT_EXIT, .pid = KNOWN, .tid = KNOWN };

	CHECK(process_table_event(&b->table, &end));
	show_task(b, KNOWN, KNOWN, 1);
	CHECK_STR(b->told, "fork:10/10 exec:10/10 ");
	bench_free(b);
}

TEST(side_repair_tells_of_the_family_alone)
{
	struct bench *b = bench_new();
	struct target target = { .inherit = true };

	vec_push(&target.tasks, ((struct target_task){ KNOWN, KNOWN }));
	task_filter_init(&b->tasks, &target);
	vec_deinit(&target.tasks);
	show_task(b, NEW, NEW, 1);
	show_map(b, NEW, map_of("/lib/a", 0x1000, 0x3000, 0));
	CHECK_STR(b->told, "");
	show_task(b, NEW + 5, NEW + 5, KNOWN);
	show_map(b, NEW + 5, map_of("/lib/a", 0x1000, 0x3000, 0));
	CHECK_STR(b->told, "fork:25/25 exec:25/25 map:/lib/a ");
	bench_free(b);
}
