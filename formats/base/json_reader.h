/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_reader.h - JSON (RFC 8259) read value by value, without a tree in memory.
 *
 *	json_reader_init(&r, data, len);
 *	json_read_object(&r);
 *	while (json_read_key(&r, &key)) {
 *		if (json_is(key, "samples"))
 *			read_samples(&r);
 *		else
 *			json_read_skip(&r);
 *	}
 *	return json_read_check(&r);
 *
 * A whole file is read in place, so memory does not depend on its size. Failure is sticky, as in reader.h: reads yield zero,
 * loops end, and json_read_check() says at the end what was wrong and where. Texts without escapes are slices of the input.
 * Also understood, because tools write them: a comma before a closing bracket, a byte order mark, and a number in quotes where a
 * number belongs.
 */
#ifndef BASE_JSON_READER_H
#define BASE_JSON_READER_H

#include "formats/base/err.h"
#include "formats/base/writer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct json_text {
	const char *data; /* not terminated; valid until the next text is read */
	size_t len;
};

struct json_reader {
	const char *begin, *pos, *end;
	const char *failed; /* what was expected where @pos is, NULL while all is well */
	bool fresh;	    /* just behind an opening bracket */
	bool cut;	    /* the failure is that the input ends */
	struct writer scratch;
};

enum json_kind {
	JSON_NONE, /* the end of the input, a failure, or no value */
	JSON_NULL,
	JSON_BOOL,
	JSON_NUMBER,
	JSON_TEXT,
	JSON_OBJECT,
	JSON_ARRAY,
};

/* @data must outlive the reader and the slices of it. */
void json_reader_init(struct json_reader *r, const void *data, size_t len);
void json_reader_deinit(struct json_reader *r);

/* A reader of its own over @part, which json_read_raw() gave; offsets are those of @r. Of no part (NULL) it is at its end. */
struct json_reader json_reader_part(const struct json_reader *r, struct json_text part);

/* What the next value is; nothing is consumed. */
enum json_kind json_read_peek(struct json_reader *r);

/* Begin an object or array; false, and nothing is consumed, if the next value is null. Else a failure. */
bool json_read_object(struct json_reader *r);
bool json_read_array(struct json_reader *r);

/* The next key of the object, or false at its end, which is consumed. */
bool json_read_key(struct json_reader *r, struct json_text *ret);

/* Is there another element in the array? Its end is consumed. */
bool json_read_more(struct json_reader *r);

/* The next element of an array of whole numbers; false at its end. The same as the two calls, but fast. */
bool json_read_more_int(struct json_reader *r, int64_t *ret);

/* A null yields 0 or "". A fraction is cut off by json_read_int(), and what does not fit becomes the nearest that does. */
int64_t json_read_int(struct json_reader *r);
uint64_t json_read_count(struct json_reader *r); /* json_read_int(), and 0 for what is negative */
uint32_t json_read_small(struct json_reader *r); /* the same, at most UINT32_MAX - 1 */
double json_read_double(struct json_reader *r);
struct json_text json_read_text(struct json_reader *r);

/* Pass over one value, whatever is in it. */
void json_read_skip(struct json_reader *r);

/* The bytes of the next value, which is passed over. */
struct json_text json_read_raw(struct json_reader *r);

/* Make the reader fail by hand. */
void json_read_fail(struct json_reader *r, const char *expected);

/* NULL, or an ERR_CORRUPT with the offset. */
MUST_USE struct err *json_read_check(const struct json_reader *r);

static inline bool json_is(struct json_text text, const char *word)
{
	size_t len = strlen(word);

	return text.len == len && memcmp(text.data, word, len) == 0;
}

#endif
