/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_sizes.c - zstd frames against columns. precord packs each column alone; in a file that does not, a frame
 * counts for the column that its first byte belongs to.
 */
#include "formats/trace/trace_sizes.h"

#include "formats/base/memory.h"
#include "formats/base/reader.h"
#include "formats/base/zframe.h"
#include "formats/trace/trace_events.h"
#include "formats/trace/trace_reader.h"

#include <stdlib.h>
#include <string.h>

static enum trace_part part_of_column(uint64_t column)
{
	static const enum trace_part parts[TRACE_COLUMNS] = {
		[0] = TRACE_PART_OTHER,
		[TRACE_COLUMN_HEADS] = TRACE_PART_HEADS,
		[TRACE_COLUMN_TIMES] = TRACE_PART_TIMES,
		[TRACE_COLUMN_SAMPLES] = TRACE_PART_SAMPLES,
		[TRACE_COLUMN_REGS] = TRACE_PART_REGS,
		[TRACE_COLUMN_STACK_SHAPES] = TRACE_PART_STACK_SHAPES,
		[TRACE_COLUMN_STACK_POINTERS] = TRACE_PART_STACK_POINTERS,
		[TRACE_COLUMN_STACK_NUMBERS] = TRACE_PART_STACK_NUMBERS,
		[TRACE_COLUMN_FRESH] = TRACE_PART_FRESH,
		[TRACE_COLUMN_EXTRAS] = TRACE_PART_EXTRAS,
		[TRACE_COLUMN_SIDE_BAND] = TRACE_PART_SIDE_BAND,
	};

	return column < TRACE_COLUMNS ? parts[column] : TRACE_PART_OTHER;
}

static enum trace_part part_of_kind(const char *kind)
{
	static const struct {
		const char *kind;
		enum trace_part part;
	} kinds[] = {
		{ "header", TRACE_PART_HEADER }, { "image", TRACE_PART_IMAGES },
		{ "lines", TRACE_PART_LINES },   { "ksyms", TRACE_PART_KSYMS },
		{ "jit-map", TRACE_PART_JIT_MAPS }, { "end", TRACE_PART_END },
		{ "index", TRACE_PART_INDEX },   { "kernel-code", TRACE_PART_KERNEL_CODE },
	};

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		if (strcmp(kinds[i].kind, kind) == 0)
			return kinds[i].part;
	}
	return TRACE_PART_OTHER;
}

/* The column that byte @at of an events block's content belongs to, by its directory @r. */
static enum trace_part part_at(struct reader r, uint64_t content_len, uint64_t at)
{
	struct reader end;
	uint64_t begin, count;

	reader_uleb(&r, "number of events");
	reader_uleb(&r, "memory of events");
	count = reader_uleb(&r, "column count");
	end = r;
	for (uint64_t i = 0; i < count && !end.failed; i++) {
		reader_uleb(&end, "column");
		reader_uleb(&end, "column length");
	}
	begin = content_len - reader_left(&end);
	if (end.failed || at < begin)
		return TRACE_PART_FRAMING;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t column = reader_uleb(&r, "column");
		uint64_t len = reader_uleb(&r, "column length");

		if (at - begin < len)
			return part_of_column(column);
		begin += len;
	}
	return TRACE_PART_OTHER;
}

/* An events block: @packed are its zstd frames. False if they are damaged. */
static bool add_events(struct zframe_decoder *z, const uint8_t *packed, size_t packed_len,
		       size_t content_len, struct trace_part_size *sums)
{
	CLEANUP(memory_freep) uint8_t *content = memory_alloc(MAX(content_len, 1));
	struct trace_part_size found[TRACE_PARTS] = { 0 };
	struct err *err = zframe_decode_all(z, packed, packed_len, content, content_len);
	struct reader directory;
	uint64_t at = 0;

	err_free(err);
	if (err)
		return false;
	reader_init(&directory, content, content_len, /* big_endian= */ false);
	while (packed_len) {
		size_t frame_len, len;

		if (!zframe_lens(packed, packed_len, &frame_len, &len))
			return false;
		struct trace_part_size *part =
			&found[part_at(directory, content_len, at)];

		part->packed_len += frame_len;
		part->len += len;
		at += len;
		packed += frame_len;
		packed_len -= frame_len;
	}
	for (size_t i = 0; i < TRACE_PARTS; i++) {
		sums[i].packed_len += found[i].packed_len;
		sums[i].len += found[i].len;
	}
	return true;
}

struct err *trace_sizes(struct event_source *source, struct trace_part_size ret[TRACE_PARTS])
{
	struct trace_part_size sums[TRACE_PARTS] = { 0 };
	struct zframe_decoder *z = zframe_decoder_new();
	struct err *err = NULL;
	uint64_t total = 0;
	size_t count;
	const struct trace_block_info *blocks = trace_reader_blocks(source, &count);

	for (size_t i = 0; i < count && !err; i++) {
		size_t len = blocks[i].packed_len;
		const uint8_t *packed;

		err = trace_reader_packed(source, i, &packed);
		if (err)
			break;
		sums[TRACE_PART_FRAMING].packed_len += blocks[i].len - len;
		total += blocks[i].len;
		if (strcmp(blocks[i].kind, "events") == 0) {
			if (!add_events(z, packed, len, blocks[i].content_len, sums))
				sums[TRACE_PART_UNREADABLE].packed_len += len;
			continue;
		}
		struct trace_part_size *part = &sums[part_of_kind(blocks[i].kind)];

		part->packed_len += len;
		part->len += blocks[i].content_len;
	}
	zframe_decoder_free(z);
	if (err)
		return err;
	sums[TRACE_PART_UNREADABLE].packed_len += trace_reader_len(source) - total;
	memcpy(ret, sums, sizeof(sums));
	return NULL;
}
