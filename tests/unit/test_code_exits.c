/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_code_exits.c - frames that are read off the code ahead. Cases are machine code; what it says is beside it.
 */
#include "symbolize/unwind/code_exits.h"
#include "tests/unit/test.h"

#include <string.h>

#define START  0x1000
#define RULED  0x8000 /* has the rule of a table: CFA = rsp + 48, rbx at CFA - 16 */
#define RBX    3
#define RBP    6
#define RSP    7
#define R12    12

struct world {
	struct cfi_rules *rules;
	const uint8_t *code;
	size_t len;
	uint64_t steps; /* that may be taken */
	bool one_frame, in_table;
	uint64_t target; /* of the last one */
};

static const uint8_t *code_of(void *context, uint64_t vaddr, size_t *ret_len)
{
	const struct world *w = context;

	*ret_len = vaddr >= START && vaddr - START < w->len ? w->len - (vaddr - START) : 0;
	return *ret_len ? w->code + (vaddr - START) : NULL;
}

static const struct cfi_rule *rule_of(void *context, uint64_t vaddr)
{
	const struct world *w = context;
	_Alignas(struct cfi_rule) char room[sizeof(struct cfi_rule) + 2 * sizeof(struct cfi_reg)] = { 0 };
	struct cfi_rule *rule = (struct cfi_rule *)room;

	if (vaddr != RULED)
		return NULL;
	*rule = (struct cfi_rule){ .cfa_reg = RSP, .cfa_value = 48, .return_reg = 16, .plain = true, .nregs = 2 };
	rule->regs[0] = (struct cfi_reg){ RBX, CFI_REG_OFFSET, -16 };
	rule->regs[1] = (struct cfi_reg){ 16, CFI_REG_OFFSET, -8 };
	cfi_rule_sum_up(rule, RBP);
	return cfi_rules_get(w->rules, cfi_rules_add(w->rules, rule));
}

static const struct cfi_rule *rule_at(struct world *w, const char *code, size_t len, uint64_t offset)
{
	const struct code_exits_source source = { code_of, rule_of, w->one_frame, w->in_table, w };
	struct disasm *d = NULL;
	struct code_exit exit;
	bool found;

	w->code = guarded(code, len);
	w->len = len;
	CHECK_OK(disasm_open(&arch_x86_64, DISASM_INTEL, &d));
	found = code_exits_find(w->rules, d, &source, START + offset, &w->steps, &exit);
	disasm_close(d);
	w->target = found ? exit.target : 0;
	return found ? cfi_rules_get(w->rules, exit.rule) : NULL;
}

#define RULE(w, code, offset) rule_at(&(w), (code), sizeof(code) - 1, (offset))

static const struct cfi_reg *entry_of(const struct cfi_rule *rule, unsigned reg)
{
	for (size_t i = 0; i < rule->nregs; i++) {
		if (rule->regs[i].reg == reg)
			return &rule->regs[i];
	}
	return NULL;
}

static void check_saved(const struct cfi_rule *rule, unsigned reg, int32_t offset)
{
	const struct cfi_reg *entry = entry_of(rule, reg);

	CHECK(entry && entry->kind == CFI_REG_OFFSET);
	CHECK_INT(entry->value, offset);
}

/*
 * 0 push %rbx; 1 push %r12; 3 sub $24,%rsp; 7 dec %ecx; 9 jne 7; 11 call *%rax; 13 add $24,%rsp; 17 pop %r12; 19 pop %rbx; 20 ret
 */
TEST(code_exits_follow_what_is_taken_off_the_stack)
{
	static const char code[] = "\x53\x41\x54\x48\x83\xec\x18\xff\xc9\x75\xfc\xff\xd0\x48\x83\xc4\x18\x41\x5c\x5b\xc3";
	static const int32_t cfa[] = { [0] = 8, [1] = 16, [3] = 24, [7] = 48, [9] = 48, [11] = 48, [13] = 48, [17] = 24, [19] = 16, [20] = 8 };
	struct world w = { .rules = cfi_rules_new(), .steps = 1000 };

	for (size_t i = 0; i < ARRAY_LEN(cfa); i++) {
		const struct cfi_rule *rule = cfa[i] ? RULE(w, code, i) : NULL;

		if (!cfa[i])
			continue;
		CHECK(rule && rule->plain && rule->from_code && !rule->cfa_is_expr);
		CHECK_UINT(rule->cfa_reg, RSP);
		CHECK_INT(rule->cfa_value, cfa[i]);
		CHECK_INT(rule->ra_value, -8);
		if (cfa[i] >= 16)
			check_saved(rule, RBX, -16);
		else
			CHECK(!entry_of(rule, RBX));
		if (cfa[i] >= 24)
			check_saved(rule, R12, -24);
		CHECK(!entry_of(rule, RBP)); /* untouched */
	}
	cfi_rules_free(w.rules);
}

/* 0 mov 128(%rsp),%rsp; 8 pop %rbp; 9 ret: an aligned frame keeps the stack pointer that was */
TEST(code_exits_follow_a_stack_pointer_from_memory)
{
	static const char code[] = "\x48\x8b\xa4\x24\x80\x00\x00\x00\x5d\xc3";
	struct world w = { .rules = cfi_rules_new(), .steps = 1000 };
	const struct cfi_rule *rule = RULE(w, code, 0);
	static const uint8_t expected[] = { 0x77, 0x80, 0x01, 0x06, 0x11, 16, 0x22 }; /* word at rsp + 128, + 16 */

	CHECK(rule && rule->cfa_is_expr && !rule->plain);

	struct cfi_expr expr = cfi_rules_expr(w.rules, (uint32_t)rule->cfa_value);

	CHECK_UINT(expr.len, sizeof(expected));
	CHECK(memcmp(expr.bytes, expected, sizeof(expected)) == 0);
	check_saved(rule, RBP, -16);

	/* mov 16(%rax),%rsp; ret */
	static const uint8_t from_rax[] = { 0x70, 16, 0x06, 0x11, 8, 0x22 };

	rule = RULE(w, "\x48\x8b\x60\x10\xc3", 0);
	CHECK(rule && rule->cfa_is_expr);
	expr = cfi_rules_expr(w.rules, (uint32_t)rule->cfa_value);
	CHECK(expr.len == sizeof(from_rax) && memcmp(expr.bytes, from_rax, expr.len) == 0);
	cfi_rules_free(w.rules);
}

/* mov 64(%rsp),%rbp; mov 56(%rsp),%rsp; pop %rdx; leave; ret: an aligned frame within one that begins with a frame pointer */
TEST(code_exits_follow_a_frame_pointer_out_of_an_aligned_frame)
{
	struct world w = { .rules = cfi_rules_new(), .steps = 1000 };
	const struct cfi_rule *rule = RULE(w, "\x48\x8b\x6c\x24\x40\x48\x8b\x64\x24\x38\x5a\xc9\xc3", 0);
	static const uint8_t expected[] = { 0x77, 0xc0, 0x00, 0x06, 0x11, 16, 0x22 }; /* word at rsp + 64, + 16 */

	CHECK(rule && rule->cfa_is_expr);

	struct cfi_expr expr = cfi_rules_expr(w.rules, (uint32_t)rule->cfa_value);

	CHECK_UINT(expr.len, sizeof(expected));
	CHECK(memcmp(expr.bytes, expected, sizeof(expected)) == 0);
	check_saved(rule, RBP, -16);
	cfi_rules_free(w.rules);
}

/* 0 lea -16(%rbp),%rsp; 4 pop %rbx; 5 pop %r12; 7 pop %rbp; 8 ret; and 9 leave; 10 ret */
TEST(code_exits_follow_a_frame_pointer)
{
	static const char code[] = "\x48\x8d\x65\xf0\x5b\x41\x5c\x5d\xc3\xc9\xc3";
	struct world w = { .rules = cfi_rules_new(), .steps = 1000 };

	for (uint64_t at = 0; at < 10; at += 9) {
		const struct cfi_rule *rule = RULE(w, code, at);

		CHECK(rule && rule->plain);
		CHECK_UINT(rule->cfa_reg, RBP);
		CHECK_INT(rule->cfa_value, 16);
		check_saved(rule, RBP, -16);
		if (!at)
			check_saved(rule, RBX, -32);
	}
	cfi_rules_free(w.rules);
}

/* The return address is in @reg, and the caller's frame ends at rsp + @cfa. */
static void check_leaves_by(const struct cfi_rule *rule, uint16_t reg, int32_t cfa)
{
	CHECK(rule && !rule->plain && rule->from_code);
	CHECK_UINT(rule->cfa_reg, RSP);
	CHECK_INT(rule->cfa_value, cfa);
	CHECK_INT(entry_of(rule, 16)->kind, CFI_REG_REGISTER);
	CHECK_INT(entry_of(rule, 16)->value, reg);
}

/*
 * 0 mov 16(%rsp),%r8; 5 mov 8(%rsp),%rbx; 10 lea 24(%rsp),%rsp; 15 jmp *%r8: as boost.context leaves; and musl's vfork(): 18 push %rdx; 19 ret
 */
TEST(code_exits_leave_by_a_return_address_that_is_in_a_register)
{
	static const char code[] = "\x4c\x8b\x44\x24\x10\x48\x8b\x5c\x24\x08\x48\x8d\x64\x24\x18\x41\xff\xe0\x52\xc3";
	struct world w = { .rules = cfi_rules_new(), .steps = 1000 };
	const struct cfi_rule *rule = RULE(w, code, 0);

	CHECK(rule && rule->plain);
	CHECK_UINT(rule->cfa_reg, RSP);
	CHECK_INT(rule->cfa_value, 24);
	CHECK_INT(rule->ra_value, -8);
	check_saved(rule, RBX, -16);
	rule = RULE(w, code, 5);
	check_leaves_by(rule, 8, 24);
	check_saved(rule, RBX, -16);
	check_leaves_by(RULE(w, code, 15), 8, 0);
	check_leaves_by(RULE(w, code, 18), 1, 0);
	check_leaves_by(RULE(w, "\x48\x89\x04\x24\xc3", 0), 0, 8); /* mov %rax,(%rsp); ret */

	/* The first of two. test %eax,%eax; je 6; jmp *%rax; 6 jmp *%rcx */
	check_leaves_by(RULE(w, "\x85\xc0\x74\x02\xff\xe0\xff\xe1", 0), 0, 0);

	/* Not before another way out, and code of a JIT jumps about. */
	rule = RULE(w, "\x85\xc0\x74\x02\xff\xe0\x5b\xc3", 0); /* test %eax,%eax; je 6; jmp *%rax; 6 pop %rbx; ret */
	CHECK(rule && rule->plain);
	CHECK_INT(rule->cfa_value, 16);
	w.one_frame = true;
	CHECK(!RULE(w, "\x41\xff\xe0\xcc", 0));
	cfi_rules_free(w.rules);
}

/*
 * 0 test %eax,%eax; 2 je 10; 4 push %r11; 6 ret: a jump; 7 nop; 8 jmp *%rax; 10 xor %ebx,%ebx; 12 mov %r12,%rbp; 15 add $8,%rsp; 19 ret
 */
TEST(code_exits_know_a_jump_and_what_became_of_registers)
{
	static const char code[] = "\x85\xc0\x74\x06\x41\x53\xc3\x90\xff\xe0\x31\xdb\x4c\x89\xe5\x48\x83\xc4\x08\xc3";
	struct world w = { .rules = cfi_rules_new(), .steps = 1000 };
	const struct cfi_rule *rule = RULE(w, code, 0);

	CHECK(rule);
	CHECK_INT(rule->cfa_value, 16);
	CHECK(!rule->plain);
	CHECK_INT(entry_of(rule, RBX)->kind, CFI_REG_UNDEFINED);
	CHECK_INT(entry_of(rule, RBP)->kind, CFI_REG_REGISTER);
	CHECK_INT(entry_of(rule, RBP)->value, R12);
	/* Where there is no other way out, it may be one. */
	check_leaves_by(RULE(w, code, 4), 11, 0);
	check_leaves_by(RULE(w, code, 8), 0, 0);

	/* Where all code has one frame, what lies behind a jump tells of it, too. */
	w.one_frame = true;
	for (uint64_t at = 4; at <= 8; at += 4) {
		rule = RULE(w, code, at);
		CHECK(rule);
		CHECK_INT(rule->cfa_value, 16);
	}
	cfi_rules_free(w.rules);
}

/* 0 add $8,%rsp; 4 jmp RULED */
TEST(code_exits_go_on_by_the_rule_of_a_table)
{
	static const char code[] = "\x48\x83\xc4\x08\xe9\xf7\x6f\x00\x00";
	struct world w = { .rules = cfi_rules_new(), .steps = 1000 };
	const struct cfi_rule *rule = RULE(w, code, 0);

	CHECK(rule && rule->plain && rule->from_code);
	CHECK_UINT(rule->cfa_reg, RSP);
	CHECK_INT(rule->cfa_value, 56);
	CHECK_UINT(w.target, RULED);
	check_saved(rule, RBX, -16);
	cfi_rules_free(w.rules);
}

/* A stack pointer that is not known, code that ends, a loop, code that only calls, a return to a word that was stored. */
TEST(code_exits_say_nothing_where_there_is_no_way_out)
{
	struct world w = { .rules = cfi_rules_new(), .steps = 100000 };

	CHECK(!RULE(w, "\x48\x01\xc4\xc3", 0));		   /* add %rax,%rsp; ret */
	CHECK(!RULE(w, "\x90\x90", 0));
	CHECK(!RULE(w, "\xeb\xfe", 0));
	CHECK(!RULE(w, "\xff\xd0\x0f", 0));
	CHECK(!RULE(w, "\x48\xc7\x04\x24\x01\x00\x00\x00\xff\xa0\x01\x00\x00\x00", 0)); /* movq $1,(%rsp); jmp *1(%rax) */
	CHECK(!RULE(w, "\x48\x89\xfc\x48\x8b\x44\x24\x08\x48\x83\xc4\x10\xff\xe0", 0)); /* on another stack: mov %rdi,%rsp */
	CHECK(!RULE(w, "\x48\x8b\x44\x24\x08\x48\x83\xc4\x18\xff\xe0", 0)); /* mov 8(%rsp),%rax; add $24,%rsp; jmp *%rax */
	CHECK(!RULE(w, "\xff\xe4", 0));						   /* jmp *%rsp */
	CHECK(!RULE(w, "\x48\x89\xfc\xff\xe0", 0));	   /* mov %rdi,%rsp; jmp *%rax */
	CHECK(!RULE(w, "\x48\x8d\x40\x08\xff\xe0", 0)); /* lea 8(%rax),%rax; jmp *%rax */
	CHECK(!RULE(w, "\x48\x8b\x64\x24\xf8\x48\x8b\x64\x24\x10\xc3", 0)); /* from below the stack; from a frame like that */
	CHECK(!RULE(w, "\x90\xc3", 2));
	cfi_rules_free(w.rules);
}

/* One address costs so many instructions at the most, and all addresses no more than there are. */
TEST(code_exits_are_bounded)
{
	static char code[2 * CODE_EXITS_STEPS_MAX];
	struct world w = { .rules = cfi_rules_new(), .steps = 3 };

	memset(code, 0x90, sizeof(code));
	code[sizeof(code) - 1] = (char)0xc3;
	CHECK(!RULE(w, "\x90\x90\x90\xc3", 0));
	CHECK_UINT(w.steps, 0);
	CHECK(!RULE(w, "\xc3", 0));
	w.steps = 10 * CODE_EXITS_STEPS_MAX;
	CHECK(!rule_at(&w, code, sizeof(code), 0));
	CHECK_UINT(w.steps, 9 * CODE_EXITS_STEPS_MAX);
	/* All branches, each to a place of its own. */
	for (size_t i = 0; i + 2 < sizeof(code); i += 2)
		memcpy(code + i, "\x74\x10", 2);
	CHECK(!rule_at(&w, code, sizeof(code) - 2, 0));
	cfi_rules_free(w.rules);
}

TEST(code_exits_take_any_bytes)
{
	static char code[256];
	struct world w = { .rules = cfi_rules_new(), .steps = 100000 };
	uint32_t seed = 7;

	for (int round = 0; round < 60; round++) {
		for (size_t i = 0; i < sizeof(code); i++) {
			seed = seed * 1664525 + 1013904223;
			code[i] = (char)(seed >> 24);
		}
		(void)rule_at(&w, code, sizeof(code), 0);
	}
	cfi_rules_free(w.rules);
}

/* 0 push %rbp; 1 push %rbx; 2 jmp RULED */
TEST(code_exits_count_what_is_pushed_before_a_jump_where_one_table_has_both)
{
	static const char code[] = "\x55\x53\xe9\xf9\x6f\x00\x00";
	struct world w = { .rules = cfi_rules_new(), .steps = 1000 };
	const struct cfi_rule *rule = RULE(w, code, 0);

	CHECK(rule);
	CHECK_INT(rule->cfa_value, 48); /* two functions: arguments */
	w.in_table = true;
	rule = RULE(w, code, 0);
	CHECK(rule && rule->plain);
	CHECK_INT(rule->cfa_value, 32);
	check_saved(rule, RBX, -16);
	cfi_rules_free(w.rules);
}
