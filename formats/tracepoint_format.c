/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracepoint_format.c - a declaration in C, cut into type and name; offsets are believed only when a payload is at hand.
 */
#include "formats/tracepoint_format.h"

#include "formats/event.h"
#include "formats/base/memory.h"
#include "formats/base/vec.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LINE_MAX_LEN 512
#define ARRAY_SHOWN  32 /* bytes of an array of numbers */

struct field_list {
	VEC(struct tracepoint_field) items;
};

static bool is_name_char(char c)
{
	return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* "char next_comm[16]" or "__data_loc char[] filename": the last word without its brackets. */
static bool read_declaration(struct arena *arena, char *text, struct tracepoint_field *field)
{
	size_t end = strlen(text), start;
	bool array = strchr(text, '[') != NULL;

	field->dynamic = strstr(text, "__data_loc") ? 1 : strstr(text, "__rel_loc") ? 2 : 0;
	if (!field->dynamic && array)
		end = strcspn(text, "[");
	while (end && !is_name_char(text[end - 1]))
		end--;
	for (start = end; start && is_name_char(text[start - 1]);)
		start--;
	if (start == end || !start)
		return false;
	field->name = arena_memdup(arena, text + start, end - start);
	text[start] = 0;
	field->is_text = (array || field->dynamic) && strstr(text, "char") != NULL;
	field->is_address = strchr(text, '*') != NULL;
	field->common = strncmp(field->name, "common_", 7) == 0;
	return true;
}

static bool read_line(struct arena *arena, const char *line, size_t len, struct tracepoint_field *ret)
{
	char text[LINE_MAX_LEN], declaration[LINE_MAX_LEN];
	struct tracepoint_field field = { 0 };
	unsigned is_signed = 0;

	if (len >= sizeof(text))
		return false;
	memcpy(text, line, len);
	text[len] = 0;
	if (sscanf(text, " field:%[^;]; offset:%" SCNu32 "; size:%" SCNu32 "; signed:%u;", declaration,
		   &field.offset, &field.len, &is_signed) < 3)
		return false;
	field.is_signed = is_signed != 0;
	if (!read_declaration(arena, declaration, &field))
		return false;
	*ret = field;
	return true;
}

struct tracepoint_format tracepoint_format_read(struct arena *arena, const char *text)
{
	struct tracepoint_format format = { 0 };
	struct field_list list = { 0 };

	while (*text && list.items.len < TRACEPOINT_FIELDS_MAX) {
		size_t len = strcspn(text, "\n");
		struct tracepoint_field field;

		if (read_line(arena, text, len, &field))
			vec_push(&list.items, field);
		text += len + (text[len] == '\n');
	}
	format.len = list.items.len;
	format.fields = ARENA_ARRAY(arena, struct tracepoint_field, format.len + 1);
	if (format.len)
		memcpy(format.fields, list.items.items, format.len * sizeof(*format.fields));
	vec_deinit(&list.items);
	return format;
}

const struct tracepoint_field *tracepoint_format_find(const struct tracepoint_format *format, const char *name)
{
	for (size_t i = 0; i < format->len; i++)
		if (strcmp(format->fields[i].name, name) == 0)
			return &format->fields[i];
	return NULL;
}

static uint64_t read_number(const uint8_t *bytes, size_t len, bool is_signed)
{
	uint64_t value = 0;

	for (size_t i = 0; i < len; i++)
		value |= (uint64_t)bytes[i] << 8 * i;
	if (is_signed && len && len < sizeof(value) && bytes[len - 1] & 0x80)
		value |= UINT64_MAX << 8 * len;
	return value;
}

/* Where the bytes of @field are; false if not within the payload. */
static bool find_bytes(const struct tracepoint_field *field, const uint8_t *raw, size_t raw_len,
		       const uint8_t **ret, size_t *ret_len)
{
	uint64_t offset = field->offset, len = field->len;

	if (offset > raw_len || len > raw_len - offset)
		return false;
	if (field->dynamic) {
		uint64_t where;

		if (len != sizeof(uint32_t))
			return false;
		where = read_number(raw + offset, len, false);
		offset = (where & 0xffff) + (field->dynamic == 2 ? offset + len : 0);
		len = where >> 16;
		if (offset > raw_len || len > raw_len - offset)
			return false;
	}
	*ret = raw + offset;
	*ret_len = (size_t)len;
	return true;
}

static const char *hex_bytes(const uint8_t *bytes, size_t len, struct arena *arena)
{
	size_t shown = len < ARRAY_SHOWN ? len : ARRAY_SHOWN;
	char *text = arena_alloc(arena, 2 * shown + sizeof("..."));

	for (size_t i = 0; i < shown; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	if (shown < len)
		memcpy(text + 2 * shown, "...", sizeof("..."));
	else
		text[2 * shown] = 0;
	return text;
}

bool tracepoint_field_value(const struct tracepoint_field *field, const uint8_t *raw, size_t raw_len,
			    struct arena *arena, struct tracepoint_value *ret)
{
	const uint8_t *bytes;
	size_t len;

	if (!find_bytes(field, raw, raw_len, &bytes, &len))
		return false;
	if (field->is_text || field->dynamic || len > sizeof(uint64_t)) {
		*ret = (struct tracepoint_value){
			.kind = TRACEPOINT_TEXT,
			.text = field->is_text ? arena_memdup(arena, bytes, strnlen((const char *)bytes, len))
					       : hex_bytes(bytes, len, arena),
		};
		return true;
	}
	*ret = (struct tracepoint_value){
		.kind = field->is_address  ? TRACEPOINT_ADDRESS
			: field->is_signed ? TRACEPOINT_SIGNED
					   : TRACEPOINT_NUMBER,
		.number = read_number(bytes, len, field->is_signed),
	};
	if (ret->kind == TRACEPOINT_NUMBER && ret->number >> 63) /* "unsigned long call_site" */
		ret->kind = TRACEPOINT_ADDRESS;
	return true;
}

struct tracepoint_number tracepoint_number_find(const char *text, const char *name)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct tracepoint_format format = tracepoint_format_read(&arena, text);
	const struct tracepoint_field *field = tracepoint_format_find(&format, name);

	if (!field || field->dynamic || field->is_text || field->len > sizeof(uint64_t))
		return (struct tracepoint_number){ 0 };
	return (struct tracepoint_number){ field->offset, field->len, field->is_signed };
}

bool tracepoint_number_read(const struct tracepoint_number *number, const struct event *ev, uint64_t *ret)
{
	size_t raw_len = ev->sample.raw_len;

	if (!number->len || number->offset > raw_len || number->len > raw_len - number->offset)
		return false;
	*ret = read_number(ev->sample.raw + number->offset, number->len, number->is_signed);
	return true;
}

const char *tracepoint_value_text(const struct tracepoint_value *value, struct arena *arena)
{
	switch (value->kind) {
	case TRACEPOINT_TEXT:
		return value->text;
	case TRACEPOINT_SIGNED:
		return arena_printf(arena, "%" PRId64, (int64_t)value->number);
	case TRACEPOINT_ADDRESS:
		return arena_printf(arena, "0x%" PRIx64, value->number);
	default:
		return arena_printf(arena, "%" PRIu64, value->number);
	}
}
