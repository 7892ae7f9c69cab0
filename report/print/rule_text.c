/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rule_text.c - operators of expressions are those of DWARF 5, section 7.7.1, that rules use.
 */
#include "report/print/rule_text.h"

#include "formats/base/reader.h"

#include <inttypes.h>

enum operand {
	NONE,
	U8,
	S8,
	U16,
	S16,
	U32,
	S32,
	U64,
	ULEB,
	SLEB,
};

static const struct {
	const char *name;
	enum operand operand;
} operators[256] = {
	[0x03] = { "addr", U64 },    [0x06] = { "deref", NONE }, [0x08] = { "const1u", U8 },
	[0x09] = { "const1s", S8 },  [0x0a] = { "const2u", U16 }, [0x0b] = { "const2s", S16 },
	[0x0c] = { "const4u", U32 }, [0x0d] = { "const4s", S32 }, [0x0e] = { "const8u", U64 },
	[0x0f] = { "const8s", U64 }, [0x10] = { "constu", ULEB }, [0x11] = { "consts", SLEB },
	[0x12] = { "dup", NONE },    [0x13] = { "drop", NONE },	 [0x14] = { "over", NONE },
	[0x15] = { "pick", U8 },     [0x16] = { "swap", NONE },	 [0x17] = { "rot", NONE },
	[0x19] = { "abs", NONE },    [0x1a] = { "and", NONE },	 [0x1b] = { "div", NONE },
	[0x1c] = { "minus", NONE },  [0x1d] = { "mod", NONE },	 [0x1e] = { "mul", NONE },
	[0x1f] = { "neg", NONE },    [0x20] = { "not", NONE },	 [0x21] = { "or", NONE },
	[0x22] = { "plus", NONE },   [0x23] = { "plus_uconst", ULEB },
	[0x24] = { "shl", NONE },    [0x25] = { "shr", NONE },	 [0x26] = { "shra", NONE },
	[0x27] = { "xor", NONE },    [0x28] = { "bra", S16 },	 [0x29] = { "eq", NONE },
	[0x2a] = { "ge", NONE },     [0x2b] = { "gt", NONE },	 [0x2c] = { "le", NONE },
	[0x2d] = { "lt", NONE },     [0x2e] = { "ne", NONE },	 [0x2f] = { "skip", S16 },
	[0x94] = { "deref_size", U8 }, [0x96] = { "nop", NONE },
};

#define OP_LIT0	 0x30
#define OP_BREG0 0x70
#define OP_BREGX 0x92
#define NUMBERED 32 /* of each of the two */

void rule_text_put_reg(FILE *out, const struct arch *arch, unsigned reg)
{
	if (reg < arch->nregs)
		fputs(arch->reg_names[reg], out);
	else
		fprintf(out, "r%u", reg);
}

static void put_operand(FILE *out, struct reader *r, enum operand operand)
{
	switch (operand) {
	case NONE:
		break;
	case U8:
		fprintf(out, " %u", reader_u8(r, "operand"));
		break;
	case S8:
		fprintf(out, " %d", (int8_t)reader_u8(r, "operand"));
		break;
	case U16:
		fprintf(out, " %u", reader_u16(r, "operand"));
		break;
	case S16:
		fprintf(out, " %d", (int16_t)reader_u16(r, "operand"));
		break;
	case U32:
		fprintf(out, " %" PRIu32, reader_u32(r, "operand"));
		break;
	case S32:
		fprintf(out, " %" PRId32, (int32_t)reader_u32(r, "operand"));
		break;
	case U64:
		fprintf(out, " %#" PRIx64, reader_u64(r, "operand"));
		break;
	case ULEB:
		fprintf(out, " %" PRIu64, reader_uleb(r, "operand"));
		break;
	case SLEB:
		fprintf(out, " %" PRId64, reader_sleb(r, "operand"));
		break;
	}
}

static void put_operator(FILE *out, const struct arch *arch, struct reader *r)
{
	unsigned op = reader_u8(r, "operator");
	uint64_t reg = op - OP_BREG0;

	if (op - OP_LIT0 < NUMBERED) {
		fprintf(out, "lit%u", op - OP_LIT0);
	} else if (op - OP_BREG0 < NUMBERED || op == OP_BREGX) {
		if (op == OP_BREGX)
			reg = reader_uleb(r, "register");
		rule_text_put_reg(out, arch, reg < UINT16_MAX ? (unsigned)reg : UINT16_MAX);
		fprintf(out, "%+" PRId64, reader_sleb(r, "offset"));
	} else if (operators[op].name) {
		fputs(operators[op].name, out);
		put_operand(out, r, operators[op].operand);
	} else {
		fprintf(out, "operator %#x", op);
	}
}

static void put_expression(FILE *out, const struct unwinder *u, const struct arch *arch,
			   int32_t number)
{
	struct cfi_expr expr = unwinder_expr(u, number);
	struct reader r;

	reader_init(&r, expr.bytes, expr.len, /* big_endian= */ false);
	fputc('(', out);
	for (const char *between = ""; reader_left(&r) && !r.failed; between = ", ") {
		fputs(between, out);
		put_operator(out, arch, &r);
	}
	fputc(')', out);
}

static void put_sum(FILE *out, int32_t offset)
{
	if (offset)
		fprintf(out, " %c %" PRId64, offset < 0 ? '-' : '+',
			offset < 0 ? -(int64_t)offset : (int64_t)offset);
}

static void put_where(FILE *out, const struct unwinder *u, const struct arch *arch,
		      const struct cfi_reg *reg)
{
	switch ((enum cfi_reg_kind)reg->kind) {
	case CFI_REG_UNDEFINED:
		fputs(" undefined", out);
		break;
	case CFI_REG_OFFSET:
		fputs(" at CFA", out);
		put_sum(out, reg->value);
		break;
	case CFI_REG_POPPED:
		fputs(" popped from CFA", out);
		put_sum(out, reg->value);
		break;
	case CFI_REG_VAL_OFFSET:
		fputs(" = CFA", out);
		put_sum(out, reg->value);
		break;
	case CFI_REG_REGISTER:
		fputs(" in ", out);
		rule_text_put_reg(out, arch, (unsigned)reg->value);
		break;
	case CFI_REG_EXPR:
		fputs(" at ", out);
		put_expression(out, u, arch, reg->value);
		break;
	case CFI_REG_VAL_EXPR:
		fputs(" = ", out);
		put_expression(out, u, arch, reg->value);
		break;
	}
}

void rule_text_put(FILE *out, const struct unwinder *u, const struct arch *arch,
		   const struct cfi_rule *rule)
{
	fputs("CFA = ", out);
	if (rule->cfa_is_expr) {
		put_expression(out, u, arch, rule->cfa_value);
	} else {
		rule_text_put_reg(out, arch, rule->cfa_reg);
		put_sum(out, rule->cfa_value);
	}
	for (size_t i = 0; i < rule->nregs; i++) {
		fputs("; ", out);
		rule_text_put_reg(out, arch, rule->regs[i].reg);
		if (rule->regs[i].reg == rule->return_reg)
			fputs(" (return address)", out);
		put_where(out, u, arch, &rule->regs[i]);
	}
	fputs(rule->signal_frame ? "; signal frame" : "", out);
	fputs(rule->ra_signed ? "; return address signed" : "", out);
}
