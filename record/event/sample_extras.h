/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_extras.h - what samples of hardware events carry when it is asked for: the last branches that were
 * taken (-b, -j), the data address and where the data came from (-d), how long that took (--weight).
 */
#ifndef RECORD_SAMPLE_EXTRAS_H
#define RECORD_SAMPLE_EXTRAS_H

#include "formats/base/opt.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

struct sample_extras {
	uint64_t branches; /* attr.branch_sample_type; 0: none */
	bool any_branch;   /* -b */
	bool data;         /* address and source */
	bool weight;
};

/* The options, for OPT_GROUP. */
extern const struct opt sample_extras_opts[];

/* Are branches wanted, and which? */
uint64_t sample_extras_branches(const struct sample_extras *extras);

/* Ask for them in @attr; @hardware: the event can have branches. @weight_struct: the kernel knows weights in parts. */
void sample_extras_set(const struct sample_extras *extras, bool hardware, bool weight_struct,
		       struct perf_event_attr *attr);

#endif
