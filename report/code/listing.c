/* SPDX-License-Identifier: Apache-2.0 */
#include "report/code/listing.h"

#include "formats/base/path.h"
#include "report/print/number.h"

#include <inttypes.h>
#include <string.h>

/* ---- words ----------------------------------------------------------------------------------------- */

const struct profile_sum *listing_whole(const struct annotate *a,
					const struct annotate_listing *listing, size_t column,
					bool global)
{
	return global ? &a->events.items[column].total : &listing->function->sums[column];
}

struct listing_branch_text listing_branch_text(struct arena *arena,
					       const struct annotate_branch *branch)
{
	struct listing_branch_text text = { "", "", "" };

	if (!branch->taken)
		return text;
	text.taken = number_count(arena, (uint64_t)branch->taken);
	text.missed = text.cycles = "-";
	if (branch->missed.whole >= MEASURES_LEAST)
		text.missed = number_share(arena, stats_ratio_share(&branch->missed).share);
	if (branch->cycles.whole >= MEASURES_LEAST)
		text.cycles = arena_printf(arena, "%.1f", stats_ratio_mean(&branch->cycles).mean);
	return text;
}

const char *listing_branches_text(struct arena *arena, const struct annotate *a,
				  const struct annotate_listing *listing)
{
	struct stats_share missed = stats_ratio_share(&listing->missed);
	const char *text;

	if (!listing->branches)
		return "";
	text = arena_printf(arena, "%s of %s recorded branches leave from here",
			    number_count(arena, (uint64_t)listing->taken),
			    number_count(arena, (uint64_t)a->branches->all.whole));
	if (listing->missed.whole < MEASURES_LEAST)
		return text;
	return arena_printf(arena, "%s, %s (%s) of them mispredicted", text,
			    number_share(arena, missed.share), number_interval(arena, &missed));
}

const char *listing_loop_text(struct arena *arena, const struct annotate_listing *listing,
			      uint32_t loop)
{
	const struct flow_loop *l = &listing->flow->loops[loop];
	const struct disasm_insn *first = &listing->lines.items[l->first].insn;
	const struct disasm_insn *last = &listing->lines.items[l->last].insn;

	return arena_printf(arena, "%sloop from %" PRIx64 " to %" PRIx64 "%s",
			    l->parent == FLOW_NONE ? "" : "inner ", first->vaddr, last->vaddr,
			    l->irreducible ? ", entered elsewhere too" : "");
}

const char *listing_call_text(struct arena *arena, const struct annotate_line *line, uint32_t frame)
{
	const struct symbol_frame *callee = &line->frames[frame], *caller = callee + 1;
	const char *name = callee->function ? callee->function : "a function without a name";

	if (!caller->file || !caller->line)
		return name;
	return arena_printf(arena, "%s, called at %s:%" PRIu32, name,
			    path_last_part(caller->file), caller->line);
}

const char *listing_missing_text(struct arena *arena, const struct annotate *a,
				 const struct annotate_listing *listing)
{
	const char *cut = "", *lost = "";
	uint64_t elsewhere = 0;

	if (listing->code_len < listing->function->len)
		cut = arena_printf(arena,
				   "only the first %" PRIu64 " of %" PRIu64
				   " bytes of code are in the recording\n",
				   listing->code_len, listing->function->len);
	for (size_t e = 0; e < a->events.len; e++)
		elsewhere += listing->elsewhere[e].count;
	if (elsewhere)
		lost = arena_printf(arena, "%s fell on addresses that are not listed\n",
				    number_of(arena, elsewhere, "sample"));
	return arena_printf(arena, "%s%s", cut, lost);
}

/* ---- metrics --------------------------------------------------------------------------------------- */

size_t listing_nmetrics(const struct listing_options *options)
{
	return options->metrics ? options->metrics->items.len : 0;
}

/* Is @line in @loop, or in one inside it? FLOW_NONE is around everything. */
static bool is_in_loop(const struct annotate_listing *listing, size_t line, uint32_t loop)
{
	uint32_t at = listing->flow->blocks[listing->flow->block_of[line]].loop;

	while (at != loop && at != FLOW_NONE)
		at = listing->flow->loops[at].parent;
	return at == loop;
}

static struct measure_value metric_over(const struct listing_options *options,
					const struct annotate_listing *listing, size_t first,
					size_t count, uint32_t loop, size_t which)
{
	const struct metric *items = options->metrics->items.items;
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	size_t len = measures_len(&items[which].measures), skip = 0;
	double *sums = ARENA_ARRAY(&arena, double, len);

	for (size_t i = 0; i < which; i++)
		skip += measures_len(&items[i].measures);
	for (size_t i = first; i < first + count; i++) {
		const double *own = listing->measured + i * listing->measured_len + skip;

		for (size_t k = 0; k < len && is_in_loop(listing, i, loop); k++)
			sums[k] += own[k];
	}
	return measures_value(&items[which].measures, sums, items[which].expr);
}

struct measure_value listing_metric(const struct listing_options *options,
				    const struct annotate_listing *listing, size_t line,
				    size_t which)
{
	return metric_over(options, listing, line, 1, FLOW_NONE, which);
}

struct measure_value listing_loop_metric(const struct listing_options *options,
					 const struct annotate_listing *listing, uint32_t loop,
					 size_t which)
{
	return metric_over(options, listing, 0, listing->lines.len, loop, which);
}

struct measure_value listing_function_metric(const struct listing_options *options,
					     const struct annotate_listing *listing, size_t which)
{
	return metric_over(options, listing, 0, listing->lines.len, FLOW_NONE, which);
}
