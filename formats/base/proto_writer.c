/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proto_writer.c - a message stands behind its length, so it has a buffer of its own until that is known.
 */
#include "formats/base/proto_writer.h"

#include <assert.h>
#include <string.h>

enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };

static struct writer *level(struct proto_writer *w)
{
	return &w->levels[w->depth];
}

void proto_begin(struct proto_writer *w, uint32_t number)
{
	w->depth++;
	assert(w->depth < PROTO_WRITER_DEPTH);
	w->numbers[w->depth] = number;
	writer_reset(level(w));
}

void proto_end(struct proto_writer *w)
{
	const struct writer *done = level(w);

	w->depth--;
	proto_bytes(w, w->numbers[w->depth + 1], done->data, done->len);
}

void proto_uint(struct proto_writer *w, uint32_t number, uint64_t value)
{
	writer_uleb(level(w), (uint64_t)number << 3 | WIRE_VARINT);
	writer_uleb(level(w), value);
}

void proto_bytes(struct proto_writer *w, uint32_t number, const void *data, size_t len)
{
	writer_uleb(level(w), (uint64_t)number << 3 | WIRE_BYTES);
	writer_uleb(level(w), len);
	writer_bytes(level(w), data, len);
}

void proto_text(struct proto_writer *w, uint32_t number, const char *text)
{
	proto_bytes(w, number, text, strlen(text));
}

void proto_writer_deinit(struct proto_writer *w)
{
	for (unsigned i = 0; i < PROTO_WRITER_DEPTH; i++)
		writer_deinit(&w->levels[i]);
}
