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
	bool is_att;
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

	struct disasm *d = memory_zeroed(1, sizeof(*d));

	d->is_att = decoders[i].arch == CS_ARCH_X86 && syntax == DISASM_ATT;
	if (d->is_att)
		cs_option(handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);

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

/* aarch64 calls are recognised by name: capstone 4 puts "bl" into the group of jumps. */
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

/* ---- registers and memory ---- */

static int dwarf_x86(unsigned reg)
{
	/* System V psABI for AMD64, figure 3.36; each row: a register under its names by width */
	static const uint16_t names[16][4] = {
		{ X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL },
		{ X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL },
		{ X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL },
		{ X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL },
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

	for (int i = 0; i < (int)ARRAY_LEN(names); i++)
		for (size_t width = 0; width < ARRAY_LEN(names[i]); width++)
			if (names[i][width] == reg)
				return i;
	return DISASM_NO_REG;
}

static int dwarf_arm64(unsigned reg)
{
	if (reg >= ARM64_REG_X0 && reg <= ARM64_REG_X28)
		return (int)(reg - ARM64_REG_X0);
	if (reg >= ARM64_REG_W0 && reg <= ARM64_REG_W30)
		return (int)(reg - ARM64_REG_W0);
	switch (reg) {
	case ARM64_REG_X29:
		return 29;
	case ARM64_REG_X30:
		return 30;
	case ARM64_REG_SP:
	case ARM64_REG_WSP:
		return 31;
	default:
		return DISASM_NO_REG;
	}
}

static int dwarf_reg(const struct disasm *d, unsigned reg)
{
	return d->unit == 1 ? dwarf_x86(reg) : dwarf_arm64(reg);
}

static uint64_t written_by(const struct disasm *d)
{
	cs_regs read, write;
	uint8_t nread = 0, nwrite = 0;
	uint64_t mask = 0;

	if (cs_regs_access(d->handle, d->insn, read, &nread, write, &nwrite) != CS_ERR_OK)
		return UINT64_MAX;
	for (uint8_t i = 0; i < nwrite; i++) {
		int reg = dwarf_reg(d, write[i]);

		if (reg >= 0)
			mask |= 1ull << reg;
	}
	return mask;
}

/* An operand in the words that both architectures share. */
struct operand {
	enum { OPERAND_REG, OPERAND_IMM, OPERAND_MEM, OPERAND_OTHER } kind;
	int reg;
	int64_t imm;
};

static struct operand x86_operand(const struct disasm *d, uint64_t next, uint8_t at,
				  struct disasm_access *ret)
{
	const cs_x86_op *op = &d->insn->detail->x86.operands[at];

	switch ((int)op->type) {
	case X86_OP_REG:
		/* parts of a register hold no pointer */
		return (struct operand){ op->size == 8 ? OPERAND_REG : OPERAND_OTHER,
					 dwarf_x86(op->reg), 0 };
	case X86_OP_IMM:
		return (struct operand){ OPERAND_IMM, DISASM_NO_REG, op->imm };
	case X86_OP_MEM:
		ret->has_memory = true;
		ret->is_segment = op->mem.segment == X86_REG_FS || op->mem.segment == X86_REG_GS;
		ret->base = op->mem.base == X86_REG_RIP ? DISASM_PC : dwarf_x86(op->mem.base);
		ret->index = dwarf_x86(op->mem.index);
		ret->scale = (unsigned)op->mem.scale;
		ret->disp = op->mem.disp + (ret->base == DISASM_PC ? (int64_t)next : 0);
		ret->len = op->size;
		return (struct operand){ OPERAND_MEM, DISASM_NO_REG, 0 };
	default:
		return (struct operand){ OPERAND_OTHER, DISASM_NO_REG, 0 };
	}
}

static struct operand arm64_operand(const struct disasm *d, uint8_t at, struct disasm_access *ret)
{
	const cs_arm64_op *op = &d->insn->detail->arm64.operands[at];

	switch ((int)op->type) {
	case ARM64_OP_REG:
		return (struct operand){ op->reg >= ARM64_REG_W0 && op->reg <= ARM64_REG_W30 ?
						 OPERAND_OTHER : OPERAND_REG,
					 dwarf_arm64(op->reg), 0 };
	case ARM64_OP_IMM:
		return (struct operand){ OPERAND_IMM, DISASM_NO_REG, op->imm };
	case ARM64_OP_MEM:
		ret->has_memory = true;
		ret->base = dwarf_arm64(op->mem.base);
		ret->index = dwarf_arm64(op->mem.index);
		ret->disp = op->mem.disp;
		return (struct operand){ OPERAND_MEM, DISASM_NO_REG, 0 };
	default:
		return (struct operand){ OPERAND_OTHER, DISASM_NO_REG, 0 };
	}
}

/* Operands with the one that is written first, as Intel and Arm write them: capstone turns x86's round for AT&T. */
static unsigned operands_of(const struct disasm *d, uint64_t next, struct operand ret[3],
			    struct disasm_access *access)
{
	bool is_x86 = d->unit == 1;
	unsigned count = is_x86 ? d->insn->detail->x86.op_count : d->insn->detail->arm64.op_count;

	if (count > 3)
		return 0;
	for (unsigned i = 0; i < count; i++) {
		unsigned to = is_x86 && d->is_att ? count - 1 - i : i;

		ret[to] = is_x86 ? x86_operand(d, next, (uint8_t)i, access)
				 : arm64_operand(d, (uint8_t)i, access);
	}
	return count;
}

static bool named(const struct disasm *d, const char *const *names)
{
	for (; *names; names++)
		if (strcmp(d->insn->mnemonic, *names) == 0)
			return true;
	return false;
}

static void set_effect(const struct disasm *d, const struct operand *ops, unsigned count,
		       struct disasm_access *ret)
{
	static const char *const moves[] = { "mov", "movq", "movabsq", "ldr", "ldur", NULL };
	static const char *const addresses[] = { "lea", "leaq", NULL };
	static const char *const additions[] = { "add", "addq", NULL };
	const struct operand *last = &ops[count - 1];

	if (count < 2 || ops[0].kind != OPERAND_REG || ops[0].reg < 0)
		return;
	ret->target = ops[0].reg;
	if (count == 2 && last->kind == OPERAND_MEM && named(d, moves)) {
		ret->effect = DISASM_EFFECT_LOAD;
	} else if (count == 2 && last->kind == OPERAND_MEM && named(d, addresses)) {
		ret->effect = DISASM_EFFECT_ADDRESS;
	} else if (count == 2 && last->kind == OPERAND_REG && named(d, moves)) {
		ret->effect = DISASM_EFFECT_COPY;
		ret->source = last->reg;
	} else if (last->kind == OPERAND_IMM && named(d, additions)) {
		ret->effect = DISASM_EFFECT_ADD;
		ret->source = count == 3 ? ops[1].reg : ret->target;
		ret->disp = last->imm;
	} else if (count == 2 && last->kind == OPERAND_REG && named(d, additions)) {
		ret->effect = DISASM_EFFECT_SUM;
		ret->source = last->reg;
	}
}

/* System V psABI for AMD64, 3.2.1; Procedure Call Standard for the Arm 64-bit Architecture, 6.1.1. */
uint64_t disasm_clobbered(const struct disasm *d)
{
	return d->unit == 1 ? 0x0f37 : 0x7ffff;
}

bool disasm_access(struct disasm *d, const uint8_t *code, size_t len, uint64_t vaddr,
		   struct disasm_access *ret)
{
	static const char *const no_access[] = { "lea", "leaq", "leal", "nop", "nopw", "nopl", NULL };
	const uint8_t *at = code;
	uint64_t next = vaddr;
	size_t left = len;
	struct operand ops[3];

	*ret = (struct disasm_access){ .base = DISASM_NO_REG, .index = DISASM_NO_REG,
				       .target = DISASM_NO_REG, .source = DISASM_NO_REG,
				       .scale = 1 };
	if (!cs_disasm_iter(d->handle, &at, &left, &next, d->insn))
		return false;
	ret->written = written_by(d);

	unsigned count = operands_of(d, next, ops, ret);

	if (count)
		set_effect(d, ops, count, ret);
	ret->accesses = ret->has_memory && !named(d, no_access);
	return true;
}
/* ---- steps of a frame ---------------------------------------------------------------------------- */

/* An operand that is a whole register. */
static int whole_register(const cs_x86_op *op)
{
	return op->type == X86_OP_REG && op->size == 8 ? dwarf_x86((unsigned)op->reg) : DISASM_NO_REG;
}

/* @op is memory at a register plus a constant: both go into @e. */
static bool take_address(const cs_x86_op *op, struct disasm_step *e)
{
	if (op->type != X86_OP_MEM || op->mem.index != X86_REG_INVALID ||
	    op->mem.segment != X86_REG_INVALID)
		return false;
	e->base = dwarf_x86((unsigned)op->mem.base);
	e->value = op->mem.disp;
	return e->base != DISASM_NO_REG;
}

static enum disasm_step_kind step_of_move(const cs_x86_op *ops, struct disasm_step *e)
{
	int to = whole_register(&ops[0]), from = whole_register(&ops[1]);

	e->reg = to != DISASM_NO_REG ? to : from;
	if (to != DISASM_NO_REG && from != DISASM_NO_REG) {
		e->base = from;
		return DISASM_STEP_MOVE;
	}
	if (from != DISASM_NO_REG)
		return take_address(&ops[0], e) ? DISASM_STEP_STORE : DISASM_STEP_OTHER;
	return to != DISASM_NO_REG && take_address(&ops[1], e) ? DISASM_STEP_LOAD : DISASM_STEP_OTHER;
}

/* add, sub, and: a whole register and a constant */
static enum disasm_step_kind step_of_sum(const cs_insn *insn, const cs_x86_op *ops, struct disasm_step *e)
{
	e->reg = e->base = whole_register(&ops[0]);
	if (e->reg == DISASM_NO_REG || ops[1].type != X86_OP_IMM)
		return DISASM_STEP_OTHER;
	e->value = insn->id == X86_INS_SUB ? (int64_t)-(uint64_t)ops[1].imm : ops[1].imm;
	return insn->id == X86_INS_AND ? DISASM_STEP_ALIGN : DISASM_STEP_MOVE;
}

static enum disasm_step_kind step_of(const cs_insn *insn, struct disasm_step *e)
{
	const cs_x86 *x86 = &insn->detail->x86;
	const cs_x86_op *ops = x86->operands;

	switch (insn->id) {
	case X86_INS_PUSH:
		e->reg = whole_register(&ops[0]);
		return x86->prefix[2] ? DISASM_STEP_OTHER : DISASM_STEP_PUSH;
	case X86_INS_POP:
		e->reg = whole_register(&ops[0]);
		return x86->prefix[2] ? DISASM_STEP_OTHER : DISASM_STEP_POP;
	case X86_INS_LEAVE:
		return DISASM_STEP_LEAVE;
	case X86_INS_JMP:
		e->reg = whole_register(&ops[0]);
		return DISASM_STEP_OTHER;
	case X86_INS_MOV:
	case X86_INS_MOVABS:
		return step_of_move(ops, e);
	case X86_INS_LEA:
		e->reg = whole_register(&ops[0]);
		return e->reg != DISASM_NO_REG && take_address(&ops[1], e) ? DISASM_STEP_MOVE :
									      DISASM_STEP_OTHER;
	case X86_INS_ADD:
	case X86_INS_SUB:
	case X86_INS_AND:
		return x86->op_count == 2 ? step_of_sum(insn, ops, e) : DISASM_STEP_OTHER;
	default:
		return DISASM_STEP_OTHER;
	}
}

bool disasm_step(struct disasm *d, const uint8_t *code, size_t len, uint64_t vaddr,
		 struct disasm_step *ret)
{
	uint64_t address = vaddr;
	const uint8_t *at = code;
	size_t left = len;

	*ret = (struct disasm_step){ .reg = DISASM_NO_REG, .base = DISASM_NO_REG };
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
	ret->kind = step_of(d->insn, ret);
	ret->writes = written_by(d);
	return true;
}
