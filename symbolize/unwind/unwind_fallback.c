/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_fallback.c - steps where no rule is: code of a JIT, hand-written assembly, files that are missing.
 *
 * Only the code ahead, the frame pointer, and for the interrupted function the word at the stack pointer, are tried.
 * Memory is never searched for something that looks like a return address.
 *
 *	fp ─► | caller's fp | return address |  caller's frame …      (both architectures)
 */
#include "symbolize/unwind/unwind_trace.h"
#include "symbolize/unwind/unwind_walk.h"

/* How far into a function without a symbol an address is believed to be. */
#define FUNCTION_LEN_MAX 4096

/* What a stub without a rule has on the stack at the most: two words that it pushed, and its return address. */
#define STUB_WORDS 3

/* How much larger than an interpreter's frame that of its compiled code may be. */
#define LARGER_MAX 1024

/* Words above a stack's first frame that are looked at: the environment, or what a thread library keeps there. */
#define BOTTOM_WORDS 64

static bool is_code(struct unwind_walk *w, uint64_t ip)
{
	const struct space_map *map = ip ? unwind_tables_map(w->tables, w->space, ip) : NULL;

	return map && map->exec;
}

enum unwind_call unwind_check_return(struct unwind_walk *w, uint64_t ip)
{
	const struct space_map *map = ip ? unwind_tables_map(w->tables, w->space, ip) : NULL;

	if (map && map->exec)
		map = unwind_tables_map(w->tables, w->space, ip - 1);
	return map && map->exec ? unwind_tables_call(w->tables, map, ip, NULL) : UNWIND_CALL_NO;
}

uint64_t unwind_called_at(struct unwind_walk *w, uint64_t ip)
{
	const struct space_map *map = unwind_tables_map(w->tables, w->space, ip - 1);
	uint64_t target;

	return map && unwind_tables_call(w->tables, map, ip, &target) == UNWIND_CALL_YES ? target : 0;
}

bool unwind_calls_near(struct unwind_walk *w, uint64_t ip, uint64_t pc)
{
	uint64_t target = unwind_called_at(w, ip);

	return target && pc - target < FUNCTION_LEN_MAX;
}

/* Does @ip follow a direct call of the interrupted function? Without symbols, of something not far before it. */
static bool called_here(struct unwind_walk *w, uint64_t ip)
{
	uint64_t pc = w->state.regs[w->arch->ip], start;
	const struct space_map *here = unwind_tables_map(w->tables, w->space, pc);

	if (!here)
		return false;
	start = unwind_tables_function(w->tables, here, pc);
	return start ? unwind_called_at(w, ip) == start : unwind_calls_near(w, ip, pc);
}

static uint64_t strip(const struct unwind_walk *w, uint64_t ip)
{
	return ip & w->code_mask;
}

/* Keep the frame pointer and what else calls preserve: a function without a frame has not touched them. */
static void return_from_leaf(struct unwind_walk *w, uint64_t ip, uint64_t sp)
{
	w->writes = ~w->arch->callee_saved | 1ULL << w->arch->sp;
	unwind_state_return(w, ip, sp, w->state.known & w->arch->callee_saved);
}

/*
 * The interrupted function may not have made its frame yet, or never will: then its return address is on
 * top of the stack, or below the frame pointer that it has just pushed (one that leads somewhere: data may be 0 in the
 * register, and pruned on the stack). What lies there in the middle of a function
 * may also be left over from an earlier call, so that where frame pointers may be right, only a call of this very
 * function will do. In a file that has a table, what the table leaves out are stubs (_init, PLT entries).
 */
static bool step_top_of_stack(struct unwind_walk *w, unsigned nwords, bool any_call)
{
	uint64_t sp = w->state.regs[w->arch->sp], fp = w->state.regs[w->arch->fp];
	uint64_t word;

	for (unsigned i = 0; i < nwords; i++) {
		if (i && fp == sp + 8 * (i - 1))
			return false; /* a frame with its pointer: so the caller's is known as well */
		if (unwind_stack_word(&w->stack, sp + 8 * i, &word) != UNWIND_READ_OK)
			return false;
		if (unwind_check_return(w, word) == UNWIND_CALL_YES && (any_call || called_here(w, word))) {
			return_from_leaf(w, word, sp + 8 * (i + 1));
			return true;
		}
		if (i == 0 && word == fp && unwind_stack_holds_pair(&w->stack, fp))
			nwords = MAX(nwords, 2);
	}
	return false;
}

/*
 * Only where the frame pointer does not help, or in a slot: it may be left over from an earlier call. @pushed bytes are on the stack
 * since.
 */
static bool step_link_register(struct unwind_walk *w, unsigned pushed)
{
	uint64_t link = strip(w, w->state.regs[w->arch->lr]);

	if (!unwind_knows(&w->state, (unsigned)w->arch->lr) || link == w->state.regs[w->arch->ip] ||
	    unwind_check_return(w, link) != UNWIND_CALL_YES)
		return false;
	return_from_leaf(w, link, w->state.regs[w->arch->sp] + pushed);
	return true;
}

/*
 * A slot of the PLT has no rule on a machine with a link register. It neither calls nor has a frame, so that whoever
 * came here, by a call or as the last thing that it did, left the return address there. The frame pointer
 * would leave the caller out. So does the head, but that it pushes two registers.
 */
static bool step_slot(struct unwind_walk *w)
{
	uint64_t pc = w->state.regs[w->arch->ip];
	const struct space_map *map = unwind_tables_map(w->tables, w->space, pc);
	bool pushed;

	if (!map)
		return false;
	if (unwind_tables_is_slot(w->tables, map, pc))
		return step_link_register(w, 0);
	return unwind_tables_is_plt_head(w->tables, map, pc, &pushed) &&
	       step_link_register(w, pushed ? 16 : 0);
}

/* What pruning leaves of a saved frame pointer, so that whole stacks are not walked in another way. */
static uint64_t without_data(struct unwind_walk *w, uint64_t fp)
{
	const struct event_stack *snapshot = w->stack.snapshot;

	return (fp >= snapshot->base && fp < event_stack_reach(snapshot)) || unwind_stack_holds(w->stack.other, fp) || is_code(w, fp) ? fp : 0;
}

/* Is less to be seen above @address than what lies there at the end of a stack, because the snapshot ended by its size? */
static bool ends_too_soon(const struct unwind_walk *w, uint64_t address)
{
	const struct event_stack *snapshot = w->stack.snapshot;
	bool more = event_stack_reach(snapshot) > snapshot->end;

	return more && (address > snapshot->end || snapshot->end - address < 8 * BOTTOM_WORDS);
}

bool unwind_is_bottom(struct unwind_walk *w)
{
	uint64_t address = w->state.regs[w->arch->sp], word;
	uint64_t end = address + 8 * BOTTOM_WORDS;

	/* A larger snapshot, as the next one may be, could show more. */
	w->stack.failed = w->stack.failed || end > w->stack.snapshot->end;
	if (ends_too_soon(w, address))
		return false;
	while (unwind_stack_next(&w->stack, &address, &word) && address < end) {
		if (unwind_check_return(w, strip(w, word)) != UNWIND_CALL_NO)
			return false;
		address += 8;
	}
	return true;
}

bool unwind_was_put(struct unwind_walk *w)
{
	uint64_t ip = w->state.regs[w->arch->ip];

	return is_code(w, ip) && unwind_check_return(w, ip) == UNWIND_CALL_NO && unwind_is_bottom(w);
}

/*
 * Of a frame that shows nothing but a 0. One that keeps data in the register may be large, so that a return address
 * in the rest of the snapshot counts, however far up. And the snapshot must show what lies above a first frame: the
 * arguments, or what a thread library keeps there, have pointers into the stack. Else it was ended by its size, or
 * by an untouched page in the middle of a large frame. The answer depends on where the snapshot ends,
 * so that the next sample may not take it over.
 */
static bool is_end_of_stack(struct unwind_walk *w)
{
	const struct event_stack *snapshot = w->stack.snapshot;
	uint64_t address = w->state.regs[w->arch->sp], word;
	bool pointers = false;

	w->stack.failed = true;
	w->stack.missing = snapshot->end;
	if (ends_too_soon(w, address))
		return false;
	for (; unwind_stack_next(&w->stack, &address, &word); address += 8) {
		if (unwind_check_return(w, strip(w, word)) != UNWIND_CALL_NO)
			return false;
		pointers = pointers || without_data(w, word);
	}
	return pointers;
}

/*
 * 0 ends a stack, but not in the code of a JIT: that may keep data in the register, which pruning makes 0 where it was
 * saved; and its stacks begin in a file's code. A file's may do so too, but not at the end of a stack; and what was
 * interrupted, and has no name, has most likely been called.
 */
static bool ends_at_zero(struct unwind_walk *w)
{
	uint64_t call = w->state.regs[w->arch->ip] - 1;
	const struct space_map *map = unwind_tables_map(w->tables, w->space, call);

	return !w->state.exact && map && map->module->kind != MODULE_JIT && is_end_of_stack(w);
}

/* A frame pointer that is followed: on the stack, not below its top, aligned. */
static enum unwind_outcome check_fp(struct unwind_walk *w, uint64_t fp)
{
	const struct event_stack *snapshot = w->stack.snapshot;

	if (!unwind_knows(&w->state, w->arch->fp) || fp % 8 || fp < w->state.regs[w->arch->sp])
		return UNWIND_NO_WAY;
	if (unwind_stack_holds_pair(&w->stack, fp))
		return UNWIND_STEPPED;
	w->stack.failed = true;
	w->stack.missing = fp + 8;
	if (fp < snapshot->base || w->stack.missing >= event_stack_reach(snapshot))
		return UNWIND_NO_WAY;
	return UNWIND_BEYOND;
}

static enum unwind_outcome step_frame_pointer(struct unwind_walk *w, enum unwind_how *ret_how)
{
	bool by_fp = *ret_how == UNWIND_FP || *ret_how == UNWIND_FP_UNCHECKED;
	uint64_t fp = w->state.regs[w->arch->fp];
	uint64_t caller_fp = 0, ip = 0;
	enum unwind_outcome outcome;
	enum unwind_call call;

	if (unwind_knows(&w->state, w->arch->fp) && fp == 0)
		return ends_at_zero(w) ? UNWIND_IS_ROOT : UNWIND_NO_WAY;
	outcome = check_fp(w, fp);
	if (outcome != UNWIND_STEPPED)
		return outcome;
	unwind_stack_word(&w->stack, fp, &caller_fp);
	caller_fp = without_data(w, caller_fp);
	unwind_stack_word(&w->stack, fp + 8, &ip);
	ip = strip(w, ip);
	if (!ip && !caller_fp)
		return ends_at_zero(w) ? UNWIND_IS_ROOT : UNWIND_NO_WAY;
	call = unwind_check_return(w, ip);
	if (by_fp && !caller_fp && is_code(w, ip) && call == UNWIND_CALL_NO && unwind_is_bottom(w))
		return UNWIND_IS_ROOT; /* a routine that was not called was put in place of a caller: runtime.goexit */
	if (call == UNWIND_CALL_NO || (caller_fp && caller_fp <= fp && call != UNWIND_CALL_YES))
		return UNWIND_NO_WAY;
	*ret_how = call == UNWIND_CALL_YES ? UNWIND_FP : UNWIND_FP_UNCHECKED;
	w->writes = ~0ULL;
	w->state.regs[w->arch->fp] = caller_fp;
	w->state.saved = 0;
	unwind_state_return(w, ip, fp + 16, 1ULL << w->arch->fp);
	return UNWIND_STEPPED;
}

bool unwind_step_return(struct unwind_walk *w)
{
	uint64_t ip = w->state.regs[w->arch->ip], sp = w->state.regs[w->arch->sp], word;
	const struct space_map *map = unwind_tables_map(w->tables, w->space, ip);

	if (!w->state.exact || !map || !unwind_tables_is_return(w->tables, map, ip) || unwind_stack_word(&w->stack, sp, &word) != UNWIND_READ_OK ||
	    !is_code(w, word))
		return false;
	w->reads = w->ip | w->sp;
	return_from_leaf(w, word, sp + 8);
	/* An exception's handler was not called. */
	w->state.exact = unwind_check_return(w, word) == UNWIND_CALL_NO;
	w->kept = true;
	return true;
}

bool unwind_step_linked(struct unwind_walk *w, enum unwind_how *ret_how)
{
	uint64_t fp = w->state.regs[w->arch->fp], caller_fp, ip;

	if (!unwind_knows(&w->state, w->arch->fp) || fp % 8 || unwind_stack_holds_pair(&w->stack, fp) ||
	    !unwind_stack_holds(w->stack.other, fp) || !unwind_stack_holds(w->stack.other, fp + 8))
		return false;
	unwind_stack_word(&w->stack, fp, &caller_fp);
	unwind_stack_word(&w->stack, fp + 8, &ip);
	ip = strip(w, ip);
	if (unwind_check_return(w, ip) != UNWIND_CALL_YES)
		return false;
	*ret_how = UNWIND_FP;
	w->reads = 1ULL << w->arch->fp;
	w->writes = ~0ULL;
	w->state.regs[w->arch->fp] = caller_fp;
	w->state.saved = 0;
	unwind_state_return(w, ip, fp + 16, 1ULL << w->arch->fp);
	return true;
}

/* Where the frame pointer does not help. */
static bool step_leaf(struct unwind_walk *w)
{
	return w->arch->lr < 0 ? step_top_of_stack(w, 1, /* any_call= */ true) : step_link_register(w, 0);
}

/* What is surer than the frame pointer, in an interrupted function. */
static bool step_innermost(struct unwind_walk *w, bool in_stub)
{
	if (w->arch->lr >= 0)
		return in_stub && step_slot(w);
	return step_top_of_stack(w, in_stub ? STUB_WORDS : 1, /* any_call= */ in_stub);
}

/*
 * A function that changes stacks was interrupted, and the stack that it is now on has not been used yet: it returns to where this library
 * lets all stacks begin, which no table describes.
 */
static bool begins_stack(struct unwind_walk *w, const struct unwind_state *callee)
{
	uint64_t ip = w->state.regs[w->arch->ip];
	const struct space_map *map = unwind_tables_map(w->tables, w->space, callee->regs[w->arch->ip]);
	struct unwind_rule rule;

	if (!callee->exact || map != unwind_tables_map(w->tables, w->space, ip) || !unwind_was_put(w))
		return false;
	rule = unwind_tables_find(w->tables, map, ip);
	return rule.kind != UNWIND_RULE_CFI || rule.cfi->from_code;
}

/* Step by @rule from @more bytes higher. False, and nothing has changed, if it does not lead to a call, or to one of what is not in [@begin, @end). */
static bool step_exit(struct unwind_walk *w, const struct unwind_exit *exit, uint64_t more)
{
	const struct unwind_state callee = w->state;
	size_t nsaves = w->nsaves;
	uint64_t ip;

	w->state.regs[w->arch->sp] += more;
	if (unwind_step(w, exit->rule) == UNWIND_STEPPED) {
		ip = w->state.regs[w->arch->ip];
		if (more ? unwind_called_at(w, ip) - exit->begin < exit->end - exit->begin :
			   unwind_check_return(w, ip) == UNWIND_CALL_YES || begins_stack(w, &callee))
			return true;
	}
	w->state = callee;
	w->nsaves = nsaves;
	return false;
}

/*
 * By what the code ahead does to the stack, which is believed if it leads to a call. Code of a JIT that jumps into an interpreter's function
 * runs in that one's frame, which it may have made larger (LuaJIT's traces, by multiples of 16): then it must be a call of this very
 * function. False, and nothing has changed, if neither is so.
 */
static bool step_by_exit(struct unwind_walk *w)
{
	uint64_t ip = w->state.regs[w->arch->ip];
	const struct space_map *map = unwind_tables_map(w->tables, w->space, ip);
	const struct unwind_exit *found = map ? unwind_tables_exit(w->tables, w->space, map, ip) : NULL;
	bool stepped;

	if (!found)
		return false;

	const struct unwind_exit exit = *found;

	stepped = step_exit(w, &exit, 0);
	for (uint64_t more = 16; !stepped && exit.end && more <= LARGER_MAX; more += 16)
		stepped = step_exit(w, &exit, more);
	if (stepped && w->trace)
		unwind_trace_rule(w->trace, w, map, (struct unwind_rule){ UNWIND_RULE_CFI, exit.rule });
	return stepped;
}

bool unwind_step_ahead(struct unwind_walk *w, const struct space_map *map, const struct cfi_rule *rule)
{
	struct unwind_origin origin;
	struct unwind_exit larger = { .rule = rule };

	if (step_by_exit(w))
		return true;
	if (!rule->plain || rule->cfa_reg != w->arch->sp)
		return false;
	origin = unwind_tables_origin(w->tables, map, w->state.regs[w->arch->ip]);
	larger.begin = origin.begin + map->bias;
	larger.end = origin.end + map->bias;
	for (uint64_t more = 16; more <= LARGER_MAX; more += 16) {
		if (step_exit(w, &larger, more))
			return true;
	}
	return false;
}

enum unwind_outcome unwind_step_fallback(struct unwind_walk *w, bool in_stub,
					 enum unwind_how *ret_how)
{
	enum unwind_outcome outcome;

	if (step_by_exit(w)) {
		*ret_how = UNWIND_CODE;
		return UNWIND_STEPPED;
	}
	w->reads = 1ULL << w->arch->ip | 1ULL << w->arch->sp | 1ULL << w->arch->fp;
	w->reads |= w->arch->lr >= 0 ? 1ULL << w->arch->lr : 0;
	w->writes = 0;
	if (w->state.exact && step_innermost(w, in_stub)) {
		*ret_how = UNWIND_LINK;
		return UNWIND_STEPPED;
	}
	/* Who calls what is no code has not made a frame there. */
	if (w->state.exact && !is_code(w, w->state.regs[w->arch->ip]) && step_leaf(w)) {
		*ret_how = UNWIND_LINK;
		return UNWIND_STEPPED;
	}
	outcome = step_frame_pointer(w, ret_how);
	if (outcome == UNWIND_NO_WAY && w->state.exact && step_leaf(w)) {
		*ret_how = UNWIND_LINK;
		return UNWIND_STEPPED;
	}
	return outcome;
}
