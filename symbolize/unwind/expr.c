/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expr.c - a stack machine of 64-bit words. Operators fall into groups, each with its function; the
 * first fault decides the result and stops the machine.
 */
#include "symbolize/unwind/expr.h"

#include "formats/base/reader.h"

#define STACK_MAX 64
#define STEPS_MAX 1000 /* the longest in use have a dozen */

/* DW_OP_* */
enum opcode {
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST1S = 0x09,
	OP_CONST2U = 0x0a,
	OP_CONST2S = 0x0b,
	OP_CONST4U = 0x0c,
	OP_CONST4S = 0x0d,
	OP_CONST8U = 0x0e,
	OP_CONST8S = 0x0f,
	OP_CONSTU = 0x10,
	OP_CONSTS = 0x11,
	OP_DUP = 0x12,
	OP_DROP = 0x13,
	OP_OVER = 0x14,
	OP_PICK = 0x15,
	OP_SWAP = 0x16,
	OP_ROT = 0x17,
	OP_ABS = 0x19,
	OP_AND = 0x1a,
	OP_DIV = 0x1b,
	OP_MINUS = 0x1c,
	OP_MOD = 0x1d,
	OP_MUL = 0x1e,
	OP_NEG = 0x1f,
	OP_NOT = 0x20,
	OP_OR = 0x21,
	OP_PLUS = 0x22,
	OP_PLUS_UCONST = 0x23,
	OP_SHL = 0x24,
	OP_SHR = 0x25,
	OP_SHRA = 0x26,
	OP_XOR = 0x27,
	OP_BRA = 0x28,
	OP_EQ = 0x29,
	OP_GE = 0x2a,
	OP_GT = 0x2b,
	OP_LE = 0x2c,
	OP_LT = 0x2d,
	OP_NE = 0x2e,
	OP_SKIP = 0x2f,
	OP_LIT0 = 0x30,
	OP_LIT31 = 0x4f,
	OP_BREG0 = 0x70,
	OP_BREG31 = 0x8f,
	OP_BREGX = 0x92,
	OP_DEREF_SIZE = 0x94,
	OP_NOP = 0x96,
};

struct machine {
	const struct expr_context *context;
	const uint8_t *begin, *end;
	struct reader code;
	enum expr_status status;
	size_t depth;
	uint64_t stack[STACK_MAX];
};

static void fail(struct machine *m, enum expr_status status)
{
	if (m->status == EXPR_OK)
		m->status = status;
}

static void push(struct machine *m, uint64_t value)
{
	if (m->depth == STACK_MAX)
		fail(m, EXPR_MALFORMED);
	else
		m->stack[m->depth++] = value;
}

static uint64_t pop(struct machine *m)
{
	if (!m->depth) {
		fail(m, EXPR_MALFORMED);
		return 0;
	}
	return m->stack[--m->depth];
}

/* A copy of the item @below the top. */
static void pick(struct machine *m, size_t below)
{
	if (below >= m->depth)
		fail(m, EXPR_MALFORMED);
	else
		push(m, m->stack[m->depth - 1 - below]);
}

static void push_reg(struct machine *m, uint64_t reg)
{
	int64_t offset = reader_sleb(&m->code, "register offset");
	uint64_t value;

	if (!m->context->read_reg(m->context->data, reg, &value))
		fail(m, EXPR_NO_REGISTER);
	else
		push(m, value + (uint64_t)offset);
}

static void deref(struct machine *m, unsigned len)
{
	uint64_t address = pop(m);
	uint64_t word;

	if (len < 1 || len > 8)
		fail(m, EXPR_MALFORMED);
	if (m->status != EXPR_OK)
		return;
	if (!m->context->read_word(m->context->data, address, &word))
		fail(m, EXPR_NO_MEMORY);
	else
		push(m, len == 8 ? word : word & ((1ULL << 8 * len) - 1));
}

/* Signed 16-bit distance from the operand's end. */
static void jump(struct machine *m, bool taken)
{
	int16_t distance = (int16_t)reader_u16(&m->code, "branch");

	if (!taken || m->code.failed)
		return;
	if (distance < m->begin - m->code.pos || distance > m->end - m->code.pos)
		fail(m, EXPR_MALFORMED);
	else
		m->code.pos += distance;
}

static bool constant(struct machine *m, uint8_t op)
{
	struct reader *r = &m->code;

	switch (op) {
	case OP_CONST1U:
		push(m, reader_u8(r, "constant"));
		return true;
	case OP_CONST1S:
		push(m, (uint64_t)(int64_t)(int8_t)reader_u8(r, "constant"));
		return true;
	case OP_CONST2U:
		push(m, reader_u16(r, "constant"));
		return true;
	case OP_CONST2S:
		push(m, (uint64_t)(int64_t)(int16_t)reader_u16(r, "constant"));
		return true;
	case OP_CONST4U:
		push(m, reader_u32(r, "constant"));
		return true;
	case OP_CONST4S:
		push(m, (uint64_t)(int64_t)(int32_t)reader_u32(r, "constant"));
		return true;
	case OP_CONST8U:
	case OP_CONST8S:
		push(m, reader_u64(r, "constant"));
		return true;
	case OP_CONSTU:
		push(m, reader_uleb(r, "constant"));
		return true;
	case OP_CONSTS:
		push(m, (uint64_t)reader_sleb(r, "constant"));
		return true;
	}
	if (op >= OP_LIT0 && op <= OP_LIT31) {
		push(m, op - OP_LIT0);
		return true;
	}
	return false;
}

static bool register_or_memory(struct machine *m, uint8_t op)
{
	if (op >= OP_BREG0 && op <= OP_BREG31)
		push_reg(m, op - OP_BREG0);
	else if (op == OP_BREGX)
		push_reg(m, reader_uleb(&m->code, "register"));
	else if (op == OP_DEREF)
		deref(m, 8);
	else if (op == OP_DEREF_SIZE)
		deref(m, reader_u8(&m->code, "size"));
	else
		return false;
	return true;
}

static void swap(struct machine *m)
{
	uint64_t top = pop(m);
	uint64_t second = pop(m);

	push(m, top);
	push(m, second);
}

/* The top becomes the third. */
static void rotate(struct machine *m)
{
	uint64_t top = pop(m);
	uint64_t second = pop(m);
	uint64_t third = pop(m);

	push(m, top);
	push(m, third);
	push(m, second);
}

static bool stack_or_flow(struct machine *m, uint8_t op)
{
	switch (op) {
	case OP_NOP:
		return true;
	case OP_DUP:
		pick(m, 0);
		return true;
	case OP_DROP:
		pop(m);
		return true;
	case OP_OVER:
		pick(m, 1);
		return true;
	case OP_PICK:
		pick(m, reader_u8(&m->code, "index"));
		return true;
	case OP_SWAP:
		swap(m);
		return true;
	case OP_ROT:
		rotate(m);
		return true;
	case OP_SKIP:
		jump(m, /* taken= */ true);
		return true;
	case OP_BRA:
		jump(m, pop(m) != 0);
		return true;
	}
	return false;
}

static bool unary(struct machine *m, uint8_t op)
{
	switch (op) {
	case OP_ABS: {
		uint64_t value = pop(m);

		push(m, value >> 63 ? -value : value);
		return true;
	}
	case OP_NEG:
		push(m, -pop(m));
		return true;
	case OP_NOT:
		push(m, ~pop(m));
		return true;
	case OP_PLUS_UCONST: {
		uint64_t value = pop(m);

		push(m, value + reader_uleb(&m->code, "constant"));
		return true;
	}
	}
	return false;
}

static uint64_t shift_right_signed(uint64_t value, uint64_t count)
{
	uint64_t sign = value >> 63 ? ~0ULL : 0;

	if (count > 63)
		return sign;
	return count ? value >> count | sign << (64 - count) : value;
}

/* Division is signed, modulo unsigned (DWARF 5, 2.5.1.4). */
static uint64_t divide(struct machine *m, uint64_t a, uint64_t b)
{
	if (!b) {
		fail(m, EXPR_MALFORMED);
		return 0;
	}
	return b == ~0ULL ? -a : (uint64_t)((int64_t)a / (int64_t)b);
}

static uint64_t modulo(struct machine *m, uint64_t a, uint64_t b)
{
	if (!b) {
		fail(m, EXPR_MALFORMED);
		return 0;
	}
	return a % b;
}

static uint64_t binary(struct machine *m, uint8_t op, uint64_t a, uint64_t b)
{
	switch (op) {
	case OP_AND:
		return a & b;
	case OP_OR:
		return a | b;
	case OP_XOR:
		return a ^ b;
	case OP_PLUS:
		return a + b;
	case OP_MINUS:
		return a - b;
	case OP_MUL:
		return a * b;
	case OP_DIV:
		return divide(m, a, b);
	case OP_MOD:
		return modulo(m, a, b);
	case OP_SHL:
		return b > 63 ? 0 : a << b;
	case OP_SHR:
		return b > 63 ? 0 : a >> b;
	case OP_SHRA:
		return shift_right_signed(a, b);
	case OP_EQ:
		return a == b;
	case OP_NE:
		return a != b;
	case OP_GE:
		return (int64_t)a >= (int64_t)b;
	case OP_GT:
		return (int64_t)a > (int64_t)b;
	case OP_LE:
		return (int64_t)a <= (int64_t)b;
	case OP_LT:
		return (int64_t)a < (int64_t)b;
	}
	fail(m, EXPR_MALFORMED);
	return 0;
}

static void step(struct machine *m)
{
	uint8_t op = reader_u8(&m->code, "operator");

	if (constant(m, op) || register_or_memory(m, op) || stack_or_flow(m, op) || unary(m, op))
		return;
	uint64_t b = pop(m);
	uint64_t a = pop(m);

	push(m, binary(m, op, a, b));
}

enum expr_status expr_eval(const uint8_t *bytes, size_t len, const struct expr_context *context,
			   struct expr_start start, uint64_t *ret)
{
	struct machine m;
	uint64_t value;

	m.context = context;
	m.status = EXPR_OK;
	m.depth = 0;
	reader_init(&m.code, bytes, len, /* big_endian= */ false);
	m.begin = m.code.pos;
	m.end = m.code.end;
	if (start.has_value)
		push(&m, start.value);
	for (unsigned steps = 0; m.status == EXPR_OK && reader_left(&m.code); steps++) {
		if (steps == STEPS_MAX)
			return EXPR_MALFORMED;
		step(&m);
	}
	if (m.code.failed)
		fail(&m, EXPR_MALFORMED);
	value = pop(&m);
	if (m.status == EXPR_OK)
		*ret = value;
	return m.status;
}
