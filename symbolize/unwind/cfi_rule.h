/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfi_rule.h - how to get from one frame to its caller's, and the small set of such rules that occur.
 *
 * A library of a million rows has a few hundred distinct rules. A dictionary holds each once, for all
 * images, and names it by a number. Rules never change and never move. Not thread-safe.
 */
#ifndef SYMBOLIZE_CFI_RULE_H
#define SYMBOLIZE_CFI_RULE_H

#include "formats/arch.h"
#include "symbolize/elf/cfi_section.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a register holds in the caller. Registers without an entry hold what they hold now. */
enum cfi_reg_kind {
	CFI_REG_UNDEFINED,
	CFI_REG_OFFSET, /* saved at CFA + value */
	CFI_REG_POPPED, /* was saved at CFA + value; the stack pointer has passed that, so it is back in place */
	CFI_REG_VAL_OFFSET, /* is CFA + value */
	CFI_REG_REGISTER,   /* is in register number value */
	CFI_REG_EXPR,       /* saved at the address that expression number value computes */
	CFI_REG_VAL_EXPR,   /* is what expression number value computes */
};

/* What functions of Go's runtime do with stacks, which their rules do not say (unwind_go.c). */
enum cfi_go {
	CFI_GO_NOTHING,
	CFI_GO_SYSTEM_STACK, /* call a function of Go on the thread's stack */
	CFI_GO_C,            /* call C there */
	CFI_GO_RACE,         /* call C there, and keep the goroutine's stack pointer in r12 (x86-64) */
	CFI_GO_NO_RETURN,    /* call there what does not return */
};

struct cfi_reg {
	uint16_t reg;  /* DWARF number, less than the architecture's nregs */
	uint16_t kind; /* enum cfi_reg_kind */
	int32_t value;
};

/* The canonical frame address is the stack pointer's value before the call. Rules are compared as bytes: none is unused. */
struct cfi_rule {
	uint64_t saved;   /* of a plain rule, the registers that are at CFA + value, as bits */
	int32_t ra_value; /* of those, value of the return address */
	int32_t fp_value; /* and of the frame pointer */
	int32_t cfa_value; /* CFA = this + a register, or the number of the expression that computes it */
	bool cfa_is_expr;
	uint8_t cfa_reg;    /* unless @cfa_is_expr */
	uint8_t return_reg; /* whose value in the caller is the return address */
	uint8_t nregs;
	bool signal_frame; /* the caller was interrupted, it did not call */
	bool ra_signed;    /* the return address carries an authentication code (aarch64) */
	bool plain; /* CFA by register, all entries OFFSET or POPPED and none for sp, no signal frame: the common case */
	bool from_code; /* read off the code, not said by a table: to be checked */
	bool runs_bytecode; /* the frame has the address of what it interprets (hotspot_frames.h) */
	bool keeps_fp;      /* a frame pointer, though no entry says so: Go's code */
	uint8_t go;         /* enum cfi_go */
	bool usual; /* plain, said by a table, not of Go, and not of a function that may leave for a handler: most of all steps */
	struct cfi_reg regs[]; /* ascending */
};

/* Fill in what follows from the rest: @saved, the two values and @usual. @fp is the frame pointer's number. */
void cfi_rule_sum_up(struct cfi_rule *rule, unsigned fp);

/*
 * Does the function save the registers that pass an exception to its handler? No other than __builtin_eh_return() makes it do so. They ascend, so
 * two comparisons are enough.
 */
bool cfi_rule_passes_exception(const struct cfi_rule *rule);

/* Where a register is that @rule has among @saved, from the CFA. */
int64_t cfi_rule_offset(const struct cfi_rule *rule, unsigned reg);

/* Does the rule say that there is no caller? */
bool cfi_rule_is_root(const struct cfi_rule *rule);

/*
 * Does a function that has called something have a frame pointer, by which its caller's frame is found? @fp is the register, @linked:
 * return addresses are in one as well.
 */
bool cfi_rule_follows_fp(const struct cfi_rule *rule, unsigned fp, bool linked);

struct cfi_expr {
	const uint8_t *bytes;
	size_t len;
};

struct cfi_rules;

struct cfi_rules *cfi_rules_new(void);
void cfi_rules_free(struct cfi_rules *rules);

/* The number of @rule, new or old. */
uint32_t cfi_rules_add(struct cfi_rules *rules, const struct cfi_rule *rule);

/* The number of an expression, whose bytes are copied. */
uint32_t cfi_rules_add_expr(struct cfi_rules *rules, const uint8_t *bytes, size_t len);

/* Numbers start at 0. */
const struct cfi_rule *cfi_rules_get(const struct cfi_rules *rules, uint32_t number);
struct cfi_expr cfi_rules_expr(const struct cfi_rules *rules, uint32_t number);
size_t cfi_rules_len(const struct cfi_rules *rules);

#endif
