/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_branch.h - a jump that the processor noted before a sample.
 */
#ifndef FORMATS_EVENT_BRANCH_H
#define FORMATS_EVENT_BRANCH_H

#include <stdint.h>

struct event_branch {
	uint64_t from, to; /* addresses in the process */
	uint64_t flags;	   /* as in struct perf_branch_entry, from bit 0 "mispred" up */
};

#endif
