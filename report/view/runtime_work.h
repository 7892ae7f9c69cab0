/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime_work.h - what a sample did for a runtime: collect garbage, compile, load classes, interpret; or that it ran the program.
 *
 * The names of a runtime's own functions tell, in the module that they are of. The innermost that is known counts: a collection
 * that an allocation asked for is the collector's. Where none does, as in a stripped runtime, the name of the thread tells.
 */
#ifndef REPORT_RUNTIME_WORK_H
#define REPORT_RUNTIME_WORK_H

#include "formats/profile/profile.h"

#include <stdbool.h>

struct runtime_work;

/* Looks at each function of @p once, and at each stack if there is a runtime's. @p must stay as it is. */
struct runtime_work *runtime_work_new(const struct profile *p);
void runtime_work_free(struct runtime_work *work);

/* Has the profile a runtime's function or thread at all? */
bool runtime_work_is_seen(const struct runtime_work *work);

/* Of the profile's sample @row, a constant: "garbage collection (G1 evacuation)", "JIT compiler (C2)", "interpreted code", "native code", ... */
const char *runtime_work_name(const struct runtime_work *work, const struct profile_sample *row);

/* Is the file at @path a runtime's, so that callers' names matter, too? Not where it is linked into programs. */
bool runtime_work_is_module(const char *path);

/* Is @name work for a runtime, not the program's own code? */
bool runtime_work_is_overhead(const char *name);

#endif
