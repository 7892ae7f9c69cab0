/* SPDX-License-Identifier: Apache-2.0 */
/*
 * imported_code.h - functions and lines of code that another tool's profile knows by its address alone.
 *
 * gperftools, jemalloc and perf_to_profile leave names to the reader. They are looked for in the files here, as those of a recording
 * are: a file with another build ID is not used.
 */
#ifndef REPORT_IMPORTED_CODE_H
#define REPORT_IMPORTED_CODE_H

#include "formats/profile/profile.h"
#include "report/load/binaries.h"

/*
 * Name what @p has no names for. Returns the modules that were looked at, by their numbers in @p, in @arena; NULL for those
 * that were not.
 */
struct module **imported_code_name(struct profile *p, struct binaries *binaries, struct arena *arena);

#endif
