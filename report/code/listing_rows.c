/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listing_rows.c - one pass over the instructions. What is folded away ends all inlined calls that were open.
 */
#include "report/code/listing_rows.h"

#include "formats/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- jump arrows ---- */

/*
 * Jumps by target, the shortest first, each into the innermost lane that is free for its whole length.
 */

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
	return COMPARE(x->from, y->from);
}

static int by_length(const void *a, const void *b)
{
	const struct group *x = a, *y = b;
	uint32_t xlen = x->bottom - x->top, ylen = y->bottom - y->top;

	if (xlen != ylen)
		return xlen < ylen ? -1 : 1;
	return COMPARE(x->first, y->first);
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

/*
 * Fill @rows->lanes and @rows->arrows with at most @lanes lanes. Arrows to one target share a lane, short ones lie nearest to
 * the code; those that are longer than a few screens, or find no lane, are left out.
 */
static void listing_arrows_place(struct listing_rows *rows, const struct annotate_listing *listing,
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

/* ---- rows ---- */

#define FOLD_KEEP  6 /* instructions shown around those with samples */
#define FOLD_LEAST 4 /* shorter stretches are not worth folding */
#define INDENT_MAX 8
#define OPEN_MAX   64 /* inlined calls around one instruction; deeper ones have no rows */

struct maker {
	struct listing_rows *rows;
	const struct annotate *a;
	struct annotate_listing *listing;
	const struct listing_rows_options *options;
	const struct annotate_line *last; /* shown without a fold since; NULL: none */
	size_t open[OPEN_MAX];            /* rows of the inlined calls around it, outermost first */
	size_t nopen;
};

/* ---- folding --------------------------------------------------------------------------------------- */

/* The first line of a loop that has samples is shown though it may have none. */
static bool is_loop_head(const struct annotate_listing *listing, const bool *hot_head, uint32_t i)
{
	const struct flow *flow = listing->flow;
	uint32_t block = flow->block_of[i];

	return hot_head[block] && flow->blocks[block].first == i;
}

static bool *find_hot_heads(const struct maker *m)
{
	const struct flow *flow = m->listing->flow;
	bool *hot = memory_zeroed(flow->nblocks + 1, sizeof(*hot));
	size_t nevents = m->a->events.len;

	for (uint32_t i = 0; i < flow->nloops; i++)
		for (size_t e = 0; e < nevents; e++)
			if (m->listing->loop_sums[i * nevents + e].count)
				hot[flow->loops[i].head] = true;
	return hot;
}

/* Are there samples on line @i, or recorded branches from it? */
static bool is_busy(const struct annotate_listing *listing, uint32_t i)
{
	return listing->lines.items[i].sums || (listing->branches && listing->branches[i].taken > 0);
}

/* Which lines are near such a one, or begin a loop with samples. */
static bool *find_kept(const struct maker *m)
{
	const struct annotate_listing *listing = m->listing;
	uint32_t count = (uint32_t)listing->lines.len, near = 0;
	bool *kept = memory_zeroed(count + 1, sizeof(*kept));
	bool *hot_head = find_hot_heads(m);

	for (uint32_t i = 0; i < count; i++) { /* behind one */
		near = is_busy(listing, i) ? FOLD_KEEP + 1 : near ? near - 1 : 0;
		kept[i] = near || is_loop_head(listing, hot_head, i);
	}
	near = 0;
	for (uint32_t i = count; i-- > 0;) { /* and before */
		near = is_busy(listing, i) ? FOLD_KEEP + 1 : near ? near - 1 : 0;
		kept[i] |= near > 0;
	}
	free(hot_head);
	return kept;
}

/* How many lines from @i on are folded into one row; 0: line @i is shown. */
static uint32_t fold_at(const struct maker *m, const bool *kept, uint32_t i)
{
	uint32_t len = 0;

	while (!m->options->all && i + len < m->listing->lines.len && !kept[i + len])
		len++;
	return len >= FOLD_LEAST ? len : 0;
}

/* ---- rows ------------------------------------------------------------------------------------------ */

static uint32_t loop_depth(const struct annotate_listing *listing, uint32_t line)
{
	uint32_t loop = listing->flow->blocks[listing->flow->block_of[line]].loop;

	return loop == FLOW_NONE ? 0 : listing->flow->loops[loop].depth;
}

static struct listing_row *add_row(struct maker *m, enum listing_row_kind kind, uint32_t line,
				   uint32_t indent)
{
	struct listing_row row = { .kind = kind,
				   .line = line,
				   .loop = FLOW_NONE,
				   .indent = MIN(indent, INDENT_MAX) };

	vec_push(&m->rows->rows, row);
	return &m->rows->rows.items[m->rows->rows.len - 1];
}

/* Loops that begin with the block that begins at @line. */
static void add_loop(struct maker *m, uint32_t line)
{
	const struct flow *flow = m->listing->flow;
	uint32_t block = flow->block_of[line], loop = flow->blocks[block].loop;

	if (flow->blocks[block].first != line || loop == FLOW_NONE ||
	    flow->loops[loop].head != block)
		return;
	struct listing_row *row = add_row(m, LISTING_LOOP, line, flow->loops[loop].depth - 1);

	row->loop = loop;
	row->sums = &m->listing->loop_sums[loop * m->a->events.len];
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* How many inlined calls, from the outermost on, both lines are in. */
static size_t common_calls(const struct annotate_line *a, const struct annotate_line *b)
{
	size_t common = 0;

	while (a && common + 1 < a->nframes && common + 1 < b->nframes) {
		const struct symbol_frame *x = &a->frames[a->nframes - common - 1];
		const struct symbol_frame *y = &b->frames[b->nframes - common - 1];

		/* The same function, called from the same place. */
		if (x->line != y->line || !same_text(x->file, y->file) ||
		    !same_text(x[-1].function, y[-1].function))
			break;
		common++;
	}
	return common;
}

static void open_calls(struct maker *m, uint32_t i, const struct annotate_line *line)
{
	size_t common = common_calls(m->last, line), depth = loop_depth(m->listing, i);

	m->nopen = MIN(m->nopen, common);
	while (m->nopen + 1 < line->nframes && m->nopen < OPEN_MAX) {
		struct listing_row *row =
			add_row(m, LISTING_INLINE, i, (uint32_t)(depth + m->nopen));

		row->frame = (uint32_t)(line->nframes - m->nopen - 2);
		row->sums = ARENA_ARRAY(&m->rows->arena, struct profile_sum, m->a->events.len);
		m->open[m->nopen++] = m->rows->rows.len - 1;
	}
}

static void add_insn(struct maker *m, uint32_t i)
{
	struct annotate_line *line = &m->listing->lines.items[i];
	uint32_t depth = loop_depth(m->listing, i);

	annotate_name(m->a, m->listing, line);
	add_loop(m, i);

	size_t before = m->rows->rows.len;

	open_calls(m, i, line);
	/* A call that ended or began: say where that is, though the line's number may be the same. */
	bool moved = m->rows->rows.len > before || !annotate_same_source(m->last, line);

	if (m->options->source && annotate_file(line) && moved)
		add_row(m, LISTING_SOURCE, i, (uint32_t)(depth + m->nopen));
	add_row(m, LISTING_INSN, i, depth)->sums = line->sums;
	for (size_t k = 0; line->sums && k < m->nopen; k++)
		for (size_t e = 0; e < m->a->events.len; e++)
			stats_add_sum(&m->rows->rows.items[m->open[k]].sums[e], &line->sums[e]);
	m->last = line;
}

static void add_rows(struct maker *m)
{
	bool *kept = find_kept(m);

	for (uint32_t i = 0; i < m->listing->lines.len; i++) {
		uint32_t folded = fold_at(m, kept, i);

		if (!folded) {
			add_insn(m, i);
			continue;
		}
		add_row(m, LISTING_FOLD, i, 0)->count = folded;
		i += folded - 1;
		m->last = NULL;
		m->nopen = 0;
	}
	free(kept);
}

void listing_rows_init(struct listing_rows *ret, const struct annotate *a,
		       struct annotate_listing *listing, const struct listing_rows_options *options)
{
	struct maker m = { .rows = ret, .a = a, .listing = listing, .options = options };

	*ret = (struct listing_rows){ 0 };
	add_rows(&m);
	listing_arrows_place(ret, listing, options->lanes);
}

void listing_rows_deinit(struct listing_rows *rows)
{
	vec_deinit(&rows->rows);
	arena_deinit(&rows->arena);
}
