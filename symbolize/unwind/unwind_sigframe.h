/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_sigframe.h - what Linux puts on the stack when it delivers a signal, for trampolines that have no
 * unwind rule (musl's, Go's) or one that loses the interrupted instruction (the aarch64 vdso's).
 */
#ifndef SYMBOLIZE_UNWIND_SIGFRAME_H
#define SYMBOLIZE_UNWIND_SIGFRAME_H

#include "formats/arch.h"

/* A register in the saved context. */
struct unwind_sigframe_reg {
	uint8_t reg;     /* DWARF number */
	uint16_t offset; /* from the stack pointer in the trampoline */
};

struct unwind_sigframe {
	const struct arch *arch;
	const uint8_t *code; /* of the trampoline: call rt_sigreturn */
	size_t code_len;
	size_t syscall_offset; /* of its second and last instruction */
	const struct unwind_sigframe_reg *regs;
	size_t nregs;
};

/* Never NULL for the architectures there are. */
const struct unwind_sigframe *unwind_sigframe_of(const struct arch *arch);

#endif
