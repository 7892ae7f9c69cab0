/* SPDX-License-Identifier: Apache-2.0 */
/*
 * follow_mode.h - chooses how a target is followed (per CPU or per task), with which events, and the size of rings.
 */
#ifndef RECORD_FOLLOW_MODE_H
#define RECORD_FOLLOW_MODE_H

#include "formats/base/diag.h"
#include "record/event/event_plan.h"
#include "record/record_args.h"
#include "record/task/target.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Follow CPUs, which is better for short-lived tasks, if that is allowed and cheap, otherwise the tasks: target->by_cpu
 * says which. @exec: the target is a command that is still to be started. *@ret_shy is true if tasks are followed
 * because following CPUs is not permitted. Errors are those of event_plan_make().
 */
MUST_USE struct err *follow_mode_choose(struct record_args *args, struct target *target, bool exec,
				     struct event_plan *ret, bool *ret_shy);

/* Bytes for the ring of each CPU, at least two samples; if -m asked for less, @diag says so. */
uint64_t follow_mode_ring_len(const struct record_args *args, const struct target *target,
			   const struct event_plan *plan, struct diag *diag);

#endif
