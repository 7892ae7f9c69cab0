/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "formats/base/arena.h"
#include "symbolize/unwind/cfi_program.h"

#include <inttypes.h>
#include <string.h>

#define BEGIN       0x1000
#define END         0x1100

#define CODE(bytes) (const uint8_t *)(bytes), sizeof(bytes) - 1

/* CFA rsp+8, return address at CFA-8. */
static struct cfi_fde make_fde(const uint8_t *code, size_t len)
{
	struct cfi_fde fde = { .begin = BEGIN, .end = END };

	fde.cie = (struct cfi_cie){ .code_align = 1, .data_align = -8, .return_reg = 16 };
	fde.cie.instructions = (const uint8_t *)"\x0c\x07\x08\x90\x01";
	fde.cie.instructions_len = 5;
	fde.instructions = guarded(code, len);
	fde.instructions_len = len;
	fde.instructions_vaddr = 0x9000;
	return fde;
}

static const char *reg_text(struct arena *arena, const struct cfi_reg *reg)
{
	static const char *const marks[] = { "u", "c", "popped c", "v", "r", "exp", "vexp" };

	return arena_printf(arena, " %u=%s%+d", reg->reg, marks[reg->kind],
			    reg->kind == CFI_REG_UNDEFINED ? 0 : reg->value);
}

/* "7+8 16=c-8": the CFA, then what the rule says of each register. */
static const char *rule_text(struct arena *arena, const struct cfi_rule *rule)
{
	const char *text = arena_printf(arena, rule->cfa_is_expr ? "exp%.0u%d" : "%u%+d",
					rule->cfa_is_expr ? 0 : rule->cfa_reg, rule->cfa_value);

	for (size_t i = 0; i < rule->nregs; i++)
		text = arena_printf(arena, "%s%s", text, reg_text(arena, &rule->regs[i]));
	return rule->ra_signed ? arena_printf(arena, "%s signed", text) : text;
}

static void check_rule(const uint8_t *code, size_t len, uint64_t vaddr, const char *expected)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct cfi_rules *rules = cfi_rules_new();
	struct cfi_fde fde = make_fde(code, len);
	uint32_t number = 42;
	bool found = cfi_program_find(rules, &arch_x86_64, &fde, vaddr, &number);

	CHECK_STR(found ? rule_text(&arena, cfi_rules_get(rules, number)) : NULL, expected);
	if (!found)
		CHECK_UINT(number, 42); /* untouched */
	cfi_rules_free(rules);
}

TEST(cfi_program_follows_the_address)
{
	/* push rbp; mov rsp,rbp; … leave; ret */
#define FRAME "\x41\x0e\x10\x86\x02\x43\x0d\x06\x02\x80\x0c\x07\x08"

	check_rule(CODE(""), BEGIN, "7+8 16=c-8");
	check_rule(CODE(FRAME), BEGIN, "7+8 16=c-8");
	check_rule(CODE(FRAME), BEGIN + 1, "7+16 6=c-16 16=c-8");
	check_rule(CODE(FRAME), BEGIN + 3, "7+16 6=c-16 16=c-8");
	check_rule(CODE(FRAME), BEGIN + 4, "6+16 6=c-16 16=c-8");
	check_rule(CODE(FRAME), BEGIN + 4 + 127, "6+16 6=c-16 16=c-8");
	check_rule(CODE(FRAME), END - 1, "7+8 6=popped c-16 16=c-8");
}

TEST(cfi_program_advances_by_every_instruction)
{
	check_rule(CODE("\x7f\x0e\x10"), BEGIN + 0x3e, "7+8 16=c-8");
	check_rule(CODE("\x7f\x0e\x10"), BEGIN + 0x3f, "7+16 16=c-8");
	check_rule(CODE("\x02\x80\x0e\x10"), BEGIN + 0x80, "7+16 16=c-8");
	check_rule(CODE("\x03\x81\x00\x0e\x10"), BEGIN + 0x81, "7+16 16=c-8");
	check_rule(CODE("\x04\x82\x00\x00\x00\x0e\x10"), BEGIN + 0x82, "7+16 16=c-8");
	check_rule(CODE("\x01\x83\x10\0\0\0\0\0\0\x0e\x10"), BEGIN + 0x82, "7+8 16=c-8");
	check_rule(CODE("\x01\x83\x10\0\0\0\0\0\0\x0e\x10"), BEGIN + 0x83, "7+16 16=c-8");
}

TEST(cfi_program_knows_every_rule)
{
	static const struct {
		const uint8_t *code;
		size_t len;
		const char *rule;
	} cases[] = {
		{ CODE("\x83\x02"), "7+8 3=c-16 16=c-8" },     /* offset */
		{ CODE("\x05\x03\x02"), "7+8 3=c-16 16=c-8" }, /* offset_extended */
		{ CODE("\x11\x03\x7e"), "7+8 3=c+16 16=c-8" }, /* offset_extended_sf */
		{ CODE("\x2f\x03\x02"), "7+8 3=c+16 16=c-8" }, /* GNU_negative_offset_extended */
		{ CODE("\x14\x03\x02"), "7+8 3=v-16 16=c-8" }, /* val_offset */
		{ CODE("\x15\x03\x7e"), "7+8 3=v+16 16=c-8" }, /* val_offset_sf */
		{ CODE("\x09\x03\x0c"), "7+8 3=r+12 16=c-8" }, /* register */
		{ CODE("\x09\x03\x11"), "7+8 3=u+0 16=c-8" },  /* in a vector register */
		{ CODE("\x10\x03\x01\x30"), "7+8 3=exp+0 16=c-8" },  /* expression */
		{ CODE("\x16\x03\x01\x30"), "7+8 3=vexp+0 16=c-8" }, /* val_expression */
		{ CODE("\x07\x10"), "7+8 16=u+0" },                  /* undefined */
		{ CODE("\x08\x10"), "7+8" },                         /* same_value */
		{ CODE("\x83\x02\xc3"), "7+8 16=c-8" },              /* restore */
		{ CODE("\x07\x10\x06\x10"), "7+8 16=c-8" },          /* restore_extended */
		{ CODE("\x0c\x06\x20"), "6+32 16=c-8" },             /* def_cfa */
		{ CODE("\x12\x06\x7c"), "6+32 16=c-8" },             /* def_cfa_sf */
		{ CODE("\x0d\x06"), "6+8 16=c-8" },                  /* def_cfa_register */
		{ CODE("\x0e\x20"), "7+32 16=c-8" },                 /* def_cfa_offset */
		{ CODE("\x13\x7c"), "7+32 16=c-8" },                 /* def_cfa_offset_sf */
		{ CODE("\x0f\x01\x30"), "exp0 16=c-8" },             /* def_cfa_expression */
		{ CODE("\x2e\x10"), "7+8 16=c-8" },                  /* GNU_args_size */
		{ CODE("\x2d"), "7+8 16=c-8 signed" },               /* AARCH64_negate_ra_state */
		{ CODE("\x2d\x2d"), "7+8 16=c-8" },
		{ CODE("\x05\x20\x02"), "7+8 16=c-8" }, /* a register that is not kept */
		{ CODE("\x0a\x0e\x20\x83\x02\x2d\x0b"),
		  "7+8 16=c-8" }, /* remember_state, restore_state */
		{ CODE("\0\0\0"), "7+8 16=c-8" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		check_rule(cases[i].code, cases[i].len, BEGIN, cases[i].rule);
}

TEST(cfi_program_refuses_what_is_malformed)
{
	static const struct {
		const uint8_t *code;
		size_t len;
	} cases[] = {
		{ CODE("\x17") },                     /* unknown */
		{ CODE("\x3f") },                     /* DW_CFA_hi_user */
		{ CODE("\x0b") },                     /* restore_state of nothing */
		{ CODE("\x02") },                     /* ends in an operand */
		{ CODE("\x10\x03\x05\x30") },         /* an expression longer than the rest */
		{ CODE("\x0d\x40") },                 /* a CFA in a register that is not there */
		{ CODE("\x0e\x80\x80\x80\x80\x10") }, /* an offset of 4 GiB */
		{ CODE("\x83\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01") },
		{ CODE("\x0f\x01\x30\x0e\x08") }, /* an offset for a CFA that is an expression */
		{ CODE("\x01\x00\x00\0\0\0\0\0\0") }, /* back */
		{ CODE("\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a") },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		check_rule(cases[i].code, cases[i].len, BEGIN, NULL);
}

TEST(cfi_program_takes_a_fault_only_where_it_gets_there)
{
	check_rule(CODE("\x44\x0e\x10\x44\x17"), BEGIN + 7, "7+16 16=c-8");
	check_rule(CODE("\x44\x0e\x10\x44\x17"), BEGIN + 8, NULL);
}

/* A slot that was below the stack pointer from the start is no popped one. */
TEST(cfi_program_tells_a_popped_register_from_one_in_the_red_zone)
{
	check_rule(CODE("\x83\x03\x41\x0e\x08"), BEGIN + 1, "7+8 3=c-24 16=c-8");
	check_rule(CODE("\x41\x0e\x10\x83\x02\x41\x0e\x08"), BEGIN + 1, "7+16 3=c-16 16=c-8");
	check_rule(CODE("\x41\x0e\x10\x83\x02\x41\x0e\x08"), BEGIN + 2, "7+8 3=popped c-16 16=c-8");
	/* …and back in the body after an early return. */
	check_rule(CODE("\x41\x0e\x10\x83\x02\x41\x0a\x0e\x08\x41\x0b"), BEGIN + 3,
		   "7+16 3=c-16 16=c-8");
}

struct rows {
	uint64_t vaddrs[8];
	uint32_t rules[8];
	size_t len;
};

static void add_row(uint64_t vaddr, uint32_t rule, void *context)
{
	struct rows *rows = context;

	rows->vaddrs[rows->len] = vaddr;
	rows->rules[rows->len++] = rule;
}

TEST(cfi_program_gives_all_rows_of_a_function)
{
	struct cfi_rules *rules = cfi_rules_new();
	struct cfi_fde fde = make_fde(CODE("\x44\x0e\x10\x44\x0e\x08\x7f\x03\xff\x7f\x0e\x18"));
	struct rows rows = { 0 };

	CHECK(cfi_program_rows(rules, &arch_x86_64, &fde, add_row, &rows));
	CHECK_UINT(rows.len, 4); /* the last advance leaves the function */
	CHECK_UINT(rows.vaddrs[1], BEGIN + 4);
	CHECK_UINT(rows.vaddrs[3], BEGIN + 8 + 63);
	CHECK_UINT(rows.rules[0], rows.rules[2]); /* the same rule is the same number */
	CHECK(rows.rules[0] != rows.rules[1]);
	CHECK_UINT(cfi_rules_len(rules), 2);
	cfi_rules_free(rules);
}

TEST(cfi_rules_keeps_each_rule_and_expression_once)
{
	struct cfi_rules *rules = cfi_rules_new();
	uint32_t numbers[1000];

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 1000; i++) {
			struct cfi_rule rule = { .cfa_reg = 7, .cfa_value = 8 * i };
			uint32_t number = cfi_rules_add(rules, &rule);

			if (round)
				CHECK_UINT(number, numbers[i]);
			numbers[i] = number;
			CHECK_INT(cfi_rules_get(rules, number)->cfa_value, 8 * i);
		}
	}
	CHECK_UINT(cfi_rules_len(rules), 1000);
	CHECK_UINT(cfi_rules_add_expr(rules, (const uint8_t *)"ab", 2),
		   cfi_rules_add_expr(rules, (const uint8_t *)"ab", 2));
	CHECK(cfi_rules_add_expr(rules, (const uint8_t *)"ab", 2) !=
	      cfi_rules_add_expr(rules, (const uint8_t *)"abc", 3));
	CHECK_UINT(cfi_rules_expr(rules, 1).len, 3);
	cfi_rules_free(rules);
}
