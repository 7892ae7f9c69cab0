/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_branch.c - the bits of struct perf_branch_entry, perf_event_open(2).
 */
#include "formats/event_branch.h"

#define FLAG_MISPREDICTED 0x1u
#define FLAG_KNOWN	  0x3u
#define FLAG_IN_TX	  0x4u
#define FLAG_ABORT	  0x8u
#define CYCLES_SHIFT	  4
#define CYCLES_MASK	  0xffffu

struct event_branch_facts event_branch_facts(const struct event_branch *branch)
{
	return (struct event_branch_facts){
		.known = branch->flags & FLAG_KNOWN,
		.mispredicted = branch->flags & FLAG_MISPREDICTED,
		.in_transaction = branch->flags & FLAG_IN_TX,
		.aborted = branch->flags & FLAG_ABORT,
		.cycles = branch->flags >> CYCLES_SHIFT & CYCLES_MASK,
	};
}
