/* SPDX-License-Identifier: Apache-2.0 */
#include "report/load/process_log.h"

#include "tests/unit/test.h"

static void release(struct process_log *log)
{
	struct profile *p = log->profile;

	process_log_deinit(log);
	profile_free(p);
}

static const char *cgroup_of(struct process_log *log, uint32_t pid)
{
	return profile_text(log->profile, log->profile->processes.items[process_log_life(log, pid)].cgroup);
}

static void sample(struct process_log *log, uint32_t pid, uint64_t cgroup)
{
	process_log_event(log, &(struct event){ .kind = EVENT_SAMPLE, .pid = pid, .sample = { .cgroup = cgroup } });
}

static void name_cgroup(struct process_log *log, uint64_t id, const char *path)
{
	process_log_event(log, &(struct event){ .kind = EVENT_CGROUP, .cgroup = { id, path } });
}

TEST(process_log_takes_cgroups_from_samples)
{
	CLEANUP(release) struct process_log log = { .profile = profile_new() };

	name_cgroup(&log, 1, "/");
	name_cgroup(&log, 7, "/unit");
	sample(&log, 10, 1);
	sample(&log, 10, 7); /* it moved */
	sample(&log, 11, 1);
	sample(&log, 12, 8); /* which nobody has named */
	sample(&log, 12, 0);
	CHECK_STR(cgroup_of(&log, 10), "/unit");
	CHECK_STR(cgroup_of(&log, 11), "/");
	CHECK_STR(cgroup_of(&log, 12), "");
}

TEST(process_log_believes_what_is_told_of_a_process_more_than_samples)
{
	CLEANUP(release) struct process_log log = { .profile = profile_new() };

	process_log_event(&log, &(struct event){ .kind = EVENT_PROCESS, .pid = 10, .process = { "prog", "/told", 0 } });
	name_cgroup(&log, 7, "/unit");
	sample(&log, 10, 7);
	CHECK_STR(cgroup_of(&log, 10), "/told");
}
