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

/* What an instruction does to one register, as far as the type of what it holds can be followed. */
enum disasm_effect {
	DISASM_EFFECT_OTHER,
	DISASM_EFFECT_LOAD,    /* target = what lies in memory */
	DISASM_EFFECT_ADDRESS, /* target = the address of the memory operand (lea) */
	DISASM_EFFECT_COPY,    /* target = source */
	DISASM_EFFECT_ADD,     /* target = source + disp */
	DISASM_EFFECT_SUM,     /* target = target + source */
};

#define DISASM_NO_REG -1
#define DISASM_PC     -2 /* as base: disp is an address */

/* Registers are DWARF's numbers. */
struct disasm_access {
	bool has_memory;       /* an operand is memory, at base + index * scale + disp */
	bool accesses;         /* and it is read or written: neither lea nor nop */
	bool is_segment;       /* relative to a segment register: thread-local */
	int base, index;       /* DISASM_NO_REG if there is none */
	unsigned scale;        /* of the index; 1 where the processor has none */
	int64_t disp;
	uint32_t len;          /* bytes of the memory operand; 0 if not known */
	enum disasm_effect effect;
	int target, source;    /* of the effect */
	uint64_t written;      /* bit mask of all general registers that it changes */
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

/* The general registers that a function may change for its caller, as a bit mask. */
uint64_t disasm_clobbered(const struct disasm *d);

/* What the instruction at the start of @len bytes of code does; false if it cannot be decoded. */
bool disasm_access(struct disasm *d, const uint8_t *code, size_t len, uint64_t vaddr,
		   struct disasm_access *ret);

/* What an instruction does to a frame. Registers have DWARF numbers. */
enum disasm_step_kind {
	DISASM_STEP_OTHER, /* nothing but what @writes and @flow say; of a jump to the address in a register, @reg is that */
	DISASM_STEP_PUSH,  /* @reg; DISASM_NO_REG: anything else */
	DISASM_STEP_POP,	  /* the same */
	DISASM_STEP_MOVE,  /* @reg = @base + @value: mov, lea, add, sub */
	DISASM_STEP_ALIGN, /* @reg &= @value */
	DISASM_STEP_STORE, /* @reg to memory at @base + @value */
	DISASM_STEP_LOAD,  /* @reg from memory at @base + @value */
	DISASM_STEP_LEAVE,
};

struct disasm_step {
	enum disasm_step_kind kind;
	enum disasm_flow flow;
	uint8_t len; /* bytes */
	int reg, base;
	int64_t value;
	uint64_t writes; /* registers that hold something else afterwards, as bits; the stack pointer's of a push included */
	uint64_t target; /* as in struct disasm_insn */
};

/* The same for following frames; x86-64 only. False: no instruction that capstone knows, or no code. */
bool disasm_step(struct disasm *d, const uint8_t *code, size_t len, uint64_t vaddr,
		 struct disasm_step *ret);

#endif
