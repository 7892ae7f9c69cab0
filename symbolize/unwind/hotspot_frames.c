/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/unwind/hotspot_frames.h"

#include <string.h>

#define RBP    6
#define RSP    7
#define RETURN 16

#define FRAME_LEN_MAX (1 << 20)

#define PUSHED_MAX    32 /* bytes: registers that an intrinsic keeps */
#define ENDS_LEN      16 /* of a frame that is being set up or taken down */

#define INTERPRETER_LEN_MIN 16384 /* all bytecodes: some 100 KiB. A Java method has a longer name */

/* One that saves the caller's frame pointer and, if its frame says where that is, its stack pointer. */
static uint32_t interpreter_rule(struct cfi_rules *rules)
{
	_Alignas(struct cfi_rule) char room[sizeof(struct cfi_rule) + 3 * sizeof(struct cfi_reg)];
	struct cfi_rule *rule = (struct cfi_rule *)room;

	*rule = (struct cfi_rule){
		.cfa_reg = RBP, .cfa_value = 16, .return_reg = RETURN, .nregs = 3, .from_code = true,
		.runs_bytecode = true
	};
	rule->regs[0] = (struct cfi_reg){ RBP, CFI_REG_OFFSET, -16 };
	rule->regs[1] = (struct cfi_reg){ RSP, CFI_REG_OFFSET, -24 };
	rule->regs[2] = (struct cfi_reg){ RETURN, CFI_REG_OFFSET, -8 };
	return cfi_rules_add(rules, rule);
}

bool hotspot_frames_place_rule(struct cfi_rules *rules, const struct arch *arch, const struct jit_place *place,
			       uint32_t *ret_rule)
{
	_Alignas(struct cfi_rule) char room[sizeof(struct cfi_rule) + 2 * sizeof(struct cfi_reg)];
	struct cfi_rule *rule = (struct cfi_rule *)room;
	uint8_t nregs = 0;

	if (arch != &arch_x86_64)
		return false;
	if (place->frame == JITDUMP_FRAME_INTERPRETER) {
		*ret_rule = interpreter_rule(rules);
		return true;
	}
	if (place->frame == JITDUMP_FRAME_UNKNOWN || place->frame > JITDUMP_FRAME_POINTED || place->frame_len < 8 ||
	    place->frame_len > FRAME_LEN_MAX)
		return false;
	*rule = (struct cfi_rule){ .cfa_reg = place->frame == JITDUMP_FRAME_POINTED ? RBP : RSP,
				   .cfa_value = (int32_t)place->frame_len,
				   .return_reg = RETURN,
				   .plain = true,
				   .from_code = true };
	if (place->frame == JITDUMP_FRAME_SAVED)
		rule->regs[nregs++] = (struct cfi_reg){ RBP, CFI_REG_OFFSET, -16 };
	else if (place->frame == JITDUMP_FRAME_POINTED)
		rule->regs[nregs++] = (struct cfi_reg){ RBP, CFI_REG_OFFSET, -(int32_t)place->frame_len };
	rule->regs[nregs++] = (struct cfi_reg){ RETURN, CFI_REG_OFFSET, -8 };
	rule->nregs = nregs;
	cfi_rule_sum_up(rule, RBP);
	*ret_rule = cfi_rules_add(rules, rule);
	return true;
}

void hotspot_frames_add_pushes(struct jit_place *place, const struct cfi_rule *code)
{
	int64_t pushed = (int64_t)code->cfa_value - place->frame_len;

	if (place->frame_len > ENDS_LEN && !code->cfa_is_expr && code->cfa_reg == RSP && pushed > 0 &&
	    pushed <= PUSHED_MAX && pushed % 8 == 0)
		place->frame_len += (uint32_t)pushed;
}

bool hotspot_frames_rule(struct cfi_rules *rules, const struct arch *arch, const struct jit_symbol *symbol,
			 uint32_t *ret_rule)
{
	if (arch != &arch_x86_64 || symbol->len < INTERPRETER_LEN_MIN || strcmp(symbol->name, "Interpreter") != 0)
		return false;
	*ret_rule = interpreter_rule(rules);
	return true;
}

#define ENTRY_MAX 128 /* bytes in front of the entry: the check of the receiver's class */

/* jmp …; what is left of mov %eax, -N(%rsp); push %rbp; sub …, %rsp */
static bool is_patched_entry(const uint8_t *code)
{
	return code[0] == 0xe9 && code[5] == 0xfe && code[6] == 0xff && code[7] == 0x55 && code[8] == 0x48 &&
	       (code[9] == 0x81 || code[9] == 0x83) && code[10] == 0xec;
}

const uint8_t *hotspot_frames_code(const struct jit_symbol *symbol, struct arena *arena)
{
	static const uint8_t touch[] = { 0x89, 0x84, 0x24, 0x00, 0xc0 };

	for (size_t at = 0; at < ENTRY_MAX && at + 11 <= symbol->len; at++) {
		if (!is_patched_entry(symbol->code + at))
			continue;
		uint8_t *copy = (uint8_t *)arena_memdup(arena, symbol->code, symbol->len);

		memcpy(copy + at, touch, sizeof(touch));
		return copy;
	}
	return symbol->code;
}
