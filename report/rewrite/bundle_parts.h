/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bundle_parts.h - what preport bundle adds to a trace: line tables, and files that do not travel yet.
 *
 * Lines and inlined calls are resolved here, for whole functions where samples were taken and for each
 * address that calls; a table of them is small where the debug information it came from is large.
 */
#ifndef REPORT_BUNDLE_PARTS_H
#define REPORT_BUNDLE_PARTS_H

#include "report/load/session.h"

struct bundle_parts {
	struct arena arena;
	VEC(struct recording_lines) lines;
	VEC(struct recording_image) images; /* those of the recording first */
	VEC(struct writer) bytes;           /* that the above point into */
	VEC(struct module *) without;       /* sampled files that no lines were found for */
	size_t added_lines, added_images;   /* how many are new */
	uint64_t nranges;
};

/* Gather for all modules of @s, which is loaded. */
void bundle_parts_make(struct bundle_parts *parts, struct session *s);
void bundle_parts_deinit(struct bundle_parts *parts);

#endif
