/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arch.h - what differs between processors, as data: register numbers, pointer masks, call instructions.
 *
 * Registers carry their DWARF number everywhere in this program (System V ABI, AMD64 supplement 1.0,
 * figure 3.36; DWARF for the Arm 64-bit Architecture, AADWARF64). The kernel's numbering
 * (asm/perf_regs.h) appears only where its masks and dumps are made and read.
 */
#ifndef FORMATS_ARCH_H
#define FORMATS_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One more than the highest register number of any architecture. */
#define ARCH_REGS_MAX 33

struct arch {
	const char *name;      /* as uname -m prints it */
	uint16_t elf_machine;  /* EM_* */
	uint8_t nregs;	       /* registers 0 .. nregs-1 */
	uint8_t sp, ip, fp;    /* register numbers */
	int8_t lr;	       /* link register, -1 if calls push their return address */
	uint64_t regs_mask;    /* kernel's mask (attr.sample_regs_user) of all of them */
	uint64_t loop_regs_mask; /* likewise, of those in which an interpreter's loop keeps its place (record/managed/php.c) */
	const uint8_t *kernel_regs; /* kernel number -> register number, 0xff for those not used */
	uint8_t nkernel_regs;
	uint64_t callee_saved; /* registers that a called function gives back as they were, sp included */
	const char *const *reg_names; /* by register number */
	/* Does a call instruction end exactly at the end of these @len bytes (at most 8 are looked at)? */
	bool (*ends_with_call)(const uint8_t *code, size_t len);
	/* If that may be a direct call: the distance from its end to where it leads. */
	bool (*direct_call)(const uint8_t *code, size_t len, int64_t *ret);
};

extern const struct arch arch_x86_64, arch_aarch64;

/* By ELF machine number or by name; NULL if it is neither of the two. */
const struct arch *arch_by_machine(uint16_t elf_machine);
const struct arch *arch_by_name(const char *name);

/*
 * The bits of a word that make a code address in user space; the others are authentication (PAC) or tags. How many they
 * are is up to the kernel on aarch64: @recorded says it, or, if that is 0, @highest, an address above which no code lies, 0 if that
 * is not known either. Where calls push their return address nothing is signed, and a word with anything above the
 * address is a number: all bits count.
 */
uint64_t arch_code_mask(const struct arch *arch, uint64_t recorded, uint64_t highest);

/* From the bits that authentication takes in a code address (NT_ARM_PAC_MASK) to those that it leaves; 0: it takes none. */
uint64_t arch_code_mask_of_pac(uint64_t pac);

/* The one this program was built for. */
const struct arch *arch_native(void);

#endif
