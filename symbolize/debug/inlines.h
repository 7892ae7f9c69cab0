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

#define INLINES_SCOPES_MAX 16

/* A namespace, class or function that a function's entry lies in. */
struct inlines_scope {
	uint64_t offset;  /* of its entry in .debug_info */
	uint16_t tag;
	uint32_t ordinal; /* of the classes without a name of their own beside it, from 1 on; 0: it is none */
};

/* What the function's entry at @offset lies in, innermost first; returns how many, at most INLINES_SCOPES_MAX. */
size_t inlines_scopes(const struct inlines *inlines, struct debug_unit *unit, uint64_t offset,
		      struct inlines_scope ret[INLINES_SCOPES_MAX]);

/* The first address above @vaddr at which the answer may be another one. */
uint64_t inlines_next(const struct inlines *inlines, uint64_t vaddr);

#endif
