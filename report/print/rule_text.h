/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rule_text.h - a rule of an unwind table in words: "CFA = rsp + 24; rip at CFA - 8; rbp at CFA - 16".
 */
#ifndef REPORT_RULE_TEXT_H
#define REPORT_RULE_TEXT_H

#include "symbolize/unwind/unwind.h"

#include <stdio.h>

/* @rule is one of those that @u uses. Expressions are printed as in DWARF, operator by operator. */
void rule_text_put(FILE *out, const struct unwinder *u, const struct arch *arch,
		   const struct cfi_rule *rule);

/* "rbp", or "r77" for a number that @arch has no register for. */
void rule_text_put_reg(FILE *out, const struct arch *arch, unsigned reg);

#endif
