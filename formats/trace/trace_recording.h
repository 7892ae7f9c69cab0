/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_recording.h - the contents of the first block and the last one, to and from struct recording:
 * precord-trace(5), "HEADER" and "End".
 *
 * The putting side appends to @w. The loading side fills a recording, whose arena the results live in.
 */
#ifndef FORMATS_TRACE_RECORDING_H
#define FORMATS_TRACE_RECORDING_H

#include "formats/base/reader.h"
#include "formats/base/writer.h"
#include "formats/recording.h"

void trace_header_put(struct writer *w, const struct recording *rec, uint32_t nstreams);
void trace_end_put(struct writer *w, const struct recording *rec);

/* Sets @rec to what the header says. ERR_UNSUPPORTED: an architecture that is not known here. */
MUST_USE struct err *trace_header_load(struct reader *r, struct recording *rec,
				       uint32_t *ret_nstreams);

/* Sets counts, notes, end time and exit status, and rec->complete. */
MUST_USE struct err *trace_end_load(struct reader *r, struct recording *rec);

#endif
