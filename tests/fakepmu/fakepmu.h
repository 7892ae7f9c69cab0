/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fakepmu.h - a stand-in for perf_event_open(2): PMUs that nobody here has, at the system-call boundary.
 *
 *	LD_PRELOAD=libfakepmu.so FAKEPMU=intel FAKEPMU_SYSFS=DIR precord ...
 *
 * Events of the machine's PMUs, and generic, cache, raw and software events, are answered here; dummies,
 * tracepoints and breakpoints go on to the kernel. What a real kernel refuses is refused, with its errno.
 *
 *	FAKEPMU           intel (Sapphire Rapids), hybrid (Alder Lake on two CPUs), amd (Zen 4), arm (Neoverse N1)
 *	FAKEPMU_SYSFS     stands for /sys/bus/event_source/devices (make one with tests/fakepmu/sysfs)
 *	FAKEPMU_WATCHDOG  1: the NMI watchdog holds a counter
 *	FAKEPMU_TAKEN     so many are held by others
 *	FAKEPMU_DEAF      N: only every Nth interrupt comes, and its sample has the period of one
 *	FAKEPMU_SAMPLES   that each sampling event gives on each CPU when it, or a twin of it, is enabled (200)
 *
 * Counts are functions of the sample's number, so that a test can work them out: see samples.c.
 */
#ifndef FAKEPMU_FAKEPMU_H
#define FAKEPMU_FAKEPMU_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define FAKE_EVENTS_MAX 4096
#define FAKE_PMUS_MAX   2

enum fake_vendor { FAKE_INTEL, FAKE_HYBRID, FAKE_AMD, FAKE_ARM };

struct fake_pmu {
	uint32_t type;
	int counters;        /* that any event can use */
	int first_cpu, ncpus; /* of those that it counts on; ncpus 0: everywhere */
	int precise_max;
	bool branches, metrics;
	bool judges_groups; /* refuses what can never fit; Arm accepts it and never runs it */
};

struct fake_machine {
	const char *name;
	enum fake_vendor vendor;
	struct fake_pmu pmus[FAKE_PMUS_MAX];
};

struct fake_event {
	int fd; /* -1: the slot is free */
	struct perf_event_attr attr;
	const struct fake_pmu *pmu; /* NULL: software */
	pid_t pid;
	int cpu;
	int leader;    /* index, its own if it leads */
	int output;    /* index of the event whose ring it writes to */
	bool enabled, emitted;
	bool is_slots, is_metric, is_aux;
	uint64_t id;
	struct perf_event_mmap_page *page;
	uint8_t *data;
	size_t data_len;
};

struct fake_table {
	const struct fake_machine *machine;
	int taken; /* counters of each PMU that others hold */
	uint64_t nsamples;
	uint64_t deaf; /* 0 or 1: every interrupt comes */
	struct fake_event events[FAKE_EVENTS_MAX];
	int len;
};

/* The machine that FAKEPMU names. */
const struct fake_machine *fake_machine_find(const char *name);

/* Is @attr for one of the machine's PMUs or one of those that every kernel has? */
bool fake_is_ours(const struct fake_table *t, const struct perf_event_attr *attr);

/* What a kernel says to @event, whose leader has index @leader (-1: none): 0 or an errno. Sets pmu and kind. */
int fake_judge(const struct fake_table *t, struct fake_event *event, int leader);

/*
 * Do the two, both open, differ only in how long their stacks are and whom they wake? A recorder enables one of them at a time:
 * together they need the counter of one.
 */
bool fake_is_twin(const struct fake_event *a, const struct fake_event *b);

/* Share of the time that @event runs, in thousandths: less where counters are shared, 0 if it never fits. */
uint64_t fake_running(const struct fake_table *t, const struct fake_event *event);

/* Write the samples of @index to its ring, if it has one and samples. */
void fake_emit(struct fake_table *t, int index);

/* What read(2) gives, in words; their number. */
size_t fake_read(const struct fake_table *t, int index, uint64_t *words, size_t max);

#endif
