/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bisect.h - binary search, by a condition that holds for the first elements of an array and for none behind them.
 *
 *	size_t count = BISECT(table->len, i, table->items[i].addr <= addr);
 *
 *	return count ? &table->items[count - 1] : NULL; // the last one at or below @addr
 */
#ifndef FORMATS_BISECT_H
#define FORMATS_BISECT_H

#include <stddef.h>

/* How many of @count elements @condition, in terms of the index @i, holds for. A macro, since a function cannot take it. */
#define BISECT(count, i, condition)                                                                 \
	({                                                                                          \
		size_t bisect_low_ = 0, bisect_high_ = (count);                                     \
                                                                                                    \
		while (bisect_low_ < bisect_high_) {                                                \
			size_t i = bisect_low_ + (bisect_high_ - bisect_low_) / 2;                  \
                                                                                                    \
			if (condition)                                                              \
				bisect_low_ = i + 1;                                                \
			else                                                                        \
				bisect_high_ = i;                                                   \
		}                                                                                   \
		bisect_low_;                                                                        \
	})

#endif
