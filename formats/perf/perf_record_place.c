/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_record_place.c - each field before or behind takes one word, so that a place is a count of bits.
 */
#include "formats/perf/perf_record_place.h"

#include <linux/perf_event.h>

#define HEADER_LEN 8

static size_t words_of(uint64_t type, uint64_t fields)
{
	return (size_t)__builtin_popcountll(type & fields);
}

static uint64_t word_at(const uint8_t *data, size_t len, size_t offset)
{
	struct reader r;

	reader_init(&r, data, len, /* big_endian= */ false);
	reader_skip(&r, offset, "record");
	return reader_u64(&r, "record");
}

static bool is_sample(const uint8_t *data, size_t len)
{
	struct reader r;

	reader_init(&r, data, len, /* big_endian= */ false);
	return reader_u32(&r, "record type") == PERF_RECORD_SAMPLE;
}

/* The word that has the words of @before in front of it in a sample, @behind from its own on in another record. */
static uint64_t find(const struct perf_layout *layout, const uint8_t *data, size_t len,
		     uint64_t before, uint64_t behind)
{
	size_t trailer = 8 * words_of(layout->sample_type, behind);

	if (is_sample(data, len))
		return word_at(data, len, HEADER_LEN + 8 * words_of(layout->sample_type, before));
	if (!layout->sample_id_all || len < HEADER_LEN + trailer)
		return 0;
	return word_at(data, len, perf_record_own_len(layout, data, len, /* big_endian= */ false) - trailer);
}

uint64_t perf_record_place_id(const struct perf_layout *layout, const uint8_t *data, size_t len)
{
	if (layout->sample_type & PERF_SAMPLE_IDENTIFIER)
		return find(layout, data, len, 0, PERF_SAMPLE_IDENTIFIER);
	if (!(layout->sample_type & PERF_SAMPLE_ID))
		return 0;
	return find(layout, data, len,
		    PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR,
		    PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU);
}

uint64_t perf_record_place_time(const struct perf_layout *layout, const uint8_t *data, size_t len)
{
	if (!(layout->sample_type & PERF_SAMPLE_TIME))
		return 0;
	return find(layout, data, len, PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID,
		    PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
			    PERF_SAMPLE_IDENTIFIER);
}
