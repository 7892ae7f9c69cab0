/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recording_note.h - what the recorder, or an importer, wants the reader to know: a fallback, a missing privilege.
 *
 * Programs look at the kind; only people read the text. A number keeps its meaning: it is in files.
 */
#ifndef FORMATS_RECORDING_NOTE_H
#define FORMATS_RECORDING_NOTE_H

#include <stdint.h>

enum recording_note_kind {
	RECORDING_NOTE_OTHER,       /* only its text is known: older traces, and whatever needs no program to know it */
	RECORDING_NOTE_NEVER,       /* @value events never had a counter; @subject names the first */
	RECORDING_NOTE_MULTIPLEXED, /* @value events were multiplexed; @subject had a counter for the least time */
};

struct recording_note {
	enum recording_note_kind kind;
	uint64_t value;	     /* see the kinds; 0 if there is none */
	const char *subject; /* the same; "" if there is none */
	const char *text;    /* one sentence for people */
};

#endif
