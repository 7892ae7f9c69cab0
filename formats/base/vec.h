/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vec.h - a growing array of any type on the heap.
 *
 *	VEC(uint64_t) ips = { 0 };
 *
 *	vec_push(&ips, ip);
 *	for (size_t i = 0; i < ips.len; i++)
 *		use(ips.items[i]);
 *	vec_deinit(&ips);
 *
 * A zeroed vec is empty and ready. Growing moves the items: keep indices, not pointers.
 */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include "formats/base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define VEC(type)                   \
	struct {                    \
		type *items;        \
		size_t len, cap;    \
	}

/* Make room for @extra more items. */
#define vec_reserve(vec, extra)                                                                      \
	((void)((vec)->len + (extra) <= (vec)->cap ||                                                \
		((vec)->cap = MAX((vec)->len + (extra), (vec)->cap * 2),                             \
		 (vec)->items = memory_resize((vec)->items, (vec)->cap, sizeof(*(vec)->items)), 1)))

/* Append @item. */
#define vec_push(vec, item) (vec_reserve(vec, 1), (void)((vec)->items[(vec)->len++] = (item)))

/* Append @count items from @array. */
#define vec_append(vec, array, count)                                                        \
	do {                                                                                 \
		size_t vec_count_ = (count);                                                 \
		vec_reserve(vec, vec_count_);                                                \
		if (vec_count_)                                                              \
			memcpy((vec)->items + (vec)->len, (array),                           \
			       vec_count_ * sizeof(*(vec)->items));                          \
		(vec)->len += vec_count_;                                                    \
	} while (0)

/* Remove @count items from @at on; the order of the others stays. */
#define vec_remove(vec, at, count)                                                           \
	do {                                                                                 \
		size_t vec_at_ = (at), vec_end_ = vec_at_ + (count);                         \
		memmove((vec)->items + vec_at_, (vec)->items + vec_end_,                     \
			((vec)->len - vec_end_) * sizeof(*(vec)->items));                    \
		(vec)->len -= vec_end_ - vec_at_;                                            \
	} while (0)

/* Give back the room that is left, of one that grows no more. */
#define vec_fit(vec)                                                                                 \
	((void)((vec)->cap = (vec)->len,                                                             \
		(vec)->items = memory_resize((vec)->items, (vec)->cap, sizeof(*(vec)->items))))

/* A qsort() comparison: numbers of 64 bits, ascending. */
static inline int vec_u64_ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Sort with a qsort() comparison. */
#define vec_sort(vec, compare)                                                       \
	((vec)->len > 1 ? qsort((vec)->items, (vec)->len, sizeof(*(vec)->items), compare) : (void)0)

#define vec_deinit(vec)                                   \
	do {                                              \
		free((vec)->items);                       \
		(vec)->items = NULL;                      \
		(vec)->len = (vec)->cap = 0;              \
	} while (0)

#endif
