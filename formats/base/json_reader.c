/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_reader.c - numbers are read by hand, texts are searched for their quote by memchr().
 */
#include "formats/base/json_reader.h"

#include "formats/base/compiler.h"

#include <stdlib.h>

#define NUMBER_MAX 64 /* characters of a number that matter */

void json_reader_init(struct json_reader *r, const void *data, size_t len)
{
	*r = (struct json_reader){ .begin = data, .pos = data, .end = (const char *)data + len };
	if (len >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0)
		r->pos += 3;
}

void json_reader_deinit(struct json_reader *r)
{
	writer_deinit(&r->scratch);
}

struct json_reader json_reader_part(const struct json_reader *r, struct json_text part)
{
	const char *start = part.data ? part.data : r->begin;

	return (struct json_reader){ .begin = r->begin, .pos = start, .end = start + part.len };
}

void json_read_fail(struct json_reader *r, const char *expected)
{
	if (!r->failed) {
		r->failed = expected;
		r->cut = r->pos >= r->end;
	}
}

static inline void skip_blanks(struct json_reader *r)
{
	while (r->pos < r->end && (*r->pos == ' ' || *r->pos == '\n' || *r->pos == '\t' || *r->pos == '\r'))
		r->pos++;
}

/* The next character that is no blank, 0 at the end and after a failure. */
static inline char look(struct json_reader *r)
{
	if (r->failed)
		return 0;
	skip_blanks(r);
	return r->pos < r->end ? *r->pos : 0;
}

enum json_kind json_read_peek(struct json_reader *r)
{
	switch (look(r)) {
	case '{':
		return JSON_OBJECT;
	case '[':
		return JSON_ARRAY;
	case '"':
		return JSON_TEXT;
	case 't':
	case 'f':
		return JSON_BOOL;
	case 'n':
		return JSON_NULL;
	case '-':
	case '0' ... '9':
		return JSON_NUMBER;
	default:
		return JSON_NONE;
	}
}

static bool take_word(struct json_reader *r, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(r->end - r->pos) < len || memcmp(r->pos, word, len) != 0)
		return false;
	r->pos += len;
	return true;
}

static bool take_null(struct json_reader *r)
{
	return look(r) == 'n' && take_word(r, "null");
}

static bool begin(struct json_reader *r, char bracket, const char *expected)
{
	if (look(r) == bracket) {
		r->pos++;
		r->fresh = true;
		return true;
	}
	if (!take_null(r))
		json_read_fail(r, expected);
	return false;
}

bool json_read_object(struct json_reader *r)
{
	return begin(r, '{', "an object");
}

bool json_read_array(struct json_reader *r)
{
	return begin(r, '[', "an array");
}

/* Is there another one before @bracket? */
static bool more(struct json_reader *r, char bracket)
{
	char c = look(r);

	if (!r->fresh && c == ',') {
		r->pos++;
		c = look(r);
	} else if (!r->fresh && c != bracket) {
		json_read_fail(r, "a comma or the closing bracket");
		return false;
	}
	r->fresh = false;
	if (c == bracket) {
		r->pos++;
		return false;
	}
	if (!c)
		json_read_fail(r, "a value or the closing bracket");
	return !r->failed;
}

bool json_read_more(struct json_reader *r)
{
	return more(r, ']');
}

/* ---- texts ---- */

/* The four digits at @digits, or -1. */
static int hex4(const char *digits)
{
	int value = 0;

	for (int i = 0; i < 4; i++) {
		char c = digits[i];

		if (c >= '0' && c <= '9')
			value = value * 16 + (c - '0');
		else if ((c | 32) >= 'a' && (c | 32) <= 'f')
			value = value * 16 + ((c | 32) - 'a' + 10);
		else
			return -1;
	}
	return value;
}

/* "\u1234" at @at, whose "\u" is there; its length, 0 if it is wrong. A lone surrogate becomes U+FFFD. */
static size_t put_unicode(struct writer *w, const char *at, const char *end)
{
	int high = end - at >= 6 ? hex4(at + 2) : -1;
	int low = end - at >= 12 && at[6] == '\\' && at[7] == 'u' ? hex4(at + 8) : -1;

	if (high < 0)
		return 0;
	if (high >= 0xd800 && high < 0xdc00 && low >= 0xdc00 && low < 0xe000) {
		writer_utf8(w, 0x10000 + ((uint32_t)(high - 0xd800) << 10) + (uint32_t)(low - 0xdc00));
		return 12;
	}
	if (high == 0 || (high >= 0xd800 && high < 0xe000))
		high = 0xfffd;
	writer_utf8(w, (uint32_t)high);
	return 6;
}

static size_t put_escape(struct writer *w, const char *at, const char *end)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *found;

	if (end - at < 2)
		return 0;
	if (at[1] == 'u')
		return put_unicode(w, at, end);
	found = at[1] ? strchr(from, at[1]) : NULL;
	if (!found)
		return 0;
	writer_u8(w, (uint8_t)to[found - from]);
	return 2;
}

static struct json_text unescape(struct json_reader *r, const char *text, const char *end)
{
	writer_reset(&r->scratch);
	while (text < end) {
		const char *slash = memchr(text, '\\', (size_t)(end - text));
		const char *stop = slash ? slash : end;
		size_t len = 0;

		writer_bytes(&r->scratch, text, (size_t)(stop - text));
		if (slash) {
			len = put_escape(&r->scratch, slash, end);
			if (!len) {
				r->pos = slash;
				json_read_fail(r, "an escape sequence");
				return (struct json_text){ "", 0 };
			}
		}
		text = stop + len;
	}
	return (struct json_text){ (const char *)r->scratch.data, r->scratch.len };
}

/* The quote that ends the text that begins at @text, or NULL. */
static const char *closing_quote(const char *text, const char *end, bool *ret_escaped)
{
	const char *quote = text, *slash = NULL;

	for (;;) {
		quote = memchr(quote, '"', (size_t)(end - quote));
		if (!quote)
			return NULL;
		for (slash = quote; slash > text && slash[-1] == '\\';)
			slash--;
		if ((quote - slash) % 2 == 0)
			break;
		quote++;
	}
	*ret_escaped = memchr(text, '\\', (size_t)(quote - text)) != NULL;
	return quote;
}

static struct json_text take_text(struct json_reader *r)
{
	bool escaped = false;
	const char *text = r->pos + 1, *quote = closing_quote(text, r->end, &escaped);

	if (!quote) {
		r->pos = r->end;
		json_read_fail(r, "the closing quote of a text");
		return (struct json_text){ "", 0 };
	}
	r->pos = quote + 1;
	if (escaped)
		return unescape(r, text, quote);
	return (struct json_text){ text, (size_t)(quote - text) };
}

struct json_text json_read_text(struct json_reader *r)
{
	if (look(r) == '"')
		return take_text(r);
	if (!take_null(r))
		json_read_fail(r, "a text");
	return (struct json_text){ "", 0 };
}

bool json_read_key(struct json_reader *r, struct json_text *ret)
{
	if (!more(r, '}'))
		return false;
	if (look(r) != '"') {
		json_read_fail(r, "a key");
		return false;
	}
	*ret = take_text(r);
	if (look(r) != ':') {
		json_read_fail(r, "a colon");
		return false;
	}
	r->pos++;
	return true;
}

/* ---- numbers ---- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool goes_on(char c)
{
	return is_digit(c) || c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-';
}

/* What is no plain whole number: strtod() on a copy, as the input has no NUL. */
static double long_number(struct json_reader *r)
{
	char copy[NUMBER_MAX + 1], *stop;
	size_t len = 0, room = (size_t)(r->end - r->pos);

	while (len < room && goes_on(r->pos[len]))
		len++;
	memcpy(copy, r->pos, MIN(len, (size_t)NUMBER_MAX));
	copy[MIN(len, (size_t)NUMBER_MAX)] = 0;

	double value = strtod(copy, &stop);

	if (stop == copy) {
		json_read_fail(r, "a number");
		return 0;
	}
	r->pos += len;
	return value;
}

#define DIGITS_AT_ONCE 8

/* The value of @len < 8 digits in @text, whose first byte is the lowest; other bytes do not matter. */
static inline int64_t value_of_digits(uint64_t text, unsigned len)
{
	uint64_t digits = (text ^ 0x3030303030303030u) << 8 * (DIGITS_AT_ONCE - len); /* with zeros before them */
	uint64_t pairs = (digits & 0x0f0f0f0f0f0f0f0fu) * (10 * 256 + 1) >> 8;
	uint64_t fours = (pairs & 0x00ff00ff00ff00ffu) * (100 * 65536 + 1) >> 16;

	return (int64_t)((fours & 0x0000ffff0000ffffu) * (((uint64_t)10000 << 32) + 1) >> 32);
}

/* How many of the bytes of @text, from the lowest on, are digits. */
static inline unsigned digits_in(uint64_t text)
{
	uint64_t from_zero = text ^ 0x3030303030303030u;
	/* A byte that is no digit has its high bit set here; it may disturb the ones above it, which do not matter then. */
	uint64_t others = ((from_zero + 0x7676767676767676u) | from_zero) & 0x8080808080808080u;

	return others ? (unsigned)__builtin_ctzll(others) / 8 : DIGITS_AT_ONCE;
}

/* A whole number of one to seven digits, all at once; false, and nothing is consumed, for others. */
static inline bool take_digits(struct json_reader *r, int64_t *ret)
{
	uint64_t text;
	unsigned len;

	if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ || r->end - r->pos < DIGITS_AT_ONCE)
		return false;
	memcpy(&text, r->pos, sizeof(text));
	len = digits_in(text);
	if (!len || len == DIGITS_AT_ONCE || goes_on(r->pos[len]))
		return false;
	*ret = value_of_digits(text, len);
	r->pos += len;
	return true;
}

/* A whole number of at most 18 digits, the commonest by far; false, and nothing is consumed, for others. */
static inline bool take_short(struct json_reader *r, int64_t *ret)
{
	const char *p = r->pos, *digits;
	bool negative = *p == '-';
	int64_t value = 0;

	digits = p += negative;
	while (p < r->end && is_digit(*p) && p - digits < 18)
		value = value * 10 + (*p++ - '0');
	if (p == digits || (p < r->end && goes_on(*p)))
		return false;
	r->pos = p;
	*ret = negative ? -value : value;
	return true;
}

static bool at_number(struct json_reader *r)
{
	char c = look(r);

	if (c == '-' || is_digit(c))
		return true;
	if (!take_null(r))
		json_read_fail(r, "a number");
	return false;
}

static double plain_double(struct json_reader *r)
{
	int64_t value;

	if (!at_number(r))
		return 0;
	return take_short(r, &value) ? (double)value : long_number(r);
}

/* Did @quoted read all of the text that ends where @r is? */
static void check_quoted(struct json_reader *r, const struct json_reader *quoted)
{
	if (quoted->failed || quoted->pos != quoted->end)
		json_read_fail(r, "a number in quotes before this");
}

double json_read_double(struct json_reader *r)
{
	if (look(r) != '"')
		return plain_double(r);

	struct json_reader quoted = json_reader_part(r, take_text(r));
	double value = plain_double(&quoted);

	check_quoted(r, &quoted);
	return r->failed ? 0 : value;
}

static int64_t plain_int(struct json_reader *r)
{
	int64_t value;
	double wide;

	if (!at_number(r))
		return 0;
	if (take_short(r, &value))
		return value;
	wide = long_number(r);
	if (wide >= 9223372036854775807.0)
		return INT64_MAX;
	return wide <= -9223372036854775808.0 ? INT64_MIN : (int64_t)wide;
}

int64_t json_read_int(struct json_reader *r)
{
	if (look(r) != '"')
		return plain_int(r);

	struct json_reader quoted = json_reader_part(r, take_text(r));
	int64_t value = plain_int(&quoted);

	check_quoted(r, &quoted);
	return r->failed ? 0 : value;
}

bool json_read_more_int(struct json_reader *r, int64_t *ret)
{
	if (!r->failed && !r->fresh && r->end - r->pos > 1 && *r->pos == ',' && is_digit(r->pos[1])) {
		r->pos++;
		if (!take_digits(r, ret) && !take_short(r, ret))
			*ret = json_read_int(r);
		return true;
	}
	if (!json_read_more(r))
		return false;
	*ret = json_read_int(r);
	return true;
}

uint64_t json_read_count(struct json_reader *r)
{
	int64_t value = json_read_int(r);

	return value > 0 ? (uint64_t)value : 0;
}

uint32_t json_read_small(struct json_reader *r)
{
	uint64_t value = json_read_count(r);

	return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX - 1;
}

/* ---- values that are of no interest ---- */

static void skip_scalar(struct json_reader *r)
{
	if (!take_word(r, "true") && !take_word(r, "false") && !take_word(r, "null"))
		long_number(r);
}

/* To behind the bracket that closes the one at hand: only texts have to be looked at. */
static void skip_nested(struct json_reader *r)
{
	uint64_t depth = 0;
	bool escaped;

	for (; r->pos < r->end; r->pos++) {
		switch (*r->pos) {
		case '{':
		case '[':
			depth++;
			break;
		case '}':
		case ']':
			if (--depth == 0) {
				r->pos++;
				return;
			}
			break;
		case '"': {
			const char *quote = closing_quote(r->pos + 1, r->end, &escaped);

			r->pos = quote ? quote : r->end - 1;
			break;
		}
		default:
			break;
		}
	}
	json_read_fail(r, "a closing bracket");
}

void json_read_skip(struct json_reader *r)
{
	bool escaped;

	switch (json_read_peek(r)) {
	case JSON_OBJECT:
	case JSON_ARRAY:
		skip_nested(r);
		break;
	case JSON_TEXT: {
		const char *quote = closing_quote(r->pos + 1, r->end, &escaped);

		r->pos = quote ? quote + 1 : r->end;
		if (!quote)
			json_read_fail(r, "the closing quote of a text");
		break;
	}
	case JSON_NONE:
		json_read_fail(r, "a value");
		break;
	default:
		skip_scalar(r);
		break;
	}
	r->fresh = false;
}

struct json_text json_read_raw(struct json_reader *r)
{
	const char *start;

	json_read_peek(r);
	start = r->pos;
	json_read_skip(r);
	return (struct json_text){ start, (size_t)(r->pos - start) };
}

struct err *json_read_check(const struct json_reader *r)
{
	if (!r->failed)
		return NULL;
	if (r->cut)
		return err_new(ERR_CORRUPT, "the file ends at offset %zu, where %s was expected",
			       (size_t)(r->end - r->begin), r->failed);
	return err_new(ERR_CORRUPT, "expected %s at offset %zu", r->failed,
		       (size_t)(r->pos - r->begin));
}
