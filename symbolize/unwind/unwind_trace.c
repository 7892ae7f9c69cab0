/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/unwind/unwind_trace.h"

void unwind_trace_deinit(struct unwind_trace *trace)
{
	vec_deinit(&trace->steps);
	vec_deinit(&trace->reads);
}

void unwind_trace_begin(struct unwind_trace *trace)
{
	trace->steps.len = trace->reads.len = 0;
}

void unwind_trace_step(struct unwind_trace *trace, const struct unwind_walk *w, size_t frame)
{
	struct unwind_trace_step step = {
		.frame = frame,
		.state = w->state,
		.first_read = trace->reads.len,
	};

	for (uint64_t left = step.state.saved; left; left &= left - 1) {
		unsigned reg = (unsigned)__builtin_ctzll(left);

		step.state.regs[reg] = unwind_where_saved(w, reg);
	}
	vec_push(&trace->steps, step);
}

void unwind_trace_rule(struct unwind_trace *trace, const struct unwind_walk *w,
		       const struct space_map *map, struct unwind_rule rule)
{
	struct unwind_trace_step *step = &trace->steps.items[trace->steps.len - 1];
	uint64_t ip = w->state.regs[w->arch->ip] - !w->state.exact;

	step->rule = rule;
	step->origin = unwind_tables_origin(w->tables, map, ip);
}

void unwind_trace_fold(struct unwind_trace *trace, size_t first, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < trace->steps.len; i++) {
		struct unwind_trace_step step = trace->steps.items[i];

		if (step.frame >= first && step.frame - first < count)
			continue;
		if (step.frame >= first)
			step.frame -= count;
		trace->steps.items[kept++] = step;
	}
	trace->steps.len = kept;
}

void unwind_trace_outcome(struct unwind_trace *trace, enum unwind_outcome outcome,
			  enum unwind_how how)
{
	struct unwind_trace_step *step = &trace->steps.items[trace->steps.len - 1];

	step->outcome = outcome;
	step->how = how;
	step->nreads = trace->reads.len - step->first_read;
}
