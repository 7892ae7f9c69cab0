/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_attached.h - the contents of the blocks behind the events, which give addresses a meaning, to and from
 * struct recording: precord-trace(5), "OTHER BLOCKS".
 *
 * The putting side appends to @w. The loading side's results live in the recording's arena and in the content.
 */
#ifndef FORMATS_TRACE_ATTACHED_H
#define FORMATS_TRACE_ATTACHED_H

#include "formats/base/reader.h"
#include "formats/base/writer.h"
#include "formats/recording.h"

void trace_image_put(struct writer *w, const struct recording_image *image);
void trace_lines_put(struct writer *w, const struct recording_lines *lines);
void trace_ksyms_put(struct writer *w, const struct recording_ksym *ksyms, size_t count);
void trace_jit_map_put(struct writer *w, const struct recording_jit_map *map);
void trace_kernel_code_put(struct writer *w, const struct recording_kernel_code *code);

/* A block may hold several images; each is one field with this tag. */
#define TRACE_IMAGE_TAG 1

/*
 * One of them, from that field's value. ELF bytes and texts are not copied: they last as long as
 * the content.
 */
MUST_USE struct err *trace_image_load(struct reader *r, struct recording *rec,
				      struct recording_image *ret);
MUST_USE struct err *trace_lines_load(struct reader *r, struct recording *rec,
				      struct recording_lines *ret);
MUST_USE struct err *trace_jit_map_load(struct reader *r, struct recording *rec,
					struct recording_jit_map *ret);
MUST_USE struct err *trace_kernel_code_load(struct reader *r, struct recording *rec);

/* Adds to rec->ksyms; a second block must go on above the first. */
MUST_USE struct err *trace_ksyms_load(struct reader *r, struct recording *rec);

#endif
