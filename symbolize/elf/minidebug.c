/* SPDX-License-Identifier: Apache-2.0 */
/*
 * minidebug.c - xz through liblzma, into a buffer that grows with what really comes out.
 */
#include "symbolize/elf/minidebug.h"

#include "formats/base/memory.h"

#include <lzma.h>
#include <stdlib.h>
#include <string.h>

#define MINIDEBUG_LEN_MAX    (256u << 20)
#define MINIDEBUG_LEN_MIN    (1u << 20)
#define MINIDEBUG_RATE       64 /* symbol tables pack to a quarter */
#define MINIDEBUG_MEMORY_MAX (128u << 20) /* of the decoder: a preset of -9 needs 65 MiB */

/* Decode what @stream has been given into *@ret, which the caller frees in any case. */
static bool decode(lzma_stream *stream, uint8_t **ret, size_t *ret_len)
{
	size_t limit = MIN(stream->avail_in * MINIDEBUG_RATE + MINIDEBUG_LEN_MIN,
			   MINIDEBUG_LEN_MAX);
	size_t cap = 64 << 10;
	lzma_ret status = LZMA_OK;

	*ret = memory_alloc(cap);
	stream->next_out = *ret;
	stream->avail_out = cap;
	while (status == LZMA_OK) {
		if (!stream->avail_out) {
			if (cap >= limit)
				return false;
			*ret = memory_resize(*ret, cap * 2, 1);
			stream->next_out = *ret + cap;
			stream->avail_out = cap;
			cap *= 2;
		}
		status = lzma_code(stream, LZMA_FINISH);
	}
	*ret_len = stream->total_out;
	return status == LZMA_STREAM_END;
}

void minidebug_init(struct minidebug *ret, struct image *img)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	struct image_section section;
	uint8_t *data = NULL;
	size_t len = 0;

	*ret = (struct minidebug){ 0 };
	if (!image_section(img, ".gnu_debugdata", &section))
		return;
	if (lzma_stream_decoder(&stream, MINIDEBUG_MEMORY_MAX, 0) != LZMA_OK)
		return;
	stream.next_in = section.data;
	stream.avail_in = section.len;
	bool whole = decode(&stream, &data, &len);

	lzma_end(&stream);
	ret->data = data;
	if (whole)
		err_free(image_open_memory(data, len, image_path(img), &ret->image));
	if (!ret->image)
		image_note_defect(img, "what '.gnu_debugdata' holds is no small ELF file");
}

void minidebug_deinit(struct minidebug *mini)
{
	image_close(mini->image);
	free(mini->data);
	*mini = (struct minidebug){ 0 };
}
