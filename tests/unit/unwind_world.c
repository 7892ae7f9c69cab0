/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/unwind_world.h"

#include "tests/unit/test.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define CALL_LEN    5
#define CODE(bytes) (bytes), sizeof(bytes) - 1
#define PC_RELATIVE 0x1b

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
	cfi_writer_fde(w, LOOP, 0x20, CODE("\x0e\x00\x09\x10\x10"));
	cfi_writer_fde(w, MUL, 0x20, CODE("\x0f\x0a\x77\x08\x79\x00\x38\x1e\x22\x06\x23\x08"));
	cfi_writer_fde(w, ZONE, 0x20, CODE("\x0f\x05\x77\x78\x06\x23\x08"));
	cfi_writer_fde(w, HASH, 0x20, CODE("\x0f\x05\x77\x78\x06\x23\x08"));
	cfi_writer_fde(w, RAISE, 0x100, CODE("\x0c\x06\x10\x86\x02\x80\x09\x81\x08\x02\x80\x0c\x07\x08"));
	cfi_writer_fde(w, RUNNER, RUN - RUNNER, CODE(""));
	/* rip at CFA + 16432, rsp is rsp + 16440 */
	cfi_writer_fde(w, RUN, 0x60, CODE("\x65\x0c\x07\x00\x11\x10\xfa\x6f\x16\x07\x04\x77\xb8\x80\x01"));
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

/* As Go writes them, of x86-64. */
static void write_go_rules(struct cfi_writer *w)
{
	w->is_debug = true;
	cfi_writer_cie(w, "", 0, 16, CODE("\x0c\x07\x08\x90\x01"));
	cfi_writer_fde(w, LEAF, 0x100, CODE("\x0e\x18"));
	cfi_writer_fde(w, SYSTEMSTACK, 0x100, CODE("\x0e\x10"));
	cfi_writer_fde(w, MCALL, 0x100, CODE("\x0e\x10"));
	cfi_writer_fde(w, RACECALL, 0x100, CODE(""));
	cfi_writer_fde(w, START, 0x100, CODE("\x07\x10"));
}

/* Put a call in front of @vaddr, so that it may be returned to. */
static void put_call(struct world *w, uint64_t vaddr)
{
	if (w->arch == &arch_aarch64)
		memcpy(&w->text[vaddr - TEXT - 4], "\x01\x00\x00\x94", 4);
	else
		memcpy(&w->text[vaddr - TEXT - CALL_LEN], "\xe8\x00\x00\x00\x00", CALL_LEN);
}

static const char names[] = "\0puts@plt\0bare\0runtime.systemstack.abi0\0runtime.mcall\0racecall";

/* Those of the slot and of functions; section 4 has their names. How many there are. */
static size_t put_symbols(const struct world *w, Elf64_Sym symbols[6])
{
	const Elf64_Sym function = { .st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC), .st_shndx = 1 };

	symbols[1] = symbols[2] = symbols[3] = symbols[4] = symbols[5] = function;
	symbols[1].st_name = 1;
	symbols[1].st_value = SLOT;
	symbols[1].st_size = SLOT_LEN;
	symbols[2].st_name = 10;
	symbols[2].st_value = BARE;
	symbols[2].st_size = BARE_LEN;
	symbols[3].st_name = 15;
	symbols[3].st_value = SYSTEMSTACK;
	symbols[3].st_size = symbols[4].st_size = symbols[5].st_size = 0x100;
	symbols[4].st_name = 40;
	symbols[4].st_value = MCALL;
	symbols[5].st_name = 54;
	symbols[5].st_value = RACECALL;
	return w->is_go ? 6 : w->arch == &arch_x86_64 ? 3 : 2;
}

/* bti c; stp x16, x30, [sp, #-16]!; adrp x16; ldr x17, [x16, #4088]; add x16, x16, #4088; br x17 */
static void put_slots_head(struct world *w)
{
	memcpy(&w->text[HEAD - 4 - TEXT],
	       "\x5f\x24\x03\xd5\xf0\x7b\xbf\xa9\x90\x00\x00\xb0"
	       "\x11\xfe\x47\xf9\x10\xe2\x3f\x91\x20\x02\x1f\xd6",
	       24);
}

/*
 * mov %rsp, %rax; push %rbx; sub $64, %rsp; and $-64, %rsp; mov %rax, 24(%rsp)
 * add $24, %rsp; ret; jmp *%rax
 * push %rbx; sub $24, %rsp; nop ...; call; add $24, %rsp; pop %rbx; ret; before that add $24, %rsp; pop %rbx; pop %rbp; ret, and a
 * jump that may go anywhere
 */
static void put_code(struct world *w)
{
	memcpy(&w->text[STUB + 0x10 - TEXT], "\x48\x83\xc4\x18\x5b\x5d\xc3", 7);
	memcpy(&w->text[STUB + 0x50 - TEXT], "\xff\xe0", 2);
	memcpy(&w->text[LOOP + 6 - TEXT], "\xff\xe0\xc3", 3);
	memcpy(&w->text[LEAF + 0x80 - TEXT], "\x48\x83\xc4\x18\xc3", 5);
	memcpy(&w->text[LEAF + 0x90 - TEXT], "\xff\xe0", 2);
	memcpy(&w->text[BARE - TEXT], "\x53\x48\x83\xec\x18\x90\x90\x90\x90\x90\x90", 11);
	put_call(w, BARE + 0x10);
	memcpy(&w->text[BARE + 0x10 - TEXT], "\x48\x83\xc4\x18\x5b\xc3", 6);
	memcpy(&w->text[AHEAD - CALL_LEN - TEXT], "\xe8\x00\x07\x00\x00", CALL_LEN);
	memcpy(&w->text[HASH - TEXT],
	       "\x48\x89\xe0\x53\x48\x83\xec\x40\x48\x83\xe4\xc0\x48\x89\x44\x24\x18", 17);
}

static void build_program(struct world *w)
{
	struct elf_file *f = &w->file;
	Elf64_Sym symbols[6] = { 0 };

	for (uint64_t vaddr = LEAF; vaddr < TEXT + TEXT_LEN; vaddr += 0x100)
		put_call(w, vaddr + 0x40);
	memcpy(&w->text[STUB + 0x80 - TEXT], "\x68\x11\x80\xd2\x01\x00\x00\xd4",
	       8); /* aarch64's trampoline */
	if (w->arch == &arch_aarch64)
		put_slots_head(w);
	else
		put_code(w);
	put_call(w, ENTRY + 0x20);
	size_t nsymbols = put_symbols(w, symbols);

	f->machine = w->arch->elf_machine;
	f->entry = ENTRY;
	w->cfi.vaddr = 0x3000;
	if (w->is_go)
		write_go_rules(&w->cfi);
	else if (w->arch == &arch_aarch64)
		write_aarch64_rules(&w->cfi);
	else
		write_x86_64_rules(&w->cfi);
	elf_file_section(f, (struct elf_file_section){ .name = ".text",
						       .type = SHT_PROGBITS,
						       .flags = SHF_ALLOC | SHF_EXECINSTR,
						       .vaddr = TEXT,
						       .data = w->text,
						       .len = TEXT_LEN });
	elf_file_section(f, (struct elf_file_section){ .name = w->is_go ? ".debug_frame" : ".eh_frame",
						       .type = SHT_PROGBITS,
						       .flags = w->is_go ? 0 : SHF_ALLOC,
						       .vaddr = w->is_go ? 0 : 0x3000,
						       .data = w->cfi.out.data,
						       .len = w->cfi.out.len });
	elf_file_section(f, (struct elf_file_section){ .name = ".symtab",
						       .type = SHT_SYMTAB,
						       .data = symbols,
						       .len = sizeof(symbols[0]) * nsymbols,
						       .link = 4,
						       .entry_len = sizeof(symbols[0]) });
	elf_file_section(f, (struct elf_file_section){ .name = ".strtab",
						       .type = SHT_STRTAB,
						       .data = names,
						       .len = sizeof(names) });
	elf_file_segment(f, (struct elf_file_segment){ PT_LOAD, PF_R | PF_X, 0, TEXT, 0, 0 });
	elf_file_finish(f);
}

void world_map(struct world *w, const char *path, uint64_t start, uint64_t len)
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

static struct world *make_world(const struct arch *arch, uint64_t start, bool is_go)
{
	struct world *w = calloc(1, sizeof(*w));
	const struct space_map *program;

	w->arch = arch;
	w->is_go = is_go;
	w->rec.arch = arch;
	w->rec.chain = RECORDING_CHAIN_DWARF;
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
	world_map(w, "/nowhere/prog", start, 0x4000);
	world_map(w, "//anon", JIT_START, 0x10000);
	world_map(w, "/nowhere/missing.so", OTHER_START, 0x10000);
	program = space_find(space_table_get(w->spaces, PID), start);
	CHECK(program && program->mapped);
	w->bias = program->bias;
	w->unwinder = unwinder_new(w->modules, w->spaces, NULL);
	w->reference =
		unwinder_new(w->modules, w->spaces, &(struct unwind_options){ .no_splice = true });
	w->nwords = STACK_LEN;
	return w;
}

struct world *world_new(const struct arch *arch)
{
	return world_new_at(arch, 0x555500000000);
}

struct world *world_new_at(const struct arch *arch, uint64_t start)
{
	return make_world(arch, start, /* is_go= */ false);
}

struct world *world_new_go(void)
{
	return make_world(&arch_x86_64, 0x555500000000, /* is_go= */ true);
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

void world_freep(struct world **w)
{
	world_free(*w);
}

void world_set_reg(struct world *w, unsigned reg, uint64_t value)
{
	w->regs.values[reg] = value;
	w->regs.mask |= 1ULL << reg;
}

uint64_t world_slot(size_t index)
{
	return STACK_BASE + 8 * index;
}

/* The sampled instruction, and the stack pointer at word @sp. */
void world_set_leaf(struct world *w, uint64_t ip, size_t sp)
{
	world_set_reg(w, w->arch->ip, ip);
	world_set_reg(w, w->arch->sp, world_slot(sp));
}

static struct world_taken *taken(struct world *w, uint64_t number)
{
	return &w->taken[number % WORLD_TAKEN];
}

/* The first word from which on both hold the same, up to the lower of their ends. */
static size_t same_from(const struct world_taken *a, const struct world_taken *b)
{
	size_t end = MIN(a->end, b->end), first = MAX(a->first, b->first), i = end;

	while (i > first && a->words[i - 1] == b->words[i - 1])
		i--;
	return i;
}

static void tell(struct world *w, struct world_taken *now)
{
	const struct world_taken *prev = taken(w, w->ntaken - 1);
	size_t from = same_from(now, prev);

	now->stack.number = w->ntaken;
	if (w->ntaken == 1 || from >= MIN(now->end, prev->end))
		return;
	now->stack.previous = &prev->stack;
	now->stack.same_from = world_slot(from);
}

/* The snapshot is what lies above the stack pointer. */
static const struct event_stack *take_snapshot(struct world *w)
{
	size_t first = w->regs.mask ? (w->regs.values[w->arch->sp] - STACK_BASE) / 8 : 0, n = 0;
	struct world_taken *now = taken(w, ++w->ntaken);

	taken(w, w->ntaken + 1)->stack.previous = NULL; /* that was this one */
	now->first = first;
	now->end = w->regs.mask ? w->nwords : first;
	memcpy(now->words, w->words, sizeof(now->words));
	for (size_t i = first; i < w->nwords; i++) {
		if (w->words[i]) {
			now->slots[n] = (uint32_t)(i - first);
			now->kept[n++] = w->words[i];
		}
	}
	now->stack = (struct event_stack){ .base = world_slot(first),
					   .end = world_slot(now->end),
					   .nwords = n,
					   .slots = now->slots,
					   .words = now->kept,
					   .cut = w->cut };
	tell(w, now);
	return &now->stack;
}

struct event world_event(struct world *w)
{
	struct event ev = { .kind = EVENT_SAMPLE, .pid = PID, .tid = PID };
	struct event_sample *s = &ev.sample;

	s->mode = w->nkernel_ips ? EVENT_MODE_KERNEL : EVENT_MODE_USER;
	s->ip = w->nkernel_ips ? w->kernel_ips[0] : w->regs.values[w->arch->ip];
	s->regs = w->regs.mask ? &w->regs : NULL;
	s->stack = *take_snapshot(w);
	s->user_ips = w->user_ips;
	s->nuser_ips = w->nuser_ips;
	s->kernel_ips = w->kernel_ips;
	s->nkernel_ips = w->nkernel_ips;
	s->other = w->other;
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
void world_walk(struct world *w)
{
	struct event ev = world_event(w);
	struct unwind_chain reference;

	unwinder_walk(w->reference, &ev, &reference);
	unwinder_walk(w->unwinder, &ev, &w->chain);
	check_same(&w->chain, &reference);
	unwinder_walk(w->unwinder, &ev, &w->chain);
	check_same(&w->chain, &reference);
}

/* Frame @i returns to @ip, and is looked up one before it. */
void world_check_frame(const struct world *w, size_t i, uint64_t ip, enum unwind_how how)
{
	CHECK(i < w->chain.nframes);
	CHECK_UINT(w->chain.frames[i].ip, ip);
	CHECK_STR(unwind_how_name(w->chain.frames[i].how), unwind_how_name(how));
}

void world_check_end(const struct world *w, size_t nframes, enum stack_stop stop)
{
	CHECK_STR(stack_stop_name(w->chain.stop), stack_stop_name(stop));
	CHECK_UINT(w->chain.nframes, nframes);
	CHECK_UINT(w->chain.stop_module == NULL, stack_stop_is_complete(stop));
}

void world_recurse(struct world *w, size_t from, size_t count, uint64_t ip)
{
	for (size_t i = 0; i < count; i++) {
		w->words[from + 4 * i] = world_slot(from + 4 * (i + 1));
		w->words[from + 4 * i + 1] = ip;
	}
}

uint64_t world_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return *state >> 33;
}

void world_lay_stack(struct world *w, uint64_t *seed, size_t from)
{
	size_t at = STACK_LEN - 8, fp = 0;
	uint64_t caller = IP(START + 0x40);

	memset(w->words + from, 0, (STACK_LEN - from) * sizeof(w->words[0]));
	while (at > from + 8) {
		switch (world_random(seed) % 3) {
		case 0: /* LEAF */
			w->words[--at] = caller;
			caller = IP(LEAF + 0x40);
			break;
		case 1: /* MIDDLE */
			w->words[--at] = caller;
			w->words[--at] = fp;
			w->words[--at] = world_random(seed);
			caller = IP(MIDDLE + 0x40);
			break;
		case 2: /* FRAMED, with some locals */
			w->words[--at] = caller;
			w->words[--at] = fp;
			fp = world_slot(at);
			at -= world_random(seed) % 4;
			caller = IP(FRAMED + 0x40);
			break;
		}
	}
	w->words[--at] = caller;
	world_set_leaf(w, IP(LEAF + world_random(seed) % 0x100), at);
	world_set_reg(w, w->arch->fp, fp);
	world_set_reg(w, 3, world_random(seed));
}
