/* SPDX-License-Identifier: Apache-2.0 */
/*
 * range_overlay.c - one sweep over the beginnings leaves disjoint pieces, found by binary search.
 *
 *	range 0  |--------------------|
 *	range 1        |-----|
 *	pieces   0     1     0        none
 *
 * The sweep keeps the ranges that are open in a heap, the last laid on top; those that have ended are
 * dropped when they come up. n log n, however they overlap.
 */
#include "symbolize/module/range_overlay.h"

#include "formats/base/bisect.h"
#include "formats/base/vec.h"

#include <stdbool.h>
#include <stdlib.h>

/* From @begin to the next piece's, range @index shows. */
struct piece {
	uint64_t begin;
	uint32_t index;
};

struct range_overlay {
	VEC(struct piece) pieces;
};

struct heap {
	uint32_t *items; /* indices of ranges, the highest at [0] */
	size_t len;
};

struct sweep {
	struct range_overlay *layers;
	const struct layer *ranges;
	struct heap open;
};

static void heap_add(struct heap *heap, uint32_t index)
{
	size_t i = heap->len++;

	for (; i && heap->items[(i - 1) / 2] < index; i = (i - 1) / 2)
		heap->items[i] = heap->items[(i - 1) / 2];
	heap->items[i] = index;
}

static void heap_drop_top(struct heap *heap)
{
	uint32_t last = heap->items[--heap->len];
	size_t i = 0;

	for (size_t child; (child = 2 * i + 1) < heap->len; i = child) {
		if (child + 1 < heap->len && heap->items[child + 1] > heap->items[child])
			child++;
		if (heap->items[child] <= last)
			break;
		heap->items[i] = heap->items[child];
	}
	if (heap->len)
		heap->items[i] = last;
}

/* What shows from @addr on is the top of the heap. */
static void add_piece(struct sweep *sweep, uint64_t addr)
{
	struct range_overlay *layers = sweep->layers;
	struct piece piece = { addr, sweep->open.len ? sweep->open.items[0] : RANGE_OVERLAY_NONE };
	struct piece *last =
		layers->pieces.len ? &layers->pieces.items[layers->pieces.len - 1] : NULL;

	if (last && last->begin == addr)
		*last = piece;
	else if (!last || last->index != piece.index)
		vec_push(&layers->pieces, piece);
}

/* Let go of what ends up to @addr, one end after another. */
static void close_until(struct sweep *sweep, uint64_t addr)
{
	struct heap *open = &sweep->open;

	while (open->len && sweep->ranges[open->items[0]].end <= addr) {
		uint64_t end = sweep->ranges[open->items[0]].end;

		while (open->len && sweep->ranges[open->items[0]].end <= end)
			heap_drop_top(open);
		add_piece(sweep, end);
	}
}

static int by_begin(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	return COMPARE(x->begin, y->begin);
}

struct range_overlay *range_overlay_new(const struct layer *ranges, size_t count)
{
	struct range_overlay *layers = memory_zeroed(1, sizeof(*layers));
	struct sweep sweep = { .layers = layers, .ranges = ranges };
	VEC(struct piece) order = { 0 };
	bool sorted = true;

	vec_reserve(&order, count);
	for (size_t i = 0; i < count; i++) {
		struct piece piece = { ranges[i].begin, (uint32_t)i };

		if (ranges[i].begin >= ranges[i].end)
			continue;
		sorted &= !order.len || order.items[order.len - 1].begin <= piece.begin;
		vec_push(&order, piece);
	}
	if (!sorted)
		vec_sort(&order, by_begin);

	sweep.open.items = memory_alloc((order.len + 1) * sizeof(uint32_t));
	for (size_t i = 0; i < order.len; i++) {
		close_until(&sweep, order.items[i].begin);
		heap_add(&sweep.open, order.items[i].index);
		add_piece(&sweep, order.items[i].begin);
	}
	close_until(&sweep, UINT64_MAX);
	vec_fit(&layers->pieces);
	free(sweep.open.items);
	vec_deinit(&order);
	return layers;
}

void range_overlay_free(struct range_overlay *layers)
{
	if (!layers)
		return;
	vec_deinit(&layers->pieces);
	free(layers);
}

/* How many pieces begin at or before @addr. */
static size_t pieces_upto(const struct range_overlay *layers, uint64_t addr)
{
	return BISECT(layers->pieces.len, i, layers->pieces.items[i].begin <= addr);
}

uint32_t range_overlay_find(const struct range_overlay *layers, uint64_t addr)
{
	size_t count = pieces_upto(layers, addr);

	return count ? layers->pieces.items[count - 1].index : RANGE_OVERLAY_NONE;
}

uint64_t range_overlay_next(const struct range_overlay *layers, uint64_t addr)
{
	size_t count = pieces_upto(layers, addr);

	return count < layers->pieces.len ? layers->pieces.items[count].begin : UINT64_MAX;
}
