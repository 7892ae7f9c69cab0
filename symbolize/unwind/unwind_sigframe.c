/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_sigframe.c - struct rt_sigframe of both architectures, as tables.
 *
 * x86-64, with the return address popped: struct ucontext, whose gregs begin at 40
 * (arch/x86/include/asm/sigframe.h, uapi/asm/sigcontext.h). aarch64: siginfo of 128 bytes, struct ucontext
 * with its sigcontext at 176, and in that the registers at 8 (arch/arm64/kernel/signal.c).
 */
#include "symbolize/unwind/unwind_sigframe.h"

#include "formats/base/compiler.h"

static const uint8_t x86_64_code[] = {
	0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, /* mov $15,%rax */
	0x0f, 0x05,                      /* syscall */
};

#define X86_64_GREG(n) (40 + 8 * (n))

static const struct unwind_sigframe_reg x86_64_regs[] = {
	{ 8, X86_64_GREG(0) },  { 9, X86_64_GREG(1) },   { 10, X86_64_GREG(2) },
	{ 11, X86_64_GREG(3) }, { 12, X86_64_GREG(4) },  { 13, X86_64_GREG(5) },
	{ 14, X86_64_GREG(6) }, { 15, X86_64_GREG(7) },  { 5, X86_64_GREG(8) },
	{ 4, X86_64_GREG(9) },  { 6, X86_64_GREG(10) },  { 3, X86_64_GREG(11) },
	{ 1, X86_64_GREG(12) }, { 0, X86_64_GREG(13) },  { 2, X86_64_GREG(14) },
	{ 7, X86_64_GREG(15) }, { 16, X86_64_GREG(16) },
};

static const uint8_t aarch64_code[] = {
	0x68, 0x11, 0x80, 0xd2, /* mov x8, #139 */
	0x01, 0x00, 0x00, 0xd4, /* svc #0 */
};

#define AARCH64_GREG(n) (128 + 176 + 8 + 8 * (n))

static const struct unwind_sigframe_reg aarch64_regs[] = {
	{ 0, AARCH64_GREG(0) },   { 1, AARCH64_GREG(1) },   { 2, AARCH64_GREG(2) },
	{ 3, AARCH64_GREG(3) },   { 4, AARCH64_GREG(4) },   { 5, AARCH64_GREG(5) },
	{ 6, AARCH64_GREG(6) },   { 7, AARCH64_GREG(7) },   { 8, AARCH64_GREG(8) },
	{ 9, AARCH64_GREG(9) },   { 10, AARCH64_GREG(10) }, { 11, AARCH64_GREG(11) },
	{ 12, AARCH64_GREG(12) }, { 13, AARCH64_GREG(13) }, { 14, AARCH64_GREG(14) },
	{ 15, AARCH64_GREG(15) }, { 16, AARCH64_GREG(16) }, { 17, AARCH64_GREG(17) },
	{ 18, AARCH64_GREG(18) }, { 19, AARCH64_GREG(19) }, { 20, AARCH64_GREG(20) },
	{ 21, AARCH64_GREG(21) }, { 22, AARCH64_GREG(22) }, { 23, AARCH64_GREG(23) },
	{ 24, AARCH64_GREG(24) }, { 25, AARCH64_GREG(25) }, { 26, AARCH64_GREG(26) },
	{ 27, AARCH64_GREG(27) }, { 28, AARCH64_GREG(28) }, { 29, AARCH64_GREG(29) },
	{ 30, AARCH64_GREG(30) }, { 31, AARCH64_GREG(31) }, { 32, AARCH64_GREG(32) },
};

static const struct unwind_sigframe sigframes[] = {
	{
		.arch = &arch_x86_64,
		.code = x86_64_code,
		.code_len = sizeof(x86_64_code),
		.syscall_offset = 7,
		.regs = x86_64_regs,
		.nregs = ARRAY_LEN(x86_64_regs),
	},
	{
		.arch = &arch_aarch64,
		.code = aarch64_code,
		.code_len = sizeof(aarch64_code),
		.syscall_offset = 4,
		.regs = aarch64_regs,
		.nregs = ARRAY_LEN(aarch64_regs),
	},
};

const struct unwind_sigframe *unwind_sigframe_of(const struct arch *arch)
{
	for (size_t i = 0; i < ARRAY_LEN(sigframes); i++) {
		if (sigframes[i].arch == arch)
			return &sigframes[i];
	}
	return NULL;
}
