/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranges.h - the code addresses of an entry: one range, or a list in .debug_ranges or .debug_rnglists.
 */
#ifndef DEBUG_RANGES_H
#define DEBUG_RANGES_H

#include "symbolize/debug/unit.h"
#include "symbolize/module/range_overlay.h"

struct debug_ranges {
	struct layer *items;
	size_t len, cap;
};

/*
 * Append the ranges of @die to @ranges (a vec), empty ones left out. What is malformed ends the list. Entries are
 * charged to the source's budget, since many entries may refer to one list.
 */
void debug_ranges_append(struct debug_ranges *ranges, struct debug_unit *unit,
			 const struct debug_die *die);

#endif
