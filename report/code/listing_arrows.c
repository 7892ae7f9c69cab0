/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listing_arrows.c - jumps by target, the shortest first, each into the innermost lane that is free for its whole length.
 */
#include "report/code/listing_arrows.h"

#include "formats/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH_MAX 400 /* rows; also keeps hostile code from costing its square */

#define HEAVY 0.1 /* share of the function's recorded branches */

struct jump {
	uint32_t from, to; /* rows */
	double count;      /* recorded branches */
};

/* Jumps to one row. */
struct group {
	uint32_t first, count; /* of the jumps */
	uint32_t top, bottom;  /* rows */
	double branches;
};

struct placer {
	VEC(struct jump) jumps;
	VEC(struct group) groups;
	uint8_t *cells; /* LISTING_LANES_MAX for each row */
};

static int by_target(const void *a, const void *b)
{
	const struct jump *x = a, *y = b;

	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

static int by_length(const void *a, const void *b)
{
	const struct group *x = a, *y = b;
	uint32_t xlen = x->bottom - x->top, ylen = y->bottom - y->top;

	if (xlen != ylen)
		return xlen < ylen ? -1 : 1;
	return (x->first > y->first) - (x->first < y->first);
}

static void find_jumps(struct placer *p, const struct listing_rows *rows,
		       const struct annotate_listing *listing)
{
	uint32_t count = (uint32_t)listing->lines.len;
	uint32_t *row_of = memory_zeroed(count + 1, sizeof(*row_of)); /* + 1; 0: not shown */

	for (uint32_t i = 0; i < rows->rows.len; i++)
		if (rows->rows.items[i].kind == LISTING_INSN)
			row_of[rows->rows.items[i].line] = i + 1;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t target = row_of[i] ? flow_jump(listing->insns, count, i) : FLOW_NONE;

		if (target == FLOW_NONE || !row_of[target])
			continue;
		struct jump jump = { .from = row_of[i] - 1,
				     .to = row_of[target] - 1,
				     .count = annotate_jump_count(listing, i, target) };

		if (MAX(jump.from, jump.to) - MIN(jump.from, jump.to) <= LENGTH_MAX)
			vec_push(&p->jumps, jump);
	}
	vec_sort(&p->jumps, by_target);
	free(row_of);
}

static void group_jumps(struct placer *p)
{
	for (uint32_t i = 0; i < p->jumps.len; i++) {
		const struct jump *jump = &p->jumps.items[i];
		struct group *last = p->groups.len ? &p->groups.items[p->groups.len - 1] : NULL;

		if (!last || p->jumps.items[last->first].to != jump->to) {
			struct group group = { .first = i, .top = jump->to, .bottom = jump->to };

			vec_push(&p->groups, group);
			last = &p->groups.items[p->groups.len - 1];
		}
		last->count++;
		last->branches += jump->count;
		last->top = MIN(last->top, jump->from);
		last->bottom = MAX(last->bottom, jump->from);
	}
	vec_sort(&p->groups, by_length);
}

static bool is_free(const struct placer *p, const struct group *group, unsigned lane)
{
	for (uint32_t row = group->top; row <= group->bottom; row++)
		if (p->cells[row * LISTING_LANES_MAX + lane])
			return false;
	return true;
}

static void draw(struct placer *p, const struct group *group, unsigned lane, bool heavy)
{
	uint8_t *cells = p->cells + lane;

	for (uint32_t row = group->top; heavy && row <= group->bottom; row++)
		cells[row * LISTING_LANES_MAX] |= LISTING_ARROW_HEAVY;

	for (uint32_t row = group->top; row < group->bottom; row++) {
		cells[row * LISTING_LANES_MAX] |= LISTING_ARROW_DOWN;
		cells[(row + 1) * LISTING_LANES_MAX] |= LISTING_ARROW_UP;
	}
	for (uint32_t i = 0; i < group->count; i++) {
		const struct jump *jump = &p->jumps.items[group->first + i];

		cells[jump->from * LISTING_LANES_MAX] |= LISTING_ARROW_END;
		cells[jump->to * LISTING_LANES_MAX] |= LISTING_ARROW_END | LISTING_ARROW_HEAD;
	}
}

void listing_arrows_place(struct listing_rows *rows, const struct annotate_listing *listing,
			  unsigned lanes)
{
	struct placer p = { .cells = memory_zeroed(rows->rows.len + 1, LISTING_LANES_MAX) };

	find_jumps(&p, rows, listing);
	group_jumps(&p);
	for (size_t i = 0; i < p.groups.len; i++) {
		unsigned lane = 0;

		while (lane < lanes && !is_free(&p, &p.groups.items[i], lane))
			lane++;
		if (lane == lanes)
			continue;
		draw(&p, &p.groups.items[i], lane,
		     listing->taken > 0 && p.groups.items[i].branches >= HEAVY * listing->taken);
		rows->lanes = MAX(rows->lanes, lane + 1);
	}
	rows->arrows = arena_alloc(&rows->arena, rows->rows.len * rows->lanes + 1);
	for (size_t row = 0; row < rows->rows.len; row++)
		memcpy(rows->arrows + row * rows->lanes, p.cells + row * LISTING_LANES_MAX,
		       rows->lanes);
	vec_deinit(&p.jumps);
	vec_deinit(&p.groups);
	free(p.cells);
}

/* How an arrow looks: one that much came along is drawn with heavier lines. */
struct pen {
	const char *through, *flat, *up, *down, *cross, *upright;
};

static const struct pen pens[2][2] = {
	{ { "+", "-", "'", ",", "+", "|" }, { "#", "=", "#", "#", "#", "#" } },
	{ { "├", "─", "╰", "╭", "┼", "│" }, { "┣", "━", "┗", "┏", "╂", "┃" } },
};

static const char *glyph(unsigned cell, bool passes, bool heavy_passes, bool utf8)
{
	const struct pen *pen = &pens[utf8][(cell & LISTING_ARROW_HEAVY) != 0];
	bool up = cell & LISTING_ARROW_UP, down = cell & LISTING_ARROW_DOWN;

	if (cell & LISTING_ARROW_END) {
		if (up && down)
			return pen->through;
		if (!up && !down)
			return pen->flat; /* a jump to itself */
		return up ? pen->up : pen->down;
	}
	if (up || down)
		return passes ? pen->cross : pen->upright;
	return passes ? pens[utf8][heavy_passes].flat : " ";
}

void listing_rows_arrows(const struct listing_rows *rows, size_t i, bool utf8, char ret[32])
{
	const uint8_t *cells = rows->arrows + i * rows->lanes;
	bool passes = false, head = false, heavy = false;
	size_t at = 0;

	for (unsigned lane = rows->lanes; lane-- > 0;) {
		at += (size_t)snprintf(ret + at, 32 - at, "%s",
				       glyph(cells[lane], passes, heavy, utf8));
		passes |= cells[lane] & LISTING_ARROW_END;
		heavy |= cells[lane] & LISTING_ARROW_END && cells[lane] & LISTING_ARROW_HEAVY;
		head |= cells[lane] & LISTING_ARROW_HEAD;
	}
	snprintf(ret + at, 32 - at, "%s", head ? ">" : passes ? pens[utf8][heavy].flat : " ");
}
