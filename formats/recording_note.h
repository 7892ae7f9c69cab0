/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recording_note.h - what the recorder, or an importer, wants the reader to know: a fallback, a missing privilege.
 *
 * Programs look at the kind; only people read the sentence, which is made here. A number keeps its meaning: it is in
 * files.
 */
#ifndef FORMATS_RECORDING_NOTE_H
#define FORMATS_RECORDING_NOTE_H

#include "formats/base/arena.h"

#include <stdint.h>

enum recording_note_kind {
	RECORDING_NOTE_OTHER,       /* a sentence, which needs no program to know it */
	RECORDING_NOTE_NEVER,       /* @subject names, in quotes, the events that never had a counter */
	RECORDING_NOTE_MULTIPLEXED, /* @count events were multiplexed; @subject had a counter for the least time: @share */
	RECORDING_NOTE_KINDS,
};

struct recording_note {
	uint32_t kind;	     /* enum recording_note_kind */
	uint32_t count;
	uint32_t share;	     /* of the time, in parts of 10,000 */
	const char *subject; /* "" if there is none */
	const char *text;    /* the sentence of RECORDING_NOTE_OTHER; of others who may be to blame, or "" */
};

/* What happened, without what to do or who is to blame. */
const char *recording_note_message(const struct recording_note *note, struct arena *arena);

/* That; "" if nothing is known. */
const char *recording_note_hint(const struct recording_note *note, struct arena *arena);

/* Both in one sentence. */
const char *recording_note_text(const struct recording_note *note, struct arena *arena);

#endif
