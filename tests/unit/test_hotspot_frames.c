/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/unwind/hotspot_frames.h"
#include "tests/unit/test.h"

#include <string.h>

TEST(hotspot_frames_know_the_interpreter_by_name_and_length)
{
	struct cfi_rules *rules = cfi_rules_new();
	struct jit_symbol symbol = { .start = 0x1000, .len = 100000, .name = "Interpreter" };
	const struct cfi_rule *rule;
	uint32_t number;

	CHECK(hotspot_frames_rule(rules, &arch_x86_64, &symbol, &number));
	rule = cfi_rules_get(rules, number);
	CHECK(rule->from_code && !rule->plain);
	CHECK_INT(rule->cfa_value, 16);
	CHECK_UINT(rule->regs[1].reg, arch_x86_64.sp);
	CHECK_INT(rule->regs[1].value, -24);
	CHECK(!hotspot_frames_rule(rules, &arch_aarch64, &symbol, &number));
	symbol.len = 100;
	CHECK(!hotspot_frames_rule(rules, &arch_x86_64, &symbol, &number));
	symbol = (struct jit_symbol){ .len = 100000, .name = "Interpreter.run" };
	CHECK(!hotspot_frames_rule(rules, &arch_x86_64, &symbol, &number));
	cfi_rules_free(rules);
}

TEST(hotspot_frames_undo_the_jump_over_an_entry)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	static const char before[] = "\x90\x90\x89\x84\x24\x00\xc0\xfe\xff\x55\x48\x83\xec\x30";
	static const char after[] = "\x90\x90\xe9\xbb\x84\x56\x07\xfe\xff\x55\x48\x83\xec\x30";
	struct jit_symbol symbol = { .code = guarded(after, sizeof(after) - 1), .len = sizeof(after) - 1 };

	CHECK_MEM(hotspot_frames_code(&symbol, &arena), before, sizeof(before) - 1);
	symbol.code = guarded(before, sizeof(before) - 1);
	CHECK(hotspot_frames_code(&symbol, &arena) == symbol.code);
	symbol.len = 3;
	symbol.code = guarded(after, 3);
	CHECK(hotspot_frames_code(&symbol, &arena) == symbol.code);
}

static struct jit_place after_pushes(int32_t cfa_value, uint8_t cfa_reg)
{
	struct jit_place place = { .frame = JITDUMP_FRAME_SAVED, .frame_len = 80 };
	const struct cfi_rule code = { .cfa_reg = cfa_reg, .cfa_value = cfa_value };

	hotspot_frames_add_pushes(&place, &code);
	return place;
}

TEST(hotspot_frames_grow_by_what_an_intrinsic_has_pushed)
{
	uint8_t sp = (uint8_t)arch_x86_64.sp, fp = (uint8_t)arch_x86_64.fp;

	CHECK_UINT(after_pushes(88, sp).frame_len, 88);
	CHECK_UINT(after_pushes(112, sp).frame_len, 112);
	CHECK_UINT(after_pushes(80, sp).frame_len, 80);
	CHECK_UINT(after_pushes(72, sp).frame_len, 80);	 /* an epilogue: the tables know better */
	CHECK_UINT(after_pushes(84, sp).frame_len, 80);	 /* nothing that pushes explain */
	CHECK_UINT(after_pushes(120, sp).frame_len, 80); /* too many */
	CHECK_UINT(after_pushes(88, fp).frame_len, 80);
	struct jit_place at_end = { .frame = JITDUMP_FRAME_SAVED, .frame_len = 16 }; /* before "pop %rbp" */
	const struct cfi_rule code = { .cfa_reg = sp, .cfa_value = 24 };

	hotspot_frames_add_pushes(&at_end, &code);
	CHECK_UINT(at_end.frame_len, 16);
}

TEST(hotspot_frames_follow_a_frame_pointer_over_a_word_that_was_pushed_first)
{
	struct cfi_rules *rules = cfi_rules_new();
	struct jit_place place = { .frame = JITDUMP_FRAME_POINTED, .frame_len = 24 };
	const struct cfi_rule *rule;
	uint32_t number;

	CHECK(hotspot_frames_place_rule(rules, &arch_x86_64, &place, &number));
	rule = cfi_rules_get(rules, number);
	CHECK_UINT(rule->cfa_reg, arch_x86_64.fp);
	CHECK_INT(rule->cfa_value, 24);
	CHECK_UINT(rule->nregs, 2);
	CHECK_UINT(rule->regs[0].reg, arch_x86_64.fp);
	CHECK_INT(rule->regs[0].value, -24);
	CHECK_INT(rule->regs[1].value, -8);
	place.frame = JITDUMP_FRAME_POINTED + 1;
	CHECK(!hotspot_frames_place_rule(rules, &arch_x86_64, &place, &number));
	cfi_rules_free(rules);
}
