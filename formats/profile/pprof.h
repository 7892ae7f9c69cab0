/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof.h - a profile as pprof's gzip-compressed profile.proto.
 *
 * Every event has two sample types: "samples" (unit "count"), and its own name with its own unit
 * ("nanoseconds" for clocks, else "count"). Labels: pid, tid, cpu (numbers), process, thread (strings).
 * Addresses are link-time ones, so each module is a mapping that starts at 0. What pprof cannot hold, the
 * intervals and why a stack is incomplete, is left out; comments say what was lost.
 */
#ifndef FORMATS_PPROF_H
#define FORMATS_PPROF_H

#include "formats/base/err.h"
#include "formats/profile/profile.h"

#include <stdio.h>

struct pprof_about {
	uint64_t wall_ns;	     /* when the recording began, since 1970; 0 if not known */
	uint64_t duration_ns;
	uint32_t default_event;	     /* the event shown first */
	uint32_t main_module;	     /* whose mapping comes first, which pprof takes the file's name from */
	const char *const *comments; /* NULL-terminated lines, or NULL */
};

/*
 * Write @p, whose locations are all named, to @out. The same profile gives the same bytes.
 * ERR_SYSTEM: @out cannot be written.
 */
MUST_USE struct err *pprof_write(const struct profile *p, const struct pprof_about *about, FILE *out);

#endif
