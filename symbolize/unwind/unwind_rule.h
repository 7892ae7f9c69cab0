/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_rule.h - what is known of an address: its rule, or why it has none.
 */
#ifndef SYMBOLIZE_UNWIND_RULE_H
#define SYMBOLIZE_UNWIND_RULE_H

#include "symbolize/unwind/cfi_rule.h"

#include <stdint.h>

enum unwind_rule_kind {
	UNWIND_RULE_CFI,
	UNWIND_RULE_SIGFRAME, /* a signal trampoline, known by its code */
	UNWIND_RULE_ERLANG, /* compiled code of Erlang, whose callers' addresses are the only such words on its stack */
	UNWIND_RULE_START, /* a start routine whose address was put in place of a return address */
	UNWIND_RULE_NONE,  /* the module's table has nothing here */
	UNWIND_RULE_NO_TABLE, /* the module has no table */
	UNWIND_RULE_BAD,      /* it has, and it is malformed here */
	UNWIND_RULE_NO_FILE,  /* the module's file is not to be had */
	UNWIND_RULE_32_BIT,   /* the module's file is of a 32-bit program */
	UNWIND_RULE_KINDS     /* how many there are */
};

struct unwind_rule {
	enum unwind_rule_kind kind;
	const struct cfi_rule *cfi; /* for UNWIND_RULE_CFI */
};

/* A rule in a word: where it is, or the kind of one that is not CFI. 0: not known. */
static inline uintptr_t unwind_rule_pack(struct unwind_rule rule)
{
	return rule.kind == UNWIND_RULE_CFI ? (uintptr_t)rule.cfi : (uintptr_t)rule.kind;
}

static inline struct unwind_rule unwind_rule_unpack(uintptr_t packed)
{
	if (packed < UNWIND_RULE_KINDS)
		return (struct unwind_rule){ .kind = (enum unwind_rule_kind)packed };
	return (struct unwind_rule){ UNWIND_RULE_CFI, (const struct cfi_rule *)packed };
}

#endif
