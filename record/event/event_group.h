/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_group.h - do the counters of this machine hold a group, and who has those that are missing?
 *
 * A group counts only while all its members have a counter at once. Some kernels refuse what can never
 * fit; Arm's take it and never run it, and all take a group that fits only without the NMI watchdog.
 */
#ifndef RECORD_EVENT_GROUP_H
#define RECORD_EVENT_GROUP_H

#include "formats/base/arena.h"
#include "formats/base/err.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Run the group of @leader_fd, which is disabled, for a moment. False if it was its turn and it did not run:
 * it never will. Its counters are reset afterwards.
 */
bool event_group_runs(int leader_fd);

/* Who may hold counters here: the NMI watchdog, a hypervisor, other profilers; with a remedy if there is one. */
const char *event_group_cause(struct arena *arena);

/* The group of @name, of @count events, does not fit. ERR_UNSUPPORTED, with the cause as its remedy. */
MUST_USE struct err *event_group_too_large(const char *name, size_t count, bool refused);

#endif
