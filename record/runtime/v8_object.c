/* SPDX-License-Identifier: Apache-2.0 */
/*
 * v8_object.c - the representations of strings have had the same numbers since V8 4 (src/objects/instance-type.h):
 *
 *	sequential   length, characters
 *	cons         first, second: both may be cons again
 *	thin, sliced another string, from an offset on
 *	external     the characters are outside the heap
 */
#include "record/runtime/v8_object.h"

#include "formats/base/compiler.h"

#include <string.h>

#define NOT_STRING	0xff80 /* of a type */
#define ONE_BYTE	8
#define REPRESENTATION	7
#define SEQUENTIAL	0
#define CONS		1
#define EXTERNAL	2
#define SLICED		3
#define THIN		5
#define CHARACTERS	16 /* offsets: of a sequential string; */
#define FIRST		16 /* of a cons, thin or sliced one, */
#define SECOND		24 /* which is a number in a sliced one; */
#define EXTERNAL_DATA	24
#define HOPS_MAX	16 /* from string to string */
#define PIECES_MAX	64 /* of a cons string */
#define CHARACTERS_MAX	(1U << 29)

uint16_t v8_type(struct managed_view *view, const struct v8_layout *l, uint64_t object)
{
	uint64_t map;
	uint16_t type;

	if (!v8_is_object(object) || !managed_view_try(view, object - 1, &map, sizeof(map)) || !v8_is_object(map) ||
	    !managed_view_try(view, map - 1 + l->at[V8_MAP_TYPE], &type, sizeof(type)))
		return V8_NO_TYPE;
	return type;
}

bool v8_is_string(struct managed_view *view, const struct v8_layout *l, uint64_t object)
{
	return !(v8_type(view, l, object) & NOT_STRING);
}

/* Characters [@skip, ...) of a string, no more than are there. */
static bool flat_of(struct managed_view *view, const struct v8_layout *l, uint64_t object, struct v8_flat *ret)
{
	uint32_t skip = 0, len = UINT32_MAX;

	for (int hops = 0; hops < HOPS_MAX && !view->failed; hops++) {
		uint16_t type = v8_type(view, l, object);
		uint32_t own = type & NOT_STRING ? 0 : managed_view_u32(view, object - 1 + l->at[V8_STRING_LENGTH]);

		if (type & NOT_STRING || own > CHARACTERS_MAX || own < skip)
			return false;
		len = MIN(len, own - skip);
		ret->width = type & ONE_BYTE ? 1 : 2;
		ret->len = len;
		ret->addr = object - 1 + CHARACTERS + (uint64_t)skip * ret->width;
		switch (type & REPRESENTATION) {
		case SEQUENTIAL:
			return true;
		case EXTERNAL:
			ret->addr = v8_word(view, object, EXTERNAL_DATA) + (uint64_t)skip * ret->width;
			return !view->failed;
		case SLICED:
			skip += v8_small(v8_word(view, object, SECOND));
			if (skip > CHARACTERS_MAX)
				return false;
			break;
		case CONS: /* a flat one has an empty second part */
			if (managed_view_u32(view, v8_word(view, object, SECOND) - 1 + l->at[V8_STRING_LENGTH]))
				return false;
			break;
		case THIN:
			break;
		default:
			return false;
		}
		object = v8_word(view, object, FIRST);
	}
	return false;
}

bool v8_flat(struct managed_view *view, const struct v8_layout *l, uint64_t object, struct v8_flat *ret)
{
	return flat_of(view, l, object, ret) && !view->failed;
}

/* ---- text ------------------------------------------------------------------------------------------ */

struct text {
	char *to;
	size_t len, room; /* without the NUL */
};

/* False if it has no room. Halves of surrogate pairs stand alone, since names hardly have any. */
static bool put(struct text *t, uint16_t c)
{
	uint8_t bytes[3];
	size_t count = c < 0x80 ? 1 : c < 0x800 ? 2 : 3;

	if (c < ' ' || c == 0x7f || (c >= 0x80 && c < 0xa0) || (c >= 0xd800 && c < 0xe000)) {
		c = '?';
		count = 1;
	}
	if (t->room - t->len < count)
		return false;
	bytes[0] = (uint8_t)(count == 1 ? c : count == 2 ? 0xc0 | c >> 6 : 0xe0 | c >> 12);
	bytes[count - 1] = (uint8_t)(count == 1 ? c : 0x80 | (c & 0x3f));
	if (count == 3)
		bytes[1] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
	memcpy(t->to + t->len, bytes, count);
	t->len += count;
	return true;
}

static bool put_flat(struct managed_view *view, const struct v8_flat *flat, struct text *t)
{
	for (uint32_t i = 0; i < flat->len; i++) {
		uint16_t c = 0;

		if (!managed_view_copy(view, flat->addr + (uint64_t)i * flat->width, &c, flat->width))
			return false;
		if (!put(t, c))
			break;
	}
	return true;
}

/* The parts of a cons string, from the left; those that wait are on a stack of their own. */
static bool put_parts(struct managed_view *view, const struct v8_layout *l, uint64_t object, struct text *t)
{
	uint64_t waiting[PIECES_MAX] = { object };
	size_t depth = 1;

	for (int steps = 0; depth && steps < 2 * PIECES_MAX && t->len < t->room; steps++) {
		struct v8_flat flat;

		object = waiting[--depth];
		if (v8_flat(view, l, object, &flat)) {
			if (!put_flat(view, &flat, t))
				return false;
			continue;
		}
		if (view->failed || (v8_type(view, l, object) & (NOT_STRING | REPRESENTATION)) != CONS || depth + 2 > PIECES_MAX)
			return false;
		waiting[depth++] = v8_word(view, object, SECOND);
		waiting[depth++] = v8_word(view, object, FIRST);
	}
	return true;
}

bool v8_string(struct managed_view *view, const struct v8_layout *l, uint64_t object, char *ret, size_t len)
{
	struct text t = { ret, 0, len - 1 };
	bool is_whole = put_parts(view, l, object, &t) && !view->failed;

	ret[t.len] = '\0';
	return is_whole;
}
