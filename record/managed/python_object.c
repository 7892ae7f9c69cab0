/* SPDX-License-Identifier: Apache-2.0 */
#include "record/managed/python_object.h"

#include "formats/base/compiler.h"

#include <string.h>

#define TEXT_MAX 512 /* bytes of a text that are read */
#define TYPE_MAX 64  /* bytes of a type's name */

/* What the state of a str says of how it is kept. */
struct text_state {
	uint32_t width; /* bytes of a character */
	bool ascii;
};

/*
 * In the state, "interned" (at most 3) comes first and has 2, 8 or 16 bits, depending on the version and on threads; then
 * 3 bits are the width, 1 says that the text follows, 1 that it is ASCII. Beside the right place the width is 0.
 */
static bool split_state(uint32_t state, struct text_state *ret)
{
	static const unsigned places[] = { 2, 8, 16 };

	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		uint32_t bits = state >> places[i];
		uint32_t width = bits & 7;

		if ((width != 1 && width != 2 && width != 4) || !(bits >> 3 & 1))
			continue;
		*ret = (struct text_state){ .width = width, .ascii = bits >> 4 & 1 };
		return true;
	}
	return false;
}

/* Append the character as UTF-8; false if there is no room. */
static bool put_char(char *out, size_t cap, size_t *len, uint32_t c)
{
	unsigned more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
	static const uint8_t heads[] = { 0, 0xc0, 0xe0, 0xf0 };

	if (*len + more + 1 > cap)
		return false;
	out[(*len)++] = (char)(heads[more] | (more ? c >> 6 * more : c));
	while (more-- > 0)
		out[(*len)++] = (char)(0x80 | (c >> 6 * more & 0x3f));
	return true;
}

const char *python_text(const struct python_layout *l, struct managed_names *names, struct managed_view *view, uint64_t addr)
{
	uint64_t len;
	uint32_t bits;
	struct text_state state;
	uint8_t raw[TEXT_MAX];
	char text[TEXT_MAX];
	size_t out = 0;

	if (!managed_view_try(view, addr + l->text_len, &len, sizeof(len)) ||
	    !managed_view_try(view, addr + l->text_state, &bits, sizeof(bits)) ||
	    !split_state(bits, &state))
		return "";
	uint32_t width = state.width;
	size_t count = (size_t)MIN(len, (uint64_t)(TEXT_MAX / width));

	if (!managed_view_try(view, addr + (state.ascii ? l->ascii_len : l->compact_len), raw,
			      count * width))
		return "";
	for (size_t i = 0; i < count; i++) {
		uint32_t c = 0;

		memcpy(&c, raw + i * width, width);
		if (c > 0x10ffff || !put_char(text, sizeof(text), &out, c))
			break;
	}
	return managed_names_keep(names, text, out);
}

const char *python_type(const struct python_layout *l, struct managed_names *names, struct managed_view *view,
			uint64_t object)
{
	char text[TYPE_MAX];
	uint64_t type, name;

	if (!managed_view_try(view, object + l->object_type, &type, sizeof(type)) ||
	    !managed_view_try(view, type + l->type_name, &name, sizeof(name)))
		return "";
	for (size_t room = sizeof(text); room >= 8; room /= 2) {
		/* It may end close before memory that is not there. */
		if (!managed_view_try(view, name, text, room))
			continue;
		size_t len = strnlen(text, room);

		return managed_names_keep(names, text, len);
	}
	return "";
}
