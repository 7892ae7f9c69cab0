/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disasm.h - machine code to instructions. The only door to capstone.
 */
#ifndef SYMBOLIZE_DISASM_H
#define SYMBOLIZE_DISASM_H

#include "formats/arch.h"
#include "formats/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum disasm_syntax {
	DISASM_ATT, /* as objdump prints by default; x86 only, ignored elsewhere */
	DISASM_INTEL,
};

enum disasm_flow {
	DISASM_PLAIN,  /* goes on with the next instruction */
	DISASM_JUMP,   /* always */
	DISASM_BRANCH, /* sometimes */
	DISASM_CALL,
	DISASM_RETURN,
	DISASM_UNDECODED, /* no instruction that capstone knows: bytes as data */
};

struct disasm_insn {
	uint64_t vaddr;
	uint8_t len; /* bytes */
	enum disasm_flow flow;
	uint64_t target;   /* of a direct jump, branch or call; 0 if there is none */
	char mnemonic[40]; /* ".byte" for DISASM_UNDECODED */
	char operands[160];
};

struct disasm;

/* ERR_UNSUPPORTED: capstone was built without @arch. */
MUST_USE struct err *disasm_open(const struct arch *arch, enum disasm_syntax syntax,
				 struct disasm **ret);
void disasm_close(struct disasm *d);

/*
 * The instruction at the start of @len bytes of code that are at @vaddr. Always yields one of at least one byte;
 * bytes that are no instruction come one by one (x86) or four by four (aarch64); those of a VEX or EVEX instruction that is
 * not known come together. False if @len is 0.
 */
bool disasm_next(struct disasm *d, const uint8_t *code, size_t len, uint64_t vaddr,
		 struct disasm_insn *ret);

/* What an instruction does to a frame. Registers have DWARF numbers. */
enum disasm_act {
	DISASM_ACT_OTHER, /* nothing but what @writes and @flow say */
	DISASM_ACT_PUSH,  /* @reg; DISASM_NO_REG: anything else */
	DISASM_ACT_POP,	  /* the same */
	DISASM_ACT_MOVE,  /* @reg = @base + @value: mov, lea, add, sub */
	DISASM_ACT_ALIGN, /* @reg &= @value */
	DISASM_ACT_STORE, /* @reg to memory at @base + @value */
	DISASM_ACT_LOAD,  /* @reg from memory at @base + @value */
	DISASM_ACT_LEAVE,
};

#define DISASM_NO_REG 0xff

struct disasm_effect {
	enum disasm_act act;
	enum disasm_flow flow;
	uint8_t reg, base;
	uint8_t len; /* bytes */
	int64_t value;
	uint64_t writes; /* registers that hold something else afterwards, as bits; the stack pointer's of a push included */
	uint64_t target; /* as in struct disasm_insn */
};

/* The same for whoever follows frames; x86-64 only. False: no instruction that capstone knows, or no code. */
bool disasm_effect(struct disasm *d, const uint8_t *code, size_t len, uint64_t vaddr,
		   struct disasm_effect *ret);

#endif
