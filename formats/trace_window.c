/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_window.c - one sorted list of places for each open block, and the smallest head of them
 * all.
 */
#include "formats/trace_window.h"

#include "formats/base/memory.h"
#include "formats/trace_decoder.h"

#include <stdlib.h>
#include <string.h>

#define BLOCKS_MAX 64
#define MEMORY_MAX (256u << 20)

struct place {
	uint64_t time_ns;
	uint32_t index; /* in events */
};

struct open_block {
	uint8_t *content;
	size_t content_cap;
	struct trace_events events;
	struct place *order; /* of all events */
	size_t order_cap, pos;
	uint64_t number; /* of the block in the file: breaks ties */
};

struct trace_window {
	const struct recording *rec;
	struct open_block blocks[BLOCKS_MAX];
	size_t nblocks; /* in use; those beyond keep their memory for the next */
	size_t oldest;
	uint64_t next_number, last_ns, late;
};

struct trace_window *trace_window_new(const struct recording *rec)
{
	struct trace_window *win = memory_zeroed(1, sizeof(*win));

	win->rec = rec;
	return win;
}

void trace_window_free(struct trace_window *win)
{
	if (!win)
		return;
	for (size_t i = 0; i < BLOCKS_MAX; i++) {
		free(win->blocks[i].content);
		free(win->blocks[i].order);
		trace_events_deinit(&win->blocks[i].events);
	}
	free(win);
}

bool trace_window_has_room(const struct trace_window *win)
{
	size_t used = 0;

	for (size_t i = 0; i < win->nblocks; i++)
		used += win->blocks[i].content_cap + win->blocks[i].events.memory_len;
	return win->nblocks < BLOCKS_MAX && used < MEMORY_MAX;
}

/* Blocks that are used up make way for those behind them. */
static void close_spent(struct trace_window *win)
{
	for (size_t i = 0; i < win->nblocks;) {
		struct open_block *block = &win->blocks[i];

		if (block->pos < block->events.count) {
			i++;
			continue;
		}
		struct open_block spent = *block;

		win->nblocks--;
		*block = win->blocks[win->nblocks];
		win->blocks[win->nblocks] = spent;
	}
}

uint8_t *trace_window_room(struct trace_window *win, size_t len)
{
	struct open_block *block = &win->blocks[win->nblocks];

	if (block->content_cap < len) {
		free(block->content);
		block->content = memory_alloc(len);
		block->content_cap = len;
	}
	return block->content;
}

static int by_time(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static void sort_events(struct open_block *block)
{
	size_t count = block->events.count;
	bool sorted = true;

	if (block->order_cap < count) {
		free(block->order);
		block->order = memory_alloc(count * sizeof(*block->order));
		block->order_cap = count;
	}
	for (size_t i = 0; i < count; i++) {
		block->order[i].time_ns = block->events.events[i].time_ns;
		block->order[i].index = (uint32_t)i;
		sorted = sorted && (!i || block->order[i - 1].time_ns <= block->order[i].time_ns);
	}
	if (!sorted)
		qsort(block->order, count, sizeof(*block->order), by_time);
}

struct err *trace_window_add(struct trace_window *win, size_t len)
{
	struct open_block *block = &win->blocks[win->nblocks];
	struct err *err = trace_events_decode(block->content, len, win->rec, &block->events);

	if (err)
		return err;
	sort_events(block);
	block->pos = 0;
	block->number = win->next_number++;
	win->nblocks++;
	return NULL;
}

static bool comes_first(const struct open_block *a, const struct open_block *b)
{
	uint64_t x = a->order[a->pos].time_ns, y = b->order[b->pos].time_ns;

	return x != y ? x < y : a->number < b->number;
}

bool trace_window_oldest(struct trace_window *win, uint64_t *ret_time_ns)
{
	close_spent(win);
	if (win->nblocks == 0)
		return false;
	win->oldest = 0;
	for (size_t i = 1; i < win->nblocks; i++) {
		if (comes_first(&win->blocks[i], &win->blocks[win->oldest]))
			win->oldest = i;
	}
	const struct open_block *block = &win->blocks[win->oldest];

	*ret_time_ns = block->order[block->pos].time_ns;
	return true;
}

void trace_window_take(struct trace_window *win, struct event *ret)
{
	struct open_block *block = &win->blocks[win->oldest];

	*ret = block->events.events[block->order[block->pos++].index];
	win->late += ret->time_ns < win->last_ns;
	win->last_ns = MAX(win->last_ns, ret->time_ns);
}

uint64_t trace_window_late(const struct trace_window *win)
{
	return win->late;
}
