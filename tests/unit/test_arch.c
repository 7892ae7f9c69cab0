/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_arch.c - register tables and call instructions.
 */
#include "formats/arch.h"

#include "formats/base/compiler.h"
#include "tests/unit/test.h"

#include <string.h>

static const struct arch *const both[] = { &arch_x86_64, &arch_aarch64 };

TEST(arch_is_found_by_machine_and_by_name)
{
	for (size_t i = 0; i < ARRAY_LEN(both); i++) {
		CHECK(arch_by_machine(both[i]->elf_machine) == both[i]);
		CHECK(arch_by_name(both[i]->name) == both[i]);
	}
	CHECK(!arch_by_machine(3));
	CHECK(!arch_by_name("riscv64"));
	CHECK(arch_native() == &arch_x86_64 || arch_native() == &arch_aarch64);
}

TEST(arch_code_mask_is_the_kernels_or_that_of_the_highest_code)
{
	CHECK_UINT(arch_code_mask_of_pac(0), 0);
	CHECK_UINT(arch_code_mask_of_pac(0x7fff8000000000), (1ULL << 39) - 1);
	CHECK_UINT(arch_code_mask_of_pac(0x7f000000000000), (1ULL << 48) - 1);
	CHECK_UINT(arch_code_mask_of_pac(0x70000000000000), (1ULL << 52) - 1);

	CHECK_UINT(arch_code_mask(&arch_aarch64, (1ULL << 39) - 1, 0xffff00000000), (1ULL << 39) - 1);
	CHECK_UINT(arch_code_mask(&arch_aarch64, 0, 0x5512345678), (1ULL << 39) - 1);
	CHECK_UINT(arch_code_mask(&arch_aarch64, 0, 0xffff00000000), (1ULL << 48) - 1);
	CHECK_UINT(arch_code_mask(&arch_aarch64, 0, 0), (1ULL << 48) - 1);
	CHECK_UINT(arch_code_mask(&arch_aarch64, 0x1234567890, 0), (1ULL << 48) - 1); /* no mask */
	CHECK_UINT(arch_code_mask(&arch_x86_64, (1ULL << 39) - 1, 0x5512345678), UINT64_MAX);
}

TEST(arch_kernel_mask_covers_each_register_exactly_once)
{
	for (size_t i = 0; i < ARRAY_LEN(both); i++) {
		const struct arch *arch = both[i];
		uint64_t seen = 0;

		for (unsigned k = 0; k < 64; k++) {
			if (!(arch->regs_mask >> k & 1))
				continue;
			CHECK(k < arch->nkernel_regs);
			CHECK(arch->kernel_regs[k] < arch->nregs);
			CHECK(!(seen >> arch->kernel_regs[k] & 1));
			seen |= 1ULL << arch->kernel_regs[k];
		}
		CHECK_UINT(seen, (1ULL << arch->nregs) - 1);
		CHECK(arch->nregs <= ARCH_REGS_MAX);
	}
}

TEST(arch_kernel_numbers_lead_to_the_named_registers)
{
	CHECK_STR(arch_x86_64.reg_names[arch_x86_64.kernel_regs[1]], "rbx");
	CHECK_STR(arch_x86_64.reg_names[arch_x86_64.kernel_regs[2]], "rcx");
	CHECK_STR(arch_x86_64.reg_names[arch_x86_64.kernel_regs[3]], "rdx");
	CHECK_STR(arch_x86_64.reg_names[arch_x86_64.kernel_regs[7]], "rsp");
	CHECK_STR(arch_x86_64.reg_names[arch_x86_64.kernel_regs[8]], "rip");
	CHECK_STR(arch_x86_64.reg_names[arch_x86_64.kernel_regs[23]], "r15");
	CHECK_STR(arch_x86_64.reg_names[arch_x86_64.sp], "rsp");
	CHECK_STR(arch_x86_64.reg_names[arch_x86_64.fp], "rbp");
	CHECK_STR(arch_x86_64.reg_names[arch_x86_64.ip], "rip");
	CHECK_STR(arch_aarch64.reg_names[arch_aarch64.kernel_regs[31]], "sp");
	CHECK_STR(arch_aarch64.reg_names[arch_aarch64.ip], "pc");
	CHECK_STR(arch_aarch64.reg_names[arch_aarch64.fp], "x29");
	CHECK_STR(arch_aarch64.reg_names[arch_aarch64.lr], "x30");
}

struct code {
	const char *what;
	uint8_t len, bytes[8];
};

static const struct code x86_64_calls[] = {
	{ "call rel32", 5, { 0xe8, 1, 2, 3, 4 } },
	{ "data16 rex.W call rel32", 7, { 0x66, 0x48, 0xe8, 1, 2, 3, 4 } },
	{ "addr32 call rel32", 6, { 0x67, 0xe8, 1, 2, 3, 4 } },
	{ "call *%rax", 2, { 0xff, 0xd0 } },
	{ "call *%r11", 3, { 0x41, 0xff, 0xd3 } },
	{ "notrack call *%rax", 3, { 0x3e, 0xff, 0xd0 } },
	{ "call *(%rax)", 2, { 0xff, 0x10 } },
	{ "call *8(%rax)", 3, { 0xff, 0x50, 8 } },
	{ "call *(%rsp)", 3, { 0xff, 0x14, 0x24 } },
	{ "call *8(%rsp)", 4, { 0xff, 0x54, 0x24, 8 } },
	{ "call *0x100(%r12,%rax,8)", 8, { 0x41, 0xff, 0x94, 0xc4, 0, 1, 0, 0 } },
	{ "call *0x100(%rax)", 6, { 0xff, 0x90, 0, 1, 0, 0 } },
	{ "call *0x100(%rip)", 6, { 0xff, 0x15, 0, 1, 0, 0 } },
	{ "call *0x100(,%rax,8)", 7, { 0xff, 0x14, 0xc5, 0, 1, 0, 0 } },
	{ "call *%fs:0x10", 8, { 0x64, 0xff, 0x14, 0x25, 0x10, 0, 0, 0 } },
	{ "lcall *(%rax)", 2, { 0xff, 0x18 } },
};

static const struct code x86_64_others[] = {
	{ "nothing", 0, { 0 } },
	{ "call rel32, cut", 4, { 0xe8, 1, 2, 3 } },
	{ "call rel32, then nop", 6, { 0xe8, 1, 2, 3, 4, 0x90 } },
	{ "jmp *%rax", 2, { 0xff, 0xe0 } },
	{ "push (%rax)", 2, { 0xff, 0x30 } },
	{ "inc %eax", 2, { 0xff, 0xc0 } },
	{ "far call of a register", 2, { 0xff, 0xd8 } },
	{ "call *8(%rax) without its 8", 2, { 0xff, 0x50 } },
	{ "call *(SIB) without its SIB", 2, { 0xff, 0x14 } },
	{ "call *rip without its displacement", 3, { 0xff, 0x15, 0 } },
	{ "call *%rax with a byte too many", 3, { 0xff, 0xd0, 0 } },
	{ "jmp rel32", 5, { 0xe9, 1, 2, 3, 4 } },
	{ "syscall", 2, { 0x0f, 0x05 } },
};

static const struct code aarch64_calls[] = {
	{ "bl", 4, { 0x01, 0x00, 0x00, 0x94 } },
	{ "bl back", 4, { 0xff, 0xff, 0xff, 0x97 } },
	{ "blr x8", 4, { 0x00, 0x01, 0x3f, 0xd6 } },
	{ "blraaz x8", 4, { 0x1f, 0x09, 0x3f, 0xd6 } },
	{ "blrabz x8", 4, { 0x1f, 0x0d, 0x3f, 0xd6 } },
	{ "blraa x8, x9", 4, { 0x09, 0x09, 0x3f, 0xd7 } },
	{ "nop; bl", 8, { 0x1f, 0x20, 0x03, 0xd5, 0x01, 0x00, 0x00, 0x94 } },
};

static const struct code aarch64_others[] = {
	{ "nothing", 0, { 0 } },
	{ "bl, cut", 3, { 0x00, 0x00, 0x94 } },
	{ "b", 4, { 0x01, 0x00, 0x00, 0x14 } },
	{ "br x8", 4, { 0x00, 0x01, 0x1f, 0xd6 } },
	{ "ret", 4, { 0xc0, 0x03, 0x5f, 0xd6 } },
	{ "bl; nop", 8, { 1, 0, 0, 0x94, 0x1f, 0x20, 3, 0xd5 } },
	{ "svc", 4, { 0x01, 0x00, 0x00, 0xd4 } },
};

static void check_codes(const struct arch *arch, const struct code *codes, size_t count, bool want)
{
	for (size_t i = 0; i < count; i++) {
		bool got = arch->ends_with_call(codes[i].bytes, codes[i].len);

		CHECK_STR(got == want ? "as expected" : codes[i].what, "as expected");
	}
}

TEST(arch_knows_every_form_of_a_call)
{
	check_codes(&arch_x86_64, x86_64_calls, ARRAY_LEN(x86_64_calls), true);
	check_codes(&arch_aarch64, aarch64_calls, ARRAY_LEN(aarch64_calls), true);
}

TEST(arch_takes_nothing_else_for_a_call)
{
	check_codes(&arch_x86_64, x86_64_others, ARRAY_LEN(x86_64_others), false);
	check_codes(&arch_aarch64, aarch64_others, ARRAY_LEN(aarch64_others), false);
}

TEST(arch_knows_where_a_direct_call_leads)
{
	static const uint8_t forward[] = { 0x90, 0xe8, 0x10, 0x00, 0x00, 0x00 };
	static const uint8_t back[] = { 0xe8, 0xfb, 0xff, 0xff, 0xff };
	static const uint8_t indirect[] = { 0x90, 0x90, 0x90, 0xff, 0xd0 };
	static const uint8_t bl_next[] = { 0x01, 0x00, 0x00, 0x94 };
	static const uint8_t bl_back[] = { 0xff, 0xff, 0xff, 0x97 };
	static const uint8_t blr[] = { 0x00, 0x01, 0x3f, 0xd6 };
	int64_t distance;

	CHECK(arch_x86_64.direct_call(forward, sizeof(forward), &distance));
	CHECK_INT(distance, 0x10);
	CHECK(arch_x86_64.direct_call(back, sizeof(back), &distance));
	CHECK_INT(distance, -5); /* of itself */
	CHECK(!arch_x86_64.direct_call(indirect, sizeof(indirect), &distance));
	CHECK(arch_aarch64.direct_call(bl_next, sizeof(bl_next), &distance));
	CHECK_INT(distance, 0);
	CHECK(arch_aarch64.direct_call(bl_back, sizeof(bl_back), &distance));
	CHECK_INT(distance, -8);
	CHECK(!arch_aarch64.direct_call(blr, sizeof(blr), &distance));
}
