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

bool proto_next_any(struct reader *r, struct proto_field *ret);

/*
 * The next field of the message that @r is over; false at its end and on failure, when @ret is empty.
 *
 * A key is a field's number and, in its lowest three bits, how its value is coded. In most fields key and number, or key and
 * length, are a byte each.
 */
static inline bool proto_next(struct reader *r, struct proto_field *ret)
{
	const uint8_t *p = r->pos;

	if (r->failed || r->end - p < 2 || (p[0] | p[1]) & 0x80 || p[0] < 8)
		return proto_next_any(r, ret);
	if ((p[0] & 7) == PROTO_VARINT) {
		*ret = (struct proto_field){ .number = p[0] >> 3, .wire = PROTO_VARINT, .value = p[1] };
		r->pos += 2;
		r->offset += 2;
		return true;
	}
	if ((p[0] & 7) != PROTO_BYTES || r->end - p - 2 < p[1])
		return proto_next_any(r, ret);
	*ret = (struct proto_field){ .number = p[0] >> 3, .wire = PROTO_BYTES,
				     .bytes = { p + 2, p + 2 + p[1], r->offset + 2, r->big_endian, NULL } };
	r->pos += 2 + p[1];
	r->offset += 2 + (uint64_t)p[1];
	return true;
}

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
