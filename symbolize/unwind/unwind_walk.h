/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_walk.h - one walk in progress and the ways to take a step, for the parts of the unwinder only.
 *
 *	unwind.c               the loop: look up, record the frame, step
 *	unwind_tables.c        which rule holds at an address
 *	unwind_way.c           the way out of a frame, of those that follow
 *	unwind_step.c          a step by a rule
 *	unwind_hidden.c        the same, where the rule asks for what no trace has
 *	unwind_landing.c       the same, where an exception is about to go on in its handler
 *	unwind_fallback.c      a step without one
 *	unwind_go.c            a step out of what switches to the thread's stack in a Go program
 *	unwind_erlang.c        a step on the stack of an Erlang process
 *	unwind_haskell.c       a step from Haskell code to what runs it
 *	unwind_kernel_chain.c  where the kernel's own walk takes over
 *	unwind_fold.c          chains that are deeper than there is room for
 *	unwind_splice.c        steps that need not be taken, because the last sample took them
 *	unwind_trace.c         what a walk did, for people
 */
#ifndef SYMBOLIZE_UNWIND_WALK_H
#define SYMBOLIZE_UNWIND_WALK_H

#include "formats/event.h"
#include "symbolize/unwind/unwind_chain.h"
#include "symbolize/unwind/unwind_stack.h"
#include "symbolize/unwind/unwind_tables.h"

/* Registers as one frame sees them. */
struct unwind_state {
	uint64_t regs[ARCH_REGS_MAX]; /* by DWARF number: the value */
	uint64_t known;               /* those whose value is there, as bits */
	uint64_t saved; /* those that are on the stack, where the last rule that saved them says */
	bool exact; /* the instruction pointer is where the frame stopped, not where a call returns to */
};

/* A step by a plain rule, and from where on its registers were saved. */
struct unwind_save {
	const struct cfi_rule *rule;
	uint64_t cfa;
};

struct unwind_trace;

struct unwind_walk {
	const struct arch *arch;
	struct unwind_tables *tables;
	struct unwind_place *places; /* of @tables */
	struct space *space;
	uint64_t generation;         /* of @space */
	uint64_t code_mask; /* what of a return address is one */
	struct unwind_stack stack;
	struct unwind_state state;
	struct unwind_save *saves; /* the walk's so far, room for UNWIND_FRAMES_MAX */
	size_t nsaves;
	uint32_t *saves_at; /* by frame: how many there were before the step out of it; room for as many */
	const uint64_t *assumed; /* NULL, or what the expression for a CFA reads, wherever it does */
	struct unwind_trace *trace; /* NULL, or where every step is logged */
	uint64_t ip, sp, fp; /* these registers, as bits */
	size_t steps;        /* that were taken before this one */
	bool skipped;        /* callers on a stack that is not the machine's are left out */
	bool kept;           /* the last one's result may not be taken over: it believed a register that a call may change, or went to a handler */
	/* Of the last step: registers whose value decided it, and those that it set. */
	uint64_t reads, writes;
	uint64_t bytecode; /* that the frame of the last step interprets; 0: none, or not known */
};

/* The frames found so far, the kernel's included. */
struct unwind_frames {
	size_t len;
	struct unwind_frame items[UNWIND_FRAMES_MAX];
};

enum unwind_outcome {
	UNWIND_STEPPED, /* the state is the caller's now */
	UNWIND_IS_ROOT,
	UNWIND_BEYOND, /* the snapshot does not hold the return address, which would be at stack.missing */
	UNWIND_ELSEWHERE, /* the rule asks for other memory or for registers that are not known */
	UNWIND_BAD,       /* the rule cannot be right */
	UNWIND_SWITCHES,  /* the function had left its stack, and that is not there */
	UNWIND_NO_WAY,    /* none of the fallbacks applies */
};

static inline void unwind_walk_init(struct unwind_walk *w, const struct arch *arch,
				    struct unwind_tables *tables, struct space *space,
				    struct unwind_save saves[UNWIND_FRAMES_MAX],
				    uint32_t saves_at[UNWIND_FRAMES_MAX])
{
	w->arch = arch;
	w->tables = tables;
	w->places = unwind_tables_places(tables);
	w->space = space;
	w->generation = space_generation(space);
	w->ip = 1ULL << arch->ip;
	w->sp = 1ULL << arch->sp;
	w->fp = 1ULL << arch->fp;
	w->reads = w->writes = 0;
	w->bytecode = 0;
	w->saves = saves;
	w->saves_at = saves_at;
	w->nsaves = 0;
	w->assumed = NULL;
	w->trace = NULL;
	w->steps = 0;
	w->kept = w->skipped = false;
}

/* Step out of the frame at @place, by its rule or without one; *@ret_stop is for a walk that ends if that fails. */
enum unwind_outcome unwind_step_out(struct unwind_walk *w, struct unwind_place *place, enum unwind_how *ret_how,
				    enum stack_stop *ret_stop);

/* @rule leads out of the stack: is the frame one that it does not describe, or a register still what it was? */
enum unwind_outcome unwind_step_past(struct unwind_walk *w, const struct cfi_rule *rule, enum unwind_how *ret_how);

/* Step by @rule. */
enum unwind_outcome unwind_step(struct unwind_walk *w, const struct cfi_rule *rule);

/*
 * The same for an interrupted function, after a step by its rule has not found what it reads. False, and nothing has
 * changed, if there is no word in its frame that leads to a caller, or there are two that differ.
 */
bool unwind_step_hidden(struct unwind_walk *w, const struct cfi_rule *rule);

/*
 * After a step by @rule from a frame whose stack pointer was @sp: if that frame has its return address from the function that
 * catches an exception, the state's stack pointer becomes that function's.
 */
void unwind_land(struct unwind_walk *w, const struct cfi_rule *rule, uint64_t sp);

/* Step out of a signal trampoline by the layout of the kernel's signal frame. */
enum unwind_outcome unwind_step_sigframe(struct unwind_walk *w);

/* Step by @rule, whose .go is not CFI_GO_NOTHING. */
enum unwind_outcome unwind_step_go(struct unwind_walk *w, const struct cfi_rule *rule);

/* Step to the next frame on the stack of an Erlang process. */
enum unwind_outcome unwind_step_erlang(struct unwind_walk *w);

/* Step from Haskell code to the function that jumped there. False, and nothing has changed: it is not Haskell code. */
bool unwind_step_haskell(struct unwind_walk *w);

/*
 * Step by return address on top of the stack, or by frame pointer. @in_stub: the file has a table, which
 * has nothing for this address. *@ret_how says how this frame was found, and then how the next one was.
 */
enum unwind_outcome unwind_step_fallback(struct unwind_walk *w, bool in_stub,
					 enum unwind_how *ret_how);

/*
 * Step out of an interrupted function whose @rule, for all of it, does not hold where it makes its frame, takes it down or leaves it (LuaJIT's
 * interpreter): by the code ahead, or from a larger frame that was entered by a call of this very function. False, and nothing has changed: neither
 * leads to a call.
 */
bool unwind_step_ahead(struct unwind_walk *w, const struct space_map *map, const struct cfi_rule *rule);

/*
 * Step out of an interrupted instruction that returns, where the table is wrong: to what is on top of the stack, whoever has put it there. False,
 * and nothing has changed: it is another instruction, or that is no code.
 */
bool unwind_step_return(struct unwind_walk *w);

/*
 * Step by a frame pointer that leads to the other stack, and to a call there. False, and nothing has changed: it does not, or may be one of this
 * stack.
 */
bool unwind_step_linked(struct unwind_walk *w, enum unwind_how *ret_how);

/*
 * Does a call end at @ip? Both the address and the call in front of it are code: where a mapping begins or ends
 * there is none, and pruning keeps such a word no more than any other number.
 */
enum unwind_call unwind_check_return(struct unwind_walk *w, uint64_t ip);

/* Where the direct call leads that ends at @ip; 0: none does. */
uint64_t unwind_called_at(struct unwind_walk *w, uint64_t ip);

/* Does @ip follow a direct call of something that begins not far before @pc? */
bool unwind_calls_near(struct unwind_walk *w, uint64_t ip, uint64_t pc);

/*
 * Which of @s->user_ips, the kernel's chain, is the return address that it read at @missing? 0: none was read there,
 * or the two walks differ before.
 */
size_t unwind_kernel_chain_at(struct unwind_walk *w, const struct event_sample *s, uint64_t missing);

/*
 * The first of @s->user_ips that was read outside the snapshot, of a chain that agrees up to @last_ip; 0: none. What
 * the kernel read from there on is another stack.
 */
size_t unwind_kernel_chain_leaves(struct unwind_walk *w, const struct event_sample *s, uint64_t last_ip);

/*
 * The first of @s->user_ips that was read outside the snapshot, where the frame pointer led the kernel that the newest frame
 * still has; 0: none, or it is no return address.
 */
size_t unwind_kernel_chain_outside(struct unwind_walk *w, const struct event_sample *s);

/*
 * Does no return address follow above this frame? A frame pointer of 0 marks the end of a stack only for
 * code that has frame pointers; other code may just not have used the register.
 */
bool unwind_is_bottom(struct unwind_walk *w);

/* Was the state's address put in the place of a return address at the end of a stack? It is code that was not called, and nothing above was, either. */
bool unwind_was_put(struct unwind_walk *w);

/*
 * The value of a register, read from the stack now if need be; false if it is not known. The instruction,
 * stack and frame pointer and the link register are never "saved", so these can be looked at directly.
 */
bool unwind_reg(struct unwind_walk *w, unsigned reg, uint64_t *ret);

/* Where a register is that is "saved". */
uint64_t unwind_where_saved(const struct unwind_walk *w, unsigned reg);

/* The state after a call has returned: @ip, @sp, and what @known says of the others. */
void unwind_state_return(struct unwind_walk *w, uint64_t ip, uint64_t sp, uint64_t known);

static inline bool unwind_knows(const struct unwind_state *state, unsigned reg)
{
	return state->known >> reg & 1;
}

#endif
