/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_lookup.h - the name of one event, to what the kernel is asked for. Part of event_spec.
 */
#ifndef RECORD_EVENT_LOOKUP_H
#define RECORD_EVENT_LOOKUP_H

#include "formats/base/err.h"
#include "formats/base/vec.h"
#include "record/event/event_list.h"

#include <stdbool.h>
#include <stddef.h>

/* A search, whose results gather in @found: a glob or a hybrid machine gives several. */
struct event_lookup {
	struct event_list *list;
	const struct pmu
		*core;  /* hybrid machine: the kind of core meant in this pass, otherwise NULL */
	bool used_core; /* @core made a difference */
	VEC(struct event_desc) found; /* "name" is without modifiers */
};

void event_lookup_deinit(struct event_lookup *lookup);

/*
 * Each appends to @found, or fails and leaves it as it is.
 *
 * ERR_USAGE: there is no such thing; the hint offers near names.
 */

/* "cycles", "L1-dcache-loads", "r01c2", "topdown-retiring" */
MUST_USE struct err *event_lookup_name(struct event_lookup *lookup, const char *name);

/* Is @name one of those? */
bool event_lookup_has_name(struct event_lookup *lookup, const char *name);

/* Is @name the name, the stem ("uncore_imc") or a glob of a PMU? */
bool event_lookup_has_pmu(struct event_lookup *lookup, const char *name);

/* Every PMU that @name means, without an event so far: config is 0. */
void event_lookup_pmu(struct event_lookup *lookup, const char *name);

/* "sched:sched_switch", globs; ERR_SYSTEM as in tracepoint.h. */
MUST_USE struct err *event_lookup_tracepoint(struct event_lookup *lookup, const char *system,
					     const char *name);

/* "uprobe:/bin/ls:main", "usdt:libc:setjmp": see probe_event.h. ERR_UNSUPPORTED also: this kernel has no PMU for it. */
MUST_USE struct err *event_lookup_probe(struct event_lookup *lookup, const char *text);

/* "0x601040", "0x601040/8", and the access letters of "rwx", "" for "rw". */
MUST_USE struct err *event_lookup_breakpoint(struct event_lookup *lookup, const char *address,
					     const char *access);

/* Is it what Intel's PERF_METRICS group is led by, or one of its metrics? Neither can sample then. */
bool event_lookup_is_slots(const struct event_desc *desc);
bool event_lookup_is_metric(const struct event_desc *desc);

/* ERR_USAGE, with the remedy: the events of the PMU @name, which may not be there, are no samples. */
MUST_USE struct err *event_lookup_check_pmu(const char *name);

/* "no such PMU" about @name, with near names. */
MUST_USE struct err *event_lookup_unknown_pmu(struct event_lookup *lookup, const char *name);

/* "no such event" about @name, with near names. */
MUST_USE struct err *event_lookup_unknown(struct event_lookup *lookup, const char *name);

#endif
