/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_step.c - a step by a rule.
 *
 * All new values are computed before any is stored, because rules speak of the registers as they are.
 * Registers that a function need not preserve are not known in its caller unless the rule gives them;
 * keeping them would let a rule that reads one compute nonsense, and would make equal frames differ.
 */
#include "symbolize/unwind_walk.h"

#include "symbolize/expr.h"
#include "symbolize/unwind_sigframe.h"

/* Values on their way into the state. */
struct update {
	uint64_t values[ARCH_REGS_MAX]; /* by entry of the rule */
	uint64_t valid;                 /* entries that have one, as bits */
	bool root;                      /* the return address is undefined */
	enum unwind_read failure;       /* of the return address */
	uint64_t missing;               /* where it would have been */
};

struct value {
	uint64_t value;
	enum unwind_read read; /* how reading it from the stack went */
};

static bool read_for_expr(void *memory, uint64_t address, uint64_t *ret)
{
	return unwind_stack_word(memory, address, ret) == UNWIND_READ_OK;
}

static bool evaluate(struct unwind_walk *w, int32_t number, struct expr_start start, uint64_t *ret)
{
	struct cfi_expr expr = unwind_tables_expr(w->tables, number);
	struct expr_context context = {
		.regs = w->state.regs,
		.known = w->state.known,
		.nregs = w->arch->nregs,
		.read_word = read_for_expr,
		.memory = &w->stack,
	};

	w->reads = ~0ULL; /* whatever it may have looked at */
	return expr_eval(expr.bytes, expr.len, &context, start, ret) == EXPR_OK;
}

static bool compute_cfa(struct unwind_walk *w, const struct cfi_rule *rule, uint64_t *ret)
{
	if (rule->cfa_is_expr)
		return evaluate(w, rule->cfa_value, (struct expr_start){ 0 }, ret);
	w->reads |= 1ULL << rule->cfa_reg;
	if (!unwind_knows(&w->state, rule->cfa_reg))
		return false;
	*ret = w->state.regs[rule->cfa_reg] + (uint64_t)(int64_t)rule->cfa_value;
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
	if (is_stale(w, rule, address, cfa)) {
		ret->value = w->state.regs[reg->reg];
		return unwind_knows(&w->state, reg->reg);
	}
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
		w->reads |= 1ULL << reg->reg;
		ret->value = w->state.regs[reg->reg];
		return unwind_knows(&w->state, reg->reg);
	case CFI_REG_VAL_OFFSET:
		ret->value = address;
		return true;
	case CFI_REG_REGISTER:
		w->reads |= 1ULL << reg->value;
		ret->value = w->state.regs[reg->value];
		return unwind_knows(&w->state, (unsigned)reg->value);
	case CFI_REG_EXPR:
		return read_by_expr(w, rule, reg, cfa, ret);
	case CFI_REG_VAL_EXPR:
		return evaluate(w, reg->value, (struct expr_start){ true, cfa }, &ret->value);
	}
	return false;
}

static void compute_update(struct unwind_walk *w, const struct cfi_rule *rule, uint64_t cfa,
			   struct update *u)
{
	u->valid = 0;
	u->root = false;
	u->failure = UNWIND_READ_OK;
	for (size_t i = 0; i < rule->nregs; i++) {
		const struct cfi_reg *reg = &rule->regs[i];
		struct value value;

		if (compute_reg(w, rule, reg, cfa, &value)) {
			u->values[i] = value.value;
			u->valid |= 1ULL << i;
		} else if (reg->reg == rule->return_reg) {
			u->root = reg->kind == CFI_REG_UNDEFINED;
			u->failure = value.read;
			u->missing = w->stack.missing;
		}
	}
}

/* Store @u; every register that @rule lists is written, to a value or to "not known". */
static void store_update(struct unwind_walk *w, const struct cfi_rule *rule, const struct update *u)
{
	struct unwind_state *state = &w->state;

	for (size_t i = 0; i < rule->nregs; i++) {
		uint64_t bit = 1ULL << rule->regs[i].reg;

		w->writes |= bit;
		state->known &= ~bit;
		if (u->valid >> i & 1) {
			state->regs[rule->regs[i].reg] = u->values[i];
			state->known |= bit;
		}
	}
}

/*
 * A call overwrites the link register, so a caller's own is only known to the rule of an interrupted
 * frame. A rule that finds the return address there anyway, farther up, would go around in circles.
 */
static uint64_t preserved(const struct unwind_walk *w, const struct cfi_rule *rule)
{
	return rule->signal_frame ? ~0ULL : w->arch->callee_saved;
}

static bool makes_progress(const struct unwind_walk *w, const struct cfi_rule *rule,
			   uint64_t old_ip, uint64_t old_sp)
{
	const struct unwind_state *state = &w->state;
	uint64_t ip = state->regs[w->arch->ip], sp = state->regs[w->arch->sp];

	if (ip == old_ip && sp == old_sp)
		return false;
	return rule->signal_frame || sp >= old_sp; /* a handler may have had a stack of its own */
}

enum unwind_outcome unwind_step(struct unwind_walk *w, const struct cfi_rule *rule)
{
	struct unwind_state *state = &w->state;
	uint64_t old_ip = state->regs[w->arch->ip], old_sp = state->regs[w->arch->sp];
	uint64_t cfa, kept = state->known & preserved(w, rule);
	struct update u;

	w->reads = w->writes = 0;
	if (!compute_cfa(w, rule, &cfa))
		return UNWIND_ELSEWHERE;
	compute_update(w, rule, cfa, &u);
	if (u.root)
		return UNWIND_IS_ROOT;
	if (u.failure != UNWIND_READ_OK) {
		w->stack.missing = u.missing;
		return u.failure == UNWIND_READ_BEYOND ? UNWIND_BEYOND : UNWIND_ELSEWHERE;
	}
	/* What no rule changes: the stack pointer becomes the CFA, the return address is still in its register. */
	uint64_t return_bit = 1ULL << rule->return_reg;

	w->writes |= 1ULL << w->arch->sp | 1ULL << w->arch->ip;
	state->regs[w->arch->sp] = cfa;
	state->known = kept | (state->known & return_bit);
	store_update(w, rule, &u);
	w->reads |= return_bit & ~w->writes;
	if (!unwind_knows(state, rule->return_reg))
		return UNWIND_BAD;
	uint64_t ip = state->regs[rule->return_reg];

	state->regs[w->arch->ip] = w->arch->lr >= 0 ? ip & w->arch->code_mask : ip;
	if (!rule->signal_frame && rule->return_reg != w->arch->ip)
		state->known &= ~return_bit;
	state->known |= 1ULL << w->arch->sp | 1ULL << w->arch->ip;
	w->writes |= ~preserved(w, rule); /* made unknown */
	state->exact = rule->signal_frame;
	return makes_progress(w, rule, old_ip, old_sp) ? UNWIND_STEPPED : UNWIND_BAD;
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
