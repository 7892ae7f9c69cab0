/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_text.h - lines of a text in place, and words and numbers in them.
 */
#ifndef FORMATS_IMPORT_TEXT_H
#define FORMATS_IMPORT_TEXT_H

#include "formats/base/json_reader.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct import_lines {
	const char *pos, *end;
	uint64_t number; /* of the line that was read last, from 1 */
};

static inline void import_lines_init(struct import_lines *lines, const void *data, size_t len)
{
	*lines = (struct import_lines){ .pos = data, .end = (const char *)data + len };
}

/* The next line, without its end and blanks at it; empty lines too. */
static inline bool import_lines_next(struct import_lines *lines, struct json_text *ret)
{
	const char *stop;

	if (lines->pos >= lines->end)
		return false;
	stop = memchr(lines->pos, '\n', (size_t)(lines->end - lines->pos));
	if (!stop)
		stop = lines->end;
	ret->data = lines->pos;
	ret->len = (size_t)(stop - lines->pos);
	while (ret->len && (ret->data[ret->len - 1] == '\r' || ret->data[ret->len - 1] == ' '))
		ret->len--;
	lines->pos = stop + 1;
	lines->number++;
	return true;
}

/* Take what stands in front of the first @stop off @text, and @stop itself; all of it if there is none. */
static inline struct json_text import_take(struct json_text *text, char stop)
{
	const char *at = text->len ? memchr(text->data, stop, text->len) : NULL;
	struct json_text taken = { text->data, at ? (size_t)(at - text->data) : text->len };
	size_t used = taken.len + (at != NULL);

	text->data += used;
	text->len -= used;
	return taken;
}

/* Without blanks in front. */
static inline struct json_text import_trim(struct json_text text)
{
	while (text.len && (*text.data == ' ' || *text.data == '\t')) {
		text.data++;
		text.len--;
	}
	while (text.len && (text.data[text.len - 1] == ' ' || text.data[text.len - 1] == '\t'))
		text.len--;
	return text;
}

/* All of @text as a number; false if it is none or too large. */
static inline bool import_number(struct json_text text, uint64_t *ret)
{
	uint64_t value = 0;

	if (!text.len)
		return false;
	for (size_t i = 0; i < text.len; i++) {
		if (text.data[i] < '0' || text.data[i] > '9' || __builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(text.data[i] - '0'), &value))
			return false;
	}
	*ret = value;
	return true;
}

/* The same in hexadecimal, with or without "0x". */
static inline bool import_hex(struct json_text text, uint64_t *ret)
{
	uint64_t value = 0;

	if (text.len > 2 && text.data[0] == '0' && (text.data[1] == 'x' || text.data[1] == 'X')) {
		text.data += 2;
		text.len -= 2;
	}
	if (!text.len || text.len > 16)
		return false;
	for (size_t i = 0; i < text.len; i++) {
		char c = text.data[i];
		int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;

		if (digit < 0)
			return false;
		value = value << 4 | (uint64_t)digit;
	}
	*ret = value;
	return true;
}

static inline bool import_starts(struct json_text text, const char *with)
{
	size_t len = strlen(with);

	return text.len >= len && memcmp(text.data, with, len) == 0;
}

#endif
