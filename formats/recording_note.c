/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recording_note.c - the one place where notes become sentences.
 */
#include "formats/recording_note.h"

#include <inttypes.h>

const char *recording_note_message(const struct recording_note *note, struct arena *arena)
{
	double percent = note->share / 100.0;

	switch (note->kind) {
	case RECORDING_NOTE_NEVER:
		return arena_printf(arena, "not counted, no counter was free: %s", note->subject);
	case RECORDING_NOTE_MULTIPLEXED:
		if (note->count == 1)
			return arena_printf(arena,
					    "'%s' was multiplexed with other events: counted %.0f %% of "
					    "the time", note->subject, percent);
		return arena_printf(arena,
				    "%" PRIu32 " events were multiplexed; '%s' was counted least, %.0f %% of "
				    "the time", note->count, note->subject, percent);
	default:
		return note->text;
	}
}

const char *recording_note_hint(const struct recording_note *note, struct arena *arena)
{
	if (note->kind == RECORDING_NOTE_OTHER || note->kind >= RECORDING_NOTE_KINDS)
		return "";
	if (note->kind == RECORDING_NOTE_MULTIPLEXED && note->count > 1)
		return arena_printf(arena, "fewer events at once are counted longer%s%s", *note->text ? "; " : "", note->text);
	return note->text;
}

const char *recording_note_text(const struct recording_note *note, struct arena *arena)
{
	const char *hint = recording_note_hint(note, arena);
	const char *message = recording_note_message(note, arena);

	return *hint ? arena_printf(arena, "%s; %s", message, hint) : message;
}
