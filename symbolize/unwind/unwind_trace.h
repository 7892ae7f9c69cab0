/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_trace.h - a record of one walk, step by step: what was known, which rule was used, what was read.
 *
 * An unwinder that is given one (unwind_options.trace) fills it anew with every walk and takes no frame over
 * from an earlier one. Without one a walk pays for two tests a step and one a word.
 */
#ifndef SYMBOLIZE_UNWIND_TRACE_H
#define SYMBOLIZE_UNWIND_TRACE_H

#include "formats/base/vec.h"
#include "symbolize/unwind/unwind_walk.h"

/* The step out of one frame. */
struct unwind_trace_step {
	size_t frame;              /* index in the chain */
	struct unwind_state state; /* before the step */
	struct unwind_rule rule;
	struct unwind_origin origin;
	enum unwind_outcome outcome;
	enum unwind_how how;       /* the caller was found; meaningless if it was not */
	size_t first_read, nreads; /* in @reads */
};

struct unwind_trace {
	VEC(struct unwind_trace_step) steps;
	struct unwind_reads reads; /* the stack adds them */
};

void unwind_trace_deinit(struct unwind_trace *trace);

/* A walk, a step out of frame @frame begins; its rule is known; it has been taken. For the unwinder. */
void unwind_trace_begin(struct unwind_trace *trace);
void unwind_trace_step(struct unwind_trace *trace, const struct unwind_walk *w, size_t frame);
void unwind_trace_rule(struct unwind_trace *trace, const struct unwind_walk *w,
		       const struct space_map *map, struct unwind_rule rule);
/* Frames [@first, @first + @count) were left out of the chain. */
void unwind_trace_fold(struct unwind_trace *trace, size_t first, size_t count);
void unwind_trace_outcome(struct unwind_trace *trace, enum unwind_outcome outcome,
			  enum unwind_how how);

#endif
