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
#include "formats/profile/facts.h"
#include "formats/profile/profile.h"

#include <stdio.h>

/*
 * Write @p, whose locations are all named, to @out. The same profile gives the same bytes. The first mapping, which pprof takes
 * the file's name from, is the main module's (main_module.h).
 * ERR_SYSTEM: @out cannot be written.
 */
MUST_USE struct err *pprof_write(const struct profile *p, const struct profile_facts *facts, FILE *out);

#endif
