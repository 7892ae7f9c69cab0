/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_way.c - the way out of one frame: by the rule that holds there if that leads to a call, else by what is known of code
 * whose rule does not.
 */
#include "symbolize/unwind/hotspot_frames.h"
#include "symbolize/unwind/unwind_trace.h"
#include "symbolize/unwind/unwind_walk.h"
#include "symbolize/unwind/v8_frames.h"

#define INSTRUCTION_LEN_MAX 15 /* of x86-64 */

/* Code of a JIT has no table of its nature. */
static enum stack_stop stop_without_table(const struct space_map *map)
{
	if (!map)
		return STACK_STOP_NO_MAPPING;
	return map->module->kind == MODULE_FILE ? STACK_STOP_NO_TABLE : STACK_STOP_NO_FRAME_POINTER;
}

/*
 * A precise event (PEBS) has the address of the instruction that caused it, and the registers from behind it: at a call the
 * return address is on the stack already. Is it what lies there?
 */
static bool has_called(struct unwind_walk *w)
{
	const struct unwind_state *state = &w->state;
	uint64_t ip = state->regs[w->arch->ip], word;

	if (w->arch->lr >= 0 || !state->exact || w->nsaves ||
	    unwind_stack_word(&w->stack, state->regs[w->arch->sp], &word) != UNWIND_READ_OK)
		return false;
	return word > ip && word - ip <= INSTRUCTION_LEN_MAX &&
	       unwind_check_return(w, word) == UNWIND_CALL_YES;
}

/* The step from there, if the one by the registers as they are does not lead behind a call. */
static enum unwind_outcome step_precise(struct unwind_walk *w, const struct cfi_rule *rule)
{
	if (rule->signal_frame || !has_called(w))
		return unwind_step(w, rule);

	const struct unwind_state callee = w->state;
	enum unwind_outcome outcome = unwind_step(w, rule);

	if (outcome == UNWIND_IS_ROOT || (outcome == UNWIND_STEPPED &&
					  unwind_check_return(w, w->state.regs[w->arch->ip]) != UNWIND_CALL_NO))
		return outcome;
	w->state = callee;
	w->nsaves = 0;
	w->state.regs[w->arch->sp] += 8;
	return unwind_step(w, rule);
}

/*
 * The interrupted function's caller has the end of its frame in a register that a call may change, and says so: hand-written code that knows what
 * its own functions leave alone (OpenSSL's AES-GCM). What the register held when it was interrupted is believed if it leads to a call. False,
 * and nothing has changed, if not.
 */
static bool step_kept(struct unwind_walk *w, const struct cfi_rule *rule)
{
	const struct unwind_state callee = w->state;
	size_t nsaves = w->nsaves;
	unsigned reg = rule->cfa_reg;

	if (w->steps != 1 || w->state.exact || rule->cfa_is_expr || unwind_knows(&w->state, reg) ||
	    w->state.regs[reg] < w->state.regs[w->arch->sp] || !unwind_stack_holds(w->stack.snapshot, w->state.regs[reg]))
		return false;
	w->state.known |= 1ULL << reg;
	w->kept = unwind_step(w, rule) == UNWIND_STEPPED && unwind_check_return(w, w->state.regs[w->arch->ip]) == UNWIND_CALL_YES;
	if (!w->kept) {
		w->state = callee;
		w->nsaves = nsaves;
	}
	return w->kept;
}

enum unwind_outcome unwind_step_past(struct unwind_walk *w, const struct cfi_rule *rule, enum unwind_how *ret_how)
{
	if (!unwind_step_hidden(w, rule) && !step_kept(w, rule))
		return UNWIND_ELSEWHERE;
	*ret_how = UNWIND_COPY;
	return UNWIND_STEPPED;
}

/* Does the frame end at the stack pointer, so that no return address is in it? */
static bool has_no_room(const struct unwind_walk *w, const struct cfi_rule *rule)
{
	return !rule->cfa_is_expr && !rule->signal_frame && rule->cfa_reg == w->arch->sp && rule->cfa_value <= 0;
}

/* The step by @rule has led from @callee, which was interrupted, to what is no code that has called: does the code say something else? */
static bool step_ahead(struct unwind_walk *w, const struct unwind_state *callee, const struct space_map *map, const struct cfi_rule *rule)
{
	const struct unwind_state caller = w->state;
	const uint64_t reads = w->reads, writes = w->writes;
	const size_t nsaves = w->nsaves;

	if (w->arch != &arch_x86_64 || rule->signal_frame || unwind_check_return(w, caller.regs[w->arch->ip]) != UNWIND_CALL_NO)
		return false;
	w->state = *callee;
	w->nsaves = 0;
	if (unwind_step_ahead(w, map, rule))
		return true;
	w->state = caller;
	w->nsaves = nsaves;
	w->reads = reads;
	w->writes = writes;
	return false;
}

static enum unwind_outcome step_by_rule(struct unwind_walk *w, const struct space_map *map, const struct cfi_rule *rule,
					enum unwind_how *ret_how)
{
	const struct unwind_state callee = w->state;
	uint64_t sp = w->state.regs[w->arch->sp];
	bool may_be_ahead = w->state.exact && !w->nsaves;
	enum unwind_outcome outcome;

	if (w->state.exact && has_no_room(w, rule) && unwind_step_return(w)) {
		*ret_how = UNWIND_LINK;
		return UNWIND_STEPPED;
	}
	outcome = w->state.exact ? step_precise(w, rule) : unwind_step(w, rule);

	*ret_how = UNWIND_CFI;
	if (outcome == UNWIND_STEPPED && may_be_ahead && step_ahead(w, &callee, map, rule)) {
		*ret_how = UNWIND_CODE;
		return UNWIND_STEPPED;
	}
	if (outcome == UNWIND_STEPPED)
		unwind_land(w, rule, sp);
	return outcome == UNWIND_ELSEWHERE ? unwind_step_past(w, rule, ret_how) : outcome;
}

/* Does a call end at the state's address, or is that in code of a JIT that is known, but not how it calls? */
static bool leads_to_code(struct unwind_walk *w)
{
	uint64_t ip = w->state.regs[w->arch->ip];
	enum unwind_call call = unwind_check_return(w, ip);

	if (call != UNWIND_CALL_UNKNOWN)
		return call == UNWIND_CALL_YES;
	return unwind_tables_is_jit_code(w->tables, unwind_tables_map(w->tables, w->space, ip - 1), ip - 1);
}

/* What a frame of an interpreter interprets, as far as pruning has kept it: where it was interrupted a register says so, or the frame. */
static uint64_t bytecode_of(struct unwind_walk *w, const struct space_map *map, uint64_t *ret_reads)
{
	uint64_t value;

	*ret_reads = 1ULL << HOTSPOT_FRAMES_BYTECODE_REG;
	if (w->state.exact && unwind_reg(w, HOTSPOT_FRAMES_BYTECODE_REG, &value) && unwind_tables_knows(w->tables, map, value))
		return value;
	*ret_reads = 1ULL << w->arch->fp;
	if (!unwind_reg(w, w->arch->fp, &value))
		return 0;
	return unwind_stack_word(&w->stack, value + (uint64_t)HOTSPOT_FRAMES_BYTECODE, &value) == UNWIND_READ_OK ? value : 0;
}

/* The bytecode that V8's interpreter executes in this frame, if it is one of that. */
static uint64_t v8_bytecode_of(struct unwind_walk *w, const struct unwind_place *place)
{
	const char *name;
	uint64_t fp, word;

	if (w->arch != &arch_x86_64)
		return 0;
	name = unwind_tables_function_name(w->tables, place->map, place->ip);
	if (!name || !v8_frames_interprets(name) || !unwind_reg(w, w->arch->fp, &fp) ||
	    unwind_stack_word(&w->stack, fp + (uint64_t)V8_FRAMES_BYTECODE, &word) != UNWIND_READ_OK)
		return 0;
	return word;
}

/* A rule that was read off the code is believed if it leads to a call; else the frame pointer may. */
static enum unwind_outcome step_by_code(struct unwind_walk *w, const struct unwind_place *place,
					const struct cfi_rule *rule, enum unwind_how *ret_how)
{
	bool in_stub = unwind_tables_has_table(w->tables, place->map);
	uint64_t reads = w->fp, bytecode = rule->runs_bytecode ? bytecode_of(w, place->map, &reads) :
					   in_stub	       ? v8_bytecode_of(w, place) :
								 0;
	const struct unwind_state callee = w->state;
	size_t nsaves = w->nsaves;
	enum unwind_outcome outcome = UNWIND_STEPPED;

	if (unwind_step(w, rule) == UNWIND_STEPPED && leads_to_code(w)) {
		*ret_how = UNWIND_CODE;
	} else {
		w->state = callee;
		w->nsaves = nsaves;
		bytecode = in_stub ? bytecode : 0;
		outcome = unwind_step_fallback(w, in_stub, ret_how);
	}
	w->bytecode = bytecode;
	if (bytecode)
		w->reads |= reads;
	return outcome;
}

/* Where there is no rule; the frame pointer decides what the frame interprets, if it does. */
static enum unwind_outcome step_without_rule(struct unwind_walk *w, const struct unwind_place *place, bool in_stub,
					     enum unwind_how *ret_how)
{
	uint64_t bytecode = in_stub ? v8_bytecode_of(w, place) : 0;
	enum unwind_outcome outcome = unwind_step_fallback(w, in_stub, ret_how);

	w->bytecode = bytecode;
	if (bytecode)
		w->reads |= w->fp;
	return outcome;
}

/* Interrupted in start code, as at the first instruction after exec: it has no caller, unless something shows one. */
static enum unwind_outcome step_at_start(struct unwind_walk *w, const struct unwind_place *place, enum unwind_how *ret_how)
{
	enum unwind_outcome outcome = step_without_rule(w, place, /* in_stub= */ false, ret_how);

	return outcome == UNWIND_NO_WAY && unwind_is_bottom(w) ? UNWIND_IS_ROOT : outcome;
}

/*
 * A function that has left a stack, and whose frame pointer is still there, as it says: its frame is. What its rule says besides may hold for its own
 * frame pointer only, and not for the one that what it calls has put in place (SBCL's call_into_lisp).
 */
static bool has_left_frame(const struct unwind_walk *w, const struct cfi_rule *rule)
{
	return !w->state.exact && !rule->signal_frame && w->stack.other && (rule->cfa_is_expr || rule->cfa_reg == w->arch->fp);
}

static enum unwind_outcome step(struct unwind_walk *w, struct unwind_place *place, enum unwind_how *ret_how,
				enum stack_stop *ret_stop)
{
	struct unwind_rule rule = { .kind = UNWIND_RULE_NO_TABLE };

	if (place->map)
		rule = unwind_tables_rule(w->tables, place);
	if (w->trace)
		unwind_trace_rule(w->trace, w, place->map, rule);
	switch (rule.kind) {
	case UNWIND_RULE_CFI:
		if (rule.cfi->from_code) {
			*ret_stop = stop_without_table(place->map);
			return step_by_code(w, place, rule.cfi, ret_how);
		}
		*ret_stop = STACK_STOP_BAD_TABLE;
		if (rule.cfi->go) {
			*ret_how = UNWIND_CFI;
			*ret_stop = STACK_STOP_OTHER_STACK;
			return unwind_step_go(w, rule.cfi);
		}
		if (has_left_frame(w, rule.cfi) && unwind_step_linked(w, ret_how))
			return UNWIND_STEPPED;
		return step_by_rule(w, place->map, rule.cfi, ret_how);
	case UNWIND_RULE_SIGFRAME:
		*ret_how = UNWIND_CFI;
		*ret_stop = STACK_STOP_BAD_TABLE;
		return unwind_step_sigframe(w);
	case UNWIND_RULE_ERLANG:
		*ret_how = UNWIND_CODE;
		*ret_stop = STACK_STOP_OTHER_STACK;
		return unwind_step_erlang(w);
	case UNWIND_RULE_START:
		if (!w->state.exact)
			return UNWIND_IS_ROOT;
		*ret_stop = STACK_STOP_NO_TABLE;
		return step_at_start(w, place, ret_how);
	case UNWIND_RULE_BAD:
		*ret_stop = STACK_STOP_BAD_TABLE;
		break;
	case UNWIND_RULE_NO_FILE:
		*ret_stop = STACK_STOP_NO_BINARY;
		break;
	case UNWIND_RULE_32_BIT:
		*ret_stop = STACK_STOP_32_BIT;
		return UNWIND_NO_WAY;
	case UNWIND_RULE_NO_TABLE:
		*ret_stop = stop_without_table(place->map);
		break;
	case UNWIND_RULE_NONE:
	case UNWIND_RULE_KINDS:
		*ret_stop = place->map ? STACK_STOP_NO_TABLE : STACK_STOP_NO_MAPPING;
		break;
	}
	return step_without_rule(w, place, rule.kind == UNWIND_RULE_NONE, ret_how);
}

enum unwind_outcome unwind_step_out(struct unwind_walk *w, struct unwind_place *place, enum unwind_how *ret_how,
				    enum stack_stop *ret_stop)
{
	enum unwind_outcome outcome = step(w, place, ret_how, ret_stop);

	if (outcome == UNWIND_STEPPED || outcome == UNWIND_IS_ROOT || stop_without_table(place->map) != STACK_STOP_NO_TABLE ||
	    !unwind_step_haskell(w))
		return outcome;
	*ret_how = UNWIND_BELOW;
	return UNWIND_STEPPED;
}
