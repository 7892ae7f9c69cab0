/* SPDX-License-Identifier: Apache-2.0 */
/*
 * otlp_reader.h - messages of OpenTelemetry's profiles, v1development, in either coding: protobuf, or JSON as protobuf maps it.
 *
 *	otlp_open(&r, part, OTLP_SAMPLE);
 *	while (otlp_next(&r, &item))
 *		if (item.number == 1)
 *			stack = item.value;
 *	err = otlp_close(&r, NULL);
 *
 * A repeated field is an item for each element, packed or not. What a message's table does not name is passed over.
 * Source: opentelemetry/proto/profiles/v1development/profiles.proto of opentelemetry-proto 1.9 to 1.11.
 */
#ifndef FORMATS_OTLP_READER_H
#define FORMATS_OTLP_READER_H

#include "formats/base/json_reader.h"
#include "formats/base/proto_reader.h"

enum otlp_message {
	OTLP_DATA, /* also a request to export */
	OTLP_DICTIONARY,
	OTLP_RESOURCE_PROFILES,
	OTLP_RESOURCE,
	OTLP_SCOPE_PROFILES,
	OTLP_PROFILE,
	OTLP_SAMPLE,
	OTLP_VALUE_TYPE,
	OTLP_MAPPING,
	OTLP_STACK,
	OTLP_LOCATION,
	OTLP_LINE,
	OTLP_FUNCTION,
	OTLP_ATTRIBUTE, /* of the table: KeyValueAndUnit */
	OTLP_KEY_VALUE, /* of a resource */
	OTLP_ANY_VALUE,
	OTLP_OLD_PROFILE, /* of versions 1.6 and 1.7, in protobuf only */
	OTLP_OLD_SAMPLE,
	OTLP_OLD_LOCATION,
};

/* Fields that older versions had in the place of what is there now. */
#define OTLP_OLDER 1000

/* The bytes of a message. */
struct otlp_part {
	bool json;
	const char *data; /* NULL: it is not there */
	size_t len;
	uint64_t offset;
};

struct otlp_item {
	unsigned number;       /* of the field */
	int64_t value;	       /* of numbers */
	struct json_text text; /* of texts; until the next item */
	struct otlp_part part; /* of messages */
};

struct otlp_reader {
	bool json, in_list, is_null;
	enum otlp_message message;
	struct reader proto;
	struct json_reader text;
	const struct otlp_field *field; /* of the list that is read */
	struct proto_field packed;
	uint32_t packed_at;
	bool in_packed;
};

void otlp_open(struct otlp_reader *r, struct otlp_part part, enum otlp_message message);
bool otlp_next(struct otlp_reader *r, struct otlp_item *ret);

/* @err, which ended the loop before its time; or, if that is NULL, what was wrong with the message. */
MUST_USE struct err *otlp_close(struct otlp_reader *r, struct err *err);

#endif
