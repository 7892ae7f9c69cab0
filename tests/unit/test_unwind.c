/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "symbolize/unwind.h"
#include "tests/unit/cfi_writer.h"
#include "tests/unit/elf_file.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define PID        100
#define STACK_BASE 0x7ffc00001000
#define STACK_LEN  128 /* words */
#define TEXT       0x1000
#define TEXT_LEN   0x800

/* Functions of the program, by link-time address; each but the last three has 0x100 bytes. */
#define LEAF   0x1000 /* CFA sp+8 */
#define MIDDLE 0x1100 /* CFA sp+24, the frame pointer at CFA-16 */
#define FRAMED 0x1200 /* CFA fp+16, the frame pointer at CFA-16 */
#define START  0x1300 /* the return address is undefined */
#define SIGNAL 0x1400 /* a signal frame: CFA sp+32, instruction pointer at CFA-24 */
#define STUB   0x1500 /* no rule */
#define BROKEN 0x1600 /* a malformed rule */
#define FAR    0x1700 /* saves its return address where no stack is */
#define BACK   0x1740 /* CFA below the stack pointer */
#define LOOP   0x1780 /* neither moves the stack pointer nor changes the instruction pointer */

/* What an address in a process is to the test: link-time address and the program it is in. */
#define IP(vaddr)   (w->bias + (vaddr))
#define CALL_LEN    5
#define CODE(bytes) (bytes), sizeof(bytes) - 1
#define PC_RELATIVE 0x1b
#define JIT_START   0x100000000
#define OTHER_START 0x200000000 /* a library whose file is missing */

struct world {
	const struct arch *arch;
	struct recording rec;
	struct recording_image image;
	struct diag diag;
	struct elf_file file;
	struct cfi_writer cfi;
	uint8_t text[TEXT_LEN];
	struct module_table *modules;
	struct space_table *spaces;
	struct unwinder *unwinder, *reference; /* the second splices nothing */
	uint64_t bias;

	/* The sample. */
	uint64_t words[STACK_LEN];
	size_t nwords; /* captured */
	bool cut;
	struct event_regs regs;
	uint64_t user_ips[16], kernel_ips[4];
	size_t nuser_ips, nkernel_ips;
	uint32_t slots[STACK_LEN];
	uint64_t kept[STACK_LEN];
	struct unwind_chain chain;
};

static void write_x86_64_rules(struct cfi_writer *w)
{
	cfi_writer_cie(w, "zR", PC_RELATIVE, 16, CODE("\x0c\x07\x08\x90\x01"));
	cfi_writer_fde(w, LEAF, 0x100, CODE(""));
	cfi_writer_fde(w, MIDDLE, 0x100, CODE("\x0e\x18\x86\x02"));
	cfi_writer_fde(w, FRAMED, 0x100, CODE("\x0c\x06\x10\x86\x02"));
	cfi_writer_fde(w, START, 0x100, CODE("\x07\x10"));
	cfi_writer_fde(w, BROKEN, 0x100, CODE("\x17"));
	cfi_writer_fde(w, FAR, 0x40, CODE("\x90\x80\x80\x04"));
	cfi_writer_fde(w, BACK, 0x40, CODE("\x13\x04\x11\x10\x7c"));
	cfi_writer_fde(w, LOOP, 0x40, CODE("\x0e\x00\x09\x10\x10"));
	cfi_writer_cie(w, "zRS", PC_RELATIVE, 16, CODE("\x0c\x07\x20\x90\x03"));
	cfi_writer_fde(w, SIGNAL, 0x100, CODE(""));
}

/* The same in the way of a machine with a link register; LEAF keeps it there. */
static void write_aarch64_rules(struct cfi_writer *w)
{
	cfi_writer_cie(w, "zR", PC_RELATIVE, 30, CODE("\x0c\x1f\x00"));
	cfi_writer_fde(w, LEAF, 0x100, CODE(""));
	cfi_writer_fde(w, MIDDLE, 0x100, CODE("\x2d\x0e\x10\x9d\x02\x9e\x01"));
	cfi_writer_fde(w, FRAMED, 0x100, CODE("\x0c\x1d\x10\x9d\x02\x9e\x01"));
	cfi_writer_fde(w, START, 0x100, CODE("\x07\x1e"));
}

/* Put a call in front of @vaddr, so that it may be returned to. */
static void put_call(struct world *w, uint64_t vaddr)
{
	if (w->arch == &arch_aarch64)
		memcpy(&w->text[vaddr - TEXT - 4], "\x01\x00\x00\x94", 4);
	else
		memcpy(&w->text[vaddr - TEXT - CALL_LEN], "\xe8\x00\x00\x00\x00", CALL_LEN);
}

static void build_program(struct world *w)
{
	struct elf_file *f = &w->file;

	for (uint64_t vaddr = LEAF; vaddr < TEXT + TEXT_LEN; vaddr += 0x100)
		put_call(w, vaddr + 0x40);
	memcpy(&w->text[STUB + 0x80 - TEXT], "\x68\x11\x80\xd2\x01\x00\x00\xd4",
	       8); /* aarch64's trampoline */
	f->machine = w->arch->elf_machine;
	w->cfi.vaddr = 0x3000;
	if (w->arch == &arch_aarch64)
		write_aarch64_rules(&w->cfi);
	else
		write_x86_64_rules(&w->cfi);
	elf_file_section(f, (struct elf_file_section){ .name = ".text",
						       .type = SHT_PROGBITS,
						       .flags = SHF_ALLOC | SHF_EXECINSTR,
						       .vaddr = TEXT,
						       .data = w->text,
						       .len = TEXT_LEN });
	elf_file_section(f, (struct elf_file_section){ .name = ".eh_frame",
						       .type = SHT_PROGBITS,
						       .flags = SHF_ALLOC,
						       .vaddr = 0x3000,
						       .data = w->cfi.out.data,
						       .len = w->cfi.out.len });
	elf_file_segment(f, (struct elf_file_segment){ PT_LOAD, PF_R | PF_X, 0, TEXT, 0, 0 });
	elf_file_finish(f);
}

static void map(struct world *w, const char *path, uint64_t start, uint64_t len)
{
	struct event ev = { .kind = EVENT_MMAP, .pid = PID, .tid = PID };

	ev.mmap = (struct event_mmap){
		.start = start, .end = start + len, .flags = EVENT_MMAP_EXEC, .path = path
	};
	if (strcmp(path, "/nowhere/prog") == 0) {
		ev.mmap.build_id_len = 4;
		memcpy(ev.mmap.build_id, "abcd", 4);
	}
	space_table_apply(w->spaces, &ev);
}

static struct world *world_new(const struct arch *arch)
{
	struct world *w = calloc(1, sizeof(*w));
	const struct space_map *program;

	w->arch = arch;
	w->rec.arch = arch;
	build_program(w);
	w->image = (struct recording_image){ .path = "/nowhere/prog",
					     .build_id_len = 4,
					     .build_id = "abcd",
					     .elf = w->file.out.data,
					     .elf_len = w->file.out.len };
	w->rec.images = &w->image;
	w->rec.nimages = 1;
	w->modules = module_table_new(&w->rec, NULL, &w->diag);
	w->spaces = space_table_new(w->modules);
	map(w, "/nowhere/prog", 0x555500000000, 0x4000);
	map(w, "//anon", JIT_START, 0x10000);
	map(w, "/nowhere/missing.so", OTHER_START, 0x10000);
	program = space_find(space_table_get(w->spaces, PID), 0x555500000000);
	CHECK(program && program->mapped);
	w->bias = program->bias;
	w->unwinder = unwinder_new(w->modules, w->spaces, NULL);
	w->reference =
		unwinder_new(w->modules, w->spaces, &(struct unwind_options){ .no_splice = true });
	w->nwords = STACK_LEN;
	return w;
}

static void world_free(struct world *w)
{
	unwinder_free(w->unwinder);
	unwinder_free(w->reference);
	space_table_free(w->spaces);
	module_table_free(w->modules);
	diag_deinit(&w->diag);
	arena_deinit(&w->rec.arena);
	elf_file_deinit(&w->file);
	cfi_writer_deinit(&w->cfi);
	free(w);
}

static void world_freep(struct world **w)
{
	world_free(*w);
}

static void set_reg(struct world *w, unsigned reg, uint64_t value)
{
	w->regs.values[reg] = value;
	w->regs.mask |= 1ULL << reg;
}

static uint64_t slot(size_t index)
{
	return STACK_BASE + 8 * index;
}

/* The sampled instruction, and the stack pointer at word @sp. */
static void set_leaf(struct world *w, uint64_t ip, size_t sp)
{
	set_reg(w, w->arch->ip, ip);
	set_reg(w, w->arch->sp, slot(sp));
}

/* The snapshot is what lies above the stack pointer. */
static struct event make_event(struct world *w)
{
	struct event ev = { .kind = EVENT_SAMPLE, .pid = PID, .tid = PID };
	struct event_sample *s = &ev.sample;
	size_t first = w->regs.mask ? (w->regs.values[w->arch->sp] - STACK_BASE) / 8 : 0, n = 0;

	for (size_t i = first; i < w->nwords; i++) {
		if (w->words[i]) {
			w->slots[n] = (uint32_t)(i - first);
			w->kept[n++] = w->words[i];
		}
	}
	s->mode = w->nkernel_ips ? EVENT_MODE_KERNEL : EVENT_MODE_USER;
	s->ip = w->nkernel_ips ? w->kernel_ips[0] : w->regs.values[w->arch->ip];
	s->regs = w->regs.mask ? &w->regs : NULL;
	s->stack = (struct event_stack){ .base = slot(first),
					 .end = w->regs.mask ? slot(w->nwords) : slot(first),
					 .nwords = n,
					 .slots = w->slots,
					 .words = w->kept,
					 .cut = w->cut };
	s->user_ips = w->user_ips;
	s->nuser_ips = w->nuser_ips;
	s->kernel_ips = w->kernel_ips;
	s->nkernel_ips = w->nkernel_ips;
	return ev;
}

static void check_same(const struct unwind_chain *a, const struct unwind_chain *b)
{
	CHECK_UINT(a->nframes, b->nframes);
	CHECK_UINT(a->stop, b->stop);
	CHECK(a->stop_module == b->stop_module);
	for (size_t i = 0; i < a->nframes; i++) {
		CHECK_UINT(a->frames[i].ip, b->frames[i].ip);
		CHECK_UINT(a->frames[i].vaddr, b->frames[i].vaddr);
		CHECK_UINT(a->frames[i].how, b->frames[i].how);
		CHECK(a->frames[i].module == b->frames[i].module);
	}
}

/* Walk twice with splicing and once without: the result is always the same. */
static void walk(struct world *w)
{
	struct event ev = make_event(w);
	struct unwind_chain reference;

	unwinder_walk(w->reference, &ev, &reference);
	unwinder_walk(w->unwinder, &ev, &w->chain);
	check_same(&w->chain, &reference);
	unwinder_walk(w->unwinder, &ev, &w->chain);
	check_same(&w->chain, &reference);
}

/* Frame @i returns to @ip, and is looked up one before it. */
static void check_frame(const struct world *w, size_t i, uint64_t ip, enum unwind_how how)
{
	CHECK(i < w->chain.nframes);
	CHECK_UINT(w->chain.frames[i].ip, ip);
	CHECK_STR(unwind_how_name(w->chain.frames[i].how), unwind_how_name(how));
}

static void check_end(const struct world *w, size_t nframes, enum unwind_stop stop)
{
	CHECK_STR(unwind_stop_name(w->chain.stop), unwind_stop_name(stop));
	CHECK_UINT(w->chain.nframes, nframes);
	CHECK_UINT(w->chain.stop_module == NULL,
		   stop == UNWIND_ROOT || stop == UNWIND_SPLICED || stop == UNWIND_NOT_WALKED);
}

TEST(unwind_follows_rules_down_to_the_root)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

	set_leaf(w, IP(LEAF + 8), 0);
	w->words[0] = IP(MIDDLE + 0x40);
	w->words[1 + 0] = 0;        /* local */
	w->words[1 + 1] = slot(10); /* the frame pointer of FRAMED, whose locals lie between */
	w->words[1 + 2] = IP(FRAMED + 0x40);
	w->words[10] = 0;
	w->words[11] = IP(START + 0x40);
	walk(w);
	check_frame(w, 0, IP(LEAF + 8), UNWIND_LEAF);
	check_frame(w, 1, IP(MIDDLE + 0x40), UNWIND_CFI);
	check_frame(w, 2, IP(FRAMED + 0x40), UNWIND_CFI);
	check_frame(w, 3, IP(START + 0x40), UNWIND_CFI);
	check_end(w, 4, UNWIND_ROOT);
	CHECK_UINT(w->chain.frames[0].vaddr, LEAF + 8);
	CHECK_UINT(w->chain.frames[1].vaddr, MIDDLE + 0x3f);
	CHECK_STR(w->chain.frames[1].module->name, "prog");
}

/* A call that never returns may be a function's last instruction. */
TEST(unwind_looks_return_addresses_up_inside_the_call)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

	set_leaf(w, IP(LEAF), 0);
	w->words[0] = IP(START); /* MIDDLE's end */
	w->words[1] = IP(LEAF + 0x40);
	walk(w);
	CHECK_UINT(w->chain.frames[1].vaddr, START - 1); /* in FRAMED */
	CHECK(w->chain.stop != UNWIND_ROOT);
}

TEST(unwind_takes_an_interrupted_address_as_it_is)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

	set_leaf(w, IP(LEAF), 0);
	w->words[0] = IP(SIGNAL + 0x10);
	w->words[1 + 1] = IP(START); /* interrupted at its first instruction */
	walk(w);
	check_frame(w, 1, IP(SIGNAL + 0x10), UNWIND_CFI);
	check_frame(w, 2, IP(START), UNWIND_CFI);
	CHECK_UINT(w->chain.frames[2].vaddr, START);
	check_end(w, 3, UNWIND_ROOT);
}

TEST(unwind_says_why_it_stopped)
{
	static const struct {
		uint64_t vaddr; /* of the caller of the leaf */
		size_t nframes;
		enum unwind_stop stop;
	} cases[] = {
		{ START + 0x40, 2, UNWIND_ROOT },        { BROKEN + 0x40, 2, UNWIND_BAD_TABLE },
		{ STUB + 0x40, 2, UNWIND_NO_TABLE },     { FAR + 0x20, 2, UNWIND_UNREADABLE },
		{ BACK + 0x20, 2, UNWIND_BAD_TABLE },    { LOOP + 0x20, 2, UNWIND_BAD_TABLE },
		{ FRAMED + 0x40, 2, UNWIND_UNREADABLE }, { 0x100000, 1, UNWIND_NO_MAPPING },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

		set_leaf(w, IP(LEAF), 0);
		set_reg(w, w->arch->fp, 0x1234);
		w->words[0] = IP(cases[i].vaddr);
		walk(w);
		check_end(w, cases[i].nframes, cases[i].stop);
	}
}

TEST(unwind_says_that_the_snapshot_ended)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

	set_leaf(w, IP(LEAF), 0);
	w->words[0] = IP(MIDDLE + 0x40);
	w->nwords = 3; /* the return address of MIDDLE is the next word */
	w->cut = true;
	walk(w);
	check_end(w, 2, UNWIND_SNAPSHOT_ENDED);
	CHECK_STR(w->chain.stop_module->name, "prog");
}

/* Frames of FRAMED at words @from, @from + 4 …, each with its frame pointer and return address. */
static void recurse(struct world *w, size_t from, size_t count, uint64_t ip)
{
	for (size_t i = 0; i < count; i++) {
		w->words[from + 4 * i] = slot(from + 4 * (i + 1));
		w->words[from + 4 * i + 1] = ip;
	}
}

TEST(unwind_goes_on_with_the_kernels_chain_where_the_snapshot_ends)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

	set_leaf(w, IP(FRAMED), 0);
	set_reg(w, w->arch->fp, slot(2));
	recurse(w, 2, 10, IP(FRAMED + 0x40));
	w->nwords = 2 + 4 * 3; /* three of ten return addresses; the same ones all the way */
	w->cut = true;
	w->nuser_ips = 12;
	w->user_ips[0] = IP(FRAMED);
	for (size_t i = 1; i <= 10; i++)
		w->user_ips[i] = IP(FRAMED + 0x40);
	w->user_ips[11] = IP(START + 0x40);
	walk(w);
	check_end(w, 12, UNWIND_SPLICED);
	check_frame(w, 3, IP(FRAMED + 0x40), UNWIND_CFI);
	check_frame(w, 4, IP(FRAMED + 0x40), UNWIND_KERNEL_CHAIN);
	check_frame(w, 11, IP(START + 0x40), UNWIND_KERNEL_CHAIN);
	CHECK_UINT(w->chain.frames[11].vaddr, START + 0x3f);

	w->user_ips[2] = IP(MIDDLE + 0x40); /* not the chain of this stack */
	walk(w);
	check_end(w, 4, UNWIND_SNAPSHOT_ENDED);
}

/* The kernel's next frame pointer leads past the frame that is missing: one would be left out. */
TEST(unwind_takes_no_kernel_chain_that_leaves_a_gap)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

	set_leaf(w, IP(MIDDLE), 0);
	set_reg(w, w->arch->fp, slot(20));
	w->words[1] = slot(20);
	w->words[2] = IP(LEAF + 0x40);
	w->nwords = 3;
	w->cut = true;
	w->nuser_ips = 2;
	w->user_ips[0] = IP(MIDDLE);
	w->user_ips[1] = IP(START + 0x40);
	walk(w);
	check_end(w, 2, UNWIND_SNAPSHOT_ENDED);
}

TEST(unwind_uses_the_frame_pointer_where_there_is_no_rule)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

	set_leaf(w, IP(STUB + 0x50), 0);
	set_reg(w, w->arch->fp, slot(6));
	w->words[6] = slot(10);
	w->words[7] = IP(STUB + 0x40);
	w->words[10] = slot(14);
	w->words[11] = JIT_START + 0x100; /* no code to look at */
	w->words[14] = slot(18);
	w->words[15] = IP(START + 0x40);
	walk(w);
	check_frame(w, 1, IP(STUB + 0x40), UNWIND_FP);
	check_frame(w, 2, JIT_START + 0x100, UNWIND_FP_UNCHECKED);
	check_frame(w, 3, IP(START + 0x40), UNWIND_FP);
	check_end(w, 4, UNWIND_ROOT);
}

TEST(unwind_takes_no_return_address_that_follows_no_call)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

	set_leaf(w, IP(STUB + 0x50), 0);
	set_reg(w, w->arch->fp, slot(6));
	w->words[6] = slot(10);
	w->words[7] = IP(START + 0x41);
	walk(w);
	check_end(w, 1, UNWIND_NO_TABLE);
}

TEST(unwind_finds_the_caller_of_a_stub_on_top_of_the_stack)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

	set_leaf(w, IP(STUB + 0x50), 0);
	set_reg(w, w->arch->fp, slot(6)); /* the caller's: it must not be followed */
	w->words[0] = 5;                  /* what a PLT slot pushes */
	w->words[1] = IP(MIDDLE + 0x40);
	w->words[2 + 2] = IP(START + 0x40);
	w->words[6] = slot(10);
	w->words[7] = IP(LEAF + 0x40);
	walk(w);
	check_frame(w, 1, IP(MIDDLE + 0x40), UNWIND_LINK);
	check_frame(w, 2, IP(START + 0x40), UNWIND_CFI);
	check_end(w, 3, UNWIND_ROOT);
}

TEST(unwind_takes_the_end_of_the_frame_pointers_for_the_root)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

	set_leaf(w, JIT_START + 8, 0);
	set_reg(w, w->arch->fp, slot(6));
	w->words[7] = IP(STUB + 0x40); /* its frame pointer was 0 */
	walk(w);
	check_frame(w, 1, IP(STUB + 0x40), UNWIND_FP);
	check_end(w, 2, UNWIND_ROOT);
}

/* A register that is 0 is no frame pointer where frame pointers did not lead to it. */
TEST(unwind_takes_no_zero_for_the_root_while_return_addresses_follow)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

	set_leaf(w, IP(LEAF), 0);
	set_reg(w, w->arch->fp, 0);
	w->words[0] = IP(STUB + 0x40);
	w->words[9] = IP(MIDDLE + 0x40);
	walk(w);
	check_end(w, 2, UNWIND_NO_TABLE);
	w->words[9] = 0;
	walk(w);
	check_end(w, 2, UNWIND_ROOT);
}

TEST(unwind_says_that_the_binary_is_missing)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

	set_leaf(w, OTHER_START + 0x10, 0);
	set_reg(w, w->arch->fp, 1);
	walk(w);
	check_end(w, 1, UNWIND_NO_BINARY);
	CHECK_STR(w->chain.stop_module->name, "missing.so");
}

TEST(unwind_puts_the_kernels_frames_first)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

	w->kernel_ips[0] = 0xffffffff81000010;
	w->kernel_ips[1] = 0xffffffff81000020;
	w->nkernel_ips = 2;
	set_leaf(w, IP(START + 0x10), 0);
	walk(w);
	check_end(w, 3, UNWIND_ROOT);
	CHECK(w->chain.frames[0].kernel && w->chain.frames[1].kernel && !w->chain.frames[2].kernel);
	CHECK_UINT(w->chain.frames[0].vaddr, 0xffffffff81000010);
	CHECK_UINT(w->chain.frames[1].vaddr, 0xffffffff8100001f);
	check_frame(w, 2, IP(START + 0x10), UNWIND_LEAF);

	w->regs.mask = 0;
	walk(w);
	check_end(w, 2, UNWIND_NOT_WALKED);
}

TEST(unwind_gives_the_recorded_chain_where_there_is_no_snapshot)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);

	w->user_ips[0] = IP(LEAF);
	w->user_ips[1] = IP(MIDDLE + 0x40);
	w->nuser_ips = 2;
	walk(w);
	check_frame(w, 0, IP(LEAF), UNWIND_LEAF);
	check_frame(w, 1, IP(MIDDLE + 0x40), UNWIND_KERNEL_CHAIN);
	CHECK_UINT(w->chain.frames[1].vaddr, MIDDLE + 0x3f);
	check_end(w, 2, UNWIND_SPLICED);

	/* An end is an end; what is no code is not a frame, and the chain not complete. */
	w->user_ips[2] = 0;
	w->nuser_ips = 3;
	walk(w);
	check_end(w, 2, UNWIND_SPLICED);
	w->user_ips[2] = EVENT_IP_ASTRAY;
	walk(w);
	check_end(w, 2, UNWIND_NO_MAPPING);
	w->user_ips[2] = 0x7ffffff01000;
	walk(w);
	check_end(w, 2, UNWIND_NO_MAPPING);

	w->nuser_ips = 1;
	walk(w);
	check_end(w, 1, UNWIND_NO_STACK);
}

TEST(unwind_uses_the_link_register_of_an_interrupted_leaf_only)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_aarch64);

	set_leaf(w, IP(LEAF + 4), 0);
	set_reg(w, 30, IP(MIDDLE + 0x40));
	w->words[0] = slot(4);
	w->words[1] = IP(FRAMED + 0x40) | 0x5aULL << 48; /* signed */
	w->words[4] = slot(8);
	w->words[5] = IP(LEAF + 0x40); /* not interrupted: its rule cannot be right here */
	walk(w);
	check_frame(w, 1, IP(MIDDLE + 0x40), UNWIND_CFI);
	check_frame(w, 2, IP(FRAMED + 0x40), UNWIND_CFI);
	check_frame(w, 3, IP(LEAF + 0x40), UNWIND_CFI);
	check_end(w, 4, UNWIND_BAD_TABLE);
}

/* Linux's trampoline and what it finds on the stack. */
TEST(unwind_steps_out_of_a_signal_handler_on_aarch64)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_aarch64);
	const size_t regs = (128 + 176 + 8) / 8;

	set_leaf(w, IP(LEAF + 4), 0);
	set_reg(w, 30, IP(STUB + 0x80));
	w->words[regs + 30] = IP(MIDDLE + 0x40);
	w->words[regs + 31] = slot(100);
	w->words[regs + 32] = IP(LEAF + 0x20);
	w->words[100] = 0;
	w->words[101] = IP(START + 0x40);
	walk(w);
	check_frame(w, 1, IP(STUB + 0x80), UNWIND_CFI);
	check_frame(w, 2, IP(LEAF + 0x20), UNWIND_CFI);
	check_frame(w, 3, IP(MIDDLE + 0x40), UNWIND_CFI);
	check_frame(w, 4, IP(START + 0x40), UNWIND_CFI);
	check_end(w, 5, UNWIND_ROOT);
}

TEST(unwind_stops_at_the_deepest_frame_it_has_room_for)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);
	uint32_t *slots = calloc(2000, sizeof(*slots));
	uint64_t *words = calloc(2000, sizeof(*words));
	struct event ev;

	set_leaf(w, IP(LEAF), 0);
	ev = make_event(w);
	for (uint32_t i = 0; i < 2000; i++) {
		slots[i] = i;
		words[i] = IP(LEAF + 0x40);
	}
	ev.sample.stack.slots = slots;
	ev.sample.stack.words = words;
	ev.sample.stack.nwords = 2000;
	ev.sample.stack.end = slot(2000);
	for (int round = 0; round < 2; round++) {
		unwinder_walk(w->unwinder, &ev, &w->chain);
		check_end(w, UNWIND_FRAMES_MAX, UNWIND_TOO_DEEP);
	}
	free(slots);
	free(words);
}

/* ---- taking frames over ---------------------------------------------------------------------------- */

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return *state >> 33;
}

/* Lay a random stack of frames from the top down to word @from. */
static void lay_stack(struct world *w, uint64_t *seed, size_t from)
{
	size_t at = STACK_LEN - 8, fp = 0;
	uint64_t caller = IP(START + 0x40);

	memset(w->words + from, 0, (STACK_LEN - from) * sizeof(w->words[0]));
	while (at > from + 8) {
		switch (next_random(seed) % 3) {
		case 0: /* LEAF */
			w->words[--at] = caller;
			caller = IP(LEAF + 0x40);
			break;
		case 1: /* MIDDLE */
			w->words[--at] = caller;
			w->words[--at] = fp;
			w->words[--at] = next_random(seed);
			caller = IP(MIDDLE + 0x40);
			break;
		case 2: /* FRAMED, with some locals */
			w->words[--at] = caller;
			w->words[--at] = fp;
			fp = slot(at);
			at -= next_random(seed) % 4;
			caller = IP(FRAMED + 0x40);
			break;
		}
	}
	w->words[--at] = caller;
	set_leaf(w, IP(LEAF + next_random(seed) % 0x100), at);
	set_reg(w, w->arch->fp, fp);
	set_reg(w, 3, next_random(seed));
}

TEST(unwind_takes_over_only_what_has_not_changed)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);
	uint64_t seed = 1;

	for (int round = 0; round < 3000; round++) {
		if (round % 20 == 0)
			lay_stack(w, &seed, next_random(&seed) % 64);
		/* One word changes: a return address, a frame pointer or something else, for good or bad. */
		size_t at = next_random(&seed) % STACK_LEN;
		uint64_t old = w->words[at];

		if (next_random(&seed) % 2)
			w->words[at] = next_random(&seed) % 2
					       ? IP(LEAF + 0x40)
					       : slot(next_random(&seed) % STACK_LEN);
		w->cut = next_random(&seed) % 2;
		w->nwords =
			next_random(&seed) % 4 ? STACK_LEN : STACK_LEN - next_random(&seed) % 20;
		walk(w);
		if (next_random(&seed) % 2)
			w->words[at] = old;
	}
	CHECK(unwinder_stats(w->unwinder)->spliced_frames > 1000);
	CHECK_UINT(unwinder_stats(w->reference)->spliced_frames, 0);
}

TEST(unwind_takes_nothing_over_across_a_change_of_mappings)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);
	uint64_t seed = 7;

	lay_stack(w, &seed, 0);
	walk(w);
	CHECK_UINT(w->chain.stop, UNWIND_ROOT);
	map(w, "/nowhere/missing.so", 0x555500000000, 0x4000); /* over the program */
	walk(w);
	CHECK_STR(w->chain.frames[w->chain.nframes - 1].module->name, "missing.so");
}

TEST(unwind_names_every_reason)
{
	for (int i = 0; i < UNWIND_STOPS; i++)
		CHECK(unwind_stop_name((enum unwind_stop)i));
	CHECK_STR(unwind_stop_remedy(UNWIND_ROOT), NULL);
	CHECK(strstr(unwind_stop_remedy(UNWIND_NO_BINARY), "--symfs"));
}
