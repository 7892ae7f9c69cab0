/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotate_branches.c - the recorded branches that leave from a function's instructions, or lead to them.
 *
 * Rows of one instruction that lead to several places are added up as if their samples were others, which makes the ranges of
 * indirect branches a little narrow.
 */
#include "report/code/annotate.h"

#include <stdlib.h>

static int compare_lines(const void *key, const void *entry)
{
	uint64_t vaddr = *(const uint64_t *)key;
	const struct annotate_line *line = entry;

	return COMPARE(vaddr, line->insn.vaddr);
}

/* The instruction at @place, FLOW_NONE if it is none of the listing's. */
static uint32_t line_at(const struct annotate *a, const struct annotate_listing *listing,
			uint32_t place)
{
	uint32_t location = a->branches->places.items[place].location;
	const struct profile_location *at;
	const struct annotate_line *line;
	uint64_t vaddr;

	if (location == PROFILE_NONE)
		return FLOW_NONE;
	at = &a->s->profile->locations.items[location];
	if (at->module != listing->function->module)
		return FLOW_NONE;
	vaddr = at->vaddr - listing->level;
	line = bsearch(&vaddr, listing->lines.items, listing->lines.len, sizeof(*line),
		       compare_lines);
	return line ? (uint32_t)(line - listing->lines.items) : FLOW_NONE;
}

static void add_row(struct annotate_listing *listing, const struct branches_row *row, uint32_t from,
		    uint32_t to)
{
	if (from != FLOW_NONE) {
		struct annotate_branch *branch = &listing->branches[from];

		branch->taken += row->count.part;
		stats_ratio_add_sum(&branch->missed, &row->missed);
		stats_ratio_add_sum(&branch->cycles, &row->cycles);
		listing->taken += row->count.part;
		stats_ratio_add_sum(&listing->missed, &row->missed);
	}
	if (to != FLOW_NONE)
		listing->branches[to].entered += row->count.part;
	if (from != FLOW_NONE && to != FLOW_NONE)
		vec_push(&listing->jumps, ((struct annotate_jump){ from, to, row->count.part }));
}

static int compare_jumps(const void *left, const void *right)
{
	const struct annotate_jump *x = left, *y = right;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return COMPARE(x->to, y->to);
}

void annotate_place_branches(const struct annotate *a, struct annotate_listing *listing)
{
	if (!a->branches || !a->branches->rows.len)
		return;
	listing->branches =
		ARENA_ARRAY(&listing->arena, struct annotate_branch, listing->lines.len + 1);
	for (size_t i = 0; i < a->branches->rows.len; i++) {
		const struct branches_row *row = &a->branches->rows.items[i];

		add_row(listing, row, line_at(a, listing, row->from), line_at(a, listing, row->to));
	}
	vec_sort(&listing->jumps, compare_jumps);
}

double annotate_jump_count(const struct annotate_listing *listing, uint32_t from, uint32_t to)
{
	const struct annotate_jump wanted = { from, to, 0 };
	const struct annotate_jump *found =
		listing->jumps.len ? bsearch(&wanted, listing->jumps.items, listing->jumps.len,
					     sizeof(wanted), compare_jumps)
				   : NULL;

	return found ? found->count : 0;
}
