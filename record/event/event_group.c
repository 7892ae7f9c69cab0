/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_group.c - the test is a read: time enabled that has passed and time running that has not.
 */
#include "record/event/event_group.h"

#include "formats/base/clock.h"
#include "record/system/text_file.h"

#include <linux/perf_event.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WATCHDOG_FILE "/proc/sys/kernel/nmi_watchdog"
#define CPU_FILE      "/proc/cpuinfo"
#define TRY_NS        1000000  /* a group that is alone is scheduled at once */
#define TRIES_NS_MAX  25000000 /* beside others that are multiplexed, in one of the next turns (4 ms each) */
#define WORDS_MAX     256

/* Has it run, or can that not be determined? Value or number of members, then the times: with PERF_FORMAT_GROUP as without. */
static bool has_run(int leader_fd)
{
	uint64_t words[WORDS_MAX] = { 0 };
	ssize_t got = read(leader_fd, words, sizeof(words));

	return got < (ssize_t)(3 * sizeof(*words)) || !words[1] || words[2];
}

bool event_group_runs(int leader_fd)
{
	uint64_t start = clock_now_ns(CLOCK_MONOTONIC), next = start + TRY_NS;
	bool runs = false;

	if (ioctl(leader_fd, PERF_EVENT_IOC_ENABLE, 0) != 0)
		return true;
	while (!runs && clock_now_ns(CLOCK_MONOTONIC) - start < TRIES_NS_MAX) {
		while (clock_now_ns(CLOCK_MONOTONIC) < next)
			;
		next += TRY_NS;
		runs = has_run(leader_fd);
	}
	ioctl(leader_fd, PERF_EVENT_IOC_DISABLE, 0);
	ioctl(leader_fd, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
	return runs;
}

static bool watchdog_is_on(struct arena *arena)
{
	const char *text = "";
	CLEANUP(err_freep) struct err *err = text_file_read(WATCHDOG_FILE, arena, &text);

	return !err && *text == '1';
}

static bool is_guest(struct arena *arena)
{
	const char *flags = text_file_field(CPU_FILE, "flags\t\t", arena);

	return flags && strstr(flags, "hypervisor");
}

const char *event_group_cause(struct arena *arena)
{
	if (watchdog_is_on(arena))
		return "the NMI watchdog holds a counter: sysctl kernel.nmi_watchdog=0";
	if (is_guest(arena))
		return "this is a virtual machine: its hypervisor may not expose counters";
	return "other profilers or the firmware may hold counters: ask for fewer events at once";
}

struct err *event_group_too_large(const char *name, size_t count, bool refused)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };

	return err_remedy(err_new(ERR_UNSUPPORTED,
				  "the group of '%s' is too large: %zu events at once %s", name,
				  count,
				  refused ? "are more than the PMU has counters for"
					  : "are accepted by the kernel, but never counted"),
			  "%s; or split the group, or make it weak: {...}:W",
			  event_group_cause(&arena));
}
