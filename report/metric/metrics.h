/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.h - the metrics that a command line asks for, bound to what a recording counted.
 *
 *	counting_open(&counting, s);
 *	err = metrics_open(&m, &args->metrics, &from);	// between session_open() and session_load()
 *	... measures_value(&m.items[i].measures, sums, m.items[i].expr) ...
 *	metrics_close(&m);
 *
 * All terms of a metric come from one group, or each from an event that samples on its own; else it is refused.
 */
#ifndef REPORT_METRICS_H
#define REPORT_METRICS_H

#include "report/load/counting.h"
#include "report/metric/metric_set.h"

struct metrics_args {
	struct opt_list wanted; /* "ipc,NAME=FORMULA" */
	struct opt_list files;
};

extern const struct opt metrics_opts[];

struct metric {
	const char *name;
	const struct metric_def *def;
	struct metric_expr *expr;
	struct measures measures;
};

/* Where the counts come from. */
struct metrics_source {
	const struct recording *recording; /* NULL: it is a profile, which holds no events */
	const char *input;	  /* for messages */
	struct counting *counting; /* that fills them; it must outlive the metrics */
};

struct metrics {
	struct metric_set set;
	VEC(struct metric) items;
	VEC(const struct measures *) measures; /* the same, for view_spec */
	struct metrics_source from;
};

/*
 * Read what defines metrics, find those of @args and have them counted. Nothing happens if @args asks for none.
 * Whatever the result, metrics_close() releases @m.
 *
 * ERR_USAGE: see metric_set.h. ERR_UNSUPPORTED: the recording lacks an event, or counted the terms apart from each
 * other; the remedy is the precord command that does.
 */
MUST_USE struct err *metrics_open(struct metrics *m, const struct metrics_args *args,
				  const struct metrics_source *from);
/* The same of those of @names (NULL at the end), which come with preport, that the recording has the events for. */
MUST_USE struct err *metrics_open_available(struct metrics *m, const char *const *names,
					    const struct metrics_source *from);
void metrics_close(struct metrics *m);

/* "1.23", "4.5 %", "-" if it is not known; and "1.18-1.28". */
const char *metrics_text(const struct metric *metric, const struct measure_value *value,
			 struct arena *arena);
const char *metrics_range(const struct metric *metric, const struct measure_value *value,
			  struct arena *arena);

/* Does @recorded ("cycles:u", "cpu_core/cycles/") count what a formula calls @name? */
bool metrics_event_matches(const char *recorded, const char *name);

/* What to know about the figures, a line each: how they were counted, what was left out. NULL behind the last one. */
const char *metrics_note(const struct metrics *m, unsigned number, struct arena *arena);

#endif
