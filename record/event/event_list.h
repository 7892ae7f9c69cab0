/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_list.h - the events that were asked for, as they stand before this machine is asked whether it has them.
 *
 * event_spec.h fills it from text, event_plan.h finds out how its events open.
 */
#ifndef RECORD_EVENT_LIST_H
#define RECORD_EVENT_LIST_H

#include "formats/base/arena.h"
#include "record/event/event_rate.h"
#include "record/event/pmu.h"
#include "record/event/probe_event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum event_chain {
	EVENT_CHAIN_DEFAULT, /* as -g says */
	EVENT_CHAIN_NONE,
	EVENT_CHAIN_FP,
	EVENT_CHAIN_DWARF,
};

struct event_desc {
	const char *name; /* as asked for, modifiers included; globs expanded; what name= says */
	bool named;       /* by name= */
	const char *unit; /* of the period: "ns" for clocks, otherwise "events" */
	double scale;           /* of a count, to give @scale_unit; 0: it is a plain count */
	const char *scale_unit; /* "Joules"; NULL or "" for a plain count */
	const struct pmu *pmu; /* where it counts, for sysfs PMUs; NULL: the kernel decides */
	uint32_t type;         /* PERF_TYPE_* or the PMU's number */
	uint64_t config, config1, config2;
	uint32_t breakpoint;    /* HW_BREAKPOINT_* access bits, 0 if it is no breakpoint */
	struct event_rate rate; /* of its own; EVENT_RATE_UNSET: as -F or -c says */
	enum event_chain chain;
	uint32_t stack_len; /* of its own, in bytes; 0: as -g says */

	bool levels_given; /* any of u, k, h was given */
	bool exclude_user, exclude_kernel, exclude_hv, exclude_idle;
	bool host_guest_given; /* G or H was given */
	bool exclude_host, exclude_guest;
	uint8_t precise;              /* p, pp, ppp: 1 to 3 */
	bool precise_max;             /* P, or the default event: as precise as the PMU can */
	bool pinned, exclusive, weak; /* D, e, W */
	bool read_group;              /* S: the sample carries the counts of the whole group */

	uint32_t leader; /* index of the group's leader, its own if it stands alone */
	bool samples;    /* false: only read with its leader */
	bool is_default; /* not requested by name, so that something else may take its place */

	const char *format; /* tracepoint: its format file; of a probe, what stands for it; "" for others */
	const char *filter; /* tracepoint: what --filter says, or NULL */
	const struct probe_place *probe; /* of probe_event.h; NULL: it is none */
};

/* Zeroed, it is empty and ready. Everything that events point to lives as long as the list. */
struct event_list {
	struct arena arena;
	struct event_desc *items;
	size_t len, cap;
	size_t last_option; /* the first event of the last event_list_add() */
	struct pmu_set pmus;
	bool pmus_loaded;
	const char *sysfs;   /* PMU_SYSFS if NULL; tests set it */
	const char *tracefs; /* found where it is mounted if NULL; tests set it */
};

#define EVENT_LIST_WAKING "sched:sched_waking"
#define EVENT_LIST_CONTENTION "lock:contention_" /* waits for locks of the kernel */
#define EVENT_LIST_ENTER  "raw_syscalls:sys_enter"
#define EVENT_LIST_EXIT	  "raw_syscalls:sys_exit"

/* Is it off-cpu: stacks of threads that leave a CPU, with a record for each switch beside them? */
bool event_desc_is_off_cpu(const struct event_desc *desc);

/* Is it idle: stacks of threads that wait, which the recorder reads (idle_reader.h)? It never samples by itself. */
bool event_desc_is_idle(const struct event_desc *desc);

/* Does any event of @list need a record for each switch? */
bool event_list_wants_switches(const struct event_list *list);

/* Is it sched_waking, which says who ended a wait? */
bool event_desc_is_waking(const struct event_desc *desc);

/* Is @desc each switch of threads, as a tracepoint? Of a task alone it tells when that leaves a CPU, not when it comes back. */
bool event_desc_is_switch(const struct event_desc *desc);

/* Is it the beginning or end of a wait for a lock of the kernel? */
bool event_desc_is_contention(const struct event_desc *desc);

/* Is it the entry or the exit of system calls? */
bool event_desc_is_syscalls(const struct event_desc *desc);

/* Count user code only (@user), or kernel code only, in all events whose modifiers do not say it themselves. */
void event_list_limit(struct event_list *list, bool user);

/* Can @desc count on @cpu at all (hybrid and uncore PMUs cannot everywhere)? */
bool event_desc_runs_on(const struct event_desc *desc, uint32_t cpu);

void event_list_deinit(struct event_list *list);

/* Does event @index stand for itself, in no group? */
bool event_list_is_alone(const struct event_list *list, size_t index);

/* Members of the group of @leader, itself included. */
size_t event_list_group_len(const struct event_list *list, uint32_t leader);

/* Take the group of @leader apart: each event for itself. */
void event_list_dissolve(struct event_list *list, uint32_t leader);

#endif
