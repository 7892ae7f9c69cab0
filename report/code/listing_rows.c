/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listing_rows.c - one pass over the instructions. What is folded away ends all inlined calls that were open.
 */
#include "report/code/listing_rows.h"

#include "formats/base/memory.h"
#include "report/code/listing_arrows.h"

#include <stdlib.h>
#include <string.h>

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
