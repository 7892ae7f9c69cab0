/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "formats/perf/perf_command.h"

#include <string.h>

TEST(perf_commands_that_are_not_here_say_what_to_type)
{
	/* All of perf 6.1 but record, report, stat, top, list, annotate, script, diff, version and test. */
	static const char *const words[] = { "archive", "bench", "buildid-cache", "buildid-list", "c2c", "daemon", "data",
					     "evlist", "ftrace", "inject", "iostat", "kallsyms", "kmem", "kvm", "kwork",
					     "lock", "mem", "probe", "sched", "timechart", "trace" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		CHECK(perf_command_instead("", words[i]) != NULL);
	CHECK(perf_command_instead("", "record") == NULL);
	CHECK(perf_command_instead("", "") == NULL);
	CHECK(strstr(perf_command_instead("", "sched"), "preport waits"));
	CHECK(strstr(perf_command_instead("script", "record"), "then preport script"));
	CHECK(perf_command_instead("script", "sched") == NULL);
	CHECK(perf_command_instead("", "report") == NULL);
}
