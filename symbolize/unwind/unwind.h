/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind.h - from registers and a stack snapshot to the chain of callers.
 *
 * One unwinder walks many stacks and remembers the rules it met (by module and link-time address, so that
 * a change of mappings costs nothing) and each thread's last chain (so that the callers two samples have
 * in common are walked once). Not thread-safe; one per thread.
 */
#ifndef SYMBOLIZE_UNWIND_H
#define SYMBOLIZE_UNWIND_H

#include "formats/event.h"
#include "symbolize/module/space.h"
#include "symbolize/unwind/cfi_rule.h"
#include "symbolize/unwind/unwind_chain.h"

struct unwind_stats {
	uint64_t stacks, frames;
	uint64_t spliced_frames; /* taken over from the thread's last chain */
	uint64_t memo_misses;
	uint64_t stops[STACK_STOPS];
};

struct unwinder;

struct unwind_trace;

struct unwind_options {
	bool no_splice; /* walk every frame, for tests and measurements */
	struct unwind_trace *trace; /* NULL, or where every walk is logged (unwind_trace.h) */
};

struct unwinder *unwinder_new(struct module_table *modules, struct space_table *spaces,
			      const struct unwind_options *options);
void unwinder_free(struct unwinder *u);

/*
 * The chain of @ev, an EVENT_SAMPLE: kernel frames, then user frames by registers and stack, or by
 * the recorded chain where there is no snapshot.
 */
void unwinder_walk(struct unwinder *u, const struct event *ev, struct unwind_chain *ret);

/* Expression @number of a rule that this unwinder's trace names. */
struct cfi_expr unwinder_expr(const struct unwinder *u, int32_t number);

const struct unwind_stats *unwinder_stats(const struct unwinder *u);

#endif
