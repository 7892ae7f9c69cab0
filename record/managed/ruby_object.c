/* SPDX-License-Identifier: Apache-2.0 */
#include "record/managed/ruby_object.h"

#include "formats/base/compiler.h"

#define TYPE_BITS	0x1f
#define EMBEDDED_SHIFT	15 /* of an array's length, when its items are in it */
#define EMBEDDED_BITS	0x7f
#define ARRAY_LEN_AT	16
#define ARRAY_ITEMS	16 /* in it */
#define ARRAY_ITEMS_PTR 32

uint64_t ruby_flags(struct managed_view *view, uint64_t value, enum ruby_type type)
{
	uint64_t flags;

	if (!value || value & 7 || !managed_view_try(view, value, &flags, sizeof(flags)) ||
	    (flags & TYPE_BITS) != type)
		return 0;
	return flags;
}

const char *ruby_text(const struct ruby_strings *strings, struct managed_view *view, uint64_t value)
{
	uint64_t flags = ruby_flags(view, value, RUBY_TYPE_STRING), len, at = value + strings->text;
	char text[RUBY_TEXT_MAX];

	if (!flags || !managed_view_try(view, value + 16, &len, sizeof(len)))
		return "";
	if (flags & RUBY_FLAG_USER_1) {
		if (!managed_view_try(view, value + 24, &at, sizeof(at)))
			return "";
	} else if (strings->text == 16) {
		len = flags >> 14 & 31;
	}
	len = MIN(len, (uint64_t)RUBY_TEXT_MAX);
	if (!managed_view_try(view, at, text, (size_t)len))
		return "";
	return managed_names_keep(strings->names, text, (size_t)len);
}

uint64_t ruby_item(struct managed_view *view, uint64_t value, uint64_t i)
{
	uint64_t flags = ruby_flags(view, value, RUBY_TYPE_ARRAY), items = value + ARRAY_ITEMS, item;
	uint64_t len = flags >> EMBEDDED_SHIFT & EMBEDDED_BITS;

	if (!flags)
		return 0;
	if (!(flags & RUBY_FLAG_USER_1) && (!managed_view_try(view, value + ARRAY_LEN_AT, &len, sizeof(len)) ||
					    !managed_view_try(view, value + ARRAY_ITEMS_PTR, &items, sizeof(items))))
		return 0;
	if (i >= len || i > UINT32_MAX || !managed_view_try(view, items + i * 8, &item, sizeof(item)))
		return 0;
	return item;
}
