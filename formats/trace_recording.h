/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_recording.h - the contents of all blocks but events, to and from struct recording:
 * precord-trace(5), "HEADER" to "END".
 *
 * The putting side appends to @w. The loading side adds to a recording, whose arena the results
 * live in; what it fills grows by one per call, so callers give vectors.
 */
#ifndef FORMATS_TRACE_RECORDING_H
#define FORMATS_TRACE_RECORDING_H

#include "formats/base/reader.h"
#include "formats/base/writer.h"
#include "formats/recording.h"

void trace_header_put(struct writer *w, const struct recording *rec, uint32_t nstreams);
void trace_image_put(struct writer *w, const struct recording_image *image);
void trace_ksyms_put(struct writer *w, const struct recording_ksym *ksyms, size_t count);
void trace_jit_map_put(struct writer *w, const struct recording_jit_map *map);
void trace_end_put(struct writer *w, const struct recording *rec);

/* Sets @rec to what the header says. ERR_UNSUPPORTED: an architecture that is not known here. */
MUST_USE struct err *trace_header_load(struct reader *r, struct recording *rec,
				       uint32_t *ret_nstreams);

/* A block may hold several images; each is one field with this tag. */
#define TRACE_IMAGE_TAG 1

/*
 * One of them, from that field's value. ELF bytes and texts are not copied: they last as long as
 * the content.
 */
MUST_USE struct err *trace_image_load(struct reader *r, struct recording *rec,
				      struct recording_image *ret);
MUST_USE struct err *trace_jit_map_load(struct reader *r, struct recording *rec,
					struct recording_jit_map *ret);

/* Adds to rec->ksyms; a second block must go on above the first. */
MUST_USE struct err *trace_ksyms_load(struct reader *r, struct recording *rec);

/* Sets counts, notes, end time and exit status, and rec->complete. */
MUST_USE struct err *trace_end_load(struct reader *r, struct recording *rec);

#endif
