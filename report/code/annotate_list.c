/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotate_list.c - the code of one function, and the samples put on its instructions, blocks and loops.
 */
#include "report/code/annotate.h"

#include "report/code/code_origin.h"

#include <stdlib.h>
#include <string.h>

static int compare_lines(const void *key, const void *item)
{
	uint64_t vaddr = *(const uint64_t *)key;
	const struct annotate_line *line = item;

	if (vaddr < line->insn.vaddr)
		return -1;
	return vaddr - line->insn.vaddr >= line->insn.len;
}

/* The instruction at @place. */
static struct annotate_line *line_at(struct annotate_listing *listing, uint64_t place)
{
	uint64_t vaddr = place - listing->level;

	return bsearch(&vaddr, listing->lines.items, listing->lines.len,
		       sizeof(*listing->lines.items), compare_lines);
}

static void place_hits(const struct annotate *a, struct annotate_listing *listing)
{
	const struct annotate_function *function = listing->function;
	struct arena *arena = &listing->arena;

	listing->elsewhere = ARENA_ARRAY(arena, struct profile_sum, a->events.len);
	for (size_t i = 0; i < function->hits.len; i++) {
		const struct annotate_hit *hit = &function->hits.items[i];
		struct annotate_line *line = line_at(listing, hit->vaddr);

		if (line && !line->sums)
			line->sums = ARENA_ARRAY(arena, struct profile_sum, a->events.len);
		stats_add_sum(&(line ? line->sums : listing->elsewhere)[hit->column], &hit->sum);
	}
}

/* What was counted with the samples that fell on each instruction, whichever event they are of. */
static void place_measures(const struct annotate *a, struct annotate_listing *listing)
{
	const struct profile *p = a->s->profile;
	const struct annotate_function *function = listing->function;

	for (unsigned i = 0; i < a->nmeasures; i++)
		listing->measured_len += measures_len(a->measures[i]);
	if (!a->nmeasures)
		return;
	listing->measured = ARENA_ARRAY(&listing->arena, double,
					listing->lines.len * listing->measured_len);
	for (uint32_t row = 0; row < p->samples.len; row++) {
		uint32_t stack = p->samples.items[row].stack;
		const struct profile_location *at =
			stack ? &p->locations.items[p->stacks.items[stack].location] : NULL;
		struct annotate_line *line =
			at && at->module == function->module ? line_at(listing, at->vaddr) : NULL;

		if (!line)
			continue;
		double *sums = listing->measured +
			       (size_t)(line - listing->lines.items) * listing->measured_len;

		for (unsigned i = 0; i < a->nmeasures; i++) {
			measures_sum_row(a->measures[i], row, sums);
			sums += measures_len(a->measures[i]);
		}
	}
}

static void add_sums(struct profile_sum *to, const struct profile_sum *sums, size_t count)
{
	for (size_t i = 0; i < count; i++)
		stats_add_sum(&to[i], &sums[i]);
}

static int deepest_first(const void *a, const void *b, void *context)
{
	const struct flow *flow = context;
	uint32_t x = flow->loops[*(const uint32_t *)a].depth;
	uint32_t y = flow->loops[*(const uint32_t *)b].depth;

	return (x < y) - (x > y);
}

/* Each loop's sums into those of the loop around it; deepest first, so that each is handed on once. */
static void add_inner_loops(const struct flow *flow, struct profile_sum *sums, size_t nevents)
{
	uint32_t *order = memory_zeroed(flow->nloops + 1, sizeof(*order));

	for (uint32_t i = 0; i < flow->nloops; i++)
		order[i] = i;
	qsort_r(order, flow->nloops, sizeof(*order), deepest_first, (void *)flow);
	for (uint32_t i = 0; i < flow->nloops; i++) {
		uint32_t parent = flow->loops[order[i]].parent;

		if (parent != FLOW_NONE)
			add_sums(&sums[parent * nevents], &sums[order[i] * nevents], nevents);
	}
	free(order);
}

static void add_flow(const struct annotate *a, struct annotate_listing *listing)
{
	uint32_t count = (uint32_t)listing->lines.len;
	size_t nevents = a->events.len;

	listing->insns = ARENA_ARRAY(&listing->arena, struct flow_insn, count);
	for (uint32_t i = 0; i < count; i++) {
		const struct disasm_insn *insn = &listing->lines.items[i].insn;

		listing->insns[i] = (struct flow_insn){ insn->vaddr, insn->target, insn->flow };
	}
	struct flow *flow = listing->flow = flow_new(listing->insns, count);

	listing->block_sums =
		ARENA_ARRAY(&listing->arena, struct profile_sum, flow->nblocks * nevents);
	listing->loop_sums =
		ARENA_ARRAY(&listing->arena, struct profile_sum, flow->nloops * nevents);
	for (uint32_t i = 0; i < count; i++) {
		const struct profile_sum *sums = listing->lines.items[i].sums;
		uint32_t block = flow->block_of[i], loop = flow->blocks[block].loop;

		if (sums)
			add_sums(&listing->block_sums[block * nevents], sums, nevents);
		if (sums && loop != FLOW_NONE)
			add_sums(&listing->loop_sums[loop * nevents], sums, nevents);
	}
	add_inner_loops(flow, listing->loop_sums, nevents);
}

static void disassemble(struct disasm *d, const uint8_t *code, struct annotate_listing *ret)
{
	uint64_t at = 0;

	while (at < ret->code_len) {
		struct annotate_line line = { .code = code + at };

		if (!disasm_next(d, code + at, ret->code_len - at, ret->function->vaddr - ret->level + at,
				 &line.insn))
			break;
		vec_push(&ret->lines, line);
		at += line.insn.len;
	}
}

struct err *annotate_list(struct annotate *a, const struct annotate_function *function,
			  enum disasm_syntax syntax, struct annotate_listing *ret)
{
	struct module *mod = session_module(a->s, function->module);
	struct code_origin origin;
	struct disasm *d;

	if (!code_origin_find(a->s, mod, function->vaddr, &origin) || !function->len)
		return code_origin_missing(a->s->recording, mod, function->name);
	struct err *err = disasm_open(origin.arch, syntax, &d);

	if (err)
		return err;
	*ret = (struct annotate_listing){ .function = function,
					  .level = function->vaddr - code_place_address(function->vaddr),
					  .code_len = MIN(function->len, origin.len) };
	disassemble(d, origin.code, ret);
	disasm_close(d);
	for (size_t i = 0; i < ret->lines.len; i++)
		code_origin_compare(&origin, &ret->lines.items[i].insn);
	ret->origin = code_origin_text(&origin, ret->lines.len, &ret->arena);
	place_hits(a, ret);
	place_measures(a, ret);
	annotate_place_branches(a, ret);
	add_flow(a, ret);
	return NULL;
}

void annotate_listing_deinit(struct annotate_listing *listing)
{
	flow_free(listing->flow);
	vec_deinit(&listing->lines);
	vec_deinit(&listing->jumps);
	arena_deinit(&listing->arena);
}

void annotate_name(const struct annotate *a, const struct annotate_listing *listing,
		   struct annotate_line *line)
{
	const struct annotate_function *function = listing->function;
	struct module *mod = session_module(a->s, function->module);
	uint64_t target = line->insn.target;
	size_t count;

	if (line->named)
		return;
	line->named = true;
	line->frames = symbolizer_find(a->s->binaries.symbolizer, mod, line->insn.vaddr + listing->level, &line->nframes);
	if (!target ||
	    (line->insn.flow != DISASM_CALL && target + listing->level - function->vaddr < function->len))
		return;
	const struct symbol_frame *frames =
		symbolizer_find(a->s->binaries.symbolizer, mod, target, &count);

	line->callee = frames[count - 1].function;
}

bool annotate_same_source(const struct annotate_line *a, const struct annotate_line *b)
{
	if (!a || annotate_line_number(a) != annotate_line_number(b))
		return false;
	const char *x = annotate_file(a), *y = annotate_file(b);

	return x == y || (x && y && strcmp(x, y) == 0);
}
