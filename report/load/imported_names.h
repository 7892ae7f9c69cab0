/* SPDX-License-Identifier: Apache-2.0 */
/*
 * imported_names.h - mangled names in other tools' profiles, as the source spells them.
 *
 * perf before 6.13 does not know Rust's v0 names, callgrind and bpftrace write names as they are in the file, macOS puts another
 * underscore in front.
 */
#ifndef REPORT_IMPORTED_NAMES_H
#define REPORT_IMPORTED_NAMES_H

#include "formats/profile/profile.h"
#include "symbolize/name/demangle.h"

/* What was a function's name becomes its linkage name. */
void imported_names_demangle(struct profile *p, enum demangle_how how);

#endif
