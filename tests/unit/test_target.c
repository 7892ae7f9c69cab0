/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_target.c - what the options about targets mean.
 */
#include "record/task/target.h"

#include "formats/process/build_id_note.h"
#include "record/task/cgroup.h"
#include "tests/unit/test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void find_fails(struct target_args args, enum err_kind kind, const char *part)
{
	struct target t;

	CHECK_ERR(target_find(&args, 0, &t), kind, part);
}

TEST(target_must_be_named_once)
{
	find_fails((struct target_args){ 0 }, ERR_USAGE, "nothing to record");
	find_fails((struct target_args){ .all = true, .pids = "1" }, ERR_USAGE, "more than one");
	find_fails((struct target_args){ .user = "root", .cgroup = "/" }, ERR_USAGE,
		   "more than one");
}

/* As perf wants it. */
TEST(target_of_a_cgroup_may_say_that_it_means_all_cpus)
{
	struct target_args args = { .all = true, .cgroup = "/" };
	struct target t;
	struct err *err = target_find(&args, 0, &t);

	CHECK(!err || err_kind(err) != ERR_USAGE); /* there may be no cgroups here */
	CHECK(err || (t.system_wide && t.cgroup_fd >= 0));
	err_free(err);
	target_deinit(&t);
}

TEST(target_numbers_are_checked)
{
	static const char *const wrong[] = { "", ",", "x", "-1", "0", "1x", "99999999999", "1,,x" };

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		find_fails((struct target_args){ .pids = wrong[i] }, ERR_USAGE, "process number");
		find_fails((struct target_args){ .tids = wrong[i] }, ERR_USAGE, "thread number");
	}
	find_fails((struct target_args){ .pids = "2147483600" }, ERR_SYSTEM, "No such process");
	find_fails((struct target_args){ .tids = "2147483600" }, ERR_SYSTEM, "No such process");
	find_fails((struct target_args){ .user = "no such user" }, ERR_USAGE, "no user");
	find_fails((struct target_args){ .all = true, .cpus = "9999" }, ERR_USAGE, "on line");
}

TEST(target_process_means_all_its_threads)
{
	char pid[32];
	struct target t;
	bool found = false;

	snprintf(pid, sizeof(pid), "%d", getpid());
	CHECK_OK(target_find(&(struct target_args){ .pids = pid }, 0, &t));
	CHECK(!t.system_wide && t.inherit);
	for (size_t i = 0; i < t.tasks.len; i++) {
		CHECK_INT(t.tasks.items[i].pid, getpid());
		found |= t.tasks.items[i].tid == gettid();
	}
	CHECK(found);
	CHECK(t.cpus.len && t.cpus.len == t.online.len);
	target_deinit(&t);

	CHECK_OK(target_find(&(struct target_args){ .tids = pid }, 0, &t));
	CHECK_UINT(t.tasks.len, 1);
	CHECK(!t.inherit);
	target_deinit(&t);
}

TEST(target_is_the_command_unless_another_is_named)
{
	struct target t;

	CHECK_OK(target_find(&(struct target_args){ 0 }, getpid(), &t));
	CHECK(!t.system_wide && t.inherit);
	CHECK_UINT(t.tasks.len, 1);
	target_deinit(&t);

	CHECK_OK(target_find(&(struct target_args){ .all = true, .cpus = "0" }, getpid(), &t));
	CHECK(t.system_wide);
	CHECK_UINT(t.tasks.len, 0);
	CHECK_UINT(t.cpus.len, 1);
	target_deinit(&t);
}

static const char *mount_of(const char *table)
{
	static struct arena arena;
	const char *path = test_path("mounts");
	FILE *file = fopen(path, "w");

	CHECK(file != NULL);
	fputs(table, file);
	fclose(file);
	const char *found = cgroup_find_mount(path, &arena);
	static char copy[256];

	snprintf(copy, sizeof(copy), "%s", found ? found : "");
	arena_deinit(&arena);
	return copy;
}

TEST(target_cgroups_are_where_perf_events_go_by_them)
{
	CHECK_STR(mount_of("tmpfs /sys/fs/cgroup tmpfs rw 0 0\n"), "");
	CHECK_STR(mount_of("cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n"), "/sys/fs/cgroup");
	CHECK_STR(mount_of("cgroup /a cgroup rw,cpu 0 0\ncgroup2 /u cgroup2 rw 0 0\n"), "/u");
	CHECK_STR(mount_of("cgroup2 /u cgroup2 rw 0 0\ncgroup /p cgroup rw,perf_event 0 0\n"),
		  "/p");
}

TEST(target_machine_has_a_build_id_in_its_notes)
{
	static const uint8_t notes[] = {
		4, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 'X', 'e', 'n', 0, 9, 9, 9, 9,
		4, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, 7, 8, 9, 0,
	};
	uint8_t id[20], len = 0;

	CHECK(build_id_note_find(notes, sizeof(notes), id, &len));
	CHECK_UINT(len, 3);
	CHECK_MEM(id, "\7\10\11", 3);
	for (size_t cut = 0; cut < sizeof(notes); cut++)
		CHECK(!build_id_note_find(guarded(notes, cut), cut, id, &len));
}
