/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.c - text for people, made of untrusted bytes.
 */
#include "formats/base/text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Decode one character (RFC 3629: no overlong forms, no surrogates); 0 bytes if it is not valid. */
static size_t decode(const char *text, uint32_t *ret)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const uint8_t *p = (const uint8_t *)text;
	size_t len = *p < 0x80 ? 1 : *p >= 0xc2 && *p < 0xe0 ? 2 : *p >= 0xe0 && *p < 0xf0 ? 3 : 4;
	uint32_t c = len == 1 ? *p : *p & (0xffu >> (len + 1));

	if (!*p || (*p >= 0x80 && *p < 0xc2) || *p > 0xf4)
		return 0;
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < smallest[len] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*ret = c;
	return len;
}

size_t text_char_len(const char *text)
{
	uint32_t c;

	return decode(text, &c);
}

static bool is_harmless(uint32_t c)
{
	if (c < 0x20 || (c >= 0x7f && c < 0xa0))
		return false;
	if ((c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e))
		return false;
	if ((c & 0xfffe) == 0xfffe || (c >= 0xfdd0 && c <= 0xfdef)) /* no characters; XML forbids them */
		return false;
	return !((c >= 0x2060 && c <= 0x2069) || c == 0xfeff || c == 0x061c);
}

/* Length of the harmless prefix of @text. */
static size_t harmless_len(const char *text)
{
	size_t len = 0, step;
	uint32_t c;

	do {
		while (text[len] >= ' ' && text[len] < 0x7f) /* most text, and quickly */
			len++;
		step = decode(text + len, &c);
		if (!step || !is_harmless(c))
			return len;
		len += step;
	} while (true);
}

const char *text_escape(struct arena *arena, const char *text)
{
	size_t len = harmless_len(text);

	if (!text[len])
		return text;

	char *escaped = arena_alloc(arena, strlen(text) * 4 + 1);
	char *out = escaped;

	while (*text) {
		len = harmless_len(text);
		memcpy(out, text, len);
		out += len;
		text += len;
		for (size_t bad = MAX(text_char_len(text), 1); *text && bad; bad--)
			out += snprintf(out, sizeof("\\x00"), "\\x%02x", (uint8_t)*text++);
	}
	return escaped;
}

void text_put_escaped(FILE *out, const char *text)
{
	while (*text) {
		size_t len = harmless_len(text);

		fwrite(text, 1, len, out);
		text += len;
		for (size_t bad = MAX(text_char_len(text), 1); *text && bad; bad--)
			fprintf(out, "\\x%02x", (uint8_t)*text++);
	}
}

const char *text_shell_word(struct arena *arena, const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-.:@/,+=";
	char *word, *out;

	/* Shells read "name=value" and "=name" in ways of their own, but not behind a "-". */
	if (*text && !text[strspn(text, plain)] && (*text == '-' || !strchr(text, '=')))
		return text;
	word = out = arena_alloc(arena, strlen(text) * 4 + 3);
	*out++ = '\'';
	for (; *text; text++) {
		if (*text == '\'')
			out = stpcpy(out, "'\\''");
		else
			*out++ = *text;
	}
	*out++ = '\'';
	*out = 0;
	return word;
}

const char *text_shell_line(struct arena *arena, const char *words, size_t len, bool cut)
{
	CLEANUP(arena_deinit) struct arena scratch = { 0 };
	char *line = arena_alloc(arena, len * 4 + sizeof("..."));
	char *out = line;

	for (size_t at = 0; at < len; at += strlen(words + at) + 1) {
		out = stpcpy(out, text_shell_word(&scratch, words + at));
		*out++ = ' ';
	}
	out = stpcpy(out, cut ? "..." : "");
	if (!cut && out != line)
		out[-1] = '\0';
	*out = '\0';
	return line;
}

/* East Asian wide and emoji blocks (Unicode TR 11), coarse: enough to line up columns. */
static bool is_wide(uint32_t c)
{
	return (c >= 0x1100 && c <= 0x115f) || (c >= 0x2e80 && c <= 0xa4cf) ||
	       (c >= 0xac00 && c <= 0xd7a3) || (c >= 0xf900 && c <= 0xfaff) ||
	       (c >= 0xfe30 && c <= 0xfe6f) || (c >= 0xff00 && c <= 0xff60) ||
	       (c >= 0xffe0 && c <= 0xffe6) || (c >= 0x1f300 && c <= 0x1faff) ||
	       (c >= 0x20000 && c <= 0x3fffd);
}

static bool is_combining(uint32_t c)
{
	return (c >= 0x300 && c <= 0x36f) || (c >= 0x1ab0 && c <= 0x1aff) ||
	       (c >= 0x20d0 && c <= 0x20ff) || (c >= 0xfe00 && c <= 0xfe0f);
}

size_t text_width(const char *text)
{
	size_t width = 0, step;
	uint32_t c;

	for (; *text; text += step) {
		step = decode(text, &c);
		if (!step) {
			step = 1;
			c = ' ';
		}
		width += is_combining(c) ? 0 : is_wide(c) ? 2 : 1;
	}
	return width;
}

/* How much of @text goes on a line of @room columns: up to the last blank that fits, or one long word. */
static size_t line_len(const char *text, size_t room)
{
	size_t fits = 0, columns = 0, len = 0;

	for (; text[len] && text[len] != '\n'; columns++) {
		if (columns > room && fits)
			break;
		if (text[len] == ' ' && columns > room)
			return len;
		if (text[len] == ' ')
			fits = len;
		len += MAX(text_char_len(text + len), (size_t)1);
	}
	return columns > room && fits ? fits : len;
}

void text_put_wrapped(FILE *out, const char *text, size_t indent, size_t width)
{
	size_t room = width > indent ? width - indent : 1;

	for (;;) {
		size_t len = line_len(text, room);

		fprintf(out, "%.*s\n", (int)len, text);
		text += len;
		if (!*text)
			return;
		text++; /* the blank or line feed that the break replaces */
		fprintf(out, "%*s", *text == '\n' ? 0 : (int)indent, "");
	}
}

/* Where the last column of the line at @text begins, or else its first word, behind the number of an item. */
static size_t column_of(const char *text, size_t len, size_t width)
{
	size_t first = strspn(text, " "), column;

	if (strspn(text + first, "0123456789") == 1 && text[first + 1] == '.' && text[first + 2] == ' ')
		first += strlen("1. ");
	column = first;

	for (size_t i = first + 1; i + 1 < len; i++)
		if (text[i - 1] == ' ' && text[i] == ' ' && text[i + 1] != ' ')
			column = i + 1;
	return column > width / 2 ? first : column;
}

void text_put_lines(FILE *out, const char *text, size_t width)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };

	while (*text) {
		size_t len = strcspn(text, "\n");
		const char *line = arena_memdup(&arena, text, len);
		size_t indent = column_of(line, len, width);

		fprintf(out, "%.*s", (int)indent, line);
		text_put_wrapped(out, line + indent, indent, width);
		text += len + (text[len] == '\n');
	}
}

#define DISTANCE_MAX 63 /* characters compared; longer names are cut */

/* Optimal string alignment (Damerau-Levenshtein without repeated edits), three rows. */
unsigned text_distance(const char *a, const char *b)
{
	uint8_t rows[3][DISTANCE_MAX + 1];
	size_t alen = strnlen(a, DISTANCE_MAX), blen = strnlen(b, DISTANCE_MAX);
	uint8_t *before = rows[0], *last = rows[1], *now = rows[2];

	memset(rows, 0, sizeof(rows));
	for (size_t j = 0; j <= blen; j++)
		last[j] = (uint8_t)j;
	for (size_t i = 1; i <= alen; i++) {
		int x = tolower((uint8_t)a[i - 1]);

		now[0] = (uint8_t)i;
		for (size_t j = 1; j <= blen; j++) {
			int y = tolower((uint8_t)b[j - 1]);
			int best = MIN(MIN(last[j], now[j - 1]) + 1, last[j - 1] + (x != y));

			if (i > 1 && j > 1 && x == tolower((uint8_t)b[j - 2]) &&
			    tolower((uint8_t)a[i - 2]) == y)
				best = MIN(best, before[j - 2] + 1);
			now[j] = (uint8_t)best;
		}
		uint8_t *oldest = before;

		before = last;
		last = now;
		now = oldest;
	}
	return last[blen];
}

void text_near_offer(struct text_near *near, const char *name)
{
	unsigned limit = (unsigned)MAX(strlen(near->wanted) / 3, 1);
	unsigned distance = text_distance(near->wanted, name);
	unsigned i = near->len;

	if (distance > limit && *near->wanted && strcasestr(name, near->wanted))
		distance = limit;
	if (distance > limit)
		return;
	for (unsigned k = 0; k < near->len; k++)
		if (strcmp(near->names[k], name) == 0)
			return;
	while (i && (distance < near->distance[i - 1] ||
		     (distance == near->distance[i - 1] && strcmp(name, near->names[i - 1]) < 0)))
		i--;
	if (i == TEXT_NEAR_MAX)
		return;
	if (near->len < TEXT_NEAR_MAX)
		near->len++;
	for (unsigned k = near->len - 1; k > i; k--) {
		near->names[k] = near->names[k - 1];
		near->distance[k] = near->distance[k - 1];
	}
	near->names[i] = name;
	near->distance[i] = distance;
}

const char *text_near_hint(const struct text_near *near, struct arena *arena)
{
	const char *list = "";

	if (!near->len)
		return NULL;
	for (unsigned i = 0; i < near->len; i++) {
		const char *joint = i == 0 ? "" : i + 1 == near->len ? " or " : ", ";

		list = arena_printf(arena, "%s%s'%s'", list, joint, near->names[i]);
	}
	return arena_printf(arena, "did you mean %s?", list);
}

bool text_begins(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool text_ends(const char *text, const char *suffix)
{
	size_t len = strlen(text), suffix_len = strlen(suffix);

	return len >= suffix_len && strcmp(text + len - suffix_len, suffix) == 0;
}

bool text_parse_u64(const char *text, uint64_t *ret)
{
	char *end;

	if (!isdigit((uint8_t)*text))
		return false;
	errno = 0;
	unsigned long long value = strtoull(text, &end, 10);

	if (errno || *end)
		return false;
	*ret = value;
	return true;
}

bool text_parse_size(const char *text, uint64_t *ret)
{
	static const char units[] = "kmgt";
	char *end;
	unsigned shift = 0;

	if (!isdigit((uint8_t)*text))
		return false;
	errno = 0;
	unsigned long long value = strtoull(text, &end, 10);
	const char *unit = *end ? strchr(units, tolower((uint8_t)*end)) : NULL;

	if (unit) {
		shift = 10 * (unsigned)(unit - units + 1);
		end++;
	}
	if (tolower((uint8_t)*end) == 'b')
		end++;
	if (errno || *end || value > UINT64_MAX >> shift)
		return false;
	*ret = (uint64_t)value << shift;
	return true;
}

const char *text_size(struct arena *arena, uint64_t len)
{
	static const char *const units[] = { "KB", "MB", "GB", "TB" };
	double size = (double)len;
	size_t unit = 0;

	if (len < 1000)
		return arena_printf(arena, "%" PRIu64 " B", len);
	for (size /= 1000; size >= 999.5 && unit + 1 < ARRAY_LEN(units); unit++)
		size /= 1000;
	return arena_printf(arena, "%.*f %s", size < 99.95 ? 1 : 0, size, units[unit]);
}
