/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_other_stack.c - where a thread had another stack: found in snapshots, read from memory, kept for the sample.
 */
#include "record/sample/other_stack.h"
#include "record/sample/stack_shelf.h"
#include "record/task/map_query.h"
#include "record/task/process_stat.h"
#include "tests/unit/test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BASE   0x7f0000001000ULL /* of the handler's stack, where the snapshot begins */
#define OLD_SP 0x7ffc00002000ULL
#define WORDS  160

struct signal_shape {
	const struct arch *arch;
	uint64_t mark;
	size_t sp, stack_base, stack_len; /* words below the mark */
};

/* struct rt_sigframe, counted anew: x86-64's gregs begin 48 bytes above it, cs is the 18th; aarch64's pc is 440 above ucontext. */
static const struct signal_shape signals[] = {
	{ &arch_x86_64, 0x002b000000000033, 3, 21, 19 },
	{ &arch_aarch64, 0x0000021046508001, 4, 56, 54 },
};

static bool find(const struct arch *arch, const uint64_t *words, size_t count, struct other_stack_place *ret)
{
	size_t slot = 0;
	const struct other_stack_snapshot snapshot = { .arch = arch, .bytes = (const uint8_t *)words, .base = BASE,
						       .nwords = count };

	return other_stack_find(&snapshot, &slot, ret);
}

static void lay_signal(uint64_t words[WORDS], const struct signal_shape *shape, size_t mark)
{
	memset(words, 0, WORDS * sizeof(words[0]));
	words[mark] = shape->mark;
	words[mark - shape->sp] = OLD_SP;
	words[mark - shape->stack_base] = BASE - 0x1000;
	words[mark - shape->stack_len] = 0x8000;
}

TEST(other_stack_is_found_below_a_signal_handler_with_a_stack_of_its_own)
{
	for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
		const struct signal_shape *shape = &signals[i];
		struct other_stack_place place;
		uint64_t words[WORDS];

		lay_signal(words, shape, 100);
		CHECK(find(shape->arch, words, WORDS, &place));
		CHECK_UINT(place.sp, OLD_SP);
		CHECK_UINT(place.goroutine, 0);
		CHECK_UINT(place.proof_at, BASE + 8 * (100 - shape->sp));
		CHECK_UINT(place.proof[0], OLD_SP);
		CHECK(!find(shape->arch, words, 100, &place)); /* cut in front of the mark */
		lay_signal(words, shape, shape->stack_base);
		CHECK(find(shape->arch, words, WORDS, &place));
		CHECK(!find(shape->arch, words + 1, WORDS - 1, &place)); /* where the handler's stack is, was not captured */
	}
}

TEST(other_stack_is_none_where_the_handler_shares_the_stack)
{
	const struct signal_shape *shape = &signals[0];
	struct other_stack_place place;
	uint64_t words[WORDS];

	lay_signal(words, shape, 100);
	words[100 - shape->sp] = BASE + 8 * 120; /* the interrupted frame is in the snapshot */
	CHECK(!find(shape->arch, words, WORDS, &place));
	lay_signal(words, shape, 100);
	words[100 - shape->stack_len] = 0; /* no stack was set for signals */
	CHECK(!find(shape->arch, words, WORDS, &place));
	lay_signal(words, shape, 100);
	words[100 - shape->sp] = BASE - 0x800; /* it interrupted the handler's own stack */
	CHECK(!find(shape->arch, words, WORDS, &place));
	lay_signal(words, shape, 100);
	words[100] ^= 1;
	CHECK(!find(shape->arch, words, WORDS, &place));
}

TEST(other_stack_is_where_frame_pointers_lead_out_of_this_one)
{
	uint64_t words[WORDS] = { [20] = BASE + 8 * 60, 7, [60] = OLD_SP, 7 };
	struct other_stack_snapshot snapshot = { .arch = &arch_x86_64, .bytes = (const uint8_t *)words, .base = BASE, .nwords = WORDS,
						 .fp = BASE + 8 * 20 };
	const uint64_t end = BASE + 0x10000;
	struct other_stack_place place;

	CHECK(other_stack_find_linked(&snapshot, end, &place));
	CHECK_UINT(place.sp, OLD_SP);
	CHECK_UINT(place.proof_at, BASE + 8 * 60);
	CHECK_UINT(place.proof[0], OLD_SP);
	CHECK(!other_stack_find_linked(&snapshot, 0, &place)); /* where this one ends is not known */
	CHECK(!other_stack_find_linked(&snapshot, OLD_SP + 8, &place)); /* it goes on behind what was copied */
	words[60] = OLD_SP + 4;
	CHECK(!other_stack_find_linked(&snapshot, end, &place));
	words[60] = BASE;
	CHECK(!other_stack_find_linked(&snapshot, end, &place));
	words[60] = 1ULL << 47;
	CHECK(!other_stack_find_linked(&snapshot, end, &place));
	words[60] = OLD_SP;
	CHECK(other_stack_may_go_on(&snapshot)); /* worth a look where this one ends */
	words[60] = 0;
	CHECK(!other_stack_may_go_on(&snapshot));
	words[60] = OLD_SP;
	snapshot.nwords = 61; /* the return address was not copied */
	CHECK(!other_stack_find_linked(&snapshot, end, &place));
}

/* struct g of Go: where its stack lies, and where it was left. */
struct fake_g {
	uint64_t lo, hi, guards[2], panic, defer, m, sched_sp, sched_pc, sched_g;
} __attribute__((aligned(32)));

static _Alignas(4096) uint64_t go_stack[1024];
static struct fake_g fake_g;

static void lay_goroutine(uint64_t words[8], size_t left, int depth)
{
	fake_g = (struct fake_g){ .lo = (uintptr_t)go_stack, .hi = (uintptr_t)(go_stack + 1024),
				  .sched_sp = (uintptr_t)(go_stack + left), .sched_pc = 1, .sched_g = (uintptr_t)&fake_g };
	memset(words, 0, 8 * sizeof(words[0]));
	words[4] = (uintptr_t)&fake_g;
	words[4 + depth] = 8 * (1024 - left);
	for (size_t i = 0; i < 1024; i++)
		go_stack[i] = 0x10000 + i;
	go_stack[1000] = 5;
}

/* Memory of our own, as that of a process. */
static struct task_memory own_memory(void)
{
	struct task_memory mem;

	if (getenv("EMULATOR"))
		SKIP("/proc shows the emulator's memory");
	if (!task_memory_open(&mem, (uint32_t)getpid()) || !task_memory_present(&mem, (uintptr_t)&mem, 1)) {
		task_memory_close(&mem);
		SKIP("memory cannot be read here");
	}
	return mem;
}

/* The proof lies in @words, where the snapshot was taken. */
static bool find_own(const struct arch *arch, const uint64_t *words, struct other_stack_place *ret)
{
	size_t slot = 0;
	const struct other_stack_snapshot snapshot = { .arch = arch, .bytes = (const uint8_t *)words,
						       .base = (uintptr_t)words, .nwords = 8 };

	return other_stack_find(&snapshot, &slot, ret);
}

TEST(other_stack_of_a_goroutine_is_read_from_where_it_was_left_to_its_end)
{
	static const struct {
		const struct arch *arch;
		int depth;
	} cases[] = { { &arch_x86_64, -1 }, { &arch_aarch64, 1 } };
	struct task_memory mem = own_memory();
	struct other_stack *stack = memory_zeroed(1, sizeof(*stack));
	static uint64_t words[8];

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct other_stack_place place;

		lay_goroutine(words, 990, cases[i].depth);
		CHECK(find_own(cases[i].arch, words, &place));
		CHECK_UINT(place.goroutine, (uintptr_t)&fake_g);
		CHECK(other_stack_is_goroutine(&mem, place.goroutine));
		CHECK(other_stack_read(&mem, place, NULL, stack));
		CHECK_UINT(stack->base, (uintptr_t)(go_stack + 990));
		CHECK_UINT(stack->end, fake_g.hi);
		CHECK(!stack->cut);
		CHECK_UINT(stack->nwords, 33); /* all but the small number */
		CHECK_UINT(stack->words[0], 0x10000 + 990);
		CHECK_UINT(stack->slots[10], 11);

		words[4 + cases[i].depth] += 8; /* it was left somewhere else since */
		CHECK(!other_stack_read(&mem, place, NULL, stack));
		words[4 + cases[i].depth] -= 8;
		fake_g.sched_sp -= 8; /* the goroutine says something else */
		CHECK(!other_stack_read(&mem, place, NULL, stack));
		fake_g.sched_sp += 8;
		fake_g.sched_g = 0; /* it is none */
		CHECK(!other_stack_is_goroutine(&mem, place.goroutine));
		CHECK(!other_stack_read(&mem, place, NULL, stack));
	}
	free(stack);
	task_memory_close(&mem);
}

/* A full snapshot of a goroutine that goes on: the goroutine, which a register has, says how far. */
TEST(other_stack_of_a_goroutine_ends_where_that_says_if_it_is_the_one_that_was_sampled)
{
	struct task_memory mem = own_memory();
	struct other_stack_snapshot s = { .arch = &arch_x86_64, .base = (uintptr_t)(go_stack + 100), .nwords = 200, .goroutine = (uintptr_t)&fake_g };
	uint64_t lo = (uintptr_t)go_stack & ~2047ULL, hi = ((uintptr_t)(go_stack + 300) + 2048) & ~2047ULL;

	fake_g.lo = lo;
	fake_g.hi = hi;
	CHECK_UINT(other_stack_goroutine_end(&mem, &s), hi);
	s.nwords = (hi - s.base) / 8; /* all of it was copied */
	CHECK_UINT(other_stack_goroutine_end(&mem, &s), 0);
	s.nwords--;
	CHECK_UINT(other_stack_goroutine_end(&mem, &s), hi);
	fake_g.lo = s.base & ~2047ULL;
	s.base = fake_g.lo; /* it lies below */
	CHECK_UINT(other_stack_goroutine_end(&mem, &s), 0);
	s.base += 8;
	CHECK_UINT(other_stack_goroutine_end(&mem, &s), hi);
	fake_g.hi = fake_g.lo + (1 << 24);
	CHECK_UINT(other_stack_goroutine_end(&mem, &s), fake_g.hi);
	fake_g.hi += 2048; /* deeper than is ever read */
	CHECK_UINT(other_stack_goroutine_end(&mem, &s), 0);
	fake_g.hi = hi + 8; /* no stack of Go's */
	CHECK_UINT(other_stack_goroutine_end(&mem, &s), 0);
	fake_g.hi = hi;
	fake_g.lo += 8;
	CHECK_UINT(other_stack_goroutine_end(&mem, &s), 0);
	fake_g.lo = lo;
	s.goroutine = 4096; /* a number */
	CHECK_UINT(other_stack_goroutine_end(&mem, &s), 0);
	s.goroutine = 1ULL << 48;
	CHECK_UINT(other_stack_goroutine_end(&mem, &s), 0);
	task_memory_close(&mem);
}

/*
 * Code of Erlang's machine and a process of its: C that it called returns to @way, and the stack pointer is in the process or, with
 * @by_register, in what a function of C has saved.
 */
struct erlang {
	uint64_t words[32]; /* of the scheduler's stack */
	uint64_t process[18];
	uint64_t heap[64]; /* the stack at its end */
	uint8_t code[64];
} __attribute__((aligned(64)));

static void lay_erlang(struct erlang *e, bool by_register)
{
	const uint8_t *way = by_register ? (const uint8_t *)"\x48\x89\xec\x90" : (const uint8_t *)"\x49\x8b\x65\x58";

	memset(e, 0, sizeof(*e));
	memcpy(e->code + 16, "\x48\x8d\x63\x80\x4c\x89\xef\xff\x15\x00\x00\x00\x00", 13);
	memcpy(e->code + 32, way, 4);
	e->process[10] = e->process[15] = (uintptr_t)(e->heap + 20);
	e->process[11] = (uintptr_t)(e->heap + (by_register ? 60 : 50));
	e->process[16] = (uintptr_t)e->heap;
	e->process[17] = (uintptr_t)(e->heap + 64);
	for (size_t i = 0; i < 64; i++)
		e->heap[i] = 0x30000 + i;
	e->words[7] = (uintptr_t)e->code;	   /* a return address as good as any */
	e->words[23] = (uintptr_t)(e->code + 32); /* that into the machine's code */
	e->words[20] = (uintptr_t)e->process;
	e->words[17] = (uintptr_t)(e->heap + 50); /* the stack, if it is by register */
	e->words[12] = (uintptr_t)(e->heap + 10); /* a term */
}

TEST(other_stack_of_an_erlang_process_is_read_from_where_c_was_called)
{
	struct task_memory mem = own_memory();
	struct other_stack *stack = memory_zeroed(1, sizeof(*stack));
	static struct erlang e;

	for (int by_register = 0; by_register < 2; by_register++) {
		struct other_stack_snapshot s = { .arch = &arch_x86_64, .bytes = (const uint8_t *)e.words,
						  .base = (uintptr_t)e.words, .nwords = 32 };
		struct other_stack_place place;

		lay_erlang(&e, by_register);
		CHECK(other_stack_find_erlang(&mem, &s, &place));
		CHECK_UINT(place.process, (uintptr_t)e.process);
		CHECK(other_stack_read(&mem, place, NULL, stack));
		CHECK_UINT(stack->base, (uintptr_t)(e.heap + 50));
		CHECK_UINT(stack->end, (uintptr_t)(e.heap + 64));
		CHECK_UINT(stack->words[0], 0x30000 + 50);

		e.words[20] = 0; /* nobody has saved the register: it still holds the process */
		CHECK(!other_stack_find_erlang(&mem, &s, &place));
		s.process = (uintptr_t)e.process;
		CHECK(other_stack_find_erlang(&mem, &s, &place));
		e.process[17] = (uintptr_t)(e.heap + 30); /* the stack lies outside its heap: no process */
		CHECK(!other_stack_find_erlang(&mem, &s, &place));
		lay_erlang(&e, by_register);
		e.code[19] ^= 1; /* that code does not leave its stack */
		CHECK(!other_stack_find_erlang(&mem, &s, &place));
		lay_erlang(&e, by_register);
		s.base += 8; /* not where the machine's code has its calls */
		CHECK(!other_stack_find_erlang(&mem, &s, &place));
	}
	free(stack);
	task_memory_close(&mem);
}

TEST(other_stack_of_an_erlang_process_is_none_where_its_own_was_sampled)
{
	struct task_memory mem = own_memory();
	static struct erlang e;

	lay_erlang(&e, false);
	e.process[16] = (uintptr_t)e.words;
	e.process[10] = (uintptr_t)(e.words + 1);

	struct other_stack_snapshot s = { .arch = &arch_x86_64, .bytes = (const uint8_t *)e.words, .base = (uintptr_t)e.words,
					  .nwords = 32, .process = (uintptr_t)e.process };
	struct other_stack_place place;

	CHECK(!other_stack_find_erlang(&mem, &s, &place));
	task_memory_close(&mem);
}

/* A goroutine that has called Go's race detector, on whose thread's stack the call is, and code of racecall() and of a caller of it. */
struct race {
	uint64_t stack[256];
	struct fake_g g, of_thread;
	uint64_t m;
	uint8_t code[64];
} __attribute__((aligned(2048)));

static struct race *lay_race(uint64_t words[32])
{
	/* Go's heap begins there. */
	struct race *r = mmap((void *)0xc0f0000000, sizeof(*r), PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (r == MAP_FAILED)
		SKIP("Go's addresses are in use here");
	memcpy(r->code + 16, "\xff\xd0\x4c\x89\xe4", 5);
	r->code[32] = 0xe8;
	r->g = (struct fake_g){ .lo = (uintptr_t)r->stack, .hi = (uintptr_t)(r->stack + 256), .m = (uintptr_t)&r->m,
				.sched_g = (uintptr_t)&r->g };
	r->m = (uintptr_t)&r->of_thread;
	r->of_thread.sched_sp = (uintptr_t)(words + 21);
	for (size_t i = 0; i < 256; i++)
		r->stack[i] = 0x10000 + i;
	r->stack[200] = (uintptr_t)(r->code + 37); /* behind a call */
	memset(words, 0, 32 * sizeof(words[0]));
	words[19] = (uintptr_t)(r->code + 18);
	words[17] = (uintptr_t)(r->stack + 200);
	words[16] = (uintptr_t)(r->stack + 210); /* an argument */
	words[15] = (uintptr_t)(r->stack + 190); /* left over, and no call is there */
	words[14] = (uintptr_t)&r->g;
	return r;
}

TEST(other_stack_of_a_goroutine_is_read_where_it_has_called_the_race_detector)
{
	static _Alignas(16) uint64_t words[32];
	struct race *r = lay_race(words); /* it may leave the test */
	struct task_memory mem = own_memory();
	struct other_stack *stack = memory_zeroed(1, sizeof(*stack));
	struct other_stack_snapshot s = { .arch = &arch_x86_64, .bytes = (const uint8_t *)words, .base = (uintptr_t)words, .nwords = 32 };
	struct other_stack_place place;

	CHECK(other_stack_find_race(&mem, &s, &place));
	CHECK_UINT(place.sp, (uintptr_t)(r->stack + 200));
	CHECK_UINT(place.proof_at, (uintptr_t)(words + 19));
	CHECK(other_stack_read(&mem, place, NULL, stack));
	CHECK_UINT(stack->base, (uintptr_t)(r->stack + 200));
	CHECK_UINT(stack->end, (uintptr_t)(r->stack + 256));
	CHECK(!stack->cut);

	words[14] = words[17] = 0; /* nothing was saved: the registers have them */
	CHECK(!other_stack_find_race(&mem, &s, &place));
	s.goroutine = (uintptr_t)&r->g;
	CHECK(!other_stack_find_race(&mem, &s, &place));
	s.race = (uintptr_t)(r->stack + 200);
	CHECK(other_stack_find_race(&mem, &s, &place));
	CHECK_UINT(place.sp, (uintptr_t)(r->stack + 200));
	r->code[18] ^= 1; /* other code */
	CHECK(!other_stack_find_race(&mem, &s, &place));
	r->code[18] ^= 1;
	r->of_thread.sched_sp += 16; /* the thread's stack was left somewhere else */
	CHECK(!other_stack_find_race(&mem, &s, &place));
	r->of_thread.sched_sp = s.base + 32; /* racecall() itself was interrupted, on the thread's stack */
	CHECK(!other_stack_find_race(&mem, &s, &place));
	r->of_thread.sched_sp = s.base;
	CHECK(other_stack_find_race(&mem, &s, &place));
	CHECK_UINT(place.sp, (uintptr_t)(r->stack + 200));
	munmap(r, sizeof(*r));
	free(stack);
	task_memory_close(&mem);
}

TEST(other_stack_may_be_of_the_race_detector_where_registers_point_into_the_heap_of_go)
{
	struct other_stack_snapshot s = { .arch = &arch_x86_64, .base = BASE, .fp = 0xc000001000, .race = 0xc000000f80,
					  .goroutine = 0xc000000a20 };

	CHECK(other_stack_may_be_race(&s));
	s.base = 0xc000000f00; /* the goroutine's own stack */
	CHECK(!other_stack_may_be_race(&s));
	s.base = BASE;
	s.race = 7;
	CHECK(!other_stack_may_be_race(&s));
}

TEST(other_stack_is_read_up_to_its_limit)
{
	static _Alignas(4096) uint64_t large[EVENT_OTHER_STACK_MAX / 8 + 1024];
	struct task_memory mem = own_memory();
	struct other_stack *stack = memory_zeroed(1, sizeof(*stack));
	struct other_stack_place place = { .sp = (uintptr_t)large + 3, .proof_at = (uintptr_t)large,
					   .proof = { 0x20000, 0x20001, 0, 0x20003 } };

	for (size_t i = 0; i < ARRAY_LEN(large); i++)
		large[i] = 0x20000 + i;
	CHECK(other_stack_read(&mem, place, NULL, stack));
	CHECK_UINT(stack->base, (uintptr_t)large + 8);
	CHECK_UINT(stack->end, stack->base + EVENT_OTHER_STACK_MAX);
	CHECK(stack->cut);
	CHECK_UINT(stack->nwords, EVENT_OTHER_STACK_MAX / 8);
	large[3]++; /* what told of the switch has changed */
	CHECK(!other_stack_read(&mem, place, NULL, stack));
	place.sp = 4096;
	large[3]--;
	CHECK(!other_stack_read(&mem, place, NULL, stack));
	free(stack);
	task_memory_close(&mem);
}

/* ---- the rest of the same stack -------------------------------------------------------------------- */

#define PAGE_WORDS 512

/* A stack of eight pages, the first of which was captured; page two was never touched. */
static uint64_t *map_stack(struct other_stack_snapshot *ret)
{
	uint64_t *words = mmap(NULL, 8 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(words != MAP_FAILED);
	for (size_t i = 0; i < 8 * PAGE_WORDS; i++)
		if (i / PAGE_WORDS != 1 && i / PAGE_WORDS != 5)
			words[i] = 0x20000 + i;
	*ret = (struct other_stack_snapshot){ .arch = arch_native(), .bytes = (const uint8_t *)words, .base = (uintptr_t)words,
					      .nwords = PAGE_WORDS, .whole = true };
	return words;
}

TEST(other_stack_rest_is_what_lies_behind_an_untouched_page)
{
	struct task_memory mem = own_memory();
	if (sysconf(_SC_PAGESIZE) != 4096)
		SKIP("pages are larger here");
	struct other_stack *stack = memory_zeroed(1, sizeof(*stack));
	struct other_stack_snapshot snapshot;
	struct other_stack_place place;
	uint64_t *words = map_stack(&snapshot), end = snapshot.base + 8 * 4096;

	CHECK(other_stack_rest(&snapshot, end, &place));
	CHECK(other_stack_read(&mem, place, NULL, stack));
	CHECK_UINT(stack->base, snapshot.base + 2 * 4096);
	CHECK_UINT(stack->end, end);
	CHECK_UINT(stack->nwords, 5 * PAGE_WORDS); /* but for another hole */
	CHECK_UINT(stack->slots[3 * PAGE_WORDS], 4 * PAGE_WORDS);
	CHECK_UINT(stack->words[3 * PAGE_WORDS], 0x20000 + 6 * PAGE_WORDS);

	words[PAGE_WORDS - 1]++; /* the thread has gone on */
	place.proof[OTHER_STACK_PROOF - 1] = 0x20000 + PAGE_WORDS - 1;
	CHECK(!other_stack_read(&mem, place, NULL, stack));
	place.sp = end - 1;
	CHECK(other_stack_rest(&snapshot, end, &place));
	munmap(words, 8 * 4096);
	CHECK(!other_stack_read(&mem, place, NULL, stack));
	free(stack);
	task_memory_close(&mem);
}

TEST(other_stack_has_no_rest_where_it_ends_or_nobody_wants_more)
{
	struct other_stack_snapshot snapshot;
	struct other_stack_place place;
	uint64_t *words = map_stack(&snapshot), end = snapshot.base + 8 * 4096;

	CHECK(!other_stack_rest(&snapshot, 0, &place)); /* not known */
	CHECK(!other_stack_rest(&snapshot, snapshot.base + 4096, &place));
	CHECK(other_stack_may_go_on(&snapshot));
	snapshot.whole = false;
	CHECK(!other_stack_rest(&snapshot, end, &place));
	CHECK(!other_stack_may_go_on(&snapshot));
	snapshot.whole = true;
	words[10] = snapshot.base + 8 * 20;
	words[20] = snapshot.base + 8 * 30;
	snapshot.fp = snapshot.base + 8 * 10;
	words[30] = 0x1234; /* frame pointers lead nowhere */
	CHECK(other_stack_rest(&snapshot, end, &place));
	words[30] = 0; /* to the end, as those of a goroutine do */
	CHECK(!other_stack_rest(&snapshot, end, &place));
	CHECK(!other_stack_may_go_on(&snapshot));
	munmap(words, 8 * 4096);
}

/* ---- the rest of a deep stack ---------------------------------------------------------------------- */

#define DEEP_PIECES 40
#define DEEP_WORDS  (DEEP_PIECES * PAGE_WORDS)

/* Which pieces are fresh, as bits; the words of all of them, and of no others, must be there. */
static uint64_t read_deep(const struct task_memory *mem, struct other_stack_place place, struct stack_pieces *pieces, uint32_t tid,
			  struct other_stack *stack)
{
	size_t words = 0, npieces = (size_t)(place.end / 4096 - place.sp / 4096);
	uint64_t fresh = 0;

	stack_pieces_begin(pieces, tid, &stack->place, &stack->turn);
	CHECK(other_stack_read(mem, place, pieces, stack));
	CHECK(stack->deep && !stack->cut);
	for (size_t i = 0; i < npieces; i++)
		fresh |= (uint64_t)!other_stack_is_same(stack, i) << i;
	for (size_t i = 0; i < stack->nwords; i++) {
		uint64_t addr = stack->base + 8 * (uint64_t)stack->slots[i];

		CHECK(fresh >> ((addr - (stack->base & ~4095ULL)) / 4096) & 1);
		CHECK_UINT(stack->words[i], *(uint64_t *)(uintptr_t)addr);
	}
	for (size_t i = 0; i < npieces; i++)
		words += (fresh >> i & 1) * PAGE_WORDS;
	CHECK_UINT(stack->nwords, words - (stack->base % 4096) / 8);
	return fresh;
}

TEST(other_stack_hands_on_of_a_deep_stack_what_is_not_as_before)
{
	static _Alignas(4096) uint64_t words[DEEP_WORDS];
	struct task_memory mem = own_memory();
	struct stack_pieces *pieces = stack_pieces_new();
	struct other_stack *stack = memory_zeroed(1, sizeof(*stack));
	const struct other_stack_place place = { .sp = (uintptr_t)words + 80, .end = (uintptr_t)(words + DEEP_WORDS), .deep = true,
						 .proof_at = (uintptr_t)words };
	struct other_stack_place inner = place, changed = place;
	const uint64_t all = (1ULL << DEEP_PIECES) - 1;

	for (size_t i = 0; i < DEEP_WORDS; i++)
		words[i] = 0x20000 + i;
	CHECK_UINT(read_deep(&mem, place, pieces, 7, stack), all);
	CHECK_UINT(stack->turn, 0);
	CHECK_UINT(read_deep(&mem, place, pieces, 7, stack), all); /* that was not kept */
	stack_pieces_keep(pieces);
	CHECK_UINT(read_deep(&mem, place, pieces, 7, stack), 1); /* but for the piece that is not all there */
	CHECK_UINT(stack->turn, 1);
	stack_pieces_keep(pieces);
	words[3 * PAGE_WORDS] += 8; /* one return address each, at both ends of a piece */
	words[38 * PAGE_WORDS + PAGE_WORDS - 1] += 8;
	CHECK_UINT(read_deep(&mem, place, pieces, 7, stack), 1 | 1ULL << 3 | 1ULL << 38);
	stack_pieces_keep(pieces);
	CHECK_UINT(read_deep(&mem, place, pieces, 8, stack), all); /* another thread */

	/* What the last turn did not reach is not known any more, though it is as it was. */
	inner.sp += 9 * 4096;
	CHECK_UINT(read_deep(&mem, inner, pieces, 7, stack), 1);
	stack_pieces_keep(pieces);
	CHECK_UINT(read_deep(&mem, place, pieces, 7, stack), (1u << 10) - 1);
	stack_pieces_keep(pieces);
	stack_pieces_forget(pieces);
	CHECK_UINT(read_deep(&mem, place, pieces, 7, stack), all);

	changed.proof[0] = 1;
	CHECK(!other_stack_read(&mem, changed, pieces, stack)); /* the thread has gone on */
	free(stack);
	stack_pieces_free(pieces);
	task_memory_close(&mem);
}

TEST(other_stack_is_deep_where_its_end_is_near_enough_and_the_snapshot_full)
{
	struct other_stack_snapshot snapshot;
	struct other_stack_place place;
	uint64_t *words = map_stack(&snapshot), end = snapshot.base + 4096 + OTHER_STACK_DEEP_MAX;

	CHECK(other_stack_rest(&snapshot, end, &place));
	CHECK(!other_stack_is_deep(&snapshot, &place));
	snapshot.cut = true;
	CHECK(other_stack_is_deep(&snapshot, &place));
	CHECK(other_stack_rest(&snapshot, end + 4096, &place));
	CHECK(!other_stack_is_deep(&snapshot, &place));
	munmap(words, 8 * 4096);
}

/* ---- the shelf ------------------------------------------------------------------------------------- */

static struct other_stack *stack_of(uint64_t base)
{
	struct other_stack *stack = memory_zeroed(1, sizeof(*stack));

	stack->base = base;
	stack->end = base + 800;
	stack->nwords = 2;
	stack->slots[1] = 9;
	stack->words[0] = base + 1;
	stack->words[1] = base + 2;
	return stack;
}

TEST(stack_shelf_gives_each_sample_its_own_stack)
{
	struct stack_shelves *s = stack_shelves_new(2);
	struct other_stack *first = stack_of(1000), *second = stack_of(2000);
	struct other_stack *found = memory_zeroed(1, sizeof(*found));

	stack_shelves_put(s, 1, 7, 8, 100, first);
	stack_shelves_put(s, 1, 7, 8, 200, second);
	stack_shelves_put(s, 1, 7, 8, 300, NULL);
	CHECK(!stack_shelves_take(s, 0, 8, 100, found)); /* another ring */
	CHECK(!stack_shelves_take(s, 1, 8, 99, found));
	CHECK(!stack_shelves_take(s, 1, 9, 100, found)); /* another thread: the first is gone with it */
	CHECK(stack_shelves_take(s, 1, 8, 200, found));
	CHECK_UINT(found->base, 2000);
	CHECK_UINT(found->nwords, 2);
	CHECK_UINT(found->slots[1], 9);
	CHECK_UINT(found->words[1], 2002);
	CHECK(!stack_shelves_take(s, 1, 8, 200, found));

	struct stack_shelf_totals totals = stack_shelves_totals(s);

	CHECK_UINT(totals.read, 2);
	CHECK_UINT(totals.failed, 1);
	CHECK_UINT(totals.dropped, 1);
	CHECK_UINT(totals.bytes, 1600);
	free(first);
	free(second);
	free(found);
	stack_shelves_free(s);
}

TEST(stack_shelf_counts_deep_stacks_that_nobody_took)
{
	struct stack_shelves *s = stack_shelves_new(2);
	struct other_stack *stack = stack_of(1000), *found = memory_zeroed(1, sizeof(*found));

	stack->deep = true;
	stack->end = stack->base + 10 * STACK_PIECE_LEN;
	stack->same[0] = 0x2f0;
	CHECK(stack_shelves_put(s, 1, 7, 8, 100, stack));
	CHECK(stack_shelves_put(s, 1, 7, 8, 200, stack));
	CHECK(stack_shelves_take(s, 1, 8, 100, found));
	CHECK_UINT(found->same[0], 0x2f0);
	CHECK_UINT(stack_shelves_lost(s, 1), 0);
	CHECK(!stack_shelves_take(s, 1, 8, 300, found));
	CHECK_UINT(stack_shelves_lost(s, 1), 1);
	stack_shelves_lose(s, 1);
	CHECK_UINT(stack_shelves_lost(s, 1), 2);
	CHECK_UINT(stack_shelves_lost(s, 0), 0);
	CHECK_UINT(stack_shelves_totals(s).deep, 2);
	CHECK_UINT(stack_shelves_totals(s).fresh, 10 * STACK_PIECE_LEN);
	free(stack);
	free(found);
	stack_shelves_free(s);
}

TEST(stack_shelf_is_bounded)
{
	struct stack_shelves *s = stack_shelves_new(1);
	struct other_stack *stack = stack_of(1000);
	uint64_t count = 3 * STACK_SHELF_LEN / EVENT_OTHER_STACK_MAX;

	stack->nwords = EVENT_OTHER_STACK_MAX / 12;
	for (uint64_t i = 0; i < count; i++)
		stack_shelves_put(s, 0, 7, 8, i, stack);
	CHECK(stack_shelves_totals(s).dropped > count / 2);
	CHECK_UINT(stack_shelves_totals(s).read + stack_shelves_totals(s).dropped, count);
	free(stack);
	stack_shelves_free(s);
}

TEST(stack_shelf_wants_what_was_proven_and_gives_up_on_what_never_succeeds)
{
	struct stack_shelves *s = stack_shelves_new(1);

	CHECK(!stack_shelves_wants(s, 7));
	CHECK_UINT(stack_shelves_last_ns(s), 0);
	stack_shelves_suspect(s, 7, 0, 1000);
	CHECK(stack_shelves_wants(s, 7));
	CHECK(!stack_shelves_wants(s, 8));
	CHECK_UINT(stack_shelves_last_ns(s), 1000);
	for (unsigned i = 0; i < 1000; i++)
		stack_shelves_put(s, 0, 7, 7, i, NULL);
	CHECK(!stack_shelves_wants(s, 7));
	stack_shelves_suspect(s, 7, 0, 2000);
	CHECK_UINT(stack_shelves_last_ns(s), 1000);
	stack_shelves_free(s);
}

/* A goroutine is believed when the memory has one; the thread that looks is not waited for, so this does. */
TEST(stack_shelf_believes_a_goroutine_when_memory_has_one)
{
	struct task_memory mem = own_memory();
	struct stack_shelves *s = stack_shelves_new(1);
	uint32_t pid = (uint32_t)getpid();
	uint64_t words[8];

	task_memory_close(&mem);
	lay_goroutine(words, 990, -1);
	CHECK(stack_shelves_asks(s, pid));
	for (unsigned i = 0; i < 100 && stack_shelves_asks(s, pid); i++) {
		stack_shelves_suspect(s, pid, (uintptr_t)go_stack, 1); /* is none */
		usleep(1000);
	}
	CHECK(!stack_shelves_asks(s, pid)); /* it was asked often enough */
	CHECK(!stack_shelves_wants(s, pid));
	stack_shelves_free(s);
	s = stack_shelves_new(1);
	while (!stack_shelves_wants(s, pid)) {
		stack_shelves_suspect(s, pid, (uintptr_t)&fake_g, 1);
		usleep(1000);
	}
	stack_shelves_free(s);
}

TEST(stack_shelf_wants_a_process_whose_samples_do_not_reach_their_stacks_ends)
{
	struct stack_shelves *s = stack_shelves_new(1);
	unsigned shorts = 0;

	while (!stack_shelves_wants(s, 7) && shorts < 100) {
		stack_shelves_short(s, 7, 1000);
		shorts++;
	}
	CHECK(shorts > 1 && shorts < 20);
	CHECK_UINT(stack_shelves_last_ns(s), 1000);
	stack_shelves_free(s);
}

TEST(stack_shelf_learns_where_the_stacks_of_threads_end_that_are_sampled_often)
{
	struct stack_shelves *s = stack_shelves_new(1);
	uint32_t pid = (uint32_t)getpid();
	uint64_t sp = (uintptr_t)__builtin_frame_address(0), start, end, first = 0; /* AddressSanitizer's variables lie elsewhere */
	int self = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);

	CHECK(process_stat_u64(self, PROCESS_STAT_START_STACK, &first));
	close(self);
	if (!map_query_bounds(pid, sp, &start, &end) || (start % (4 << 20) == 0 && !(start >> 44))) {
		stack_shelves_free(s);
		SKIP("the kernel does not tell, or has our stack where Go would have its heap");
	}
	stack_shelves_learn_end(s, pid, 8, sp);
	CHECK_UINT(stack_shelves_end(s, 8, sp), 0);
	for (unsigned i = 0; i < 5000 && !stack_shelves_end(s, 8, sp); i++) {
		stack_shelves_learn_end(s, pid, 8, sp);
		usleep(2000);
	}
	/* Above its first frame is no stack, but arguments and pages that nothing touched. */
	CHECK(first > sp && first < end);
	CHECK_UINT(stack_shelves_end(s, 8, sp), (first + 7) / 8 * 8);
	CHECK_UINT(stack_shelves_end(s, 8, 8), 0); /* another stack by now */
	CHECK_UINT(stack_shelves_end(s, 9, sp), 0);
	stack_shelves_free(s);
}

/* Mappings of Go's heap say nothing about where a stack in them ends. */
TEST(stack_shelf_learns_which_threads_have_their_stacks_in_the_heap_of_go)
{
	const size_t len = 4 << 20;
	uint8_t *heap = mmap((void *)0xc400000000, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	uint32_t pid = (uint32_t)getpid();
	uint64_t start, end, sp = (uintptr_t)heap + 4096;

	if (heap == MAP_FAILED || !map_query_bounds(pid, sp, &start, &end)) {
		if (heap != MAP_FAILED)
			munmap(heap, len);
		SKIP("the kernel does not tell, or the address is taken");
	}
	struct stack_shelves *s = stack_shelves_new(1);

	for (unsigned i = 0; i < 5000 && !stack_shelves_in_heap(s, 8); i++) {
		stack_shelves_learn_end(s, pid, 8, sp);
		usleep(2000);
	}
	CHECK(stack_shelves_in_heap(s, 8));
	CHECK(!stack_shelves_in_heap(s, 9));
	CHECK_UINT(stack_shelves_end(s, 8, sp), 0);
	stack_shelves_free(s);
	munmap(heap, len);
}
