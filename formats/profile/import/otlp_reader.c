/* SPDX-License-Identifier: Apache-2.0 */
/*
 * otlp_reader.c - one table of fields for both codings.
 */
#include "formats/profile/import/otlp_reader.h"

#include "formats/base/compiler.h"
#include "formats/profile/import/import_text.h"

#define FIELDS_MAX 8

enum otlp_kind { KIND_NONE, KIND_NUMBER, KIND_FIXED, KIND_TEXT, KIND_MESSAGE };

struct otlp_field {
	unsigned number;
	const char *name; /* in JSON */
	enum otlp_kind kind;
};

static const struct otlp_field messages[][FIELDS_MAX] = {
	[OTLP_DATA] = { { 1, "resourceProfiles", KIND_MESSAGE }, { 2, "dictionary", KIND_MESSAGE } },
	[OTLP_DICTIONARY] = { { 1, "mappingTable", KIND_MESSAGE },
			      { 2, "locationTable", KIND_MESSAGE },
			      { 3, "functionTable", KIND_MESSAGE },
			      { 5, "stringTable", KIND_TEXT },
			      { 6, "attributeTable", KIND_MESSAGE },
			      { 7, "stackTable", KIND_MESSAGE } },
	[OTLP_RESOURCE_PROFILES] = { { 1, "resource", KIND_MESSAGE }, { 2, "scopeProfiles", KIND_MESSAGE } },
	[OTLP_RESOURCE] = { { 1, "attributes", KIND_MESSAGE } },
	[OTLP_SCOPE_PROFILES] = { { 2, "profiles", KIND_MESSAGE } },
	[OTLP_PROFILE] = { { 1, "sampleType", KIND_MESSAGE },
			   { 2, "samples", KIND_MESSAGE },
			   { 3, "timeUnixNano", KIND_FIXED },
			   { 4, "durationNano", KIND_NUMBER },
			   { 5, "periodType", KIND_MESSAGE },
			   { 6, "period", KIND_NUMBER },
			   { OTLP_OLDER, "sample", KIND_NONE },
			   { OTLP_OLDER, "locationIndices", KIND_NONE } },
	[OTLP_SAMPLE] = { { 1, "stackIndex", KIND_NUMBER },
			  { 2, "attributeIndices", KIND_NUMBER },
			  { 4, "values", KIND_NUMBER },
			  { 5, "timestampsUnixNano", KIND_FIXED },
			  { OTLP_OLDER, "locationsStartIndex", KIND_NONE } },
	[OTLP_VALUE_TYPE] = { { 1, "typeStrindex", KIND_NUMBER }, { 2, "unitStrindex", KIND_NUMBER } },
	[OTLP_MAPPING] = { { 4, "filenameStrindex", KIND_NUMBER }, { 5, "attributeIndices", KIND_NUMBER } },
	[OTLP_STACK] = { { 1, "locationIndices", KIND_NUMBER } },
	[OTLP_LOCATION] = { { 1, "mappingIndex", KIND_NUMBER },
			    { 2, "address", KIND_NUMBER },
			    { 3, "lines", KIND_MESSAGE },
			    { 4, "attributeIndices", KIND_NUMBER } },
	[OTLP_LINE] = { { 1, "functionIndex", KIND_NUMBER }, { 2, "line", KIND_NUMBER } },
	[OTLP_FUNCTION] = { { 1, "nameStrindex", KIND_NUMBER },
			    { 2, "systemNameStrindex", KIND_NUMBER },
			    { 3, "filenameStrindex", KIND_NUMBER },
			    { 4, "startLine", KIND_NUMBER } },
	[OTLP_ATTRIBUTE] = { { 1, "keyStrindex", KIND_NUMBER }, { 2, "value", KIND_MESSAGE }, { 3, "unitStrindex", KIND_NUMBER } },
	[OTLP_KEY_VALUE] = { { 1, "key", KIND_TEXT }, { 2, "value", KIND_MESSAGE }, { 3, "keyStrindex", KIND_NUMBER } },
	[OTLP_ANY_VALUE] = { { 1, "stringValue", KIND_TEXT },
			     { 2, "boolValue", KIND_NUMBER },
			     { 3, "intValue", KIND_NUMBER },
			     { 8, "stringValueStrindex", KIND_NUMBER } },
	[OTLP_OLD_PROFILE] = { { 1, "sampleType", KIND_MESSAGE },
			       { 2, "sample", KIND_MESSAGE },
			       { 3, "locationIndices", KIND_NUMBER },
			       { 4, "timeNanos", KIND_NUMBER },
			       { 5, "durationNanos", KIND_NUMBER } },
	[OTLP_OLD_SAMPLE] = { { 1, "locationsStartIndex", KIND_NUMBER },
			      { 2, "locationsLength", KIND_NUMBER },
			      { 3, "value", KIND_NUMBER },
			      { 4, "attributeIndices", KIND_NUMBER },
			      { 6, "timestampsUnixNano", KIND_NUMBER } },
	[OTLP_OLD_LOCATION] = { { 1, "mappingIndex", KIND_NUMBER },
				{ 2, "address", KIND_NUMBER },
				{ 3, "line", KIND_MESSAGE },
				{ 5, "attributeIndices", KIND_NUMBER } },
};

void otlp_open(struct otlp_reader *r, struct otlp_part part, enum otlp_message message)
{
	*r = (struct otlp_reader){ .json = part.json, .message = message };
	if (part.json) {
		json_reader_init(&r->text, part.data ? part.data : "{}", part.data ? part.len : 2);
		if (part.data)
			r->text.begin = part.data - part.offset;
		r->is_null = !json_read_object(&r->text);
		return;
	}
	reader_init(&r->proto, part.data, part.len, /* big_endian= */ false);
	r->proto.offset = part.offset;
}

/* ---- protobuf ---- */

static const struct otlp_field *field_of(const struct otlp_reader *r, unsigned number)
{
	for (unsigned i = 0; i < FIELDS_MAX; i++)
		if (messages[r->message][i].name && messages[r->message][i].number == number)
			return &messages[r->message][i];
	return NULL;
}

static bool fixed_number(struct proto_field *field, uint32_t *at, uint64_t *ret)
{
	if (field->wire != PROTO_BYTES)
		return proto_number(field, at, ret);
	if (!reader_left(&field->bytes))
		return false;
	*ret = reader_u64(&field->bytes, "a packed number of 8 bytes");
	return !field->bytes.failed;
}

/* The next number of the list that is read. */
static bool next_packed(struct otlp_reader *r, struct otlp_item *ret)
{
	uint64_t value;
	bool more = r->field->kind == KIND_FIXED ? fixed_number(&r->packed, &r->packed_at, &value)
						 : proto_number(&r->packed, &r->packed_at, &value);

	if (!more) {
		if (r->packed.wire == PROTO_BYTES && r->packed.bytes.failed)
			r->proto.failed = r->packed.bytes.failed;
		r->in_packed = false;
		return false;
	}
	*ret = (struct otlp_item){ .number = r->field->number, .value = (int64_t)value };
	return true;
}

static bool next_proto(struct otlp_reader *r, struct otlp_item *ret)
{
	const struct otlp_field *known;
	struct proto_field field;

	for (;;) {
		if (r->in_packed && next_packed(r, ret))
			return true;
		if (!proto_next(&r->proto, &field))
			return false;
		known = field_of(r, field.number);
		if (!known)
			continue;
		/* Where time_unix_nano is now, older versions had a list of locations. */
		if (r->message == OTLP_PROFILE && field.number == 3 && field.wire != PROTO_FIXED64) {
			*ret = (struct otlp_item){ .number = OTLP_OLDER };
			return true;
		}
		if (known->kind == KIND_NUMBER || known->kind == KIND_FIXED) {
			r->field = known;
			r->packed = field;
			r->packed_at = 0;
			r->in_packed = true;
			continue;
		}
		if (field.wire != PROTO_BYTES) {
			reader_fail(&r->proto, "a field's coding");
			return false;
		}
		*ret = (struct otlp_item){ .number = field.number };
		ret->text = (struct json_text){ (const char *)field.bytes.pos, reader_left(&field.bytes) };
		ret->part = (struct otlp_part){ false, ret->text.data, ret->text.len, field.bytes.offset };
		return true;
	}
}

/* ---- JSON ---- */

/* Numbers of 64 bits are texts. */
static int64_t read_number(struct json_reader *r)
{
	struct json_text text;
	uint64_t value;
	bool negative;

	if (json_read_peek(r) == JSON_BOOL)
		return json_is(json_read_raw(r), "true");
	if (json_read_peek(r) != JSON_TEXT)
		return json_read_int(r);
	text = json_read_text(r);
	negative = text.len && *text.data == '-';
	text.data += negative;
	text.len -= negative;
	if (!import_number(text, &value)) {
		json_read_fail(r, "a number");
		return 0;
	}
	return negative ? (int64_t)-value : (int64_t)value;
}

static void read_value(struct otlp_reader *r, struct otlp_item *ret)
{
	*ret = (struct otlp_item){ .number = r->field->number };
	switch (r->field->kind) {
	case KIND_NUMBER:
	case KIND_FIXED:
		ret->value = read_number(&r->text);
		break;
	case KIND_TEXT:
		ret->text = json_read_text(&r->text);
		break;
	case KIND_MESSAGE: {
		struct json_text raw = json_read_raw(&r->text);

		ret->part = (struct otlp_part){ true, raw.data, raw.len, 0 };
		ret->part.offset = raw.data ? (uint64_t)(raw.data - r->text.begin) : 0;
		break;
	}
	default:
		json_read_skip(&r->text);
	}
}

static const struct otlp_field *field_named(const struct otlp_reader *r, struct json_text key)
{
	for (unsigned i = 0; i < FIELDS_MAX; i++)
		if (messages[r->message][i].name && json_is(key, messages[r->message][i].name))
			return &messages[r->message][i];
	return NULL;
}

static bool next_json(struct otlp_reader *r, struct otlp_item *ret)
{
	struct json_text key;

	for (;;) {
		if (r->in_list) {
			r->in_list = json_read_more(&r->text);
			if (r->in_list) {
				read_value(r, ret);
				return !r->text.failed;
			}
		}
		if (!json_read_key(&r->text, &key))
			return false;
		r->field = field_named(r, key);
		if (!r->field) {
			json_read_skip(&r->text);
		} else if (r->field->kind != KIND_NONE && json_read_peek(&r->text) == JSON_ARRAY) {
			r->in_list = json_read_array(&r->text);
		} else {
			read_value(r, ret);
			return !r->text.failed;
		}
	}
}

bool otlp_next(struct otlp_reader *r, struct otlp_item *ret)
{
	return r->json ? !r->is_null && next_json(r, ret) : next_proto(r, ret);
}

struct err *otlp_close(struct otlp_reader *r, struct err *err)
{
	if (!err)
		err = r->json ? json_read_check(&r->text) : reader_check(&r->proto);
	if (r->json)
		json_reader_deinit(&r->text);
	return err;
}
