/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_field.h - tagged fields: how everything but events is written in a trace file.
 *
 *	| tag, ULEB | length, ULEB | value |
 *
 * Tables say which tag is which member of a struct; writing and reading share them. Unknown tags
 * are skipped, members whose tag does not occur keep their value.
 */
#ifndef FORMATS_TRACE_FIELD_H
#define FORMATS_TRACE_FIELD_H

#include "formats/base/arena.h"
#include "formats/base/reader.h"
#include "formats/base/writer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum trace_field_kind {
	TRACE_FIELD_STRING, /* const char * */
	TRACE_FIELD_BOOL,   /* ULEB, 0 or 1 */
	TRACE_FIELD_U8,     /* ULEB, like the next three */
	TRACE_FIELD_U32,
	TRACE_FIELD_U64,
	TRACE_FIELD_I32,      /* zig-zag ULEB */
	TRACE_FIELD_BUILD_ID, /* uint8_t len; uint8_t bytes[20]; at @offset */
};

struct trace_field {
	uint64_t tag; /* from 1; 0 ends a table */
	enum trace_field_kind kind;
	size_t offset;
};

#define TRACE_BUILD_ID_MAX 20

/*
 * Append the members of @object that @table lists; zeros and empty strings are left out, I32
 * never.
 */
void trace_fields_put(struct writer *w, const struct trace_field *table, const void *object);

/* Append one field. */
void trace_field_put_bytes(struct writer *w, uint64_t tag, const void *data, size_t len);
void trace_field_put_uint(struct writer *w, uint64_t tag, uint64_t value);

/* The next field; false at the end or when it does not fit (reader_check() tells). */
bool trace_field_next(struct reader *r, uint64_t *ret_tag, struct reader *ret_value);

/*
 * Store @value in the member with @tag, if @table has it; a value that is wrong makes @value
 * fail.
 */
void trace_field_load(const struct trace_field *table, uint64_t tag, struct reader *value,
		      struct arena *arena, void *object);

/* The rest of @value as a string in @arena. */
const char *trace_field_string(struct reader *value, struct arena *arena);

#endif
