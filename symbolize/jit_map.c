/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jit_map.c - lines to symbols, then one sweep over their starts and ends that leaves disjoint pieces.
 *
 *	line 1  |--------------------|
 *	line 2        |-----|
 *	pieces  1     2     1        end
 *
 * The sweep keeps the symbols that are open in a heap, latest line on top; those that have ended are
 * dropped when they come up.
 */
#include "symbolize/jit_map.h"

#include "formats/base/reader.h"
#include "formats/base/vec.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

/* From @start to the next piece's start, @symbol holds; NONE for a gap. */
struct piece {
	uint64_t start;
	uint32_t symbol;
};

struct jit_map {
	char *text;
	VEC(struct jit_symbol) symbols;
	VEC(struct piece) pieces;
	size_t skipped;
};

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
		return (c | 0x20) - 'a' + 10;
	return -1;
}

/* Hexadecimal number at *@pos, which moves behind it and the blanks that must follow. */
static bool take_number(const char **pos, uint64_t *ret)
{
	const char *p = *pos;
	uint64_t value = 0;
	int ndigits = 0;

	if (p[0] == '0' && (p[1] | 0x20) == 'x')
		p += 2;
	for (; digit_value(*p) >= 0; p++, ndigits++) {
		if (value >> 60)
			return false;
		value = value << 4 | (unsigned)digit_value(*p);
	}
	if (!ndigits || (*p != ' ' && *p != '\t'))
		return false;
	while (*p == ' ' || *p == '\t')
		p++;
	*pos = p;
	*ret = value;
	return true;
}

static bool parse_line(const char *line, struct jit_symbol *ret)
{
	while (*line == ' ' || *line == '\t')
		line++;
	if (!take_number(&line, &ret->start) || !take_number(&line, &ret->len))
		return false;
	ret->name = line;
	return *line && ret->len && ret->len <= UINT64_MAX - ret->start;
}

/* Cut the copy of the text into lines and keep those that are symbols. */
static void parse(struct jit_map *map, size_t len)
{
	struct jit_symbol symbol;
	char *end = map->text + len;

	for (char *line = map->text; line < end && map->symbols.len < NONE;) {
		char *eol = memchr(line, '\n', (size_t)(end - line));

		if (!eol)
			eol = end;
		*eol = '\0';
		if (eol > line && eol[-1] == '\r')
			eol[-1] = '\0';
		if (parse_line(line, &symbol))
			vec_push(&map->symbols, symbol);
		else
			map->skipped++;
		line = eol + 1;
	}
}

/* Where something may change: symbol @symbol starts (or ends) at @addr. */
struct edge {
	uint64_t addr;
	uint32_t symbol;
	bool start;
};

static int by_address(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

struct heap {
	uint32_t *items; /* symbol numbers, the highest at [0] */
	size_t len;
};

static void heap_add(struct heap *heap, uint32_t symbol)
{
	size_t i = heap->len++;

	for (; i && heap->items[(i - 1) / 2] < symbol; i = (i - 1) / 2)
		heap->items[i] = heap->items[(i - 1) / 2];
	heap->items[i] = symbol;
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

static void add_piece(struct jit_map *map, uint64_t start, uint32_t symbol)
{
	uint32_t before = map->pieces.len ? map->pieces.items[map->pieces.len - 1].symbol : NONE;
	struct piece piece = { start, symbol };

	if (symbol != before)
		vec_push(&map->pieces, piece);
}

static void sweep(struct jit_map *map, const struct edge *edges, size_t count)
{
	struct heap heap = { .items = memory_alloc(map->symbols.len * sizeof(uint32_t)) };

	for (size_t i = 0; i < count;) {
		uint64_t addr = edges[i].addr;

		for (; i < count && edges[i].addr == addr; i++) {
			if (edges[i].start)
				heap_add(&heap, edges[i].symbol);
		}
		while (heap.len) {
			const struct jit_symbol *top = &map->symbols.items[heap.items[0]];

			if (top->start + top->len > addr)
				break;
			heap_drop_top(&heap);
		}
		add_piece(map, addr, heap.len ? heap.items[0] : NONE);
	}
	free(heap.items);
}

struct jit_map *jit_map_new(const char *text, size_t len)
{
	struct jit_map *map = memory_zeroed(1, sizeof(*map));

	map->text = memory_alloc(len + 1);
	if (len)
		memcpy(map->text, text, len);
	map->text[len] = '\0';
	parse(map, len);

	size_t count = map->symbols.len;
	VEC(struct edge) edges = { 0 };

	vec_reserve(&edges, 2 * count);
	for (size_t i = 0; i < count; i++) {
		const struct jit_symbol *sym = &map->symbols.items[i];
		struct edge start = { sym->start, (uint32_t)i, true };
		struct edge end = { sym->start + sym->len, (uint32_t)i, false };

		vec_push(&edges, start);
		vec_push(&edges, end);
	}
	vec_sort(&edges, by_address);
	sweep(map, edges.items, edges.len);
	vec_deinit(&edges);
	return map;
}

void jit_map_free(struct jit_map *map)
{
	if (!map)
		return;
	vec_deinit(&map->symbols);
	vec_deinit(&map->pieces);
	free(map->text);
	free(map);
}

const struct jit_symbol *jit_map_find(const struct jit_map *map, uint64_t ip)
{
	size_t low = 0, high = map->pieces.len;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (map->pieces.items[mid].start <= ip)
			low = mid + 1;
		else
			high = mid;
	}
	uint32_t symbol = low ? map->pieces.items[low - 1].symbol : NONE;

	return symbol == NONE ? NULL : &map->symbols.items[symbol];
}

const struct jit_symbol *jit_map_symbols(const struct jit_map *map, size_t *ret_count)
{
	*ret_count = map->symbols.len;
	return map->symbols.items;
}

size_t jit_map_skipped(const struct jit_map *map)
{
	return map->skipped;
}
