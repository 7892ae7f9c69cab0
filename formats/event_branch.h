/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_branch.h - a branch that the processor recorded before a sample.
 */
#ifndef FORMATS_EVENT_BRANCH_H
#define FORMATS_EVENT_BRANCH_H

#include <stdbool.h>
#include <stdint.h>

struct event_branch {
	uint64_t from, to; /* addresses in the process */
	uint64_t flags;	   /* as in struct perf_branch_entry, from bit 0 "mispred" up */
};

/* What @flags say. */
struct event_branch_facts {
	bool known;		      /* whether it was predicted was recorded */
	bool mispredicted;	      /* only if @known */
	bool in_transaction, aborted; /* it ended a transaction if @aborted */
	uint32_t cycles;	      /* since the branch before; 0: not known */
};

struct event_branch_facts event_branch_facts(const struct event_branch *branch);

#endif
