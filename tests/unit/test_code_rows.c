/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/unwind/code_rows.h"
#include "tests/unit/test.h"

#include <string.h>

#define START 0x1000
#define RBX   3
#define RBP   6
#define RSP   7

static uint32_t frame_len; /* that is known beforehand */

/* The rule at @offset of @code; NULL if there is none. Lives as long as @rules. */
static const struct cfi_rule *rule_at(struct cfi_rules *rules, const char *code, size_t len, uint64_t offset)
{
	struct disasm *d = NULL;
	const struct code_rows_function f = { guarded(code, len), len, START, frame_len };
	uint32_t rule;
	bool found;

	CHECK_OK(disasm_open(&arch_x86_64, DISASM_INTEL, &d));
	found = code_rows_find(rules, d, &f, START + offset, &rule);
	disasm_close(d);
	return found ? cfi_rules_get(rules, rule) : NULL;
}

static int64_t saved_at(const struct cfi_rule *rule, unsigned reg)
{
	return rule->saved >> reg & 1 ? cfi_rule_offset(rule, reg) : 0;
}

#define RULE(code, offset) rule_at(rules, (code), sizeof(code) - 1, (offset))

/* CPython's trampoline: sub $8,%rsp; call *%rcx; add $8,%rsp; ret */
TEST(code_rows_follow_a_trampoline)
{
	static const char code[] = "\x48\x83\xec\x08\xff\xd1\x48\x83\xc4\x08\xc3";
	struct cfi_rules *rules = cfi_rules_new();
	static const int32_t cfa[] = { [0] = 8, [3] = 8, [4] = 16, [5] = 16, [6] = 16, [9] = 16, [10] = 8 };

	for (size_t i = 0; i < ARRAY_LEN(cfa); i++) {
		const struct cfi_rule *rule = RULE(code, i);

		if (!cfa[i])
			continue;
		CHECK(rule && rule->plain && rule->from_code);
		CHECK_UINT(rule->cfa_reg, RSP);
		CHECK_INT(rule->cfa_value, cfa[i]);
		CHECK_INT(rule->ra_value, -8);
	}
	CHECK(!RULE(code, 11));
	cfi_rules_free(rules);
}

/*
 * 0 push %rbp; 1 mov %rsp,%rbp; 4 push %rbx; 5 sub $24,%rsp; 9 test %edi,%edi; 11 je 20; 13 mov -8(%rbp),%rbx; 17 leave; 18 ret;
 * 19 nop; 20 call *%rax; 22 pop %rbx; 23 nop
 */
TEST(code_rows_follow_a_frame_pointer_and_branches)
{
	static const char code[] = "\x55\x48\x89\xe5\x53\x48\x83\xec\x18\x85\xff\x74\x07\x48\x8b\x5d\xf8\xc9\xc3\x90\xff\xd0\x5b\x90";
	struct cfi_rules *rules = cfi_rules_new();
	const struct cfi_rule *rule = RULE(code, 1);

	CHECK(rule->cfa_reg == RSP && rule->cfa_value == 16 && saved_at(rule, RBP) == -16);
	rule = RULE(code, 9);
	CHECK(rule->cfa_reg == RBP && rule->cfa_value == 16);
	CHECK(saved_at(rule, RBP) == -16 && saved_at(rule, RBX) == -24);
	rule = RULE(code, 17);
	CHECK(!saved_at(rule, RBX)); /* is back */
	rule = RULE(code, 18);
	CHECK(rule->cfa_reg == RSP && rule->cfa_value == 8 && !saved_at(rule, RBP));
	rule = RULE(code, 20);
	CHECK(rule->cfa_reg == RBP && saved_at(rule, RBX) == -24);
	cfi_rules_free(rules);
}

/* and $-32,%rsp; nop; and mov (%rdi),%rsp; nop: where the stack pointer was is not known. */
/*
 * What HotSpot makes of a loop around String.compareTo. Most of it runs with a register pushed, but not the loop's top:
 * 0 sub $24,%rsp; 4 jmp 8; 6 nop; 7 nop; 8 push %rcx; 9 8 × nop; 17 pop %rcx; 18 jmp 22; 20 nop; 21 nop;
 * 22 test %eax,%eax; 24 jg 20; 26 add $24,%rsp; 30 ret
 */
TEST(code_rows_give_the_top_of_a_loop_the_frame_that_is_known)
{
	static const char code[] = "\x48\x83\xec\x18\xeb\x02\x90\x90\x51\x90\x90\x90\x90\x90\x90\x90\x90\x59"
				   "\xeb\x02\x90\x90\x85\xc0\x7f\xfa\x48\x83\xc4\x18\xc3";
	struct cfi_rules *rules = cfi_rules_new();

	CHECK_INT(RULE(code, 20)->cfa_value, 40); /* the most frequent one */
	frame_len = 32;
	CHECK_INT(RULE(code, 8)->cfa_value, 32);
	CHECK_INT(RULE(code, 10)->cfa_value, 40);
	CHECK_INT(RULE(code, 20)->cfa_value, 32);
	CHECK_INT(RULE(code, 22)->cfa_value, 32);
	CHECK_INT(RULE(code, 30)->cfa_value, 8);
	frame_len = 0;
	cfi_rules_free(rules);
}

/*
 * String.indexOf inlined: 0 sub $24,%rsp; 4 mov %rsp,%rcx; 7 jae 13; 9 sub $16,%rsp; 13 push %rcx; 14 nop; 15 pop %rsp; 16 push %rax; 17 pop %rax;
 * 18 add $24,%rsp; 22 ret
 */
TEST(code_rows_know_the_frame_below_a_copy_that_is_rarely_made)
{
	static const char code[] = "\x48\x83\xec\x18\x48\x89\xe1\x73\x04\x48\x83\xec\x10\x51\x90\x5c\x50\x58\x48\x83\xc4\x18\xc3";
	struct cfi_rules *rules = cfi_rules_new();

	CHECK_INT(RULE(code, 14)->cfa_value, 56);
	CHECK(!RULE(code, 16));
	frame_len = 32;
	CHECK_INT(RULE(code, 9)->cfa_value, 32);
	CHECK_INT(RULE(code, 13)->cfa_value, 32);
	CHECK_INT(RULE(code, 14)->cfa_value, 40);
	CHECK_INT(RULE(code, 16)->cfa_value, 32);
	CHECK_INT(RULE(code, 17)->cfa_value, 40);
	CHECK_INT(RULE(code, 22)->cfa_value, 8);
	frame_len = 0;
	cfi_rules_free(rules);
}

TEST(code_rows_say_nothing_where_the_stack_pointer_is_not_known)
{
	struct cfi_rules *rules = cfi_rules_new();

	CHECK(RULE("\x48\x83\xe4\xe0\x90", 0));
	CHECK(!RULE("\x48\x83\xe4\xe0\x90", 4));
	CHECK(!RULE("\x48\x8b\x27\x90", 3));
	CHECK(!RULE("\x90", 5));
	cfi_rules_free(rules);
}

/* mov (%rdi),%rbp; nop: the caller's frame pointer is nowhere. */
TEST(code_rows_know_a_frame_pointer_that_was_overwritten)
{
	struct cfi_rules *rules = cfi_rules_new();
	const struct cfi_rule *rule = RULE("\x48\x8b\x2f\x90", 3);

	CHECK(!rule->plain && rule->nregs == 2 && rule->regs[0].reg == RBP);
	CHECK_UINT(rule->regs[0].kind, CFI_REG_UNDEFINED);
	cfi_rules_free(rules);
}

/* Any bytes, at any place: bounded, and a rule that has a return address if there is one. */
TEST(code_rows_take_any_bytes)
{
	struct cfi_rules *rules = cfi_rules_new();
	uint64_t seed = 1;
	char code[64];

	for (int i = 0; i < 2000; i++) {
		for (size_t at = 0; at < sizeof(code); at++) {
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			code[at] = (char)(seed >> 56);
		}
		const struct cfi_rule *rule = rule_at(rules, code, sizeof(code), (uint64_t)i % 80);

		CHECK(!rule || rule->saved >> 16 & 1 || !rule->plain);
	}
	cfi_rules_free(rules);
}
