/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/trace/trace_chunk.h"

#include "formats/base/memory.h"

#include <stdlib.h>

#define NUMBERS_SHIFT 24 /* a block holds fewer snapshots: TRACE_EXPANDED_MAX / TRACE_EXPANDED_EVENT */

_Static_assert(TRACE_EXPANDED_MAX / TRACE_EXPANDED_EVENT < 1u << NUMBERS_SHIFT, "or numbers come twice");

struct trace_chunk *trace_chunks_get(struct trace_chunks *chunks)
{
	struct trace_chunk *chunk = chunks->free;

	chunks->nused++;
	if (chunk) {
		chunks->free = chunk->next;
		return chunk;
	}
	chunk = memory_zeroed(1, sizeof(*chunk));
	chunk->zframe = zframe_decoder_new();
	return chunk;
}

void trace_chunks_put(struct trace_chunks *chunks, struct trace_chunk *chunk)
{
	chunk->next = chunks->free;
	chunks->free = chunk;
	chunks->nused--;
	chunks->len_max = MAX(chunks->len_max, chunk->len);
}

void trace_chunks_deinit(struct trace_chunks *chunks)
{
	while (chunks->free) {
		struct trace_chunk *chunk = trace_chunks_get(chunks);

		zframe_decoder_free(chunk->zframe);
		writer_deinit(&chunk->packed);
		trace_events_deinit(&chunk->events);
		free(chunk->content);
		free(chunk->order);
		free(chunk);
	}
}

struct err *trace_chunk_read(const struct trace_file *file, const struct trace_place *place,
			     struct writer *packed)
{
	size_t got = 0;
	struct err *err;

	writer_reset(packed);
	writer_reserve(packed, place->packed_len);
	err = trace_file_read(file, place->offset, packed->data, place->packed_len, &got);
	if (err)
		return err;
	return got < place->packed_len ? err_new(ERR_CORRUPT, "cut off") : NULL;
}

struct err *trace_chunk_unpack(const struct trace_file *file, const struct trace_place *place,
			       struct writer *packed, struct zframe_decoder *zframe, void *out)
{
	struct err *err = trace_chunk_read(file, place, packed);

	return err ? err :
		     zframe_decode_all(zframe, packed->data, place->packed_len, out, place->len);
}

static int by_time(const void *a, const void *b)
{
	const struct trace_chunk_place *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return COMPARE(x->index, y->index);
}

static void sort_events(struct trace_chunk *chunk)
{
	size_t count = chunk->events.count;
	bool sorted = true;

	if (chunk->order_cap < count) {
		free(chunk->order);
		chunk->order = memory_alloc(count * sizeof(*chunk->order));
		chunk->order_cap = count;
	}
	for (size_t i = 0; i < count; i++) {
		chunk->order[i].time_ns = chunk->events.events[i].time_ns;
		chunk->order[i].index = (uint32_t)i;
		sorted = sorted && (!i || chunk->order[i - 1].time_ns <= chunk->order[i].time_ns);
	}
	if (!sorted)
		qsort(chunk->order, count, sizeof(*chunk->order), by_time);
}

struct err *trace_chunk_load(struct trace_chunk *chunk, const struct trace_file *file,
			     const struct trace_place *place, const struct recording *rec)
{
	struct err *err;

	chunk->events.count = 0;
	chunk->pos = 0;
	if (chunk->content_cap < place->len) {
		free(chunk->content);
		chunk->content = memory_alloc(place->len);
		chunk->content_cap = place->len;
	}
	err = trace_chunk_unpack(file, place, &chunk->packed, chunk->zframe, chunk->content);
	if (!err)
		err = trace_events_decode(chunk->content, place->len, rec,
					  place->offset << NUMBERS_SHIFT, &chunk->events);
	if (err)
		return err;
	sort_events(chunk);
	chunk->len = place->len + chunk->events.used_len;
	return NULL;
}
