/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/unwind/unwind_prologue.h"
#include "tests/unit/test.h"

#define ENTRY 0x7ffc00001238

static bool find(const char *code, size_t len, uint64_t word, struct unwind_prologue *ret)
{
	struct disasm *d = NULL;
	bool found;

	*ret = (struct unwind_prologue){ .entry = ENTRY, .word = word };
	CHECK_OK(disasm_open(&arch_x86_64, DISASM_INTEL, &d));
	found = unwind_prologue_find(d, guarded(code, len), len, 0x1000, ret);
	disasm_close(d);
	return found;
}

#define FIND(code, word, ret) find((code), sizeof(code) - 1, (word), (ret))

/* OpenSSL's SHA-512 for AVX2, shortened: mov %rsp,%rax; push %rbx; sub $1312,%rsp; and $-2048,%rsp; add $1152,%rsp; … */
#define HEAD "\x48\x89\xe0\x53\x48\x81\xec\x20\x05\x00\x00\x48\x81\xe4\x00\xf8\xff\xff\x48\x81\xc4\x80\x04\x00\x00"
#define STORE "\x48\x89\x84\x24\x98\x00\x00\x00" /* mov %rax,152(%rsp) */
#define SLOT  (((ENTRY - 8 - 1312) & ~2047ULL) + 1152 + 152)

TEST(prologue_finds_where_the_stack_pointer_of_before_is_kept)
{
	struct unwind_prologue p;

	CHECK(FIND(HEAD STORE, ENTRY, &p));
	CHECK_UINT(p.slot, SLOT);
	CHECK(p.sure);
}

TEST(prologue_finds_no_other_word)
{
	struct unwind_prologue p;

	CHECK(!FIND(HEAD STORE, ENTRY - 16, &p));
	CHECK(!FIND(HEAD, ENTRY, &p));
}

/* The rest of an instruction that is not all there is not read. */
TEST(prologue_ends_with_the_code)
{
	static const char code[] = HEAD STORE;
	struct unwind_prologue p;

	for (size_t len = 1; len < sizeof(code) - 1; len++)
		CHECK(!find(code, len, ENTRY, &p));
}

TEST(prologue_is_not_sure_behind_a_branch)
{
	struct unwind_prologue p;

	CHECK(FIND("\x74\x20" HEAD STORE, ENTRY, &p)); /* je */
	CHECK_UINT(p.slot, SLOT);
	CHECK(!p.sure);
}

TEST(prologue_ends_at_a_call_a_jump_and_a_return)
{
	struct unwind_prologue p;

	CHECK(!FIND("\xe8\x00\x00\x00\x00" HEAD STORE, ENTRY, &p));
	CHECK(!FIND("\xeb\x02" HEAD STORE, ENTRY, &p));
	CHECK(!FIND("\xc3" HEAD STORE, ENTRY, &p));
}

/* A stack pointer that depends on other registers, and a register that was given another value, are not known. */
TEST(prologue_knows_what_it_does_not_know)
{
	struct unwind_prologue p;

	CHECK(!FIND("\x48\x89\xe0\x4c\x29\xcc" STORE, ENTRY, &p)); /* mov %rsp,%rax; sub %r9,%rsp */
	CHECK(!FIND(HEAD "\x31\xc0" STORE, ENTRY, &p));              /* xor %eax,%eax */
	CHECK(!FIND(HEAD "\x48\x8b\x07" STORE, ENTRY, &p));          /* mov (%rdi),%rax */
}

TEST(prologue_sees_a_word_that_is_pushed)
{
	struct unwind_prologue p;

	CHECK(FIND("\x48\x89\xe5\x48\x83\xe4\xe0\x55", ENTRY, &p)); /* mov %rsp,%rbp; and $-32,%rsp; push %rbp */
	CHECK_UINT(p.slot, (ENTRY & ~31ULL) - 8);
}

TEST(prologue_passes_vector_instructions)
{
	struct unwind_prologue p;

	CHECK(FIND("\xc5\xf8\x77" HEAD "\xc4\xc1\x7e\x6f\x45\x80" STORE, ENTRY, &p)); /* vzeroupper; vmovdqu */
}
