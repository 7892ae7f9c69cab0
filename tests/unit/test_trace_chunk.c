/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_trace_chunk.c - blocks of events: what one that is not as a writer would write it may cost,
 * and the order of what is in it.
 */
#include "formats/trace/trace_chunk.h"

#include "formats/base/vec.h"
#include "formats/trace/trace_reader.h"
#include "formats/trace/trace_recording.h"
#include "tests/unit/event_check.h"
#include "tests/unit/test.h"
#include "tests/unit/trace_maker.h"

#include <string.h>

/* An events block with one column of heads, times and so on, from @columns by number. */
static void put_events(struct writer *content, uint64_t count, uint64_t expanded,
		       const char *const columns[12])
{
	uint64_t ncolumns = 0;

	for (size_t i = 0; i < 12; i++)
		ncolumns += columns[i] != NULL;
	writer_reset(content);
	writer_uleb(content, count);
	writer_uleb(content, expanded);
	writer_uleb(content, ncolumns);
	for (size_t i = 0; i < 12; i++) {
		if (!columns[i])
			continue;
		writer_uleb(content, i);
		writer_uleb(content, (uint8_t)columns[i][0]);
	}
	for (size_t i = 0; i < 12; i++) {
		if (columns[i])
			writer_bytes(content, columns[i] + 1, (uint8_t)columns[i][0]);
	}
}

/* Read the events of one such block; how many there were, or -1 if it counts as damaged. */
static int read_events(uint64_t count, uint64_t expanded, const char *const columns[12])
{
	struct trace_block block = { .major = TRACE_MAJOR, .kind = TRACE_HEADER };
	struct writer content = { 0 }, file = { 0 };
	struct event_source *source;
	struct recording rec;
	struct event ev;
	int found = 0;

	maker_recording(&rec);
	trace_header_put(&content, &rec, 1);
	trace_maker_block(&file, block, &content);
	put_events(&content, count, expanded, columns);
	block.kind = TRACE_EVENTS;
	block.sequence++;
	trace_maker_block(&file, block, &content);
	CHECK_OK(trace_reader_open_memory(file.data, file.len, &source));
	while (event_source_next(source, &ev))
		found++;
	CHECK_OK(event_source_finish(source));
	if (event_source_recording(source)->damaged_at)
		found = -1;
	event_source_close(source);
	arena_deinit(&rec.arena);
	writer_deinit(&content);
	writer_deinit(&file);
	return found;
}

/* The columns begin with their length. Numbers are those of enum trace_column. */
TEST(trace_chunk_skips_kinds_of_events_and_columns_it_does_not_know)
{
	const char *columns[12] = {
		[1] = "\6\5\1\0\1\2\165", /* an exit of 0, an event of kind 21 by the same */
		[2] = "\2\2\2",
		[10] = "\5\0\3abc",
		[11] = "\2??",
	};

	CHECK_UINT((uint64_t)read_events(2, 512, columns), 1);
}

TEST(trace_chunk_refuses_blocks_that_grow_beyond_their_promise)
{
	const char *columns[12] = {
		[1] = "\7\1\1\0\1\2\141\141", /* three samples of one thread */
		[2] = "\3\2\2\2",
		/* User mode, user chain: two addresses, then twice the same chain again. */
		[3] = "\20\202\2\0\2\1\1\202\2\1\0\0\202\2\1\0\0",
		[8] = "\3\200\200\4",
	};

	CHECK_INT(read_events(3, 3 * 256 + 3 * 2 * 8, columns), 3);
	CHECK_INT(read_events(3, 3 * 256 + 3 * 2 * 8 - 1, columns), -1);
	CHECK_INT(read_events(3, 3 * 256 - 1, columns), -1);
	CHECK_INT(read_events(3, 1ull << 40, columns), -1);
	CHECK_INT(read_events(4, 4 * 256 + 64, columns), -1); /* one more than there are */
}

static void check_order(const struct trace_chunk *chunk, size_t count)
{
	CHECK_UINT(chunk->events.count, count);
	for (size_t i = 0; i < count; i++) {
		const struct trace_chunk_place *place = &chunk->order[i];

		CHECK_UINT(place->time_ns, chunk->events.events[place->index].time_ns);
		CHECK(!i || place[-1].time_ns < place->time_ns ||
		      (place[-1].time_ns == place->time_ns && place[-1].index < place->index));
	}
}

/* Snapshots are numbered, and told of none but the one of the same thread in front of them; how many are. */
static size_t check_told(const struct trace_events *events, uint64_t *last)
{
	size_t told = 0;

	for (size_t i = 0; i < events->count; i++) {
		const struct event *ev = &events->events[i], *before = NULL;
		const struct event_stack *stack = &ev->sample.stack;

		if (ev->kind != EVENT_SAMPLE || !stack->number)
			continue;
		CHECK(stack->number > *last);
		*last = stack->number;
		for (size_t k = 0; k < i; k++) {
			const struct event *other = &events->events[k];

			if (other->kind == EVENT_SAMPLE && other->sample.stack.number &&
			    other->pid == ev->pid && other->tid == ev->tid)
				before = other;
		}
		CHECK(!stack->previous || (before && stack->previous == &before->sample.stack));
		told += stack->previous != NULL;
	}
	return told;
}

/*
 * A chunk is used again for a larger and a smaller block, and after a damaged one: nothing of the
 * last may be left.
 */
TEST(trace_chunk_holds_the_last_block_that_was_loaded_and_nothing_else)
{
	static const size_t sizes[] = { 40, 300, 5 };
	struct trace_chunks chunks = { 0 };
	struct trace_maker made;
	struct trace_file file;
	struct trace_chunk *chunk;
	size_t first = 0, told = 0;
	uint64_t last = 0;

	trace_maker_begin(&made, 11);
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		trace_maker_add(&made, sizes[i]);
		trace_maker_flush(&made);
	}
	trace_maker_attach(&made);
	trace_maker_read(&made);
	trace_maker_locate(&made);
	file = trace_file_memory(made.bytes, made.len);
	CHECK_UINT(made.places.len, ARRAY_LEN(sizes));

	chunk = trace_chunks_get(&chunks);
	for (size_t i = 0; i < ARRAY_LEN(sizes); first += sizes[i++]) {
		struct trace_place cut = made.places.items[i], longer = cut;

		CHECK_OK(trace_chunk_load(chunk, &file, &made.places.items[i], &made.rec));
		check_order(chunk, sizes[i]);
		told += check_told(&chunk->events, &last);
		for (size_t k = 0; k < sizes[i]; k++)
			check_event(&chunk->events.events[k], &made.events.items[first + k]);
		cut.packed_len--;
		CHECK_ERR(trace_chunk_load(chunk, &file, &cut, &made.rec), ERR_CORRUPT, "");
		CHECK_UINT(chunk->events.count, 0);
		longer.len++;
		CHECK_ERR(trace_chunk_load(chunk, &file, &longer, &made.rec), ERR_CORRUPT,
			  "");
		longer.offset = made.len - 1;
		CHECK_ERR(trace_chunk_load(chunk, &file, &longer, &made.rec), ERR_CORRUPT,
			  "cut off");
	}
	CHECK(told > 0);
	CHECK_UINT(chunks.nused, 1);
	trace_chunks_put(&chunks, chunk);
	CHECK_UINT(chunks.nused, 0);
	CHECK(trace_chunks_get(&chunks) == chunk);
	trace_chunks_put(&chunks, chunk);
	trace_chunks_deinit(&chunks);
	trace_maker_deinit(&made);
}

/* Late ones come from other CPUs; of the same time, the one that was written first is the first. */
TEST(trace_chunk_orders_events_by_time_and_then_by_place)
{
	static const uint64_t times[] = { 30, 10, 20, 20, 5, 20, 40, 1 };
	static const uint32_t order[] = { 7, 4, 1, 2, 3, 5, 0, 6 };
	struct trace_chunks chunks = { 0 };
	struct trace_chunk *chunk = trace_chunks_get(&chunks);
	struct trace_maker made;
	struct trace_file file;

	trace_maker_begin(&made, 1);
	for (size_t i = 0; i < ARRAY_LEN(times); i++) {
		struct event ev = { .kind = EVENT_EXIT, .time_ns = times[i], .pid = (uint32_t)i };

		CHECK_OK(trace_writer_event(made.writer, &ev));
	}
	CHECK_OK(trace_writer_end(made.writer, &made.rec));
	trace_maker_read(&made);
	trace_maker_locate(&made);
	file = trace_file_memory(made.bytes, made.len);
	CHECK_UINT(made.places.len, 1);
	CHECK_OK(trace_chunk_load(chunk, &file, &made.places.items[0], &made.rec));
	check_order(chunk, ARRAY_LEN(times));
	for (size_t i = 0; i < ARRAY_LEN(times); i++)
		CHECK_UINT(chunk->events.events[chunk->order[i].index].pid, order[i]);
	trace_chunks_put(&chunks, chunk);
	trace_chunks_deinit(&chunks);
	trace_maker_deinit(&made);
}
