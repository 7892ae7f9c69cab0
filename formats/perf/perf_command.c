/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_command.c - perf's commands as a table.
 */
#include "formats/perf/perf_command.h"

#include "formats/base/compiler.h"

#include <string.h>

static const struct {
	const char *word, *instead;
} commands[] = {
	{ "archive", "preport bundle: a trace holds what a report needs, this adds lines and inlined calls" },
	{ "bench", "perf bench: there is none here" },
	{ "buildid-cache", "preport cache" },
	{ "buildid-list", "preport info" },
	{ "c2c", "precord -a -d, then preport --by data-line,thread" },
	{ "daemon", "precord -a --switch-output=1h" },
	{ "data", "preport perf-data" },
	{ "evlist", "preport info" },
	{ "ftrace", "trace-cmd: its trace.dat is read by preport" },
	{ "inject", "preport: code of JITs has its names already" },
	{ "iostat", "precord -a --block-io, then preport --event block-io --by file,operation" },
	{ "kallsyms", "grep NAME /proc/kallsyms" },
	{ "kmem", "precord -a -e kmem:kmalloc, then preport --by caller" },
	{ "kvm", "precord -a, then preport --by process,entry" },
	{ "kwork", "precord -a, then preport --by entry" },
	{ "lock", "precord -a --off-cpu, then preport --by lock; for locks of the kernel --kernel-locks" },
	{ "mem", "precord -a -d, then preport --by data-symbol,data-source" },
	{ "probe", "precord -e kprobe:FUNCTION or -e uprobe:FILE:FUNCTION, which makes the probe and removes it" },
	{ "sched", "precord -a --off-cpu, then preport waits" },
	{ "timechart", "precord -a --off-cpu, then preport html" },
	{ "trace", "precord --trace-syscalls, then preport syscalls, or preport script for each call" },
};

const char *perf_command_instead(const char *word)
{
	for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
		if (strcmp(commands[i].word, word) == 0)
			return commands[i].instead;
	}
	return NULL;
}
