/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_field.c - the tables of tagged fields at work.
 */
#include "formats/trace/trace_field.h"

#include <string.h>

void trace_field_put_bytes(struct writer *w, uint64_t tag, const void *data, size_t len)
{
	writer_uleb(w, tag);
	writer_uleb(w, len);
	writer_bytes(w, data, len);
}

void trace_field_put_uint(struct writer *w, uint64_t tag, uint64_t value)
{
	unsigned bits = 64 - (unsigned)__builtin_clzll(value | 1);

	writer_uleb(w, tag);
	writer_uleb(w, (bits + 6) / 7);
	writer_uleb(w, value);
}

static void put_member(struct writer *w, const struct trace_field *field, const void *member)
{
	uint64_t value = 0;
	int32_t number;

	switch (field->kind) {
	case TRACE_FIELD_STRING: {
		const char *text = *(const char *const *)member;

		if (text && *text)
			trace_field_put_bytes(w, field->tag, text, strlen(text));
		return;
	}
	case TRACE_FIELD_BUILD_ID: {
		const uint8_t *id = member;

		if (id[0])
			trace_field_put_bytes(w, field->tag, id + 1,
					      MIN(id[0], TRACE_BUILD_ID_MAX));
		return;
	}
	case TRACE_FIELD_I32:
		number = *(const int32_t *)member;
		trace_field_put_uint(w, field->tag,
				     (uint32_t)number << 1 ^ (uint32_t)(number >> 31));
		return;
	case TRACE_FIELD_BOOL:
		value = *(const bool *)member;
		break;
	case TRACE_FIELD_U8:
		value = *(const uint8_t *)member;
		break;
	case TRACE_FIELD_U32:
		value = *(const uint32_t *)member;
		break;
	case TRACE_FIELD_U64:
		value = *(const uint64_t *)member;
		break;
	}
	if (value)
		trace_field_put_uint(w, field->tag, value);
}

void trace_fields_put(struct writer *w, const struct trace_field *table, const void *object)
{
	for (const struct trace_field *field = table; field->tag; field++)
		put_member(w, field, (const char *)object + field->offset);
}

bool trace_field_next(struct reader *r, uint64_t *ret_tag, struct reader *ret_value)
{
	if (!reader_left(r))
		return false;

	uint64_t tag = reader_uleb(r, "field tag");
	uint64_t len = reader_uleb(r, "field length");

	if (len > reader_left(r)) {
		reader_fail(r, "field");
		return false;
	}
	*ret_value = reader_slice(r, len, "field");
	*ret_tag = tag;
	return !r->failed;
}

const char *trace_field_string(struct reader *value, struct arena *arena)
{
	size_t len = reader_left(value);
	const void *data = reader_bytes(value, len, "string");

	return arena_memdup(arena, data, data ? len : 0);
}

static uint64_t number_upto(struct reader *value, uint64_t max)
{
	uint64_t number = reader_uleb(value, "number");

	if (number > max)
		reader_fail(value, "number");
	return value->failed ? 0 : number;
}

static void load_build_id(struct reader *value, uint8_t *member)
{
	size_t len = reader_left(value);
	const void *data;

	if (len > TRACE_BUILD_ID_MAX) {
		reader_fail(value, "build ID");
		return;
	}
	data = reader_bytes(value, len, "build ID");
	if (!data)
		return;
	member[0] = (uint8_t)len;
	memcpy(member + 1, data, len);
}

static void load_member(const struct trace_field *field, struct reader *value, struct arena *arena,
			void *member)
{
	switch (field->kind) {
	case TRACE_FIELD_STRING:
		*(const char **)member = trace_field_string(value, arena);
		break;
	case TRACE_FIELD_BOOL:
		*(bool *)member = number_upto(value, UINT64_MAX) != 0;
		break;
	case TRACE_FIELD_U8:
		*(uint8_t *)member = (uint8_t)number_upto(value, UINT8_MAX);
		break;
	case TRACE_FIELD_U32:
		*(uint32_t *)member = (uint32_t)number_upto(value, UINT32_MAX);
		break;
	case TRACE_FIELD_U64:
		*(uint64_t *)member = number_upto(value, UINT64_MAX);
		break;
	case TRACE_FIELD_I32: {
		uint32_t number = (uint32_t)number_upto(value, UINT32_MAX);

		*(int32_t *)member = (int32_t)(number >> 1 ^ -(number & 1));
		break;
	}
	case TRACE_FIELD_BUILD_ID:
		load_build_id(value, member);
		break;
	}
}

void trace_field_load(const struct trace_field *table, uint64_t tag, struct reader *value,
		      struct arena *arena, void *object)
{
	for (const struct trace_field *field = table; field->tag; field++) {
		if (field->tag == tag) {
			load_member(field, value, arena, (char *)object + field->offset);
			return;
		}
	}
}
