/* SPDX-License-Identifier: Apache-2.0 */
/*
 * multiplexing.c - a warning for all events that never had a counter, and one for all that shared theirs.
 */
#include "record/sample/multiplexing.h"

#include "formats/event_multiplexing.h"
#include "record/event/event_attr.h"
#include "record/event/event_group.h"

#define ON_NS_MIN 10000000 /* an event that was on for less may just have come too late */
#define ENOUGH    0.95	   /* of the time: an event that has less is reported */

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

static void tell(const struct recording_note *from, struct diag *diag)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct recording_note *note = ARENA_NEW(&diag->arena, struct recording_note);

	*note = *from;
	note->subject = arena_strdup(&diag->arena, from->subject);
	note->text = event_group_cause(&diag->arena);
	diag_err_of(diag,
		    err_remedy(err_new(ERR_UNSUPPORTED, "%s", recording_note_message(note, &arena)), "%s",
			       recording_note_hint(note, &arena)),
		    note);
}

void multiplexing_tell(const struct recording *rec, struct diag *diag)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const struct findings f = find(rec, &arena);

	if (*f.never)
		tell(&(struct recording_note){ .kind = RECORDING_NOTE_NEVER, .subject = f.never }, diag);
	if (f.nshared)
		tell(&(struct recording_note){ .kind = RECORDING_NOTE_MULTIPLEXED,
					       .count = f.nshared,
					       .share = (uint32_t)(10000 * f.least_part + 0.5),
					       .subject = f.least },
		     diag);
}
