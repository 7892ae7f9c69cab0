/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switch_losses.h - when records of switches may have been lost, and on which CPU.
 *
 *	  record          record    "lost"
 *	────┤────── ? ────── ? ───────┤────► time, ring of one CPU
 *	    │◄── a thread may have ──►│
 *	    come or left unrecorded
 *
 * The kernel says in a ring that records were lost as the next one finds room. Rings of tasks belong to no CPU, and what
 * the recorder counts at its end to none either: these losses may have been anywhere, since any time. Not thread-safe.
 */
#ifndef REPORT_SWITCH_LOSSES_H
#define REPORT_SWITCH_LOSSES_H

#include "formats/base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct switch_loss {
	uint32_t cpu; /* EVENT_NO_CPU: any */
	uint64_t from_ns, to_ns;
};

/* Zeroed, it is empty. */
struct switch_losses {
	VEC(struct switch_loss) items; /* in the order in which they were told */
	VEC(uint64_t) newest;	       /* record of each CPU */
};

void switch_losses_deinit(struct switch_losses *l);

/* A record of @cpu (EVENT_NO_CPU: of no one's) was at @time_ns. */
void switch_losses_record(struct switch_losses *l, uint32_t cpu, uint64_t time_ns);

/* At @time_ns @cpu's ring says that records were lost before; @cpu EVENT_NO_CPU: some ring does. */
void switch_losses_add(struct switch_losses *l, uint32_t cpu, uint64_t time_ns);

/*
 * Were there losses behind the first @known ones which overlap @from_ns to @to_ns, on @cpu (EVENT_NO_CPU: on any)? The first of
 * them begins at @ret_from_ns, the last ends at @ret_to_ns.
 */
bool switch_losses_find(const struct switch_losses *l, size_t known, uint32_t cpu, uint64_t from_ns, uint64_t to_ns,
			uint64_t *ret_from_ns, uint64_t *ret_to_ns);

#endif
