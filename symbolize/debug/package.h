/* SPDX-License-Identifier: Apache-2.0 */
/*
 * package.h - a package of split debug information, one unit's share at a time (DWARF 5, section 7.3.5).
 */
#ifndef DEBUG_PACKAGE_H
#define DEBUG_PACKAGE_H

#include "symbolize/debug/source.h"

struct debug_package;

/* NULL if there is no usable package at @path. */
struct debug_package *debug_package_open(const char *path);
void debug_package_close(struct debug_package *package);

/*
 * Fill @ret with the sections of the unit with @id: slices of the package's. False if it has none. @ret is
 * the caller's to release before the package is closed.
 */
bool debug_package_find(struct debug_package *package, uint64_t id, struct debug_source *ret);

#endif
