/* SPDX-License-Identifier: Apache-2.0 */
/*
 * description.h - facts about a recording as a whole: machine, events, notes.
 */
#ifndef RECORD_DESCRIPTION_H
#define RECORD_DESCRIPTION_H

#include "formats/base/diag.h"
#include "formats/recording.h"
#include "record/event/event_plan.h"
#include "record/record_args.h"
#include "record/task/target.h"

/* Everything known before the first sample; strings live in rec->arena or as long as @args and @plan. */
void description_begin(struct recording *rec, const struct record_args *args,
		       const struct target *target, const struct event_plan *plan);

#endif
