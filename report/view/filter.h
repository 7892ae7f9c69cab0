/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter.h - which samples a report is about, as the options --comm, --pid, --tid, --cpu, --module, --symbol,
 * --event, --where and --time say.
 *
 * Commands embed a struct filter in their arguments and list filter_opts as an OPT_GROUP. A zeroed filter lets
 * everything pass. Conditions of one kind are alternatives, kinds must all hold. Names are globs.
 */
#ifndef REPORT_FILTER_H
#define REPORT_FILTER_H

#include "formats/base/opt.h"
#include "formats/event.h"
#include "formats/profile/facts.h"
#include "formats/profile/profile.h"
#include "report/load/derive/derive_kind.h"
#include "report/view/reshape.h"
#include "report/view/time_arg.h"
#include "report/view/where.h"

#include <stdbool.h>
#include <stdint.h>

/* Numbers such as "0-3,8"; inclusive ranges. */
struct filter_range {
	uint64_t first, last;
};

struct filter_numbers {
	VEC(struct filter_range) ranges;
};

#define FILTER_WINDOWS_MAX 32

struct filter_window {
	struct time_arg from, to;
};

struct filter {
	struct opt_list comms; /* name of the thread or of its process */
	struct filter_numbers pids, tids, cpus;
	struct opt_list modules; /* of the leaf: path or last part of it */
	struct opt_list symbols; /* of the leaf: name, or name without what follows '(' */
	struct opt_list events;
	struct reshape_args reshape; /* by any frame of the stack */
	const char *window; /* --time as it was given, NULL if it was not */
	struct filter_window wanted[FILTER_WINDOWS_MAX]; /* its windows, as they were given */
	size_t nwindows;
	struct opt_list wheres;	 /* conditions on fields of tracepoints and on labels, see where.h */
	uint64_t min_wait_ns, max_wait_ns; /* lengths of waits, whole; max 0: no limit */

	/* Set by filter_bind(). */
	uint64_t from_ns, to_ns; /* from the first window to the last, on the samples' clock; to_ns is the first moment outside */
	size_t nbound;
	struct derive_window windows[FILTER_WINDOWS_MAX]; /* @nbound, ascending and apart */
	VEC(bool) event_passes;  /* by event; empty: all do */
	VEC(struct where *) bound; /* of the conditions */
	VEC(const char *) late;	   /* conditions on labels of waits, which are known when all is named */
	const char *derived[DERIVE_ADDED_MAX + 1]; /* names of derived events that are wanted, see derive_want() */
	bool with_wall;		 /* the caller's: all time of each thread also unasked, where waits were recorded */
	bool each_wait;		 /* the caller's: waits without a stack stay as they are, see derive_request */
};

extern const struct opt filter_opts[];

/* "1.5,3", "1,2 3,4" or "10%-20%,40%-50%" for OPT_PARSE: @field is the window of a struct filter, whose windows are set. ERR_USAGE. */
MUST_USE struct err *filter_parse_window(void *field, const char *value);

void filter_deinit(struct filter *filter);

/* Is there any condition at all? */
bool filter_is_empty(const struct filter *filter);

/*
 * Turn the window into times, and look whether the events are among the value types of @p.
 *
 * ERR_USAGE: no event has such a name (near names in the remedy).  ERR_UNSUPPORTED: per cent of a recording that has no end.
 * ERR_USAGE also: a window that ends before it begins, or one of wall-clock time that lies outside the recording.
 */
MUST_USE struct err *filter_bind(struct filter *filter, const struct profile *p, const struct profile_facts *facts);

/*
 * The conditions of --where: on fields of the events of @rec, or on labels of @p, after filter_bind(). Both must outlive
 * @filter. ERR_USAGE: see where.h.
 */
MUST_USE struct err *filter_bind_fields(struct filter *filter, const struct recording *rec);
MUST_USE struct err *filter_bind_labels(struct filter *filter, const struct profile *p);

/* The conditions that have to wait until waits have their labels; false if there are none. ERR_USAGE: see where.h. */
bool filter_has_late(const struct filter *filter);
MUST_USE struct err *filter_bind_late(struct filter *filter, const struct profile *p);

/* Do these labels of @p pass the conditions? After filter_bind_labels() or filter_bind_late(). */
bool filter_passes_labels(const struct filter *filter, const struct profile *p, uint32_t labels);

/* Release what those set, of a copy whose options are another's. */
void filter_unbind(struct filter *filter);

/* Does the event itself pass, by time, CPU, process, thread and (samples) event? Names are asked below. */
bool filter_passes_event(const struct filter *filter, const struct event *ev);

/* By time alone. */
bool filter_passes_time(const struct filter *filter, uint64_t time_ns);

/* The same by process and thread only: what happens elsewhere or at another time may matter to waits. */
bool filter_passes_task(const struct filter *filter, const struct event *ev);
bool filter_passes_cpu(const struct filter *filter, uint32_t cpu);

/* Does @row of @p pass, by everything but time? */
bool filter_passes_row(const struct filter *filter, const struct profile *p, const struct profile_sample *row);

/* Does value type @event of the profile pass? */
bool filter_passes_kind(const struct filter *filter, uint32_t event);

/* Does a thread with these names pass? */
bool filter_passes_names(const struct filter *filter, const char *comm, const char *process);

/* Are there conditions on the leaf's module or function? They are asked once its location is named. */
bool filter_needs_stacks(const struct filter *filter);
bool filter_passes_stack(const struct filter *filter, const struct profile *p, uint32_t stack);

/* The same of a location by itself. */
bool filter_passes_location(const struct filter *filter, const struct profile *p, uint32_t location);

/* The options that were given, as the user wrote them: "--comm=clang --cpu=0-3"; "" for none. */
const char *filter_describe(const struct filter *filter, struct arena *arena);

#endif
