/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_join.h - the files of one recording that was cut into intervals (--switch-output), as one trace.
 *
 * Of a binary that several of them embed a part of, the largest part is kept: on the machine of the recording the files say
 * the rest, elsewhere some names and unwind rows may be missing, and a note says so.
 */
#ifndef REPORT_TRACE_JOIN_H
#define REPORT_TRACE_JOIN_H

#include "formats/base/err.h"

#include <stddef.h>

/*
 * Write @paths, oldest first, to @output, a file of its owner's alone that is not there yet.
 *
 * ERR_USAGE: it is there.  ERR_SYSTEM, ERR_CORRUPT: as reader and writer say; then there is no @output.
 */
MUST_USE struct err *trace_join(const char *const *paths, size_t count, const char *output);

#endif
