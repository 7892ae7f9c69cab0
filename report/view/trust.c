/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trust.c - adds up what was lost, cut, broken or left unnamed.
 */
#include "report/view/trust.h"

#include "report/print/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool leaf_is_unnamed(const struct profile *p, uint32_t stack, uint32_t *ret_module)
{
	const struct profile_location *at;

	*ret_module = PROFILE_NONE;
	if (stack == 0)
		return true;
	at = &p->locations.items[p->stacks.items[stack].location];
	*ret_module = at->module;
	return at->nlines == 0 ||
	       p->functions.items[p->lines.items[at->first_line].function].unnamed;
}

/* Is the kernel in the middle of exec there? Then the old stack is gone, and the new one not there yet. */
static bool is_in_exec(const struct profile *p, uint32_t stack)
{
	static const char *const names[] = { "bprm_execve", "do_execveat_common", "begin_new_exec", "exec_mmap",
					     "load_elf_binary", "exec_binprm", "kernel_execve" };

	for (; stack; stack = p->stacks.items[stack].parent) {
		const struct profile_location *at =
			&p->locations.items[p->stacks.items[stack].location];

		if (profile_module(p, at->module)->kind != PROFILE_KERNEL || !at->nlines)
			return false;
		uint32_t function = p->lines.items[at->first_line + at->nlines - 1].function;
		const char *name = profile_text(p, p->functions.items[function].name);

		for (size_t i = 0; i < ARRAY_LEN(names); i++)
			if (strncmp(names[i], name, strlen(names[i])) == 0)
				return true;
	}
	return false;
}

/* What a unit of weight of each value type is in samples: sums of nanoseconds, faults and bytes cannot be added. The caller frees it. */
static double *samples_per_weight(const struct profile *p)
{
	double *weights = memory_zeroed(p->types.len + 1, sizeof(*weights));
	double *counts = memory_zeroed(p->types.len + 1, sizeof(*counts));

	for (size_t i = 0; i < p->samples.len; i++) {
		const struct profile_sample *row = &p->samples.items[i];

		weights[row->type] += fabs((double)row->weight);
		counts[row->type] += (double)row->count;
	}
	for (size_t type = 0; type <= p->types.len; type++)
		counts[type] = weights[type] > 0 ? counts[type] / weights[type] : 0;
	free(weights);
	return counts;
}

static void judge_rows(struct trust *trust, const struct profile *p)
{
	double *weights = memory_zeroed(p->modules.len + 1, sizeof(*weights));
	double *scale = samples_per_weight(p);
	uint32_t module;

	for (size_t i = 0; i < p->samples.len; i++) {
		const struct profile_sample *row = &p->samples.items[i];
		enum stack_stop stop = (enum stack_stop)row->stop;

		if ((stop == STACK_STOP_NO_STACK || stop == STACK_STOP_NO_FRAME_POINTER) && is_in_exec(p, row->stack))
			stop = STACK_STOP_NOT_WALKED;
		trust->stops[stop] += row->count;
		if (!stack_stop_is_complete(stop))
			trust->broken += row->count;
		else
			trust->complete += row->count;
		if (row->stack == 0 && row->state > PROFILE_STATE_ON_CPU)
			continue; /* a wait whose beginning was not seen: there is no code that could have a name */
		double samples = scale[row->type] * fabs((double)row->weight);

		if (!leaf_is_unnamed(p, row->stack, &module)) {
			trust->named += samples;
			continue;
		}
		trust->unnamed += samples;
		if (module == PROFILE_NONE)
			continue;
		weights[module] += samples;
		if (trust->worst_module == PROFILE_NONE ||
		    weights[module] > weights[trust->worst_module])
			trust->worst_module = module;
	}
	free(scale);
	free(weights);
}

void trust_judge(struct trust *trust, const struct profile *p, const struct profile_facts *facts)
{
	*trust = (struct trust){ .samples = profile_total(p, PROFILE_NONE).count,
				 .lost = facts->lost_by_kernel + facts->lost_by_recorder,
				 .side_band = facts->lost_side_band,
				 .throttled = facts->throttled,
				 .cut = facts->cut,
				 .managed = facts->managed,
				 .managed_unread = MIN(facts->managed, facts->managed_unread + facts->managed_mismatched),
				 .shortened = facts->shortened,
				 .complete_file = facts->complete,
				 .worst_module = PROFILE_NONE,
				 .leaves_only = facts->leaves_only,
				 .sums_only = facts->sums_only };
	judge_rows(trust, p);
	/* A copy that ran on behind the end of its stack has lost nothing. */
	trust->cut = MIN(trust->cut, trust->stops[STACK_STOP_SNAPSHOT_ENDED] + trust->stops[STACK_STOP_SPLICED]);
}

static double part(double some, double others)
{
	return some > 0 ? some / (some + others) : 0;
}

double trust_lost(const struct trust *trust)
{
	return part((double)trust->lost, (double)trust->samples);
}

double trust_unnamed(const struct trust *trust)
{
	return part(trust->unnamed, trust->named);
}

#define SHARE_MIN 100 /* stacks: of fewer a share is more alarm than it is worth */

/* Only where interpreters ran: of how many samples the script's frames are missing or not at their places. */
static const char *managed_part(const struct trust *trust, struct arena *arena)
{
	if (!trust->managed)
		return "";
	if (trust->managed < SHARE_MIN)
		return arena_printf(arena, ", scripts unread %" PRIu64 " of %" PRIu64, trust->managed_unread, trust->managed);
	return arena_printf(arena, ", scripts unread %s",
			    number_share(arena, (double)trust->managed_unread / (double)trust->managed));
}

const char *trust_line(const struct trust *trust, struct arena *arena)
{
	uint64_t cut = trust->cut + trust->shortened;
	uint64_t whole = trust->samples - MIN(cut, (uint64_t)trust->samples);

	if (trust->sums_only)
		return "not recorded in this format: lost samples, broken stacks";
	const char *stacks = trust->leaves_only
				     ? "no stacks recorded"
				     : arena_printf(arena, "cut %s, broken %s",
						    number_share(arena, part((double)cut, (double)whole)),
						    number_share(arena, part((double)trust->broken, (double)trust->complete)));

	return arena_printf(arena, "lost %s, throttled %s, %s, unnamed %s%s",
			    trust->lost ? number_share(arena, trust_lost(trust))
					: "0",
			    number_count(arena, trust->throttled), stacks,
			    number_share(arena, trust_unnamed(trust)), managed_part(trust, arena));
}
