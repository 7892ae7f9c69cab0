/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_data_stream.c - two levels of the same kind: bytes as they are in the file, and bytes unpacked.
 *
 *	file      [record][COMPRESSED .......][record][COMPRESSED ......]
 *	unpacked           [record][record][rec       ord][record]
 *
 * Each level fills a chunk, hands out the whole records in it, and takes a cut one along to the next chunk. Of what is
 * packed only as much is unpacked as a chunk has room for, so that memory is bounded whatever a file unpacks to.
 */
#include "formats/perf/perf_data_stream.h"

#include "formats/base/memory.h"
#include "formats/base/reader.h"
#include "formats/base/zframe.h"
#include "formats/perf/perf_data_types.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define RECORD_MAX (128u << 10) /* twice what a size of 16 bits can say: see whole_len() */
#define CHUNK_LEN  ((1u << 20) + RECORD_MAX)

struct perf_data_chunk {
	struct perf_data_stream *owner;
	size_t len;
	size_t nholds; /* records, and 1 while a level fills it */
	struct perf_data_chunk *next; /* among those that are free */
	uint8_t data[CHUNK_LEN];
};

struct level {
	struct perf_data_chunk *chunk; /* NULL: nothing yet */
	size_t pos;
	size_t skip; /* bytes of a record that is too long for a chunk */
};

struct perf_data_stream {
	const struct trace_file *file;
	const char *name;
	uint64_t offset, end; /* not yet read */
	struct level raw, unpacked;
	struct reader packed;	/* what is left of a COMPRESSED record, in the raw level's chunk */
	uint64_t packed_offset; /* of that record */
	struct zframe_stream *zframe; /* NULL: nothing was compressed so far */
	struct perf_data_chunk *free;
	size_t nused;
};

struct perf_data_stream *perf_data_stream_new(const struct trace_file *file, uint64_t start, uint64_t end,
					      const char *name)
{
	struct perf_data_stream *s = memory_zeroed(1, sizeof(*s));

	s->file = file;
	s->name = name;
	s->offset = start;
	s->end = end;
	return s;
}

static void drop(struct perf_data_stream *s, struct perf_data_chunk *chunk)
{
	if (!chunk || --chunk->nholds)
		return;
	chunk->next = s->free;
	s->free = chunk;
	s->nused--;
}

void perf_data_stream_free(struct perf_data_stream *s)
{
	if (!s)
		return;
	drop(s, s->raw.chunk);
	drop(s, s->unpacked.chunk);
	for (struct perf_data_chunk *chunk = s->free, *next; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	zframe_stream_free(s->zframe);
	free(s);
}

void perf_data_stream_hold(const struct perf_data_record *record)
{
	record->chunk->nholds++;
}

void perf_data_stream_let_go(const struct perf_data_record *record)
{
	drop(record->chunk->owner, record->chunk);
}

const char *perf_data_stream_name(const struct perf_data_record *record)
{
	return record->chunk->owner->name;
}

size_t perf_data_stream_held(const struct perf_data_stream *s)
{
	return (s->nused - (s->raw.chunk != NULL) - (s->unpacked.chunk != NULL)) * sizeof(struct perf_data_chunk);
}

uint64_t perf_data_stream_offset(const struct perf_data_stream *s)
{
	return s->offset;
}

/* ---- levels ---------------------------------------------------------------------------------------- */

static size_t level_left(const struct level *level)
{
	return level->chunk ? level->chunk->len - level->pos : 0;
}

static size_t chunk_room(const struct perf_data_chunk *chunk)
{
	return chunk ? sizeof(chunk->data) - chunk->len : 0;
}

/* A chunk of which what is left of the last one is the beginning. */
static void begin_chunk(struct perf_data_stream *s, struct level *level)
{
	struct perf_data_chunk *chunk = s->free;
	size_t left = level_left(level);

	if (chunk)
		s->free = chunk->next;
	else
		chunk = memory_alloc(sizeof(*chunk));
	chunk->owner = s;
	s->nused++;
	chunk->nholds = 1;
	chunk->len = left;
	if (left)
		memcpy(chunk->data, level->chunk->data + level->pos, left);
	drop(s, level->chunk);
	level->chunk = chunk;
	level->pos = 0;
}

/* Room for a record at least. */
static void make_room(struct perf_data_stream *s, struct level *level)
{
	if (chunk_room(level->chunk) < RECORD_MAX)
		begin_chunk(s, level);
}

/*
 * Some versions of perf write more into one COMPRESSED2 than the 16 bits of its size can say; the size of its content, which
 * has 64, tells.
 */
static size_t whole_len(const struct level *level, uint32_t type, uint16_t misc, size_t len)
{
	struct reader r;

	if (type >= PERF_DATA_SIMPLEPERF_BEGIN)
		return (size_t)misc << 16 | len;
	if (type != PERF_DATA_COMPRESSED2)
		return len;
	reader_init(&r, level->chunk->data + level->pos, level_left(level), /* big_endian= */ false);
	reader_skip(&r, PERF_DATA_HEADER_LEN, "record header");
	uint64_t content = reader_u64(&r, "compressed size");

	if (content > RECORD_MAX)
		return len;
	size_t whole = (PERF_DATA_HEADER_LEN + 8 + (size_t)content + 7) & ~(size_t)7;

	return whole <= RECORD_MAX && (uint16_t)whole == len ? whole : len;
}

/* Leave a long record behind, as far as it is there. */
static void skip_long(struct level *level)
{
	size_t here = MIN(level->skip, level_left(level));

	level->pos += here;
	level->skip -= here;
}

/* The record at the level's place; false if not all of it is there. Of one too long for a chunk it is the header. */
static struct err *peek(struct level *level, uint64_t offset, struct perf_data_record *ret,
			bool *ret_whole)
{
	struct reader r;

	*ret_whole = false;
	if (level_left(level) < PERF_DATA_HEADER_LEN)
		return NULL;
	reader_init(&r, level->chunk->data + level->pos, PERF_DATA_HEADER_LEN, /* big_endian= */ false);
	uint32_t type = reader_u32(&r, "record type");
	uint16_t misc = reader_u16(&r, "record flags");
	size_t len = whole_len(level, type, misc, reader_u16(&r, "record size"));

	if (len < PERF_DATA_HEADER_LEN)
		return err_new(ERR_CORRUPT,
			       "a record of type %" PRIu32 " and %zu bytes at offset %" PRIu64, type,
			       len, offset);
	if (len > RECORD_MAX) {
		level->skip = len - PERF_DATA_HEADER_LEN;
		len = PERF_DATA_HEADER_LEN;
	}
	*ret = (struct perf_data_record){
		.data = level->chunk->data + level->pos,
		.len = len,
		.type = type,
		.offset = offset,
		.chunk = level->chunk,
	};
	*ret_whole = len <= level_left(level);
	return NULL;
}

/* Where the raw level is in the file. */
static uint64_t raw_offset(const struct perf_data_stream *s)
{
	return s->offset - level_left(&s->raw);
}

/* More of the file; *@ret_len 0 at its end. */
static struct err *fill_raw(struct perf_data_stream *s, size_t *ret_len)
{
	make_room(s, &s->raw);

	struct perf_data_chunk *chunk = s->raw.chunk;
	size_t len = (size_t)MIN(s->end - s->offset, chunk_room(chunk));
	struct err *err =
		trace_file_read(s->file, s->offset, chunk->data + chunk->len, len, ret_len);

	if (err)
		return err;
	chunk->len += *ret_len;
	s->offset += *ret_len;
	return NULL;
}

static struct err *next_raw(struct perf_data_stream *s, struct perf_data_record *ret, bool *ret_more)
{
	bool whole;
	size_t got;

	for (;;) {
		skip_long(&s->raw);

		struct err *err = peek(&s->raw, raw_offset(s), ret, &whole);

		if (!err && !whole)
			err = fill_raw(s, &got);
		*ret_more = !err && whole;
		if (err)
			return err;
		if (whole)
			break;
		if (got)
			continue;
		if (!level_left(&s->raw))
			return NULL;
		return err_new(ERR_CORRUPT, "the record at offset %" PRIu64 " is cut", raw_offset(s));
	}
	s->raw.pos += ret->len;
	return NULL;
}

/* Go @len bytes on in the file; behind its end there is nothing. */
static void skip_raw(struct perf_data_stream *s, uint64_t len)
{
	size_t here = (size_t)MIN(level_left(&s->raw), len);

	s->raw.pos += here;
	s->offset += MIN(len - here, s->end - s->offset);
}

/* ---- what is packed ---------------------------------------------------------------------------------- */

static void begin_packed(struct perf_data_stream *s, const struct perf_data_record *record)
{
	uint64_t len;

	reader_init(&s->packed, record->data, record->len, /* big_endian= */ false);
	reader_skip(&s->packed, PERF_DATA_HEADER_LEN, "record header");
	if (record->type == PERF_DATA_COMPRESSED2) {
		len = reader_u64(&s->packed, "compressed size");
		s->packed = reader_slice(&s->packed, (size_t)MIN(len, SIZE_MAX), "compressed data");
	}
	s->packed_offset = record->offset;
	if (!s->zframe)
		s->zframe = zframe_stream_new();
}

/* Unpack as much as a chunk has room for. *@ret_more: that was not all. */
static struct err *unpack(struct perf_data_stream *s, bool *ret_more)
{
	size_t taken, made;

	make_room(s, &s->unpacked);

	struct perf_data_chunk *chunk = s->unpacked.chunk;
	size_t room = chunk_room(chunk);
	struct err *err = reader_check(&s->packed);

	if (!err)
		err = zframe_stream_unpack(s->zframe, s->packed.pos, reader_left(&s->packed),
					   chunk->data + chunk->len, room, &taken, &made);
	if (err)
		return err_wrap(err, "the compressed record at offset %" PRIu64, s->packed_offset);
	reader_skip(&s->packed, taken, "compressed data");
	chunk->len += made;
	*ret_more = made == room;
	return NULL;
}

/* The next unpacked record, as far as the COMPRESSED ones that were met go. */
static struct err *next_unpacked(struct perf_data_stream *s, struct perf_data_record *ret,
				 bool *ret_more)
{
	bool whole = false, packed = s->packed.pos;
	struct err *err = NULL;

	while (!err) {
		skip_long(&s->unpacked);
		err = peek(&s->unpacked, s->packed_offset, ret, &whole);
		if (err || whole || !packed)
			break;
		err = unpack(s, &packed);
	}
	if (!err && whole)
		s->unpacked.pos += ret->len;
	else
		s->packed = (struct reader){ 0 };
	*ret_more = !err && whole;
	return err;
}

/* ---- both ------------------------------------------------------------------------------------------ */

/* Bytes that follow @record and belong to it. */
static uint64_t payload_len(const struct perf_data_record *record)
{
	struct reader r;

	reader_init(&r, record->data, record->len, /* big_endian= */ false);
	reader_skip(&r, PERF_DATA_HEADER_LEN, "record header");
	if (record->type == PERF_DATA_AUXTRACE)
		return reader_u64(&r, "size of trace data");
	if (record->type != PERF_DATA_TRACING_DATA)
		return 0;
	uint64_t len = reader_u32(&r, "size of tracing data");

	return len <= reader_left(&r) ? 0 : (len + 7) & ~7ULL; /* simpleperf's lie within the record */
}

struct err *perf_data_stream_next(struct perf_data_stream *s, struct perf_data_record *ret,
				  bool *ret_more)
{
	for (;;) {
		struct err *err = next_unpacked(s, ret, ret_more);

		if (err || *ret_more)
			return err;
		err = next_raw(s, ret, ret_more);
		if (!err && !*ret_more && level_left(&s->unpacked))
			return err_new(ERR_CORRUPT, "the compressed record at offset %" PRIu64 " ends within one",
				       s->packed_offset);
		if (err || !*ret_more)
			return err;
		if (ret->type != PERF_DATA_COMPRESSED && ret->type != PERF_DATA_COMPRESSED2)
			break;
		begin_packed(s, ret);
	}
	ret->payload_len = payload_len(ret);
	skip_raw(s, ret->payload_len);
	return NULL;
}
