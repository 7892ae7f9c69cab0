/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_quality.h - how well the stacks of a recording could be walked, module by module, and what was lost when.
 */
#ifndef REPORT_UNWIND_QUALITY_H
#define REPORT_UNWIND_QUALITY_H

#include "formats/stack_stop.h"
#include "report/load/session.h"

/* What a module had to do with the stacks. */
struct unwind_quality_module {
	struct module *mod;
	uint64_t leaves; /* samples that were taken in it */
	uint64_t frames; /* on all stacks */
	uint64_t unsure; /* of them, not found by unwind tables or checked */
	uint64_t broken; /* stacks that ended in it before their root */
	uint64_t stops[STACK_STOPS];
};

/* Losses and throttling within one stretch of the recording, of one CPU. */
struct unwind_quality_loss {
	uint64_t from_ns; /* since the start of the recording */
	uint32_t cpu;
	uint64_t by_kernel, by_recorder, throttles, shortened;
};

struct unwind_quality {
	VEC(struct unwind_quality_module) modules; /* by module.id; .mod is NULL where nothing happened */
	VEC(struct unwind_quality_loss) losses;    /* by time, then CPU; only those with something to say */
	uint64_t samples;
	uint64_t stops[STACK_STOPS];
	uint64_t start_ns, bucket_ns;
};

/* Walk all events that pass @filter. */
MUST_USE struct err *unwind_quality_count(struct unwind_quality *unwind_quality, struct session *s, struct filter *filter);
void unwind_quality_deinit(struct unwind_quality *unwind_quality);

#endif
