/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_step.c - a step by a rule.
 *
 * All new values are computed before any is stored, because rules speak of the registers as they are.
 * Registers that a function need not preserve are not known in its caller unless the rule gives them;
 * keeping them would let a rule that reads one compute nonsense, and would make equal frames differ.
 */
#include "symbolize/unwind/unwind_walk.h"

#include "symbolize/unwind/expr.h"
#include "symbolize/unwind/unwind_sigframe.h"

/* Values on their way into the state. */
struct update {
	uint64_t values[ARCH_REGS_MAX]; /* by entry of the rule */
	uint64_t valid;                 /* entries that have one, as bits */
};

struct value {
	uint64_t value;
	enum unwind_read read; /* how reading it from the stack went */
};

uint64_t unwind_where_saved(const struct unwind_walk *w, unsigned reg)
{
	const struct unwind_save *save = w->saves + w->nsaves - 1;

	while (!(save->rule->saved >> reg & 1))
		save--;
	return save->cfa + (uint64_t)cfi_rule_offset(save->rule, reg);
}

bool unwind_reg(struct unwind_walk *w, unsigned reg, uint64_t *ret)
{
	struct unwind_state *state = &w->state;
	uint64_t bit = 1ULL << reg;

	w->reads |= bit;
	if (state->saved & bit) {
		state->saved &= ~bit;
		if (unwind_stack_word(&w->stack, unwind_where_saved(w, reg), &state->regs[reg]) ==
		    UNWIND_READ_OK)
			state->known |= bit;
	}
	*ret = state->regs[reg];
	return state->known & bit;
}

/*
 * Of a number in a register pruning leaves 0, or 1 in the frame pointer (record/sample/prune.h): neither is what the program
 * had there.
 */
static bool reg_for_expr(void *data, uint64_t reg, uint64_t *ret)
{
	struct unwind_walk *w = data;

	return reg < w->arch->nregs && unwind_reg(w, (unsigned)reg, ret) && *ret > 1;
}

static bool word_for_expr(void *data, uint64_t address, uint64_t *ret)
{
	struct unwind_walk *w = data;

	return unwind_stack_word(&w->stack, address, ret) == UNWIND_READ_OK;
}

/* What is read at an address is known, and so is the expression, although this part of the address may not be. */
static bool reg_where_assumed(void *data, uint64_t reg, uint64_t *ret)
{
	struct unwind_walk *w = data;

	if (!reg_for_expr(data, reg, ret))
		*ret = 0;
	return reg < w->arch->nregs;
}

static bool word_assumed(void *data, uint64_t address, uint64_t *ret)
{
	const struct unwind_walk *w = data;

	(void)address;
	*ret = *w->assumed;
	return true;
}

static bool evaluate(struct unwind_walk *w, int32_t number, struct expr_start start, uint64_t *ret)
{
	struct cfi_expr expr = unwind_tables_expr(w->tables, number);
	struct expr_context context = { reg_for_expr, word_for_expr, w };

	if (w->assumed && !start.has_value)
		context = (struct expr_context){ reg_where_assumed, word_assumed, w };
	return expr_eval(expr.bytes, expr.len, &context, start, ret) == EXPR_OK;
}

static inline bool compute_cfa(struct unwind_walk *w, const struct cfi_rule *rule, uint64_t *ret)
{
	uint64_t base;

	if (rule->cfa_is_expr)
		return evaluate(w, rule->cfa_value, (struct expr_start){ 0 }, ret);
	if (w->state.known >> rule->cfa_reg & 1) { /* not "saved" then */
		w->reads |= 1ULL << rule->cfa_reg;
		base = w->state.regs[rule->cfa_reg];
	} else if (!unwind_reg(w, rule->cfa_reg, &base)) {
		return false;
	}
	*ret = base + (uint64_t)(int64_t)rule->cfa_value;
	return true;
}

/*
 * A function saves registers in its own frame. gcc describes those of a realigned frame relative to the
 * frame pointer, and goes on doing so when the epilogue has already restored that, for the two
 * instructions before "ret": the register then holds the caller's value, and its rule points elsewhere.
 */
static bool is_stale(const struct unwind_walk *w, const struct cfi_rule *rule, uint64_t address,
		     uint64_t cfa)
{
	return !rule->signal_frame && (address >= cfa || address < w->state.regs[w->arch->sp]);
}

static bool read_by_expr(struct unwind_walk *w, const struct cfi_rule *rule,
			 const struct cfi_reg *reg, uint64_t cfa, struct value *ret)
{
	uint64_t address;

	if (!evaluate(w, reg->value, (struct expr_start){ true, cfa }, &address))
		return false;
	if (is_stale(w, rule, address, cfa))
		return unwind_reg(w, reg->reg, &ret->value);
	ret->read = unwind_stack_word(&w->stack, address, &ret->value);
	return ret->read == UNWIND_READ_OK;
}

/* What @reg's rule gives; false if it gives nothing, and @ret->read tells why. */
static bool compute_reg(struct unwind_walk *w, const struct cfi_rule *rule,
			const struct cfi_reg *reg, uint64_t cfa, struct value *ret)
{
	uint64_t address = cfa + (uint64_t)(int64_t)reg->value;

	ret->read = UNWIND_READ_ELSEWHERE;
	switch ((enum cfi_reg_kind)reg->kind) {
	case CFI_REG_UNDEFINED:
		return false;
	case CFI_REG_OFFSET:
		ret->read = unwind_stack_word(&w->stack, address, &ret->value);
		return ret->read == UNWIND_READ_OK;
	case CFI_REG_POPPED:
		return unwind_reg(w, reg->reg, &ret->value);
	case CFI_REG_VAL_OFFSET:
		ret->value = address;
		return true;
	case CFI_REG_REGISTER:
		return unwind_reg(w, (unsigned)reg->value, &ret->value);
	case CFI_REG_EXPR:
		return read_by_expr(w, rule, reg, cfa, ret);
	case CFI_REG_VAL_EXPR:
		return evaluate(w, reg->value, (struct expr_start){ true, cfa }, &ret->value);
	}
	return false;
}

static enum unwind_outcome outcome_of(struct unwind_walk *w, enum unwind_read failure,
				      uint64_t missing)
{
	w->stack.missing = missing;
	return failure == UNWIND_READ_BEYOND ? UNWIND_BEYOND : UNWIND_ELSEWHERE;
}

/* Any outcome but UNWIND_STEPPED is that of the return address. */
static enum unwind_outcome compute_update(struct unwind_walk *w, const struct cfi_rule *rule,
					  uint64_t cfa, struct update *u)
{
	enum unwind_outcome outcome = UNWIND_STEPPED;

	u->valid = 0;
	for (size_t i = 0; i < rule->nregs; i++) {
		const struct cfi_reg *reg = &rule->regs[i];
		struct value value;

		if (compute_reg(w, rule, reg, cfa, &value)) {
			u->values[i] = value.value;
			u->valid |= 1ULL << i;
		} else if (reg->reg == rule->return_reg) {
			outcome = reg->kind == CFI_REG_UNDEFINED
					  ? UNWIND_IS_ROOT
					  : outcome_of(w, value.read, w->stack.missing);
		}
	}
	return outcome;
}

/* Store @u; every register that @rule lists is written, to a value or to "not known". */
static void store_update(struct unwind_walk *w, const struct cfi_rule *rule, const struct update *u)
{
	struct unwind_state *state = &w->state;

	for (size_t i = 0; i < rule->nregs; i++) {
		uint64_t bit = 1ULL << rule->regs[i].reg;

		w->writes |= bit;
		state->known &= ~bit;
		state->saved &= ~bit;
		if (u->valid >> i & 1) {
			state->regs[rule->regs[i].reg] = u->values[i];
			state->known |= bit;
		}
	}
}

/* Forget what a call does not preserve; an interruption preserves all. */
static void forget(struct unwind_walk *w, const struct cfi_rule *rule)
{
	uint64_t kept = rule->signal_frame ? ~0ULL : w->arch->callee_saved;

	w->state.known &= kept | 1ULL << rule->return_reg;
	w->state.saved &= kept;
	w->writes |= ~kept & ~(1ULL << rule->return_reg);
}

/*
 * Registers are stored, the return address among them: make it the instruction pointer. A call overwrites
 * the link register, so a caller's own is only known to the rule of an interrupted frame; otherwise a rule
 * that looks for the return address there once more, farther up, would go around in circles.
 */
static inline bool enter_caller(struct unwind_walk *w, const struct cfi_rule *rule, uint64_t cfa)
{
	struct unwind_state *state = &w->state;
	const struct arch *arch = w->arch;
	uint64_t own = w->sp | w->ip, ra = 1ULL << rule->return_reg, ip;

	if (!(w->writes & w->sp))
		state->regs[arch->sp] = cfa;
	if (~state->known & (ra | w->sp))
		return false;
	ip = state->regs[rule->return_reg];
	if (!(w->writes & ra))
		w->reads |= ra;
	state->regs[arch->ip] = ip & w->code_mask;
	if (!rule->signal_frame)
		state->known &= ~ra;
	state->known |= own;
	w->writes |= own | ra;
	state->exact = rule->signal_frame;
	return true;
}

static enum unwind_outcome step_by_any(struct unwind_walk *w, const struct cfi_rule *rule)
{
	enum unwind_outcome outcome;
	struct update u;
	uint64_t cfa;

	if (!compute_cfa(w, rule, &cfa))
		return UNWIND_ELSEWHERE;
	outcome = compute_update(w, rule, cfa, &u);
	if (outcome != UNWIND_STEPPED)
		return outcome;
	forget(w, rule);
	store_update(w, rule, &u);
	return enter_caller(w, rule, cfa) ? UNWIND_STEPPED : UNWIND_BAD;
}

/*
 * The same for a rule that only knows saved registers. Most of these are never needed, so it is noted
 * that this step saved them, and only the return address and the frame pointer are read.
 */
static enum unwind_outcome step_by_plain(struct unwind_walk *w, const struct cfi_rule *rule)
{
	uint64_t at_once = w->fp | 1ULL << rule->return_reg, saved = rule->saved;
	struct unwind_state *state = &w->state;
	enum unwind_read read;
	uint64_t cfa, address;

	if (!compute_cfa(w, rule, &cfa))
		return UNWIND_ELSEWHERE;
	forget(w, rule);
	w->saves[w->nsaves++] = (struct unwind_save){ rule, cfa };
	w->writes |= saved;
	state->known = (state->known & ~saved) | (saved & at_once);
	state->saved = (state->saved | saved) & ~at_once;
	if (saved & w->fp) {
		address = cfa + (uint64_t)(int64_t)rule->fp_value;
		read = unwind_stack_word(&w->stack, address, &state->regs[w->arch->fp]);
		if (read != UNWIND_READ_OK)
			state->known &= ~w->fp;
	}
	if (saved & 1ULL << rule->return_reg) {
		address = cfa + (uint64_t)(int64_t)rule->ra_value;
		read = unwind_stack_word(&w->stack, address, &state->regs[rule->return_reg]);
		if (read != UNWIND_READ_OK)
			return outcome_of(w, read, address);
	}
	return enter_caller(w, rule, cfa) ? UNWIND_STEPPED : UNWIND_BAD;
}

enum unwind_outcome unwind_step(struct unwind_walk *w, const struct cfi_rule *rule)
{
	const struct unwind_state *state = &w->state;
	uint64_t ip = state->regs[w->arch->ip], sp = state->regs[w->arch->sp];
	enum unwind_outcome outcome;

	w->reads = w->writes = 0;
	outcome = rule->plain ? step_by_plain(w, rule) : step_by_any(w, rule);
	if (outcome != UNWIND_STEPPED)
		return outcome;
	if (state->regs[w->arch->ip] == ip && state->regs[w->arch->sp] == sp)
		return UNWIND_BAD;
	if (!rule->signal_frame && state->regs[w->arch->sp] < sp)
		return UNWIND_BAD; /* only a signal handler may have had a stack of its own */
	return UNWIND_STEPPED;
}

enum unwind_outcome unwind_step_sigframe(struct unwind_walk *w)
{
	const struct unwind_sigframe *frame = unwind_sigframe_of(w->arch);
	struct unwind_state state = { .exact = true };
	uint64_t sp = w->state.regs[w->arch->sp];

	w->reads = 1ULL << w->arch->sp;
	w->writes = ~0ULL;
	for (size_t i = 0; i < frame->nregs; i++) {
		const struct unwind_sigframe_reg *reg = &frame->regs[i];
		enum unwind_read read =
			unwind_stack_word(&w->stack, sp + reg->offset, &state.regs[reg->reg]);

		if (read != UNWIND_READ_OK)
			return read == UNWIND_READ_BEYOND ? UNWIND_BEYOND : UNWIND_ELSEWHERE;
		state.known |= 1ULL << reg->reg;
	}
	w->state = state;
	return UNWIND_STEPPED;
}

void unwind_state_return(struct unwind_walk *w, uint64_t ip, uint64_t sp, uint64_t known)
{
	struct unwind_state *state = &w->state;

	state->regs[w->arch->ip] = ip;
	state->regs[w->arch->sp] = sp;
	state->known = known | 1ULL << w->arch->ip | 1ULL << w->arch->sp;
	state->exact = false;
}
