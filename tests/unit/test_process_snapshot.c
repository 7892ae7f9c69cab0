/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_process_snapshot.c - what a later file is told at its beginning.
 */
#include "formats/base/vec.h"
#include "record/task/process_snapshot.h"
#include "tests/unit/test.h"

#include <string.h>

static void process_snapshot_freep(struct process_snapshot **l)
{
	process_snapshot_free(*l);
}

static void fork_of(struct process_snapshot *l, uint32_t pid, uint32_t tid, uint32_t parent)
{
	struct event ev = { .kind = EVENT_FORK, .time_ns = 5, .pid = pid, .tid = tid };

	ev.fork = (struct event_fork){ parent, parent };
	process_snapshot_event(l, &ev);
}

static void name(struct process_snapshot *l, uint32_t pid, uint32_t tid, const char *comm, bool exec)
{
	struct event ev = { .kind = EVENT_COMM, .time_ns = 5, .pid = pid, .tid = tid };

	ev.comm = (struct event_comm){ .comm = comm, .exec = exec };
	process_snapshot_event(l, &ev);
}

static void end(struct process_snapshot *l, uint32_t pid, uint32_t tid)
{
	struct event ev = { .kind = EVENT_EXIT, .time_ns = 5, .pid = pid, .tid = tid };

	process_snapshot_event(l, &ev);
}

static void map(struct process_snapshot *l, uint32_t pid, uint64_t start, uint64_t end_addr,
		const char *path)
{
	struct event ev = { .kind = EVENT_MMAP, .time_ns = 5, .pid = pid, .tid = pid };

	ev.mmap = (struct event_mmap){
		.start = start, .end = end_addr, .flags = EVENT_MMAP_EXEC, .path = path
	};
	process_snapshot_event(l, &ev);
}

/* Everything that is told, as text: "f7:7<1 n7:7=sh m7:1000-2000+0=/bin/sh". */
struct told {
	char text[2048];
	size_t len;
};

static struct err *hear(void *context, const struct event *ev)
{
	struct told *told = context;
	char *to = told->text + told->len;
	size_t room = sizeof(told->text) - told->len;

	if (ev->kind == EVENT_FORK)
		snprintf(to, room, "f%u:%u<%u ", ev->pid, ev->tid, ev->fork.parent_pid);
	else if (ev->kind == EVENT_COMM)
		snprintf(to, room, "n%u:%u=%s ", ev->pid, ev->tid, ev->comm.comm);
	else if (ev->kind == EVENT_EXIT)
		snprintf(to, room, "e%u:%u ", ev->pid, ev->tid);
	else if (ev->kind == EVENT_MMAP)
		snprintf(to, room, "m%u:%llx-%llx+%llx=%s ", ev->pid,
			 (unsigned long long)ev->mmap.start, (unsigned long long)ev->mmap.end,
			 (unsigned long long)ev->mmap.file_offset, ev->mmap.path);
	told->len += strlen(to);
	return NULL;
}

static void check_told(const struct process_snapshot *l, const char *expected)
{
	struct told told = { .text = "" };

	CHECK(!process_snapshot_tell(l, hear, &told));
	CHECK_STR(told.text, expected);
}

TEST(process_snapshot_holds_who_lives_with_names_and_mappings)
{
	CLEANUP(process_snapshot_freep) struct process_snapshot *l = process_snapshot_new();

	fork_of(l, 7, 7, 1);
	name(l, 7, 7, "sh", true);
	map(l, 7, 0x1000, 0x2000, "/bin/sh");
	fork_of(l, 7, 8, 7);
	fork_of(l, 9, 9, 7);
	end(l, 9, 9);
	process_snapshot_round(l);
	check_told(l, "f7:7<1 n7:7=sh f7:8<7 n7:8=sh m7:1000-2000+0=/bin/sh ");
}

TEST(process_snapshot_is_one_pass_behind_and_tells_that_pass_as_it_came)
{
	CLEANUP(process_snapshot_freep) struct process_snapshot *l = process_snapshot_new();

	fork_of(l, 7, 7, 1);
	map(l, 7, 0x1000, 0x2000, "/old");
	process_snapshot_round(l);
	name(l, 7, 7, "new", true);
	end(l, 7, 7);
	check_told(l, "f7:7<1 m7:1000-2000+0=/old n7:7=new e7:7 ");
	process_snapshot_round(l);
	check_told(l, "");
}

TEST(process_snapshot_forks_share_mappings_until_exec)
{
	CLEANUP(process_snapshot_freep) struct process_snapshot *l = process_snapshot_new();

	fork_of(l, 7, 7, 1);
	map(l, 7, 0x1000, 0x2000, "/a");
	fork_of(l, 8, 8, 7);
	end(l, 7, 7);
	process_snapshot_round(l);
	check_told(l, "f8:8<7 m8:1000-2000+0=/a ");
	name(l, 8, 8, "b", true);
	process_snapshot_round(l);
	check_told(l, "f8:8<7 n8:8=b ");
}

TEST(process_snapshot_new_mappings_cut_what_lies_under_them)
{
	CLEANUP(process_snapshot_freep) struct process_snapshot *l = process_snapshot_new();

	fork_of(l, 7, 7, 1);
	map(l, 7, 0x1000, 0x9000, "/a");
	map(l, 7, 0x3000, 0x4000, "/b");
	map(l, 7, 0x3800, 0x6000, "/c");
	process_snapshot_round(l);
	check_told(l, "f7:7<1 m7:1000-3000+0=/a m7:3000-3800+0=/b m7:3800-6000+0=/c "
		      "m7:6000-9000+5000=/a ");
	map(l, 7, 0, 0x10000, "/d");
	process_snapshot_round(l);
	check_told(l, "f7:7<1 m7:0-10000+0=/d ");
}
