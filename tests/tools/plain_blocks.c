/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain_blocks.c - a trace as an input of tests/fuzz/fuzz_program.c: its blocks without checksums and compression.
 *
 * Usage: plain_blocks TRACE >INPUT. All command lines are chosen. Blocks follow one another as: kind and stream (a byte
 * each), oldest and newest time and watermark (8 bytes each, little endian), length of the content (4 bytes), content.
 */
#include "formats/base/memory.h"
#include "formats/base/reader.h"
#include "formats/base/writer.h"
#include "formats/base/zframe.h"
#include "formats/trace/trace_block.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>

static void must(struct err *error)
{
	if (error)
		errx(1, "%s", err_message(error));
}

static void put_plain(struct writer *w, const struct trace_block *block, const void *content)
{
	writer_u8(w, block->kind);
	writer_u8(w, (uint8_t)block->stream);
	writer_u64(w, block->first_ns);
	writer_u64(w, block->last_ns);
	writer_u64(w, block->watermark_ns);
	writer_u32(w, (uint32_t)block->content_len);
	writer_bytes(w, content, block->content_len);
}

static void put_blocks(struct writer *w, struct reader *r)
{
	struct zframe_decoder *z = zframe_decoder_new();

	while (reader_left(r)) {
		struct trace_block block;

		must(trace_block_parse(r, &block));

		struct reader packed = reader_slice(r, block.packed_len, "content");
		void *content = memory_alloc(block.content_len);

		must(reader_check(r));
		must(zframe_decode_all(z, packed.pos, reader_left(&packed), content, block.content_len));
		put_plain(w, &block, content);
		free(content);
	}
	zframe_decoder_free(z);
}

static void read_file(const char *path, struct writer *ret)
{
	FILE *in = fopen(path, "re");
	char buf[65536];
	size_t got;

	if (!in)
		err(1, "%s", path);
	while ((got = fread(buf, 1, sizeof(buf), in)) > 0)
		writer_bytes(ret, buf, got);
	fclose(in);
}

int main(int argc, char **argv)
{
	struct writer file = { 0 }, plain = { 0 };
	struct reader r;

	if (argc != 2)
		errx(2, "usage: plain_blocks TRACE >INPUT");
	read_file(argv[1], &file);
	reader_init(&r, file.data, file.len, /* big_endian= */ false);
	writer_u8(&plain, 0xff);
	put_blocks(&plain, &r);
	fwrite(plain.data, 1, plain.len, stdout);
	writer_deinit(&plain);
	writer_deinit(&file);
	return 0;
}
