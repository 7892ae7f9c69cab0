/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfi_program.c - an interpreter with one row of state.
 *
 * The CIE's instructions make the initial row, the FDE's change it as the address advances. A row is an
 * array by register while it is being changed, and becomes a rule of the dictionary when it is asked for.
 */
#include "symbolize/unwind/cfi_program.h"

#include "formats/base/reader.h"
#include "symbolize/elf/cfi_pointer.h"

#include <string.h>

/* DW_CFA_*; the first three carry an operand in their low six bits. */
enum opcode {
	OP_ADVANCE_LOC = 0x40,
	OP_OFFSET = 0x80,
	OP_RESTORE = 0xc0,

	OP_NOP = 0x00,
	OP_SET_LOC = 0x01,
	OP_ADVANCE_LOC1 = 0x02,
	OP_ADVANCE_LOC2 = 0x03,
	OP_ADVANCE_LOC4 = 0x04,
	OP_OFFSET_EXTENDED = 0x05,
	OP_RESTORE_EXTENDED = 0x06,
	OP_UNDEFINED = 0x07,
	OP_SAME_VALUE = 0x08,
	OP_REGISTER = 0x09,
	OP_REMEMBER_STATE = 0x0a,
	OP_RESTORE_STATE = 0x0b,
	OP_DEF_CFA = 0x0c,
	OP_DEF_CFA_REGISTER = 0x0d,
	OP_DEF_CFA_OFFSET = 0x0e,
	OP_DEF_CFA_EXPRESSION = 0x0f,
	OP_EXPRESSION = 0x10,
	OP_OFFSET_EXTENDED_SF = 0x11,
	OP_DEF_CFA_SF = 0x12,
	OP_DEF_CFA_OFFSET_SF = 0x13,
	OP_VAL_OFFSET = 0x14,
	OP_VAL_OFFSET_SF = 0x15,
	OP_VAL_EXPRESSION = 0x16,
	OP_AARCH64_NEGATE_RA_STATE_WITH_PC = 0x2c,
	OP_AARCH64_NEGATE_RA_STATE = 0x2d, /* on SPARC it had another meaning */
	OP_GNU_ARGS_SIZE = 0x2e,
	OP_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
};

#define OPERAND_MASK 0x3f

/* Compilers nest one deep, hand-written assembly a few. */
#define REMEMBER_MAX 16

struct row {
	uint64_t listed;   /* registers that have an entry, as bits */
	uint64_t in_frame; /* those of them whose slot has been above the stack pointer */
	int32_t cfa_value;
	bool cfa_set, cfa_is_expr, ra_signed;
	uint8_t cfa_reg;
	uint8_t kinds[ARCH_REGS_MAX];
	int32_t values[ARCH_REGS_MAX];
};

struct machine {
	struct cfi_rules *rules;
	const struct arch *arch;
	const struct cfi_fde *fde;
	struct reader code;
	struct cfi_pointer_base base;
	uint64_t vaddr;
	struct row row, initial;
	struct row remembered[REMEMBER_MAX];
	size_t nremembered;
};

static void fail(struct machine *m, const char *what)
{
	reader_fail(&m->code, what);
}

static int32_t narrow(struct machine *m, int64_t value)
{
	if (value != (int32_t)value)
		fail(m, "offset");
	return (int32_t)value;
}

static int32_t factored(struct machine *m, int64_t value)
{
	int64_t product;

	if (__builtin_mul_overflow(value, m->fde->cie.data_align, &product))
		fail(m, "offset");
	return m->code.failed ? 0 : narrow(m, product);
}

static int32_t factored_uleb(struct machine *m)
{
	uint64_t value = reader_uleb(&m->code, "offset");

	if (value > INT64_MAX)
		fail(m, "offset");
	return factored(m, (int64_t)value);
}

static int32_t factored_sleb(struct machine *m)
{
	return factored(m, reader_sleb(&m->code, "offset"));
}

static void set_reg(struct machine *m, uint64_t reg, enum cfi_reg_kind kind, int32_t value)
{
	if (reg >= m->arch->nregs)
		return;
	m->row.listed |= 1ULL << reg;
	m->row.in_frame &= ~(1ULL << reg);
	m->row.kinds[reg] = (uint8_t)kind;
	m->row.values[reg] = value;
}

static void set_same(struct machine *m, uint64_t reg)
{
	if (reg < m->arch->nregs)
		m->row.listed &= ~(1ULL << reg);
}

static void restore_reg(struct machine *m, uint64_t reg)
{
	if (reg >= m->arch->nregs)
		return;
	if (m->initial.listed >> reg & 1)
		set_reg(m, reg, m->initial.kinds[reg], m->initial.values[reg]);
	else
		set_same(m, reg);
}

static void set_cfa(struct machine *m, uint64_t reg, int32_t value)
{
	if (reg >= m->arch->nregs) {
		fail(m, "CFA register");
		return;
	}
	m->row.cfa_set = true;
	m->row.cfa_is_expr = false;
	m->row.cfa_reg = (uint8_t)reg;
	m->row.cfa_value = value;
}

/* Only the register or only the offset changes: there must be both already. */
static void change_cfa(struct machine *m, uint64_t reg, int32_t value)
{
	if (!m->row.cfa_set || m->row.cfa_is_expr)
		fail(m, "change of a CFA that is no register and offset");
	else
		set_cfa(m, reg, value);
}

static uint32_t read_expr(struct machine *m)
{
	uint64_t len = reader_uleb(&m->code, "expression length");
	const uint8_t *bytes = reader_bytes(&m->code, (size_t)len, "expression");

	return bytes ? cfi_rules_add_expr(m->rules, bytes, (size_t)len) : 0;
}

static void set_reg_expr(struct machine *m, enum cfi_reg_kind kind)
{
	uint64_t reg = reader_uleb(&m->code, "register");
	uint32_t expr = read_expr(m);

	set_reg(m, reg, kind, (int32_t)expr);
}

static void set_reg_register(struct machine *m)
{
	uint64_t reg = reader_uleb(&m->code, "register");
	uint64_t holder = reader_uleb(&m->code, "register");

	if (holder >= m->arch->nregs)
		set_reg(m, reg, CFI_REG_UNDEFINED,
			0); /* a vector register, whose value was not recorded */
	else
		set_reg(m, reg, CFI_REG_REGISTER, (int32_t)holder);
}

static void remember(struct machine *m)
{
	if (m->nremembered == REMEMBER_MAX)
		fail(m, "remember_state nested too deep");
	else
		m->remembered[m->nremembered++] = m->row;
}

static void recall(struct machine *m)
{
	if (!m->nremembered)
		fail(m, "restore_state without remember_state");
	else
		m->row = m->remembered[--m->nremembered];
}

static void def_cfa(struct machine *m)
{
	uint64_t reg = reader_uleb(&m->code, "CFA register");
	uint64_t offset = reader_uleb(&m->code, "CFA offset");

	set_cfa(m, reg, narrow(m, (int64_t)offset));
}

static void def_cfa_sf(struct machine *m)
{
	uint64_t reg = reader_uleb(&m->code, "CFA register");
	int32_t offset = factored_sleb(m);

	set_cfa(m, reg, offset);
}

static void def_cfa_expression(struct machine *m)
{
	m->row.cfa_value = (int32_t)read_expr(m);
	m->row.cfa_is_expr = true;
	m->row.cfa_set = true;
	m->row.cfa_reg = 0;
}

/* Instructions that change the row. */
static void change_row(struct machine *m, uint8_t op)
{
	uint64_t reg;

	switch (op) {
	case OP_NOP:
		break;
	case OP_OFFSET_EXTENDED:
		reg = reader_uleb(&m->code, "register");
		set_reg(m, reg, CFI_REG_OFFSET, factored_uleb(m));
		break;
	case OP_OFFSET_EXTENDED_SF:
		reg = reader_uleb(&m->code, "register");
		set_reg(m, reg, CFI_REG_OFFSET, factored_sleb(m));
		break;
	case OP_GNU_NEGATIVE_OFFSET_EXTENDED:
		reg = reader_uleb(&m->code, "register");
		set_reg(m, reg, CFI_REG_OFFSET, narrow(m, -(int64_t)factored_uleb(m)));
		break;
	case OP_VAL_OFFSET:
		reg = reader_uleb(&m->code, "register");
		set_reg(m, reg, CFI_REG_VAL_OFFSET, factored_uleb(m));
		break;
	case OP_VAL_OFFSET_SF:
		reg = reader_uleb(&m->code, "register");
		set_reg(m, reg, CFI_REG_VAL_OFFSET, factored_sleb(m));
		break;
	case OP_RESTORE_EXTENDED:
		restore_reg(m, reader_uleb(&m->code, "register"));
		break;
	case OP_UNDEFINED:
		set_reg(m, reader_uleb(&m->code, "register"), CFI_REG_UNDEFINED, 0);
		break;
	case OP_SAME_VALUE:
		set_same(m, reader_uleb(&m->code, "register"));
		break;
	case OP_REGISTER:
		set_reg_register(m);
		break;
	case OP_EXPRESSION:
		set_reg_expr(m, CFI_REG_EXPR);
		break;
	case OP_VAL_EXPRESSION:
		set_reg_expr(m, CFI_REG_VAL_EXPR);
		break;
	case OP_REMEMBER_STATE:
		remember(m);
		break;
	case OP_RESTORE_STATE:
		recall(m);
		break;
	case OP_DEF_CFA:
		def_cfa(m);
		break;
	case OP_DEF_CFA_SF:
		def_cfa_sf(m);
		break;
	case OP_DEF_CFA_REGISTER:
		change_cfa(m, reader_uleb(&m->code, "CFA register"), m->row.cfa_value);
		break;
	case OP_DEF_CFA_OFFSET:
		change_cfa(m, m->row.cfa_reg,
			   narrow(m, (int64_t)reader_uleb(&m->code, "CFA offset")));
		break;
	case OP_DEF_CFA_OFFSET_SF:
		change_cfa(m, m->row.cfa_reg, factored_sleb(m));
		break;
	case OP_DEF_CFA_EXPRESSION:
		def_cfa_expression(m);
		break;
	case OP_GNU_ARGS_SIZE: /* concerns landing pads only */
		reader_uleb(&m->code, "arguments size");
		break;
	case OP_AARCH64_NEGATE_RA_STATE:
	case OP_AARCH64_NEGATE_RA_STATE_WITH_PC:
		m->row.ra_signed = !m->row.ra_signed;
		break;
	default:
		fail(m, "unknown call frame instruction");
	}
}

static uint64_t advance(struct machine *m, uint64_t delta)
{
	uint64_t distance, vaddr;

	if (__builtin_mul_overflow(delta, m->fde->cie.code_align, &distance) ||
	    __builtin_add_overflow(m->vaddr, distance, &vaddr)) {
		fail(m, "advance");
		return m->vaddr;
	}
	return vaddr;
}

/* The address after @op, if it moves on; otherwise the row is changed and the address stays. */
static uint64_t execute(struct machine *m, uint8_t op)
{
	uint8_t operand = op & OPERAND_MASK;

	switch (op & ~OPERAND_MASK) {
	case OP_ADVANCE_LOC:
		return advance(m, operand);
	case OP_OFFSET:
		set_reg(m, operand, CFI_REG_OFFSET, factored_uleb(m));
		return m->vaddr;
	case OP_RESTORE:
		restore_reg(m, operand);
		return m->vaddr;
	}
	switch (op) {
	case OP_SET_LOC:
		return cfi_pointer_read(&m->code, m->fde->cie.pointer_encoding, &m->base,
					"location");
	case OP_ADVANCE_LOC1:
		return advance(m, reader_u8(&m->code, "advance"));
	case OP_ADVANCE_LOC2:
		return advance(m, reader_u16(&m->code, "advance"));
	case OP_ADVANCE_LOC4:
		return advance(m, reader_u32(&m->code, "advance"));
	}
	change_row(m, op);
	return m->vaddr;
}

static bool below_sp(const struct machine *m, unsigned reg)
{
	const struct row *row = &m->row;

	return !row->cfa_is_expr && row->cfa_reg == m->arch->sp &&
	       (int64_t)row->cfa_value + row->values[reg] < 0;
}

/*
 * Compilers do not say that an epilogue's "pop" has brought a register back: its slot is just left behind
 * below the stack pointer, where a signal may overwrite it. A slot that was there from the beginning
 * is something else, a register saved in the red zone.
 */
static void note_slots(struct machine *m)
{
	for (uint64_t left = m->row.listed & ~m->row.in_frame; left; left &= left - 1) {
		unsigned reg = (unsigned)__builtin_ctzll(left);

		if (m->row.kinds[reg] == CFI_REG_OFFSET && !below_sp(m, reg))
			m->row.in_frame |= 1ULL << reg;
	}
}

static enum cfi_reg_kind kind_now(const struct machine *m, unsigned reg)
{
	if (m->row.in_frame >> reg & 1 && below_sp(m, reg))
		return CFI_REG_POPPED;
	return m->row.kinds[reg];
}

/* Run up to the next row; false at the end of the instructions or at a fault. */
static bool next_row(struct machine *m, uint64_t *ret_vaddr)
{
	while (reader_left(&m->code)) {
		uint64_t vaddr = execute(m, reader_u8(&m->code, "call frame instruction"));

		if (vaddr < m->vaddr)
			fail(m, "location that goes back");
		if (vaddr != m->vaddr && !m->code.failed) {
			note_slots(m);
			*ret_vaddr = vaddr;
			return true;
		}
	}
	return false;
}

static bool row_is_usable(const struct machine *m)
{
	return m->row.cfa_set && m->fde->cie.return_reg < m->arch->nregs;
}

static uint32_t row_rule(struct machine *m)
{
	_Alignas(struct cfi_rule) char
		room[sizeof(struct cfi_rule) + ARCH_REGS_MAX * sizeof(struct cfi_reg)];
	struct cfi_rule *rule = (struct cfi_rule *)room;
	const struct row *row = &m->row;

	*rule = (struct cfi_rule){
		.cfa_is_expr = row->cfa_is_expr,
		.cfa_reg = row->cfa_reg,
		.cfa_value = row->cfa_value,
		.return_reg = (uint8_t)m->fde->cie.return_reg,
		.signal_frame = m->fde->cie.signal_frame,
		.ra_signed = row->ra_signed,
		.plain = !row->cfa_is_expr && !m->fde->cie.signal_frame,
	};
	for (uint64_t left = row->listed; left; left &= left - 1) {
		unsigned reg = (unsigned)__builtin_ctzll(left);

		rule->plain &= row->kinds[reg] == CFI_REG_OFFSET && reg != m->arch->sp;
		rule->regs[rule->nregs++] =
			(struct cfi_reg){ (uint16_t)reg, (uint16_t)kind_now(m, reg),
					  row->values[reg] };
	}
	cfi_rule_sum_up(rule, m->arch->fp);
	return cfi_rules_add(m->rules, rule);
}

/* Set the machine to the CIE's row, at the beginning of the FDE. */
static bool start(struct machine *m, struct cfi_rules *rules, const struct arch *arch,
		  const struct cfi_fde *fde)
{
	uint64_t ignored;

	m->rules = rules;
	m->arch = arch;
	m->fde = fde;
	m->vaddr = fde->begin;
	m->nremembered = 0;
	memset(&m->row, 0, sizeof(m->row));
	memset(&m->initial, 0, sizeof(m->initial));
	m->base = (struct cfi_pointer_base){ .start_vaddr = fde->cie.instructions_vaddr };
	reader_init(&m->code, fde->cie.instructions, fde->cie.instructions_len,
		    /* big_endian= */ false);
	if (next_row(m, &ignored) || m->code.failed)
		return false; /* a CIE has no addresses to advance over */
	m->initial = m->row;
	m->base.start_vaddr = fde->instructions_vaddr;
	reader_init(&m->code, fde->instructions, fde->instructions_len, /* big_endian= */ false);
	return true;
}

bool cfi_program_find(struct cfi_rules *rules, const struct arch *arch, const struct cfi_fde *fde,
		      uint64_t vaddr, uint32_t *ret_rule)
{
	struct machine m;
	uint64_t next;

	if (!start(&m, rules, arch, fde))
		return false;
	while (next_row(&m, &next) && next <= vaddr)
		m.vaddr = next;
	if (m.code.failed || !row_is_usable(&m))
		return false;
	*ret_rule = row_rule(&m);
	return true;
}

bool cfi_program_rows(struct cfi_rules *rules, const struct arch *arch, const struct cfi_fde *fde,
		      void (*visit)(uint64_t vaddr, uint32_t rule, void *context), void *context)
{
	struct machine m;
	uint64_t next;

	if (!start(&m, rules, arch, fde))
		return false;
	for (;;) {
		bool more = next_row(&m, &next);

		if (m.code.failed || !row_is_usable(&m))
			return false;
		if (m.vaddr < fde->end)
			visit(m.vaddr, row_rule(&m), context);
		if (!more)
			return true;
		m.vaddr = next;
	}
}
