/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_trace_loader.c - blocks come in the order of the file, each once, damaged ones as errors in
 * their place; with any number of threads, and whether or not they are wanted to the end.
 */
#include "formats/trace/trace_loader.h"

#include "tests/unit/event_check.h"
#include "tests/unit/test.h"
#include "tests/unit/trace_maker.h"

#define BLOCKS  30
#define DAMAGED 11 /* the number of a block */

/* Block i has i % 7 + 1 events. */
static void make_blocks(struct trace_maker *made)
{
	trace_maker_begin(made, 5);
	for (size_t i = 0; i < BLOCKS; i++) {
		trace_maker_add(made, i % 7 + 1);
		trace_maker_flush(made);
	}
	trace_maker_attach(made);
	trace_maker_read(made);
	trace_maker_locate(made);
}

/* Have all blocks of events loaded, one of which is cut short. */
static void add_blocks(struct trace_loader *loader, const struct trace_maker *made)
{
	CHECK_UINT(made->places.len, BLOCKS);
	for (size_t i = 0; i < BLOCKS; i++) {
		struct trace_place place = made->places.items[i];

		place.packed_len -= i == DAMAGED;
		trace_loader_add(loader, &place);
	}
}

/*
 * Take @wanted blocks by way of @pool, which may be NULL, and keep up to @hold of them at a time.
 */
static void check_loaded(const struct trace_maker *made, struct pool *pool, size_t wanted,
			 size_t hold)
{
	struct trace_file file = trace_file_memory(made->bytes, made->len);
	struct trace_chunks chunks = { 0 };
	struct trace_loader *loader = trace_loader_new(&file, &made->rec, &chunks);
	struct trace_chunk *held[BLOCKS] = { 0 };
	size_t next = 0;

	trace_loader_use(loader, pool);
	add_blocks(loader, made);
	for (size_t i = 0; i < wanted; i++) {
		struct trace_chunk *chunk;
		struct err *err = trace_loader_next(loader, &chunk);

		CHECK(!!err == (i == DAMAGED) && !chunk == (i == DAMAGED));
		err_free(err);
		for (size_t k = 0; k < i % 7 + 1; k++) {
			if (chunk)
				check_event(&chunk->events.events[k], &made->events.items[next]);
			next++;
		}
		CHECK(!chunk || chunk->events.count == i % 7 + 1);
		if (held[i % hold])
			trace_chunks_put(&chunks, held[i % hold]);
		held[i % hold] = chunk;
	}
	if (wanted == BLOCKS) {
		CHECK_OK(trace_loader_next(loader, &held[hold]));
		CHECK(!held[hold]);
	}
	trace_loader_free(loader);
	for (size_t i = 0; i < hold; i++) {
		if (held[i])
			trace_chunks_put(&chunks, held[i]);
	}
	CHECK_UINT(chunks.nused, 0);
	trace_chunks_deinit(&chunks);
}

TEST(trace_loader_gives_the_same_blocks_with_any_number_of_threads)
{
	struct trace_maker made;

	make_blocks(&made);
	for (unsigned nthreads = 0; nthreads < 5; nthreads++) {
		struct pool *pool = nthreads ? pool_new(nthreads, NULL) : NULL;

		check_loaded(&made, pool, BLOCKS, 1);
		check_loaded(&made, pool, BLOCKS, 6);
		check_loaded(&made, pool, 0, 1);
		check_loaded(&made, pool, DAMAGED, 3); /* and what is on its way is dropped */
		pool_free(pool);
	}
	trace_maker_deinit(&made);
}

/* A reader that settles goes on alone from where it was. */
TEST(trace_loader_goes_on_without_the_pool)
{
	struct trace_maker made;
	struct trace_chunks chunks = { 0 };
	struct pool *pool = pool_new(3, NULL);
	struct trace_loader *loader;
	struct trace_chunk *chunk;
	struct trace_file file;

	make_blocks(&made);
	file = trace_file_memory(made.bytes, made.len);
	loader = trace_loader_new(&file, &made.rec, &chunks);
	trace_loader_use(loader, pool);
	add_blocks(loader, &made);
	for (size_t i = 0; i < DAMAGED; i++) {
		if (i == 4) {
			trace_loader_settle(loader);
			CHECK_UINT(chunks.nused, 0); /* nothing is on its way */
			pool_free(pool);
		}
		CHECK_OK(trace_loader_next(loader, &chunk));
		CHECK_UINT(chunk->events.count, i % 7 + 1);
		trace_chunks_put(&chunks, chunk);
	}
	trace_loader_free(loader);
	trace_chunks_deinit(&chunks);
	trace_maker_deinit(&made);
}
