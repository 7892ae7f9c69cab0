/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_spans.h - calls that open and close, on one thread, become samples: one for each time that a stack stays the same.
 *
 * For traces of events (Chrome's, speedscope's evented profiles). A sample lasts from its time on, and its value is how long.
 */
#ifndef FORMATS_IMPORT_SPANS_H
#define FORMATS_IMPORT_SPANS_H

#include "formats/base/map.h"
#include "formats/profile/import/import_build.h"

#define IMPORT_NO_END UINT64_MAX

struct import_span {
	uint32_t location, stack;
	uint64_t end_ns; /* IMPORT_NO_END: when it is closed */
};

struct import_spans {
	struct profile *p;
	uint32_t type, thread;
	uint64_t now_ns; /* of the last opening or closing */
	bool times;	 /* they are times; else only lengths count (bytes, …) */
	VEC(struct import_span) open;
	struct map nopen;    /* location -> how many are open; of PROFILE_NONE: how many have no end */
	uint64_t unmatched; /* closings of what was not open */
};

/* Nothing is open; what @type and @thread the samples get. */
void import_spans_begin(struct import_spans *s, struct profile *p, uint32_t type, uint32_t thread);

/* Calls must come in order of time. @end_ns is known or IMPORT_NO_END. */
void import_spans_open(struct import_spans *s, uint32_t location, uint64_t time_ns, uint64_t end_ns);

/* Close the innermost call of @location, and what is open in it; PROFILE_NONE: whatever is innermost and has no end. */
void import_spans_close(struct import_spans *s, uint32_t location, uint64_t time_ns);

/* Close all at @time_ns, or when the last thing happened if that is later. */
void import_spans_finish(struct import_spans *s, uint64_t time_ns);

void import_spans_deinit(struct import_spans *s);

#endif
