/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strip_names.h - pseudonyms into everything of a recording that names a thread, a process, a file or a function.
 *
 * Symbols of the kernel proper stay. What may hold names that cannot be found is left out: whole ELF
 * files, payloads of tracepoints, the command line, notes that quote something.
 */
#ifndef REPORT_STRIP_NAMES_H
#define REPORT_STRIP_NAMES_H

#include "formats/base/diag.h"
#include "formats/event.h"
#include "report/rewrite/pseudonyms.h"

/* A zeroed one is ready. */
struct strip_names {
	struct pseudonyms pseudonyms;
	VEC(struct recording_image) images;
	VEC(struct recording_lines) lines;
	VEC(struct recording_ksym) ksyms;
	VEC(struct recording_jit_map) jit_maps;
	VEC(struct recording_note) notes;
	VEC(struct writer) bytes; /* that the above point into */
	VEC(struct event_managed_frame) frames; /* of the last event */
};

void strip_names_deinit(struct strip_names *names);

/* Change @as; what it points to afterwards belongs to @names. What is malformed is left out, with a warning. */
void strip_names_recording(struct strip_names *names, struct recording *as, struct diag *diag);

/* Change @ev. */
void strip_names_event(struct strip_names *names, struct event *ev);

#endif
