/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disasm.c - one instruction at a time, so that code that is not code costs only itself.
 */
#include "symbolize/disasm.h"

#include "formats/base/memory.h"

#include <capstone/capstone.h>
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define X86_LEN_MAX 15 /* bytes of an instruction */

struct disasm {
	csh handle;
	cs_insn *insn;
	size_t unit; /* bytes of what cannot be decoded */
};

/* Which capstone decoder stands for which processor. */
static const struct {
	uint16_t elf_machine;
	cs_arch arch;
	cs_mode mode;
	size_t unit;
} decoders[] = {
	{ EM_X86_64, CS_ARCH_X86, CS_MODE_64, 1 },
	{ EM_AARCH64, CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, 4 },
};

struct err *disasm_open(const struct arch *arch, enum disasm_syntax syntax, struct disasm **ret)
{
	size_t i = 0;
	csh handle;

	while (i < ARRAY_LEN(decoders) && decoders[i].elf_machine != arch->elf_machine)
		i++;
	if (i == ARRAY_LEN(decoders) ||
	    cs_open(decoders[i].arch, decoders[i].mode, &handle) != CS_ERR_OK)
		return err_new(ERR_UNSUPPORTED, "the disassembler library knows no %s code",
			       arch->name);
	cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
	if (decoders[i].arch == CS_ARCH_X86 && syntax == DISASM_ATT)
		cs_option(handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);

	struct disasm *d = memory_zeroed(1, sizeof(*d));

	d->handle = handle;
	d->unit = decoders[i].unit;
	d->insn = cs_malloc(handle);
	if (!d->insn)
		memory_exhausted(sizeof(*d->insn));
	*ret = d;
	return NULL;
}

void disasm_close(struct disasm *d)
{
	if (!d)
		return;
	cs_free(d->insn, 1);
	cs_close(&d->handle);
	free(d);
}

/* The address that a direct jump or call names, in the operand that is an immediate value. */
static uint64_t immediate_target(const struct disasm *d, const cs_insn *insn)
{
	const cs_detail *detail = insn->detail;

	if (d->unit == 1) {
		for (uint8_t i = 0; i < detail->x86.op_count; i++)
			if (detail->x86.operands[i].type == X86_OP_IMM)
				return (uint64_t)detail->x86.operands[i].imm;
		return 0;
	}
	for (uint8_t i = detail->arm64.op_count;
	     i-- > 0;) /* the target is last: tbz x0, #3, target */
		if (detail->arm64.operands[i].type == ARM64_OP_IMM)
			return (uint64_t)detail->arm64.operands[i].imm;
	return 0;
}

static bool in_group(const struct disasm *d, const cs_insn *insn, unsigned group)
{
	return cs_insn_group(d->handle, insn, group);
}

static bool is_unconditional(const struct disasm *d, const cs_insn *insn)
{
	if (d->unit == 1)
		return insn->id == X86_INS_JMP || insn->id == X86_INS_LJMP;
	return (insn->id == ARM64_INS_B && (insn->detail->arm64.cc == ARM64_CC_INVALID ||
					    insn->detail->arm64.cc == ARM64_CC_AL)) ||
	       strncmp(insn->mnemonic, "br", 2) == 0;
}

/* aarch64 calls are told by name: capstone 4 puts "bl" into the group of jumps. */
static bool is_call(const struct disasm *d, const cs_insn *insn)
{
	if (d->unit == 1)
		return in_group(d, insn, CS_GRP_CALL);
	return strcmp(insn->mnemonic, "bl") == 0 || strncmp(insn->mnemonic, "blr", 3) == 0;
}

static bool is_return(const struct disasm *d, const cs_insn *insn)
{
	return in_group(d, insn, CS_GRP_RET) ||
	       (d->unit == 4 && strncmp(insn->mnemonic, "ret", 3) == 0);
}

static enum disasm_flow flow_of(const struct disasm *d, const cs_insn *insn)
{
	if (is_call(d, insn))
		return DISASM_CALL;
	if (is_return(d, insn))
		return DISASM_RETURN;
	if (!in_group(d, insn, CS_GRP_JUMP))
		return DISASM_PLAIN;
	return is_unconditional(d, insn) ? DISASM_JUMP : DISASM_BRANCH;
}

/*
 * The length of a VEX or EVEX instruction, which capstone 4 often does not know but which follows from how it is encoded (Intel
 * SDM volume 2, 2.3 and 2.7): without it, its last bytes would be read as instructions. 0 if it is none.
 */
static size_t vex_len(const uint8_t *code, size_t len)
{
	size_t at = code[0] == 0xc5 ? 2 : code[0] == 0xc4 ? 3 : code[0] == 0x62 ? 4 : 0;

	if (!at || len < at + 2)
		return 0;

	unsigned map = code[0] == 0xc5 ? 1 : code[1] & (code[0] == 0xc4 ? 0x1f : 7);
	uint8_t opcode = code[at], modrm = code[at + 1], mod = modrm >> 6;

	if (map == 1 && opcode == 0x77) /* vzeroupper, vzeroall */
		return at + 1;
	at += 2;
	if (mod != 3 && (modrm & 7) == 4) {
		if (len <= at)
			return 0;
		if (mod == 0 && (code[at] & 7) == 5)
			at += 4;
		at++;
	} else if (mod == 0 && (modrm & 7) == 5) {
		at += 4;
	}
	at += mod == 1 ? 1 : mod == 2 ? 4 : 0;
	if (map == 3 || (map == 1 && ((opcode >= 0x70 && opcode <= 0x73) || opcode == 0xc2 ||
				      (opcode >= 0xc4 && opcode <= 0xc6))))
		at++; /* an immediate byte */
	return at <= len && at <= X86_LEN_MAX ? at : 0;
}

static void set_undecoded(const struct disasm *d, const uint8_t *code, size_t len,
			  struct disasm_insn *insn)
{
	size_t vex = d->unit == 1 ? vex_len(code, len) : 0;

	insn->len = (uint8_t)(vex ? vex : MIN(d->unit, len));
	insn->flow = DISASM_UNDECODED;
	snprintf(insn->mnemonic, sizeof(insn->mnemonic), ".byte");
	for (size_t i = 0, at = 0; i < insn->len; i++)
		at += (size_t)snprintf(insn->operands + at, sizeof(insn->operands) - at, "%s0x%02x",
				       i ? ", " : "", code[i]);
}

/*
 * Before an indirect jump or call, 3e is "notrack": the target need not begin with endbr64 (Intel SDM volume 1, 17.3.3.2).
 * Capstone 4 takes it for the segment that it was.
 */
static bool is_notrack(const struct disasm *d, enum disasm_flow flow)
{
	return d->unit == 1 && (flow == DISASM_JUMP || flow == DISASM_CALL) &&
	       d->insn->detail->x86.opcode[0] == 0xff && d->insn->detail->x86.prefix[1] == X86_PREFIX_DS;
}

/* @text without the first @what in it. */
static void leave_out(char *text, const char *what)
{
	char *found = strstr(text, what);

	if (found)
		memmove(found, found + strlen(what), strlen(found + strlen(what)) + 1);
}

static void set_text(const struct disasm *d, struct disasm_insn *insn)
{
	bool notrack = is_notrack(d, insn->flow);
	const char *name = d->insn->mnemonic;

	if (notrack && strncmp(name, "notrack", 7) == 0)
		notrack = false; /* capstone 5 */
	snprintf(insn->mnemonic, sizeof(insn->mnemonic), "%s%s", notrack ? "notrack " : "", name);
	snprintf(insn->operands, sizeof(insn->operands), "%s", d->insn->op_str);
	if (notrack) {
		leave_out(insn->operands, "%ds:"); /* AT&T */
		leave_out(insn->operands, "ds:");
	}
}

bool disasm_next(struct disasm *d, const uint8_t *code, size_t len, uint64_t vaddr,
		 struct disasm_insn *ret)
{
	const uint8_t *at = code;
	uint64_t address = vaddr;
	size_t left = len;

	*ret = (struct disasm_insn){ .vaddr = vaddr };
	if (!len)
		return false;
	if (!cs_disasm_iter(d->handle, &at, &left, &address, d->insn)) {
		set_undecoded(d, code, len, ret);
		return true;
	}
	ret->len = (uint8_t)d->insn->size;
	ret->flow = flow_of(d, d->insn);
	if (ret->flow == DISASM_JUMP || ret->flow == DISASM_BRANCH || ret->flow == DISASM_CALL)
		ret->target = immediate_target(d, d->insn);
	set_text(d, ret);
	return true;
}

/* ---- effects on a frame ---------------------------------------------------------------------------- */

/* By DWARF number; parts of a register count as the register. */
static const x86_reg x86_regs[][5] = {
	{ X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL, X86_REG_AH },
	{ X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL, X86_REG_DH },
	{ X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL, X86_REG_CH },
	{ X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL, X86_REG_BH },
	{ X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL },
	{ X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL },
	{ X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL },
	{ X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL },
	{ X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B },
	{ X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B },
	{ X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B },
	{ X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B },
	{ X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B },
	{ X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B },
	{ X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B },
	{ X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B },
};

/* The register that @reg is or is a part of. */
static uint8_t register_of(unsigned reg)
{
	for (uint8_t i = 0; reg != X86_REG_INVALID && i < ARRAY_LEN(x86_regs); i++) {
		for (size_t part = 0; part < ARRAY_LEN(x86_regs[i]); part++)
			if (x86_regs[i][part] == reg)
				return i;
	}
	return DISASM_NO_REG;
}

/* An operand that is a whole register. */
static uint8_t whole_register(const cs_x86_op *op)
{
	uint8_t reg = op->type == X86_OP_REG ? register_of((unsigned)op->reg) : DISASM_NO_REG;

	return reg != DISASM_NO_REG && x86_regs[reg][0] == op->reg ? reg : DISASM_NO_REG;
}

/* @op is memory at a register plus a constant: both go into @e. */
static bool take_address(const cs_x86_op *op, struct disasm_effect *e)
{
	if (op->type != X86_OP_MEM || op->mem.index != X86_REG_INVALID ||
	    op->mem.segment != X86_REG_INVALID)
		return false;
	e->base = register_of((unsigned)op->mem.base);
	e->value = op->mem.disp;
	return e->base != DISASM_NO_REG;
}

static enum disasm_act act_of_move(const cs_x86_op *ops, struct disasm_effect *e)
{
	uint8_t to = whole_register(&ops[0]), from = whole_register(&ops[1]);

	e->reg = to != DISASM_NO_REG ? to : from;
	if (to != DISASM_NO_REG && from != DISASM_NO_REG) {
		e->base = from;
		return DISASM_ACT_MOVE;
	}
	if (from != DISASM_NO_REG)
		return take_address(&ops[0], e) ? DISASM_ACT_STORE : DISASM_ACT_OTHER;
	return to != DISASM_NO_REG && take_address(&ops[1], e) ? DISASM_ACT_LOAD : DISASM_ACT_OTHER;
}

/* add, sub, and: a whole register and a constant */
static enum disasm_act act_of_sum(const cs_insn *insn, const cs_x86_op *ops, struct disasm_effect *e)
{
	e->reg = e->base = whole_register(&ops[0]);
	if (e->reg == DISASM_NO_REG || ops[1].type != X86_OP_IMM)
		return DISASM_ACT_OTHER;
	e->value = insn->id == X86_INS_SUB ? (int64_t)-(uint64_t)ops[1].imm : ops[1].imm;
	return insn->id == X86_INS_AND ? DISASM_ACT_ALIGN : DISASM_ACT_MOVE;
}

static enum disasm_act act_of(const cs_insn *insn, struct disasm_effect *e)
{
	const cs_x86 *x86 = &insn->detail->x86;
	const cs_x86_op *ops = x86->operands;

	switch (insn->id) {
	case X86_INS_PUSH:
		e->reg = whole_register(&ops[0]);
		return x86->prefix[2] ? DISASM_ACT_OTHER : DISASM_ACT_PUSH;
	case X86_INS_POP:
		e->reg = whole_register(&ops[0]);
		return x86->prefix[2] ? DISASM_ACT_OTHER : DISASM_ACT_POP;
	case X86_INS_LEAVE:
		return DISASM_ACT_LEAVE;
	case X86_INS_MOV:
	case X86_INS_MOVABS:
		return act_of_move(ops, e);
	case X86_INS_LEA:
		e->reg = whole_register(&ops[0]);
		return e->reg != DISASM_NO_REG && take_address(&ops[1], e) ? DISASM_ACT_MOVE :
									      DISASM_ACT_OTHER;
	case X86_INS_ADD:
	case X86_INS_SUB:
	case X86_INS_AND:
		return x86->op_count == 2 ? act_of_sum(insn, ops, e) : DISASM_ACT_OTHER;
	default:
		return DISASM_ACT_OTHER;
	}
}

static uint64_t written_registers(const struct disasm *d, const cs_insn *insn)
{
	cs_regs read, written;
	uint8_t nread, nwritten;
	uint64_t bits = 0;

	if (cs_regs_access(d->handle, insn, read, &nread, written, &nwritten) != CS_ERR_OK)
		return ~0ULL;
	for (uint8_t i = 0; i < nwritten; i++) {
		uint8_t reg = register_of(written[i]);

		bits |= reg != DISASM_NO_REG ? 1ULL << reg : 0;
	}
	return bits;
}

bool disasm_effect(struct disasm *d, const uint8_t *code, size_t len, uint64_t vaddr,
		   struct disasm_effect *ret)
{
	uint64_t address = vaddr;
	const uint8_t *at = code;
	size_t left = len;

	*ret = (struct disasm_effect){ .reg = DISASM_NO_REG, .base = DISASM_NO_REG };
	if (!len || d->unit != 1)
		return false;
	if (!cs_disasm_iter(d->handle, &at, &left, &address, d->insn)) {
		ret->len = (uint8_t)vex_len(code, len); /* vector instructions leave frames alone */
		return ret->len;
	}
	ret->len = (uint8_t)d->insn->size;
	ret->flow = flow_of(d, d->insn);
	if (ret->flow == DISASM_JUMP || ret->flow == DISASM_BRANCH || ret->flow == DISASM_CALL)
		ret->target = immediate_target(d, d->insn);
	ret->act = act_of(d->insn, ret);
	ret->writes = written_registers(d, d->insn);
	return true;
}
