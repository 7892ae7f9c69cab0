/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfi_program.h - runs the call frame instructions of an FDE (DWARF 5, section 6.4.2).
 *
 * Time is bounded by the length of the instructions. Registers that the architecture's table does not
 * have (vector registers) are passed over.
 */
#ifndef SYMBOLIZE_CFI_PROGRAM_H
#define SYMBOLIZE_CFI_PROGRAM_H

#include "symbolize/unwind/cfi_rule.h"

/* The rule at @vaddr, which @fde covers. False if the instructions up to there are malformed. */
bool cfi_program_find(struct cfi_rules *rules, const struct arch *arch, const struct cfi_fde *fde,
		      uint64_t vaddr, uint32_t *ret_rule);

/*
 * Every row of @fde, in order: @visit gets the address from which on @rule holds. Rows may repeat a rule.
 * False if the instructions are malformed; the rows before the fault have been visited.
 */
bool cfi_program_rows(struct cfi_rules *rules, const struct arch *arch, const struct cfi_fde *fde,
		      void (*visit)(uint64_t vaddr, uint32_t rule, void *context), void *context);

#endif
