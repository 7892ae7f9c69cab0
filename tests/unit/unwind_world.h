/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_world.h - one small program in one process and one sample of it, for the tests of the unwinder.
 *
 * A test lays return addresses and frame pointers into @words, sets registers, and walks.
 */
#ifndef UNIT_UNWIND_WORLD_H
#define UNIT_UNWIND_WORLD_H

#include "symbolize/unwind/unwind.h"
#include "tests/unit/cfi_writer.h"
#include "tests/unit/elf_file.h"

#define PID        100
#define STACK_BASE 0x7ffc00001000
#define STACK_LEN  128 /* words */
#define TEXT       0x1000
#define TEXT_LEN   0xa00

/* Functions of the program, by link-time address; each has 0x100 bytes or those up to the next. */
#define LEAF   0x1000 /* CFA sp+8; x86-64: at 0x80 is add $24,%rsp; ret, at 0x90 a jump that may go anywhere */
#define MIDDLE 0x1100 /* CFA sp+24, the frame pointer at CFA-16 */
#define FRAMED 0x1200 /* CFA fp+16, the frame pointer at CFA-16 */
#define START  0x1300 /* the return address is undefined */
#define SIGNAL 0x1400 /* a signal frame: CFA sp+32, instruction pointer at CFA-24 */
#define STUB   0x1500 /* no rule */
#define HEAD   0x1548 /* of the slots: aarch64's code, without a rule or a symbol, "bti c" before it */
#define BARE   0x1560 /* x86-64 only: no rule, but a symbol and code: push %rbx; sub $24,%rsp; … call; add $24,%rsp; pop %rbx; ret */
#define BARE_LEN 0x20
#define ENTRY  0x15a0 /* no rule either; the file says that the program starts here */
#define SLOT   0x15e0 /* puts@plt, without a rule */
#define SLOT_LEN 0x18
#define AHEAD  0x1480 /* x86-64 only: behind a call of what lies behind all of these */
#define BROKEN 0x1600 /* a malformed rule */
#define FAR    0x1700 /* saves its return address where no stack is */
#define BACK   0x1740 /* CFA below the stack pointer */
#define LOOP   0x1780 /* neither moves the stack pointer nor changes the instruction pointer; x86-64: at 8 is ret, behind a jump */
#define SYSTEMSTACK MIDDLE /* of a Go program: CFA sp+16, and LEAF's sp+24 */
#define MCALL	    FRAMED /* the same */
#define RACECALL    BROKEN /* CFA sp+8 */
#define MUL    0x17a0 /* x86-64 only: CFA is 8 more than the word at sp + 8 + 8 * r9 */
#define ZONE   0x17c0 /* x86-64 only: CFA is 8 more than the word at sp-8 */
#define HASH   0x17e0 /* the same; it stores that word 24 above the stack pointer, which it aligns to 64 after taking 64 */
#define RUNNER 0x1900 /* x86-64 only: CFA sp+8, calls RUN, which returns to its end */
#define RUN    0x1940 /* x86-64 only: its rule is that of StgRun in Haskell's runtime, from 37 on */
#define RAISE  0x1800 /* x86-64 only: like FRAMED, and saves rax and rdx at CFA-72; from 0x80 on all are back, and CFA is sp+8 */

/* What an address in a process is to the test: link-time address and the program it is in. */
#define IP(vaddr)   (w->bias + (vaddr))
#define JIT_START   0x100000000
#define OTHER_START 0x200000000 /* a library whose file is missing */

#define WORLD_TAKEN 8 /* samples that are told about, the last one included */

/* A sample's snapshot. */
struct world_taken {
	struct event_stack stack;
	size_t first, end;         /* words of the stack */
	uint64_t words[STACK_LEN]; /* all of them */
	uint32_t slots[STACK_LEN];
	uint64_t kept[STACK_LEN];
};

struct world {
	const struct arch *arch;
	bool is_go;
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
	const struct event_stack *other; /* NULL, or the stack that was left for this one */
	struct world_taken taken[WORLD_TAKEN]; /* the last ones in turn */
	uint64_t ntaken;
	struct unwind_chain chain;
};

struct world *world_new(const struct arch *arch);

/* The same with the program mapped at @start. */
struct world *world_new_at(const struct arch *arch, uint64_t start);

/* A Go program of x86-64, which has no other functions than LEAF, SYSTEMSTACK, MCALL, RACECALL and START. */
struct world *world_new_go(void);
void world_freep(struct world **w);

/* Map @path, which is the program's own or any other, over what is there. */
void world_map(struct world *w, const char *path, uint64_t start, uint64_t len);

/* The address of word @index. */
uint64_t world_slot(size_t index);

void world_set_reg(struct world *w, unsigned reg, uint64_t value);

/* The sampled instruction, and the stack pointer at word @sp. */
void world_set_leaf(struct world *w, uint64_t ip, size_t sp);

/* Frames of FRAMED at words @from, @from + 4 …, each with its frame pointer and return address. */
void world_recurse(struct world *w, size_t from, size_t count, uint64_t ip);

/* A number below 2^31; the same ones for the same @seed. */
uint64_t world_random(uint64_t *seed);

/* Lay a random stack of frames from the top down to word @from, and set the registers of a leaf below it. */
void world_lay_stack(struct world *w, uint64_t *seed, size_t from);

/*
 * The sample as an event: the snapshot is what lies above the stack pointer. It is told what the snapshot has in common
 * with that of the last call, as by one who decodes a trace; whether that was walked is not known.
 */
struct event world_event(struct world *w);

/* Walk twice with splicing and once without: the result, which is @w->chain, is always the same. */
void world_walk(struct world *w);

/* Frame @i returns to @ip and was found so. */
void world_check_frame(const struct world *w, size_t i, uint64_t ip, enum unwind_how how);
void world_check_end(const struct world *w, size_t nframes, enum stack_stop stop);

#endif
