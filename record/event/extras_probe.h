/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extras_probe.h - can the events of a plan deliver the branches, data addresses and weights that are asked for?
 *
 * What no event can deliver is refused, with the cause, rather than recorded as zeros. Part of event_plan.
 */
#ifndef RECORD_EXTRAS_PROBE_H
#define RECORD_EXTRAS_PROBE_H

#include "record/event/event_open.h"
#include "record/event/event_plan.h"

/* Lines to say about events that lack what others have; NULL: nothing. */
struct extras_gaps {
	const char *data, *weight;
};

/*
 * Try each event of @plan that samples. ERR_USAGE: none can have branch stacks.
 * ERR_UNSUPPORTED: none has data addresses, or weights; the remedy names events of this machine that do.
 */
MUST_USE struct err *extras_probe(const struct event_kernel *kernel, struct event_plan *plan,
				  const struct sample_extras *extras, struct extras_gaps *ret);

#endif
