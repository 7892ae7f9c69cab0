/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_sysfs.c - contents as kernels 6.1 to 6.12 show them.
 */
#include "tests/unit/fake_sysfs.h"

#include "tests/unit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Make each folder on the way to @path. */
static void make_parents(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		mkdir(path, 0755);
		*slash = '/';
	}
}

const char *fake_sysfs(const char *name, const struct fake_file *files)
{
	const char *root = test_path(name);
	char path[4096];

	for (; files->path; files++) {
		snprintf(path, sizeof(path), "%s/%s", root, files->path);
		make_parents(path);
		FILE *file = fopen(path, "w");

		CHECK(file);
		fprintf(file, "%s\n", files->text);
		CHECK(fclose(file) == 0);
	}
	return root;
}

#define X86_FORMAT(pmu)                                                                           \
	{ pmu "/format/event", "config:0-7" }, { pmu "/format/umask", "config:8-15" },            \
		{ pmu "/format/edge", "config:18" }, { pmu "/format/inv", "config:23" },          \
		{ pmu "/format/cmask", "config:24-31" }, { pmu "/format/ldlat", "config1:0-15" }, \
	{                                                                                         \
		pmu "/format/offcore_rsp", "config1:0-63"                                         \
	}

const char *fake_sysfs_hybrid(void)
{
	static const struct fake_file files[] = {
		{ "cpu_atom/type", "10" },
		{ "cpu_atom/cpus", "4-7" },
		X86_FORMAT("cpu_atom"),
		{ "cpu_core/type", "4" },
		{ "cpu_core/cpus", "0-3" },
		X86_FORMAT("cpu_core"),
		{ "cpu_core/events/slots", "event=0x00,umask=0x4" },
		{ "software/type", "1" },
		{ 0 },
	};

	return fake_sysfs("hybrid", files);
}

const char *fake_sysfs_plain(void)
{
	static const struct fake_file files[] = {
		{ "cpu/type", "4" },
		X86_FORMAT("cpu"),
		{ "cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3" },
		{ "cpu/events/wants", "event=0x10,umask=?" },
		{ "amd/type", "11" },
		{ "amd/format/event", "config:0-7,32-35" },
		{ "amd/format/far", "config3:0-7" },
		{ "uncore_imc_0/type", "20" },
		{ "uncore_imc_0/cpumask", "0" },
		{ "uncore_imc_0/format/event", "config:0-7" },
		{ "uncore_imc_0/events/cas_count_read", "event=0x04" },
		{ "uncore_imc_0/events/cas_count_read.scale", "6.103515625e-5" },
		{ "uncore_imc_0/events/cas_count_read.unit", "MiB" },
		{ "uncore_imc_1/type", "21" },
		{ "uncore_imc_1/cpumask", "0" },
		{ "uncore_imc_1/format/event", "config:0-7" },
		{ "uncore_imc_1/events/cas_count_read", "event=0x04" },
		{ "broken/type", "many" },
		{ 0 },
	};

	return fake_sysfs("plain", files);
}

#define COMMON_FIELDS                                                                   \
	"format:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

const char *fake_tracefs(void)
{
	static const struct fake_file files[] = {
		{ "events/enable", "0" },
		{ "events/sched/enable", "0" },
		{ "events/sched/sched_switch/id", "316" },
		{ "events/sched/sched_switch/format",
		  "name: sched_switch\nID: 316\n" COMMON_FIELDS
		  "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
		  "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
		  "\tfield:const char * name;\toffset:32;\tsize:8;\tsigned:0;\n" },
		{ "events/sched/sched_wakeup/id", "317" },
		{ "events/sched/sched_wakeup/format", "name: sched_wakeup\nID: 317" },
		{ "events/irq/irq_handler_entry/id", "99" },
		{ "events/irq/irq_handler_entry/format", "name: irq_handler_entry\nID: 99" },
		{ "events/irq/no_id/id", "none" },
		{ "events/irq/no_id/format", "name: no_id" },
		{ 0 },
	};

	return fake_sysfs("tracefs", files);
}
