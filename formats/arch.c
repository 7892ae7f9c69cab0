/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arch.c - the two processors, as tables.
 *
 * Kernel numbering: arch/x86/include/uapi/asm/perf_regs.h,
 * arch/arm64/include/uapi/asm/perf_regs.h.
 */
#include "formats/arch.h"

#include "formats/base/compiler.h"

#include <elf.h>
#include <string.h>

#define NONE 0xff

#define CODE_MASK_USUAL ((1ULL << 48) - 1) /* of most aarch64 kernels; Android's and small boards' have 39 bits */

/*
 * Kernel: ax bx cx dx si di bp sp ip flags cs ss ds es fs gs r8 .. r15. DWARF: ax dx cx bx si di
 * bp sp.
 */
static const uint8_t x86_64_kernel_regs[] = {
	0,    3,    2,    1,    4, 5, 6,  7,  16, NONE, NONE, NONE,
	NONE, NONE, NONE, NONE, 8, 9, 10, 11, 12, 13,   14,   15,
};

static const char *const x86_64_reg_names[] = {
	"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8",
	"r9",  "r10", "r11", "r12", "r13", "r14", "r15", "rip",
};

/* Bytes of the operand whose ModRM byte is @p[0]; 0 if it does not end within @len. */
static size_t modrm_len(const uint8_t *p, size_t len)
{
	unsigned mod = p[0] >> 6;
	unsigned rm = p[0] & 7;
	size_t need = 1;

	if (mod == 3)
		return 1;
	if (rm == 4) {
		if (len < 2)
			return 0;
		rm = p[1] & 7; /* the base: 5 without a displacement means "no base, 32 bits" */
		need++;
	}
	if (mod == 2 || (mod == 0 && rm == 5))
		need += 4;
	else if (mod == 1)
		need++;
	return need <= len ? need : 0;
}

/*
 * E8 rel32, or FF /2 (near) or FF /3 (far, memory only). Prefixes, REX included, only stand in
 * front of the opcode, so where the opcode and its operand fit exactly they need not be looked at.
 */
static bool x86_64_ends_with_call(const uint8_t *code, size_t len)
{
	const uint8_t *end = code + len;

	if (len >= 5 && end[-5] == 0xe8)
		return true;
	for (size_t take = 2; take <= 7 && take <= len; take++) {
		const uint8_t *p = end - take;
		unsigned reg = p[1] >> 3 & 7;

		if (p[0] != 0xff || modrm_len(p + 1, take - 1) != take - 1)
			continue;
		if (reg == 2 || (reg == 3 && p[1] >> 6 != 3))
			return true;
	}
	return false;
}

/* call rel32 */
static bool x86_64_direct_call(const uint8_t *code, size_t len, int64_t *ret)
{
	const uint8_t *p = code + len - 4;

	if (len < 5 || p[-1] != 0xe8)
		return false;
	*ret = (int32_t)((uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0]);
	return true;
}

/* x0 .. x29, lr, sp, pc: the kernel's and the DWARF numbers are the same. */
static const uint8_t aarch64_kernel_regs[] = {
	0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
	17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32,
};

static const char *const aarch64_reg_names[] = {
	"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",  "x8",  "x9",  "x10",
	"x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21",
	"x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp",  "pc",
};

/* Arm ARM, C6.2: the register operands are masked out. */
static const struct {
	uint32_t mask, bits;
} aarch64_calls[] = {
	{ 0xfc000000, 0x94000000 }, /* bl */
	{ 0xfffffc1f, 0xd63f0000 }, /* blr */
	{ 0xfffffc1f, 0xd63f081f }, /* blraaz */
	{ 0xfffffc1f, 0xd63f0c1f }, /* blrabz */
	{ 0xfffffc00, 0xd73f0800 }, /* blraa */
	{ 0xfffffc00, 0xd73f0c00 }, /* blrab */
};

static bool aarch64_ends_with_call(const uint8_t *code, size_t len)
{
	if (len < 4)
		return false;

	const uint8_t *p = code + len - 4;
	uint32_t word = (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];

	for (size_t i = 0; i < ARRAY_LEN(aarch64_calls); i++) {
		if ((word & aarch64_calls[i].mask) == aarch64_calls[i].bits)
			return true;
	}
	return false;
}

/* bl label: 26 bits in units of 4 bytes from the instruction itself (Arm ARM, C6.2.35) */
static bool aarch64_direct_call(const uint8_t *code, size_t len, int64_t *ret)
{
	const uint8_t *p = code + len - 4;

	if (len < 4 || p[3] >> 2 != 0x25)
		return false;
	uint32_t words = (uint32_t)(p[3] & 3) << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];

	*ret = ((int64_t)(words ^ 0x2000000) - 0x2000000) * 4 - 4;
	return true;
}

const struct arch arch_x86_64 = {
	.name = "x86_64",
	.elf_machine = EM_X86_64,
	.nregs = ARRAY_LEN(x86_64_reg_names),
	.sp = 7,
	.ip = 16,
	.fp = 6,
	.lr = -1,
	.regs_mask = 0xff01ff, /* no flags, no segments: no unwind rule reads them */
	.loop_regs_mask = 0xf00000, /* r12 .. r15 */
	.callee_saved = 0xf0c8, /* rbx, rbp, rsp, r12 .. r15 (psABI, figure 3.4) */
	.kernel_regs = x86_64_kernel_regs,
	.nkernel_regs = ARRAY_LEN(x86_64_kernel_regs),
	.reg_names = x86_64_reg_names,
	.ends_with_call = x86_64_ends_with_call,
	.direct_call = x86_64_direct_call,
};

const struct arch arch_aarch64 = {
	.name = "aarch64",
	.elf_machine = EM_AARCH64,
	.nregs = ARRAY_LEN(aarch64_reg_names),
	.sp = 31,
	.ip = 32,
	.fp = 29,
	.lr = 30,
	.regs_mask = (1ULL << 33) - 1,
	.loop_regs_mask = 1ULL << 20 | 1ULL << 21 | 1ULL << 27 | 1ULL << 28,
	.callee_saved = 0xbff80000, /* x19 .. x29, sp (AAPCS64, 6.1.1) */
	.kernel_regs = aarch64_kernel_regs,
	.nkernel_regs = ARRAY_LEN(aarch64_kernel_regs),
	.reg_names = aarch64_reg_names,
	.ends_with_call = aarch64_ends_with_call,
	.direct_call = aarch64_direct_call,
};

static const struct arch *const archs[] = { &arch_x86_64, &arch_aarch64 };

const struct arch *arch_by_machine(uint16_t elf_machine)
{
	for (size_t i = 0; i < ARRAY_LEN(archs); i++) {
		if (archs[i]->elf_machine == elf_machine)
			return archs[i];
	}
	return NULL;
}

const struct arch *arch_by_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(archs); i++) {
		if (strcmp(archs[i]->name, name) == 0)
			return archs[i];
	}
	return NULL;
}

uint64_t arch_code_mask(const struct arch *arch, uint64_t recorded, uint64_t highest)
{
	if (arch->lr < 0)
		return UINT64_MAX;
	if (recorded > UINT32_MAX && !(recorded & (recorded + 1)))
		return recorded;
	return highest > UINT32_MAX ? UINT64_MAX >> __builtin_clzll(highest) : CODE_MASK_USUAL;
}

uint64_t arch_code_mask_of_pac(uint64_t pac)
{
	return pac ? (pac & -pac) - 1 : 0;
}

#if defined(__x86_64__)
#define NATIVE arch_x86_64
#elif defined(__aarch64__)
#define NATIVE arch_aarch64
#else
#error "only x86-64 and aarch64 have a table here"
#endif

const struct arch *arch_native(void)
{
	return &NATIVE;
}
