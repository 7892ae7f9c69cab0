/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_trace_block.c - heads of blocks.
 */
#include "formats/trace/trace_block.h"

#include "tests/unit/test.h"

#include <string.h>

static const struct trace_block sample_block = {
	.major = TRACE_MAJOR,
	.minor = 7,
	.kind = TRACE_IMAGE,
	.stream = 3,
	.sequence = 0x123456789abcdef0,
	.content_len = 1000,
	.packed_len = 500,
	.first_ns = 11,
	.last_ns = 22,
	.watermark_ns = 33,
};

static struct err *parse(const void *bytes, size_t len, struct trace_block *ret)
{
	struct reader r;

	reader_init(&r, guarded(bytes, len), len, /* big_endian= */ false);
	return trace_block_parse(&r, ret);
}

static struct err *parse_put(struct trace_block block, struct trace_block *ret)
{
	struct writer w = { 0 };

	trace_block_put(&w, &block);

	struct err *err = parse(w.data, w.len, ret);

	writer_deinit(&w);
	return err;
}

TEST(trace_block_crc_is_that_of_gzip)
{
	CHECK_UINT(trace_block_crc("123456789", 9), 0xcbf43926);
	CHECK_UINT(trace_block_crc("", 0), 0);
}

TEST(trace_block_head_comes_back)
{
	struct trace_block block;

	CHECK_OK(parse_put(sample_block, &block));
	CHECK_UINT(block.head_len, TRACE_HEAD_LEN);
	CHECK_MEM(&block, &sample_block, offsetof(struct trace_block, head_len)); /* no padding */
}

TEST(trace_block_head_is_refused_when_cut_or_when_any_bit_is_wrong)
{
	struct writer w = { 0 };
	struct trace_block block = { .sequence = 42 };

	trace_block_put(&w, &sample_block);
	CHECK_UINT(w.len, TRACE_HEAD_LEN);
	for (size_t len = 0; len < w.len; len++)
		CHECK_ERR(parse(w.data, len, &block), ERR_CORRUPT, "offset");
	for (size_t bit = 0; bit < w.len * 8; bit++) {
		w.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
		CHECK_ERR(parse(w.data, w.len, &block), ERR_CORRUPT, "offset");
		w.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	CHECK_UINT(block.sequence, 42); /* untouched on failure */
	writer_deinit(&w);
}

/* Newer minor versions may have longer heads. */
TEST(trace_block_head_may_be_longer)
{
	struct writer w = { 0 };
	struct trace_block block;
	uint8_t len = TRACE_HEAD_LEN - 8 + 5;

	trace_block_put(&w, &sample_block);
	w.len -= 4;
	writer_bytes(&w, "extra", 5);
	w.data[4] = len;
	writer_u32(&w, trace_block_crc(w.data + 8, len - 4u));
	CHECK_OK(parse(w.data, w.len, &block));
	CHECK_UINT(block.head_len, TRACE_HEAD_LEN + 5);
	CHECK_UINT(block.watermark_ns, 33);
	writer_deinit(&w);
}

TEST(trace_block_of_another_major_version_is_not_supported)
{
	struct trace_block other = sample_block, block;

	other.major = TRACE_MAJOR + 1;
	CHECK_ERR(parse_put(other, &block), ERR_UNSUPPORTED, "trace format 2.7");
}

TEST(trace_block_lengths_that_cannot_be_are_refused)
{
	struct trace_block other = sample_block, block;

	other.content_len = TRACE_CONTENT_MAX + 1ull;
	other.packed_len = TRACE_CONTENT_MAX;
	CHECK_ERR(parse_put(other, &block), ERR_CORRUPT, "268435457 bytes in 268435456");
	other.content_len = TRACE_RATIO_MAX * 500 + 1;
	other.packed_len = 500;
	CHECK_ERR(parse_put(other, &block), ERR_CORRUPT, "in 500 at");
	other.content_len = 0;
	other.packed_len = TRACE_PACKED_MIN - 1;
	CHECK_ERR(parse_put(other, &block), ERR_CORRUPT, "0 bytes in 8");
	other.kind = TRACE_EVENTS;
	other.packed_len = other.content_len = TRACE_EVENTS_MAX + 1;
	CHECK_ERR(parse_put(other, &block), ERR_CORRUPT, "67108865 bytes");
	other = sample_block;
	other.stream = TRACE_STREAM_MAX + 1;
	CHECK_ERR(parse_put(other, &block), ERR_CORRUPT, "stream 4096");
}

TEST(trace_block_kinds_have_names)
{
	CHECK_STR(trace_block_kind_name(TRACE_HEADER), "header");
	CHECK_STR(trace_block_kind_name(TRACE_INDEX), "index");
	CHECK_STR(trace_block_kind_name(TRACE_LINES), "lines");
	CHECK_STR(trace_block_kind_name(TRACE_KERNEL_CODE), "kernel-code");
	CHECK_STR(trace_block_kind_name(0), "unknown");
	CHECK_STR(trace_block_kind_name(TRACE_KERNEL_CODE + 1), "unknown");
}
