/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_events.h - the events of the profile that waits are handed out as: off-cpu, wall, off-wake.
 */
#ifndef REPORT_WAIT_EVENTS_H
#define REPORT_WAIT_EVENTS_H

#include "report/load/derive/derive_kind.h"

struct wait_events {
	const struct derive_request *request;
	const struct derive_out *out;
	bool off_is_wanted;
	uint32_t off, wall, wake; /* PROFILE_NONE: not wanted; @off: or not added yet */
};

/* Adds those that @request wants to its profile; false if it wants none. Both are borrowed. */
bool wait_events_init(struct wait_events *e, const struct derive_request *request, const struct derive_out *out);

/* @span is time on a CPU: a part of wall only, which must be wanted. */
void wait_events_add_run(const struct wait_events *e, const struct derived *span);

/* @span is time off a CPU: a part of each. */
void wait_events_add_wait(struct wait_events *e, const struct derived *span);

#endif
