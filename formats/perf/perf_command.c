/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_command.c - perf's commands as a table.
 */
#include "formats/perf/perf_command.h"

#include "formats/base/compiler.h"

#include <string.h>

static const struct {
	const char *command, *word, *instead;
} commands[] = {
	{ "", "archive", "preport bundle: a trace holds what a report needs, this adds lines and inlined calls" },
	{ "", "bench", "perf bench: there is none here" },
	{ "", "buildid-cache", "preport cache" },
	{ "", "buildid-list", "preport info" },
	{ "", "c2c", "precord -a -d, then preport --by data-line,thread" },
	{ "", "daemon", "precord -a --switch-output=1h" },
	{ "", "data", "preport perf-data" },
	{ "", "evlist", "preport info" },
	{ "", "ftrace", "trace-cmd: its trace.dat is read by preport" },
	{ "", "inject", "preport: code of JITs has its names already" },
	{ "", "iostat", "precord -a --block-io, then preport --event block-io --by file,operation" },
	{ "", "kallsyms", "grep NAME /proc/kallsyms" },
	{ "", "kmem", "precord -a -e kmem:kmalloc, then preport --by caller" },
	{ "", "kvm", "precord -a, then preport --by process,entry" },
	{ "", "kwork", "precord -a, then preport --by entry" },
	{ "", "lock", "precord -a --off-cpu, then preport --by lock; for locks of the kernel --kernel-locks" },
	{ "", "mem", "precord -a -d, then preport --by data-symbol,data-source" },
	{ "", "probe", "precord -e kprobe:FUNCTION or -e uprobe:FILE:FUNCTION, which makes the probe and removes it" },
	{ "", "sched", "precord -a --off-cpu, then preport waits" },
	{ "", "timechart", "precord -a --off-cpu, then preport html" },
	{ "", "trace", "precord --trace-syscalls, then preport syscalls, or preport script for each call" },
	{ "list", "metric", "precord stat --help: its -M names the ratios" },
	{ "list", "metricgroup", "precord stat --help: its -M names the ratios" },
	{ "list", "sdt", "precord list usdt -x FILE, or -p PID" },
	{ "script", "record", "precord -e EVENT -- COMMAND, then preport script" },
	{ "script", "report", "preport script --format=json, which a script of yours reads" },
	{ "stat", "record", "precord stat -I 1000 --format=csv -o FILE -- COMMAND" },
	{ "stat", "report", "precord stat --format=csv -o FILE: there is no recording of counts to report on" },
};

const char *perf_command_instead(const char *command, const char *word)
{
	for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
		if (strcmp(commands[i].command, command) == 0 && strcmp(commands[i].word, word) == 0)
			return commands[i].instead;
	}
	return NULL;
}
