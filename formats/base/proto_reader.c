/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proto_reader.c - fields of any length; proto_reader.h has the short ones in line.
 */
#include "formats/base/proto_reader.h"

#define NUMBER_MAX ((1u << 29) - 1)

bool proto_next_any(struct reader *r, struct proto_field *ret)
{
	uint64_t key, len;

	*ret = (struct proto_field){ 0 };
	if (!reader_left(r))
		return false;
	key = reader_uleb(r, "a field's key");
	ret->number = (uint32_t)(key >> 3);
	ret->wire = (enum proto_wire)(key & 7);
	if (key >> 3 > NUMBER_MAX || key >> 3 == 0) {
		reader_fail(r, "a field's number");
		return false;
	}
	switch (ret->wire) {
	case PROTO_VARINT:
		ret->value = reader_uleb(r, "a number");
		break;
	case PROTO_FIXED64:
		ret->value = reader_u64(r, "a number of 8 bytes");
		break;
	case PROTO_FIXED32:
		ret->value = reader_u32(r, "a number of 4 bytes");
		break;
	case PROTO_BYTES:
		len = reader_uleb(r, "the length of a field");
		ret->bytes = reader_slice(r, len, "a field");
		break;
	default:
		reader_fail(r, "a field's coding");
	}
	if (r->failed)
		*ret = (struct proto_field){ 0 };
	return !r->failed;
}
