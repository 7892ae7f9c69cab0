/* SPDX-License-Identifier: Apache-2.0 */
/*
 * multiplexing.c - a warning for all events that never had a counter, and one for all that shared theirs.
 */
#include "record/sample/multiplexing.h"

#include "formats/event_multiplexing.h"
#include "record/event/event_attr.h"
#include "record/event/event_group.h"

#define ON_NS_MIN 10000000 /* whoever was on for less may just have come too late */
#define ENOUGH    0.95	   /* of the time: whoever has less is told */

/* What precord found of all events. */
struct findings {
	const char *never;    /* their names */
	const char *least;    /* the one of those that shared which had least of the time */
	double least_part;
	unsigned nshared;
};

static struct findings find(const struct recording *rec, struct arena *arena)
{
	struct findings f = { .never = "", .least_part = ENOUGH };

	for (uint32_t i = 0; i < rec->nevents; i++) {
		const struct event_multiplexing turns = event_multiplexing_of(rec, i);
		double part = event_multiplexing_share(&turns);
		const char *name = rec->events[i].name;

		if (!event_attr_needs_counter(rec->events[i].type) || turns.enabled_ns < ON_NS_MIN)
			continue;
		if (event_multiplexing_never(&turns)) {
			f.never = arena_printf(arena, "%s%s'%s'", f.never, *f.never ? ", " : "", name);
			continue;
		}
		f.nshared += part < ENOUGH;
		if (part < f.least_part) {
			f.least_part = part;
			f.least = name;
		}
	}
	return f;
}

void multiplexing_tell(const struct recording *rec, struct diag *diag)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const struct findings f = find(rec, &arena);

	if (*f.never)
		diag_err(diag, err_remedy(err_new(ERR_UNSUPPORTED, RECORDING_NOTE_NEVER_TEXT ": %s", f.never), "%s",
					  event_group_cause(&arena)));
	if (f.nshared == 1)
		diag_err(diag, err_remedy(err_new(ERR_UNSUPPORTED,
						  "'%s' " RECORDING_NOTE_TURNS_TEXT " with others, and had one for "
						  "%.0f %% of the time", f.least, 100 * f.least_part),
					  "%s", event_group_cause(&arena)));
	else if (f.nshared)
		diag_err(diag, err_remedy(err_new(ERR_UNSUPPORTED,
						  "%u events " RECORDING_NOTE_TURNS_TEXT "; '%s' had least, %.0f %% of "
						  "the time", f.nshared, f.least, 100 * f.least_part),
					  "fewer at once have more; %s", event_group_cause(&arena)));
}
