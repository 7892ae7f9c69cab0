/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_block.c - heads of blocks to bytes and back.
 *
 * A head is checked as a whole before any field of it is believed. Its CRC stands at its very end,
 * so that a newer minor version can lengthen the head.
 */
#include "formats/trace/trace_block.h"

#include <inttypes.h>
#include <string.h>

#define HEAD_LEN_MIN 68 /* of what follows the eight bytes of the skippable frame */

uint32_t trace_block_crc(const void *data, size_t len)
{
	const uint8_t *bytes = data;
	uint32_t crc = ~0u;

	for (size_t i = 0; i < len; i++) {
		crc ^= bytes[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return ~crc;
}

void trace_block_put(struct writer *w, const struct trace_block *block)
{
	writer_u32(w, TRACE_SKIPPABLE);
	writer_u32(w, HEAD_LEN_MIN);

	size_t start = w->len;

	writer_bytes(w, TRACE_MARK, TRACE_MARK_LEN);
	writer_u8(w, block->major);
	writer_u8(w, block->minor);
	writer_u8(w, block->kind);
	writer_u8(w, block->flags);
	writer_u32(w, block->stream);
	writer_u64(w, block->sequence);
	writer_u64(w, block->content_len);
	writer_u64(w, block->packed_len);
	writer_u64(w, block->first_ns);
	writer_u64(w, block->last_ns);
	writer_u64(w, block->watermark_ns);
	writer_u32(w, trace_block_crc(w->data + start, w->len - start));
}

/* The skippable frame's payload, its mark and CRC checked; @ret stands behind the mark. */
static struct err *intact_head(struct reader *r, struct reader *ret)
{
	uint64_t offset = r->offset;
	uint32_t magic = reader_u32(r, "block magic");
	uint32_t len = reader_u32(r, "block head length");

	if (!r->failed && magic != TRACE_SKIPPABLE)
		return err_new(ERR_CORRUPT, "no block begins at offset %" PRIu64, offset);
	if (!r->failed && (len < HEAD_LEN_MIN || len > TRACE_HEAD_LEN_MAX))
		return err_new(ERR_CORRUPT, "block head of %" PRIu32 " bytes at offset %" PRIu64,
			       len, offset);

	struct reader head = reader_slice(r, len, "block head");
	struct err *err = reader_check(r);

	if (err)
		return err;

	struct reader crc = head;

	crc.pos = head.end - 4;
	if (memcmp(head.pos, TRACE_MARK, TRACE_MARK_LEN) != 0)
		return err_new(ERR_CORRUPT, "no block begins at offset %" PRIu64, offset);
	if (reader_u32(&crc, "block CRC") != trace_block_crc(head.pos, len - 4))
		return err_new(ERR_CORRUPT, "damaged block head at offset %" PRIu64, offset);
	reader_skip(&head, TRACE_MARK_LEN, "block mark");
	*ret = head;
	return NULL;
}

static struct err *check_head(const struct trace_block *block, uint64_t offset)
{
	uint64_t max = block->kind == TRACE_EVENTS ? TRACE_EVENTS_MAX : TRACE_CONTENT_MAX;

	if (block->major != TRACE_MAJOR)
		return err_new(ERR_UNSUPPORTED, "trace format %u.%u, only %u is known",
			       block->major, block->minor, TRACE_MAJOR);
	if (block->content_len > max || block->packed_len > TRACE_CONTENT_MAX ||
	    block->packed_len < TRACE_PACKED_MIN ||
	    block->content_len > block->packed_len * TRACE_RATIO_MAX)
		return err_new(ERR_CORRUPT,
			       "block of %" PRIu64 " bytes in %" PRIu64 " at offset %" PRIu64,
			       block->content_len, block->packed_len, offset);
	if (block->stream > TRACE_STREAM_MAX)
		return err_new(ERR_CORRUPT, "stream %" PRIu32 " at offset %" PRIu64, block->stream,
			       offset);
	return NULL;
}

struct err *trace_block_parse(struct reader *r, struct trace_block *ret)
{
	uint64_t offset = r->offset;
	struct trace_block block = { 0 };
	struct reader head;
	struct err *err = intact_head(r, &head);

	if (err)
		return err;
	block.major = reader_u8(&head, "major version");
	block.minor = reader_u8(&head, "minor version");
	block.kind = reader_u8(&head, "block kind");
	block.flags = reader_u8(&head, "block flags");
	block.stream = reader_u32(&head, "stream");
	block.sequence = reader_u64(&head, "block sequence number");
	block.content_len = reader_u64(&head, "content length");
	block.packed_len = reader_u64(&head, "packed length");
	block.first_ns = reader_u64(&head, "oldest time");
	block.last_ns = reader_u64(&head, "newest time");
	block.watermark_ns = reader_u64(&head, "watermark");
	block.head_len = (uint32_t)(r->offset - offset);
	err = reader_check(&head);
	if (!err)
		err = check_head(&block, offset);
	if (!err)
		*ret = block;
	return err;
}

const char *trace_block_kind_name(uint8_t kind)
{
	static const char *const names[] = {
		[TRACE_HEADER] = "header", [TRACE_EVENTS] = "events",   [TRACE_IMAGE] = "image",
		[TRACE_KSYMS] = "ksyms",   [TRACE_JIT_MAP] = "jit-map", [TRACE_END] = "end",
		[TRACE_INDEX] = "index",
		[TRACE_LINES] = "lines",   [TRACE_KERNEL_CODE] = "kernel-code",
	};

	if (kind < ARRAY_LEN(names) && names[kind])
		return names[kind];
	return "unknown";
}
