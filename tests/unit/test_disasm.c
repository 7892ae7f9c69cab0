/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_disasm.c - a few instructions whose text objdump confirms, and bytes that are none.
 */
#include "symbolize/disasm.h"
#include "tests/unit/test.h"

static void check_insn(const struct arch *arch, const char *bytes, size_t len,
		       const struct disasm_insn *expected)
{
	struct disasm *d = NULL;
	struct disasm_insn insn;

	CHECK_OK(disasm_open(arch, DISASM_ATT, &d));
	CHECK(disasm_next(d, guarded(bytes, len), len, 0x1000, &insn));
	CHECK_STR(insn.mnemonic, expected->mnemonic);
	CHECK_STR(insn.operands, expected->operands);
	CHECK_UINT(insn.len, expected->len);
	CHECK_UINT(insn.flow, expected->flow);
	CHECK_UINT(insn.target, expected->target);
	disasm_close(d);
}

/* What the first of @len bytes of x86-64 code is; its text depends on the version of capstone. */
static struct disasm_insn first_insn(const char *bytes, size_t len)
{
	struct disasm *d = NULL;
	struct disasm_insn insn = { 0 };

	CHECK_OK(disasm_open(&arch_x86_64, DISASM_ATT, &d));
	CHECK(disasm_next(d, guarded(bytes, len), len, 0x1000, &insn));
	disasm_close(d);
	return (struct disasm_insn){ .len = insn.len, .flow = insn.flow };
}

#define INSN(arch, bytes, ...) \
	check_insn(&(arch), (bytes), sizeof(bytes) - 1, &(struct disasm_insn){ __VA_ARGS__ })

TEST(disasm_knows_the_flow_of_x86_64_code)
{
	INSN(arch_x86_64, "\x48\x8b\x03", .mnemonic = "movq", .operands = "(%rbx), %rax", .len = 3);
	INSN(arch_x86_64, "\xe8\x10\x00\x00\x00", .mnemonic = "callq", .operands = "0x1015",
	     .len = 5, .flow = DISASM_CALL, .target = 0x1015);
	INSN(arch_x86_64, "\xff\xd0", .mnemonic = "callq", .operands = "*%rax", .len = 2,
	     .flow = DISASM_CALL);
	INSN(arch_x86_64, "\x75\xfe", .mnemonic = "jne", .operands = "0x1000", .len = 2,
	     .flow = DISASM_BRANCH, .target = 0x1000);
	INSN(arch_x86_64, "\xeb\x02", .mnemonic = "jmp", .operands = "0x1004", .len = 2,
	     .flow = DISASM_JUMP, .target = 0x1004);
	INSN(arch_x86_64, "\xc3", .mnemonic = "retq", .operands = "", .len = 1, .flow = DISASM_RETURN);
}

TEST(disasm_tells_a_jump_that_need_not_meet_an_endbr64)
{
	INSN(arch_x86_64, "\x3e\xff\xe0", .mnemonic = "notrack jmpq", .operands = "*%rax", .len = 3,
	     .flow = DISASM_JUMP);
	CHECK_UINT(first_insn("\x3e\xff\x24\xc5\x00\x20\x40\x00", 8).flow, DISASM_JUMP); /* some versions of capstone print a %ds: */
	INSN(arch_x86_64, "\x3e\x8b\x03", .mnemonic = "movl", .operands = "%ds:(%rbx), %eax", .len = 3);
}

TEST(disasm_knows_the_flow_of_aarch64_code)
{
	INSN(arch_aarch64, "\x04\x00\x00\x94", .mnemonic = "bl", .operands = "#0x1010", .len = 4,
	     .flow = DISASM_CALL, .target = 0x1010);
	INSN(arch_aarch64, "\x40\x00\x00\x54", .mnemonic = "b.eq", .operands = "#0x1008", .len = 4,
	     .flow = DISASM_BRANCH, .target = 0x1008);
	INSN(arch_aarch64, "\x02\x00\x00\x14", .mnemonic = "b", .operands = "#0x1008", .len = 4,
	     .flow = DISASM_JUMP, .target = 0x1008);
	INSN(arch_aarch64, "\x41\x00\x18\x36", .mnemonic = "tbz", .operands = "w1, #3, #0x1008",
	     .len = 4, .flow = DISASM_BRANCH, .target = 0x1008);
	INSN(arch_aarch64, "\xc0\x03\x5f\xd6", .mnemonic = "ret", .operands = "", .len = 4,
	     .flow = DISASM_RETURN);
}

TEST(disasm_passes_over_bytes_that_are_no_instruction)
{
	INSN(arch_x86_64, "\x06\x90", .mnemonic = ".byte", .operands = "0x06", .len = 1,
	     .flow = DISASM_UNDECODED);
	INSN(arch_x86_64, "\xe8\x10", .mnemonic = ".byte", .operands = "0xe8", .len = 1,
	     .flow = DISASM_UNDECODED);
	INSN(arch_aarch64, "\xff\xff\xff\xff", .mnemonic = ".byte",
	     .operands = "0xff, 0xff, 0xff, 0xff", .len = 4, .flow = DISASM_UNDECODED);
}

/* Some versions of capstone know them, and then print more than bytes. */
TEST(disasm_knows_how_long_vector_instructions_are_that_it_may_not_know)
{
	/* kmovd %k0,%eax; vpcmpub $0,0x20(%rdi),%ymm16,%k1 */
	CHECK_UINT(first_insn("\xc5\xfb\x93\xc0\x90", 5).len, 4);
	CHECK_UINT(first_insn("\x62\xf3\x7d\x20\x3f\x4f\x01\x00\x90", 9).len, 8);
	/* cut off: a byte at a time */
	INSN(arch_x86_64, "\xc5\xfb\x93", .mnemonic = ".byte", .operands = "0xc5", .len = 1,
	     .flow = DISASM_UNDECODED);
}

/* ---- registers and memory ---- */

static struct disasm_access access_of(const struct arch *arch, const char *bytes, size_t len)
{
	struct disasm *d = NULL;
	struct disasm_access access;

	CHECK_OK(disasm_open(arch, DISASM_ATT, &d));
	CHECK(disasm_access(d, guarded(bytes, len), len, 0x1000, &access));
	disasm_close(d);
	return access;
}

#define ACCESS(arch, bytes) access_of(&(arch), (bytes), sizeof(bytes) - 1)

TEST(disasm_tells_what_x86_64_loads_and_from_where)
{
	struct disasm_access load = ACCESS(arch_x86_64, "\x48\x8b\x44\x8b\x08"); /* mov 8(%rbx,%rcx,4),%rax */

	CHECK(load.has_memory && load.accesses);
	CHECK_INT(load.effect, DISASM_EFFECT_LOAD);
	CHECK_INT(load.target, 0);
	CHECK_INT(load.base, 3);
	CHECK_INT(load.index, 2);
	CHECK_INT(load.disp, 8);
	CHECK_UINT(load.scale, 4);
	CHECK_UINT(load.written, 1);

	struct disasm_access store = ACCESS(arch_x86_64, "\x89\x47\xfc"); /* mov %eax,-4(%rdi) */

	CHECK(store.accesses);
	CHECK_INT(store.effect, DISASM_EFFECT_OTHER);
	CHECK_INT(store.base, 5);
	CHECK_INT(store.disp, -4);
	CHECK_UINT(store.written, 0);
}

TEST(disasm_tells_addresses_copies_and_sums_of_x86_64)
{
	struct disasm_access lea = ACCESS(arch_x86_64, "\x48\x8d\x05\x10\x00\x00\x00"); /* lea 16(%rip),%rax */

	CHECK(lea.has_memory && !lea.accesses);
	CHECK_INT(lea.effect, DISASM_EFFECT_ADDRESS);
	CHECK_INT(lea.base, DISASM_PC);
	CHECK_INT(lea.disp, 0x1017);

	struct disasm_access copy = ACCESS(arch_x86_64, "\x48\x89\xfb"); /* mov %rdi,%rbx */

	CHECK_INT(copy.effect, DISASM_EFFECT_COPY);
	CHECK_INT(copy.target, 3);
	CHECK_INT(copy.source, 5);

	struct disasm_access add = ACCESS(arch_x86_64, "\x48\x83\xc0\x38"); /* add $56,%rax */

	CHECK_INT(add.effect, DISASM_EFFECT_ADD);
	CHECK_INT(add.disp, 56);

	struct disasm_access sum = ACCESS(arch_x86_64, "\x48\x01\xd0"); /* add %rdx,%rax */

	CHECK_INT(sum.effect, DISASM_EFFECT_SUM);
	CHECK_INT(sum.target, 0);
	CHECK_INT(sum.source, 1);

	/* half a register holds no pointer */
	CHECK_INT(ACCESS(arch_x86_64, "\x89\xfb").effect, DISASM_EFFECT_OTHER);
	/* thread-local memory is at no address that debug information has */
	CHECK(ACCESS(arch_x86_64, "\x64\x48\x8b\x04\x25\x28\x00\x00\x00").is_segment);
	CHECK(!ACCESS(arch_x86_64, "\x0f\x1f\x40\x00").accesses); /* nopl 0(%rax) */
}

TEST(disasm_tells_what_aarch64_loads_and_from_where)
{
	struct disasm_access load = ACCESS(arch_aarch64, "\x61\x0a\x40\xf9"); /* ldr x1,[x19,#16] */

	CHECK(load.accesses);
	CHECK_INT(load.effect, DISASM_EFFECT_LOAD);
	CHECK_INT(load.target, 1);
	CHECK_INT(load.base, 19);
	CHECK_INT(load.disp, 16);

	struct disasm_access copy = ACCESS(arch_aarch64, "\xf3\x03\x00\xaa"); /* mov x19,x0 */

	CHECK_INT(copy.effect, DISASM_EFFECT_COPY);
	CHECK_INT(copy.target, 19);
	CHECK_INT(copy.source, 0);

	struct disasm_access add = ACCESS(arch_aarch64, "\x20\x40\x00\x91"); /* add x0,x1,#16 */

	CHECK_INT(add.effect, DISASM_EFFECT_ADD);
	CHECK_INT(add.source, 1);
	CHECK_INT(add.disp, 16);
}
