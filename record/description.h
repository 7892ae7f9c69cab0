/* SPDX-License-Identifier: Apache-2.0 */
/*
 * description.h - what a trace says of the recording as a whole: the machine, the events, the notes.
 */
#ifndef RECORD_DESCRIPTION_H
#define RECORD_DESCRIPTION_H

#include "formats/base/diag.h"
#include "formats/recording.h"
#include "record/event/event_plan.h"
#include "record/record_args.h"
#include "record/task/target.h"

/* All that is known before the first sample; strings live in rec->arena or as long as @args and @plan. */
void description_begin(struct recording *rec, const struct record_args *args,
		       const struct target *target, const struct event_plan *plan);

#endif
