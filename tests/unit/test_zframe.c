/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "formats/base/memory.h"
#include "formats/base/zframe.h"

#include <stdlib.h>
#include <string.h>

struct fixture {
	struct zframe_encoder *encoder;
	struct zframe_decoder *decoder;
	struct writer frame;
	char plain[5000];
	char back[5000];
};

static struct fixture *fixture_new(void)
{
	struct fixture *f = memory_zeroed(1, sizeof(*f));
	struct err *err;

	f->encoder = zframe_encoder_new(3, 0);
	f->decoder = zframe_decoder_new();
	for (size_t i = 0; i < sizeof(f->plain); i++)
		f->plain[i] = (char)(i * i >> 5);
	err = zframe_encode(f->encoder, f->plain, sizeof(f->plain), &f->frame);
	CHECK_OK(err);
	return f;
}

static void fixture_freep(struct fixture **f)
{
	zframe_encoder_free((*f)->encoder);
	zframe_decoder_free((*f)->decoder);
	writer_deinit(&(*f)->frame);
	free(*f);
}

static struct err *decode(struct fixture *f, const void *data, size_t len)
{
	return zframe_decode(f->decoder, guarded(data, len), len, f->back, sizeof(f->back));
}

TEST(zframe_gives_back_what_went_in)
{
	CLEANUP(fixture_freep) struct fixture *f = fixture_new();

	CHECK(f->frame.len < sizeof(f->plain));
	CHECK_OK(decode(f, f->frame.data, f->frame.len));
	CHECK_MEM(f->back, f->plain, sizeof(f->plain));
}

TEST(zframe_of_nothing_is_a_frame)
{
	CLEANUP(fixture_freep) struct fixture *f = fixture_new();

	writer_reset(&f->frame);
	CHECK_OK(zframe_encode(f->encoder, "", 0, &f->frame));
	CHECK(f->frame.len > 0);
	CHECK_OK(zframe_decode(f->decoder, f->frame.data, f->frame.len, f->back, 0));
	CHECK_ERR(zframe_decode(f->decoder, f->frame.data, 0, f->back, 0), ERR_CORRUPT, "zstd");
}

TEST(zframe_rejects_every_truncation)
{
	CLEANUP(fixture_freep) struct fixture *f = fixture_new();

	for (size_t len = 0; len < f->frame.len; len++)
		CHECK_ERR(decode(f, f->frame.data, len), ERR_CORRUPT, "zstd frame");
}

TEST(zframe_rejects_every_flipped_bit_of_the_content)
{
	CLEANUP(fixture_freep) struct fixture *f = fixture_new();

	for (size_t i = 8; i < f->frame.len; i++) {
		f->frame.data[i] ^= 0x10;
		CHECK_ERR(decode(f, f->frame.data, f->frame.len), ERR_CORRUPT, "zstd");
		f->frame.data[i] ^= 0x10;
	}
	CHECK_OK(decode(f, f->frame.data, f->frame.len));
}

TEST(zframe_rejects_other_lengths_and_a_second_frame)
{
	CLEANUP(fixture_freep) struct fixture *f = fixture_new();
	size_t len = f->frame.len;

	CHECK_ERR(zframe_decode(f->decoder, f->frame.data, len, f->back, 4999), ERR_CORRUPT,
		  "zstd");
	writer_u8(&f->frame, 0);
	CHECK_ERR(decode(f, f->frame.data, f->frame.len), ERR_CORRUPT, "zstd frame takes");
	f->frame.len = len;
	CHECK_OK(zframe_encode(f->encoder, "", 0, &f->frame));
	CHECK_ERR(decode(f, f->frame.data, f->frame.len), ERR_CORRUPT, "zstd frame takes");
}

TEST(zframe_unpacks_what_does_not_say_its_length_up_to_a_limit)
{
	CLEANUP(fixture_freep) struct fixture *f = fixture_new();
	struct writer out = { 0 };

	CHECK_OK(zframe_unpack(f->frame.data, f->frame.len, 5000, &out));
	CHECK_UINT(out.len, 5000);
	CHECK_ERR(zframe_unpack(f->frame.data, f->frame.len, 4999, &out), ERR_UNSUPPORTED, "4999");
	for (size_t len = 0; len < f->frame.len; len++) {
		writer_reset(&out);
		CHECK_ERR(zframe_unpack(guarded(f->frame.data, len), len, 5000, &out), ERR_CORRUPT,
			  "");
	}
	writer_deinit(&out);
}
