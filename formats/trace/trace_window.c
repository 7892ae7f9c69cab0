/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_window.c - one sorted list of places for each open block, and the smallest head of them
 * all.
 */
#include "formats/trace/trace_window.h"

#include "formats/base/memory.h"

#include <stdlib.h>

#define BLOCKS_MAX 64
#define MEMORY_MAX (256u << 20)

struct trace_window {
	struct trace_chunks *chunks;
	struct trace_chunk *open[BLOCKS_MAX];
	size_t nopen, oldest;
	uint64_t next_number, last_ns, late;
};

struct trace_window *trace_window_new(struct trace_chunks *chunks)
{
	struct trace_window *win = memory_zeroed(1, sizeof(*win));

	win->chunks = chunks;
	return win;
}

void trace_window_free(struct trace_window *win)
{
	if (!win)
		return;
	for (size_t i = 0; i < win->nopen; i++)
		trace_chunks_put(win->chunks, win->open[i]);
	free(win);
}

/* Depends on nothing but the blocks, so that the order of events does not. */
bool trace_window_has_room(const struct trace_window *win)
{
	size_t used = 0;

	for (size_t i = 0; i < win->nopen; i++)
		used += win->open[i]->len;
	return win->nopen < BLOCKS_MAX && used < MEMORY_MAX;
}

/* Blocks that are used up make way for those behind them. */
static void close_spent(struct trace_window *win)
{
	for (size_t i = 0; i < win->nopen;) {
		struct trace_chunk *chunk = win->open[i];

		if (chunk->pos < chunk->events.count) {
			i++;
			continue;
		}
		win->open[i] = win->open[--win->nopen];
		chunk->spent = true;
		if (!chunk->holds)
			trace_chunks_put(win->chunks, chunk);
	}
}

void trace_window_let_go(struct trace_window *win, struct trace_chunk *chunk)
{
	if (--chunk->holds == 0 && chunk->spent)
		trace_chunks_put(win->chunks, chunk);
}

void trace_window_add(struct trace_window *win, struct trace_chunk *chunk)
{
	chunk->pos = 0;
	chunk->spent = false;
	chunk->number = win->next_number++;
	win->open[win->nopen++] = chunk;
}

static bool comes_first(const struct trace_chunk *a, const struct trace_chunk *b)
{
	uint64_t x = a->order[a->pos].time_ns, y = b->order[b->pos].time_ns;

	return x != y ? x < y : a->number < b->number;
}

bool trace_window_oldest(struct trace_window *win, uint64_t *ret_time_ns)
{
	const struct trace_chunk *chunk;

	close_spent(win);
	if (win->nopen == 0)
		return false;
	win->oldest = 0;
	for (size_t i = 1; i < win->nopen; i++) {
		if (comes_first(win->open[i], win->open[win->oldest]))
			win->oldest = i;
	}
	chunk = win->open[win->oldest];
	*ret_time_ns = chunk->order[chunk->pos].time_ns;
	return true;
}

const struct event *trace_window_take(struct trace_window *win, struct trace_chunk **ret_chunk)
{
	struct trace_chunk *chunk = win->open[win->oldest];
	const struct event *ev = &chunk->events.events[chunk->order[chunk->pos++].index];

	win->late += ev->time_ns < win->last_ns;
	win->last_ns = MAX(win->last_ns, ev->time_ns);
	*ret_chunk = chunk;
	return ev;
}

uint64_t trace_window_late(const struct trace_window *win)
{
	return win->late;
}
