/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topdown_events.h - the events of precord --topdown: what this processor has to tell where its issue slots went.
 *
 * The tables are those of formats/topdown.h. Without one for the processor, the closest general events are recorded:
 * instructions, branch and cache misses, cycles that stalled. Each group is run for a moment, so that one that does not
 * fit is found now; what can be spared is then left out.
 */
#ifndef RECORD_TOPDOWN_EVENTS_H
#define RECORD_TOPDOWN_EVENTS_H

#include "formats/base/diag.h"
#include "record/event/event_spec.h"

#define TOPDOWN_LEVEL_MAX 2

struct topdown_args {
	uint8_t level; /* 0: not asked for */
	bool apart;    /* each event samples on its own */
};

/* "1", "2", "1,apart"; NULL is 1. Shape of opt.parse; @field is a struct topdown_args. ERR_USAGE. */
MUST_USE struct err *topdown_args_parse(void *field, const char *value);

/*
 * Append the events to @list. What had to be left out, and why, goes to @diag.
 *
 * ERR_UNSUPPORTED: there is no PMU, its counters are taken, or they cannot be sampled apart; the remedy says what works.
 */
MUST_USE struct err *topdown_events_add(struct event_list *list, const struct topdown_args *args,
					struct diag *diag);

#endif
