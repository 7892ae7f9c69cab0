/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_writer.h - writing JSON (RFC 8259): strings from hostile places, and commas where they belong.
 *
 * Output is a stream: open, members, close. What does not print cannot fail; the stream's error flag is
 * looked at when the program ends.
 */
#ifndef FORMATS_JSON_WRITER_H
#define FORMATS_JSON_WRITER_H

#include "formats/base/err.h"
#include "formats/base/writer.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_DEPTH_MAX 64

struct json {
	FILE *out;
	unsigned depth;
	bool begun[JSON_DEPTH_MAX]; /* something stands before in this object or array */
	bool lines; /* line feeds and indentation between the members of the outer two levels */
};

void json_init(struct json *json, FILE *out);

/*
 * @key is NULL inside arrays and at the top. Nesting deeper than JSON_DEPTH_MAX is our own mistake.
 */
void json_open(struct json *json, const char *key, char bracket); /* '{' or '[' */
void json_close(struct json *json, char bracket);                 /* '}' or ']' */
/* Bytes that are not UTF-8 become the four characters \xNN; what text_escape() hides is written as \uNNNN. */
void json_string(struct json *json, const char *key, const char *text);
void json_uint(struct json *json, const char *key, uint64_t value);
void json_uint_or_null(struct json *json, const char *key, uint32_t value); /* null for UINT32_MAX */
void json_int(struct json *json, const char *key, int64_t value);
void json_bool(struct json *json, const char *key, bool value);

/* @text stands as it is: it is a number already. */
void json_number(struct json *json, const char *key, const char *text);

/* A text by itself, which @put prints, behind its length (32 bits) into @out. ERR_SYSTEM: no memory. */
MUST_USE struct err *json_pack(struct writer *out, void (*put)(struct json *json, void *context), void *context);

#endif
