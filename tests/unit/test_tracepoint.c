/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"
#include "tests/unit/fake_sysfs.h"

#include "record/event/tracepoint.h"

#include <string.h>

TEST(tracepoint_match_takes_globs_and_sorts)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct tracepoint_list found;
	const char *root = fake_tracefs();

	CHECK_OK(tracepoint_match(root, "*", "*", &arena, &found));
	CHECK_UINT(found.len, 4);
	CHECK_STR(found.items[0].system, "irq");
	CHECK_STR(found.items[3].name, "sched_wakeup");
	CHECK_OK(tracepoint_match(root, "s*", "*switch", &arena, &found));
	CHECK_UINT(found.len, 1);
	CHECK_OK(tracepoint_match(root, "sched", "enable", &arena, &found)); /* a file */
	CHECK_UINT(found.len, 0);
	CHECK_ERR(tracepoint_match(test_path("absent"), "*", "*", &arena, &found), ERR_SYSTEM,
		  "cannot read the tracepoints");
}

TEST(tracepoint_load_reads_id_and_format)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct tracepoint tp = { .system = "sched", .name = "sched_switch" };
	const char *root = fake_tracefs();

	CHECK_OK(tracepoint_load(root, &arena, &tp));
	CHECK_UINT(tp.id, 316);
	CHECK(strncmp(tp.format, "name: sched_switch\n", 19) == 0);
	CHECK_STR(tracepoint_fields(&arena, tp.format), "prev_comm, prev_pid, name");
	CHECK_STR(tracepoint_fields(&arena, ""), "");
	CHECK_STR(tracepoint_fields(&arena, "\tfield:"), "");

	tp = (struct tracepoint){ .system = "irq", .name = "no_id" };
	CHECK_ERR(tracepoint_load(root, &arena, &tp), ERR_CORRUPT, "irq:no_id has the id 'none'");
	CHECK(!tp.format);
	tp.name = "absent";
	CHECK_ERR(tracepoint_load(root, &arena, &tp), ERR_SYSTEM, "tracepoint irq:absent");
}
