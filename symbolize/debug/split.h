/* SPDX-License-Identifier: Apache-2.0 */
/*
 * split.h - the debug information that a skeleton unit leaves to another file: a .dwo, or its share of a
 * package (.dwp) beside the binary (DWARF 5, section 7.3; GNU's split DWARF 4).
 */
#ifndef DEBUG_SPLIT_H
#define DEBUG_SPLIT_H

#include "symbolize/debug/unit.h"

struct debug_split;

/* @path is the binary's: its package is "@path.dwp", and .dwo files are looked for beside it as well. */
struct debug_split *debug_split_new(const char *path);
void debug_split_free(struct debug_split *split);

/*
 * The split unit of @skeleton, attached to it; NULL if it is not to be found. Only a unit with the same
 * id is ever used. Valid until debug_split_free().
 */
struct debug_unit *debug_split_find(struct debug_split *split, struct debug_unit *skeleton);

#endif
