/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inlines.h - the functions of a unit and the calls inlined into them, by address.
 *
 * All entries are walked once. Where ranges overlap, the later entry shows, which is the inner one.
 */
#ifndef DEBUG_INLINES_H
#define DEBUG_INLINES_H

#include "symbolize/debug/unit.h"

struct inlines;

/* Walk @unit: a full or split unit. Never NULL. */
struct inlines *inlines_new(struct debug_unit *unit);
void inlines_free(struct inlines *inlines);

/*
 * The entries that cover @vaddr, innermost first, the function itself last: their offsets in .debug_info.
 * Returns how many there are; at most @max are written.
 */
size_t inlines_find(const struct inlines *inlines, uint64_t vaddr, uint64_t *ret, size_t max);

/* The first address above @vaddr at which the answer may be another one. */
uint64_t inlines_next(const struct inlines *inlines, uint64_t vaddr);

#endif
