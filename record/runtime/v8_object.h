/* SPDX-License-Identifier: Apache-2.0 */
/*
 * v8_object.h - objects in the heap of one V8: their type, words, strings.
 *
 * An @object is a tagged pointer: 1 more than its address. All reads go through a view, which bounds them.
 */
#ifndef RUNTIME_V8_OBJECT_H
#define RUNTIME_V8_OBJECT_H

#include "record/runtime/v8_layout.h"

#define V8_NO_TYPE    UINT16_MAX
#define V8_ARRAY_DATA 16 /* offset of the elements of an array, behind its map and length */

/* What a small integer holds; 0 of what is none. */
static inline uint32_t v8_small(uint64_t word)
{
	return (uint32_t)word ? 0 : (uint32_t)(word >> 32);
}

/* May @word be a pointer to an object of the heap? */
static inline bool v8_is_object(uint64_t word)
{
	return (word & 3) == 1 && word > 1 << 20 && word < 1ULL << 47;
}

static inline uint64_t v8_word(struct managed_view *view, uint64_t object, uint64_t offset)
{
	return managed_view_u64(view, object - 1 + offset);
}

/* V8_NO_TYPE if @object cannot be one, which is no failure of @view. */
uint16_t v8_type(struct managed_view *view, const struct v8_layout *l, uint64_t object);

/* Is it a string? */
bool v8_is_string(struct managed_view *view, const struct v8_layout *l, uint64_t object);

/*
 * The string @object as UTF-8, as much of it as has room in @len bytes with a NUL; control characters become '?'. False if it is none, or
 * cannot be read.
 */
bool v8_string(struct managed_view *view, const struct v8_layout *l, uint64_t object, char *ret, size_t len);

/* Where a string's characters lie in one piece. */
struct v8_flat {
	uint64_t addr;
	uint32_t len;  /* characters, of */
	unsigned width; /* so many bytes */
};

/* False if it is not flat. */
bool v8_flat(struct managed_view *view, const struct v8_layout *l, uint64_t object, struct v8_flat *ret);

#endif
