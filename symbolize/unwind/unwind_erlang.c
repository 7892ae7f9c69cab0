/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_erlang.c - a step on the stack of an Erlang process, which the machine's compiled code has as its own stack (OTP 25 and later on
 * x86-64: erts/emulator/beam/jit/x86/beam_asm.hpp).
 *
 *	sp ─► | term | term | … | return address | term | …        the two lowest bits of a term are never 0, those of a return
 *	                                                           address always are
 *
 * How long a frame is stands nowhere, nor need it: the next word that is a return address into an Erlang function is the caller's.
 * While the machine executes C, it is on a stack of its own; the Erlang process's is the other one, from where it was left, if the recorder
 * has read it (record/sample/other_stack.h).
 */
#include "symbolize/unwind/unwind_walk.h"

#define TAG 3

static enum jitdump_frame frame_at(struct unwind_walk *w, uint64_t ip)
{
	return ip ? unwind_tables_frame(w->tables, unwind_tables_map(w->tables, w->space, ip - 1), ip - 1) : JITDUMP_FRAME_UNKNOWN;
}

/* C knows registers of its caller, which then was on the machine's own stack. */
static bool is_on_stack(const struct unwind_walk *w)
{
	return w->state.exact || (!(w->state.known & ~(w->ip | w->sp)) && !w->state.saved);
}

/* What was read of another stack is that of the process, unless it is the rest of the machine's own. */
static bool go_to_process(struct unwind_walk *w)
{
	const struct event_stack *other = w->stack.other, *own = w->stack.snapshot;

	if (!other || (other->base >= own->end && other->base < event_stack_reach(own)))
		return false;
	unwind_stack_switch(&w->stack);
	w->state.regs[w->arch->sp] = other->base;
	return true;
}

enum unwind_outcome unwind_step_erlang(struct unwind_walk *w)
{
	uint64_t address, word;

	w->reads = w->ip | w->sp;
	if (!is_on_stack(w) && !go_to_process(w))
		return UNWIND_NO_WAY;
	address = w->state.regs[w->arch->sp];
	for (; unwind_stack_next(&w->stack, &address, &word); address += 8) {
		enum jitdump_frame frame = word & TAG ? JITDUMP_FRAME_UNKNOWN : frame_at(w, word);

		if (frame != JITDUMP_FRAME_ERLANG && frame != JITDUMP_FRAME_OUTERMOST)
			continue;
		w->writes = ~0ULL;
		unwind_state_return(w, word, address + 8, /* known= */ 0);
		w->state.saved = 0;
		return UNWIND_STEPPED;
	}
	w->stack.failed = true;
	w->stack.missing = w->stack.snapshot->end;
	return UNWIND_NO_WAY;
}
