/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proto_reader.h - the fields of a protobuf message (wire format of proto2 and proto3) one by one, in place.
 *
 *	while (proto_next(&r, &field)) {
 *		if (field.number == 2 && field.wire == PROTO_BYTES)
 *			read_inner(&field.bytes);
 *	}
 *	return reader_check(&r);
 *
 * For files whose millions of small messages protobuf-c would allocate one by one.
 */
#ifndef BASE_PROTO_READER_H
#define BASE_PROTO_READER_H

#include "formats/base/reader.h"

enum proto_wire {
	PROTO_VARINT = 0,
	PROTO_FIXED64 = 1,
	PROTO_BYTES = 2,
	PROTO_FIXED32 = 5,
};

struct proto_field {
	uint32_t number;
	enum proto_wire wire;
	uint64_t value;	     /* of numbers */
	struct reader bytes; /* of PROTO_BYTES: a message, a text or packed numbers */
};

/* The next field of the message that @r is over; false at its end and on failure, when @ret is empty. */
bool proto_next(struct reader *r, struct proto_field *ret);

/*
 * The next number of a repeated field, packed or not: begin with *@at = 0, stop when false is returned.
 */
static inline bool proto_number(struct proto_field *field, uint32_t *at, uint64_t *ret)
{
	if (field->wire != PROTO_BYTES) {
		*ret = field->value;
		return (*at)++ == 0;
	}
	if (!reader_left(&field->bytes))
		return false;
	*ret = reader_uleb(&field->bytes, "a packed number");
	return !field->bytes.failed;
}

#endif
