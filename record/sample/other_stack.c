/* SPDX-License-Identifier: Apache-2.0 */
/*
 * other_stack.c - searches the words of a snapshot for marks of signal frames, Go and Erlang.
 *
 * Sources: struct rt_sigframe and struct sigcontext of Linux (arch/x86/include/asm/sigframe.h and uapi/asm/sigcontext.h, arch/arm64/kernel/signal.c);
 * OTP 25, erts/emulator/beam/erl_process.h (struct process) and jit/x86/beam_asm.hpp (emit_enter_runtime, emit_leave_runtime);
 * Go 1.5 to 1.26, runtime/asm_amd64.s and asm_arm64.s (asmcgocall, gosave_systemstack_switch), race_amd64.s, runtime2.go (g, m, gobuf).
 */
#include "record/sample/other_stack.h"

#include "formats/perf/perf_record.h"

#include <string.h>
#include <unistd.h>

/*
 * Of a signal frame, in words from a mark: x86-64's code and stack segment (user_cs and user_ds), which the kernel saves as one word;
 * aarch64's record of the vector registers, the first behind the others.
 */
struct frame_shape {
	const struct arch *arch;
	uint64_t mark;
	size_t sp, stack_base, stack_len; /* below the mark */
	int depth; /* Go: where the depth is from the word that points to the goroutine */
	unsigned goroutine; /* the register that has it in Go's code (ABIInternal) */
	int code;  /* and the return address into asmcgocall(); 0: that is in a register, or anywhere */
};

static const struct frame_shape shapes[] = {
	{ .arch = &arch_x86_64, .mark = 0x002b000000000033, .sp = 3, .stack_base = 21, .stack_len = 19, .depth = -1, .goroutine = 14, .code = -2 },
	{ .arch = &arch_aarch64, .mark = 0x0000021046508001, .sp = 4, .stack_base = 56, .stack_len = 54, .depth = 1, .goroutine = 28 },
};

#define DEPTH_MAX (1ULL << 24) /* deeper stacks of Go, which may have 1 GiB, are left out */

/* struct g, in words: stack.lo and hi, sched.sp and sched.g. */
#define G_LO 0
#define G_HI 1
#define G_M  6 /* whose first word is the goroutine that has the thread's stack */
#define G_SP 7
#define G_SELF 9
#define G_WORDS 10

static uint64_t word_at(const struct other_stack_snapshot *s, size_t slot)
{
	uint64_t word;

	memcpy(&word, s->bytes + 8 * slot, sizeof(word));
	return word;
}

static bool holds(const struct other_stack_snapshot *s, uint64_t address)
{
	return address - s->base < 8 * (uint64_t)s->nwords;
}

static void keep_proof(const struct other_stack_snapshot *s, size_t slot, struct other_stack_place *ret)
{
	ret->proof_at = s->base + 8 * slot;
	for (size_t i = 0; i < OTHER_STACK_PROOF; i++)
		ret->proof[i] = slot + i < s->nwords ? word_at(s, slot + i) : 0;
}

/* The handler runs on the alternate signal stack and interrupted code on another. */
static bool is_signal_frame(const struct other_stack_snapshot *s, const struct frame_shape *shape, size_t slot,
			    struct other_stack_place *ret)
{
	if (slot < shape->stack_base)
		return false;

	uint64_t sp = word_at(s, slot - shape->sp), base = word_at(s, slot - shape->stack_base);
	uint64_t len = word_at(s, slot - shape->stack_len);

	if (s->base - base >= len || sp - base < len || holds(s, sp) || !sp)
		return false;
	*ret = (struct other_stack_place){ .sp = sp };
	keep_proof(s, slot - shape->sp, ret);
	return true;
}

/* Word @from of those around @slot; false: there is none. */
static bool word_near(const struct other_stack_snapshot *s, size_t slot, int from, uint64_t *ret)
{
	uint64_t at = (uint64_t)slot + (uint64_t)(int64_t)from;

	if (at >= s->nwords)
		return false;
	*ret = word_at(s, (size_t)at);
	return true;
}

/* Go's heap has a g in pieces of 32 bytes and more. */
static bool may_be_goroutine(const struct other_stack_snapshot *s, const struct frame_shape *shape, size_t slot,
			     struct other_stack_place *ret)
{
	uint64_t g = word_at(s, slot), depth, code;

	if (g % 32 || g >> 47 || g >> 20 == 0 || !word_near(s, slot, shape->depth, &depth) || !depth || depth % 8 ||
	    depth > DEPTH_MAX || holds(s, g))
		return false;
	if (shape->code && s->proc && (!word_near(s, slot, shape->code, &code) || !process_is_code(s->proc, code)))
		return false;
	*ret = (struct other_stack_place){ .goroutine = g, .depth = depth };
	keep_proof(s, shape->depth < 0 ? slot - 1 : slot, ret);
	for (size_t i = 2; i < OTHER_STACK_PROOF; i++)
		ret->proof[i] = 0;
	return true;
}

static const struct frame_shape *shape_of(const struct arch *arch)
{
	for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
		if (shapes[i].arch == arch)
			return &shapes[i];
	return NULL;
}

bool other_stack_find(const struct other_stack_snapshot *s, size_t *slot, struct other_stack_place *ret)
{
	const struct frame_shape *shape = shape_of(s->arch);

	while (shape && *slot < s->nwords) {
		size_t i = (*slot)++;

		if (word_at(s, i) == shape->mark ? is_signal_frame(s, shape, i, ret) : may_be_goroutine(s, shape, i, ret))
			return true;
	}
	return false;
}

#define RACE_REG    12   /* r12 */
#define PROCESS_REG 13   /* r13 */
#define CALLS_MAX   256  /* places for a return address into code of Erlang's machine */
#define CALL_MAX    28   /* bytes from where that leaves its stack to behind the call */
#define BACK_MAX    8    /* and from there to behind the load of the stack pointer */
#define SAVED_MAX   64   /* words below a return address: what the function called saves of registers, or one that it calls in turn */

#define WHOLE_LEN_MIN 49152 /* shorter snapshots were requested, or the recorder is behind */
#define PAIRS_MAX     1024  /* frame pointers that are followed */
#define HOLE_MAX      (1ULL << 20) /* untouched bytes behind the snapshot */

bool other_stack_snapshot_of(const struct perf_record *rec, const struct process *proc, struct other_stack_snapshot *ret)
{
	const struct arch *arch = arch_native();
	const struct frame_shape *shape = shape_of(arch);
	uint64_t sp = rec->regs.values[arch->sp], skip = -sp & 7;

	if (!rec->stack || rec->stack_len < skip)
		return false;
	*ret = (struct other_stack_snapshot){
		.arch = arch,
		.bytes = rec->stack + skip,
		.base = sp + skip,
		.nwords = (rec->stack_len - skip) / 8,
		.proc = proc,
		.fp = rec->regs.values[arch->fp],
		.process = rec->regs.values[PROCESS_REG],
		.race = rec->regs.values[RACE_REG],
		.goroutine = shape ? rec->regs.values[shape->goroutine] : 0,
		.whole = rec->stack_room >= WHOLE_LEN_MIN,
		.cut = rec->stack_len == rec->stack_room,
	};
	return true;
}

/*
 * Do frame pointers lead to a 0 in the snapshot? Then the stack ends there: goroutines and coroutines have small stacks in the heap, with
 * other data behind them.
 */
static bool ends_by_frame_pointer(const struct other_stack_snapshot *s)
{
	uint64_t fp = s->fp, next;

	for (unsigned i = 0; i < PAIRS_MAX && fp % 8 == 0 && holds(s, fp); i++) {
		next = word_at(s, (fp - s->base) / 8);
		if (!next)
			return i > 0;
		if (next <= fp)
			return false;
		fp = next;
	}
	return false;
}

bool other_stack_find_linked(const struct other_stack_snapshot *s, uint64_t end, struct other_stack_place *ret)
{
	uint64_t fp = s->fp;

	for (unsigned i = 0; i < PAIRS_MAX && fp % 8 == 0 && holds(s, fp) && holds(s, fp + 8); i++) {
		size_t slot = (size_t)(fp - s->base) / 8;
		uint64_t next = word_at(s, slot);

		if (next <= fp || next % 8 || (s->proc && !process_is_code(s->proc, word_at(s, slot + 1))))
			return false;
		if (next >= end) {
			*ret = (struct other_stack_place){ .sp = next };
			keep_proof(s, slot, ret);
			return end && !(next >> 47);
		}
		fp = next;
	}
	return false;
}

bool other_stack_rest(const struct other_stack_snapshot *s, uint64_t end, struct other_stack_place *ret)
{
	uint64_t at = s->base + 8 * (uint64_t)s->nwords;

	if (!s->whole || s->nwords < OTHER_STACK_PROOF || at >= end || ends_by_frame_pointer(s))
		return false;
	*ret = (struct other_stack_place){ .sp = at, .end = end };
	keep_proof(s, s->nwords - OTHER_STACK_PROOF, ret);
	return true;
}

bool other_stack_may_go_on(const struct other_stack_snapshot *s)
{
	struct other_stack_place place;

	return other_stack_rest(s, UINT64_MAX, &place) || other_stack_find_linked(s, s->base + 8 * (uint64_t)s->nwords, &place);
}

bool other_stack_is_deep(const struct other_stack_snapshot *s, const struct other_stack_place *place)
{
	uint64_t behind = s->base + 8 * (uint64_t)s->nwords;

	return s->cut && place->sp == behind && place->end - behind <= OTHER_STACK_DEEP_MAX;
}

uint64_t other_stack_goroutine_end(const struct task_memory *mem, const struct other_stack_snapshot *s)
{
	uint64_t g[G_HI + 1], behind = s->base + 8 * (uint64_t)s->nwords;

	if (s->goroutine % 32 || s->goroutine >> 47 || s->goroutine >> 20 == 0 ||
	    task_memory_read(mem, s->goroutine, g, sizeof(g)) != sizeof(g))
		return 0;
	return g[G_LO] < s->base && behind < g[G_HI] && g[G_LO] % 2048 == 0 && g[G_HI] % 2048 == 0 && g[G_HI] - g[G_LO] <= DEPTH_MAX ? g[G_HI] : 0;
}

bool other_stack_is_goroutine(const struct task_memory *mem, uint64_t goroutine)
{
	uint64_t g[G_WORDS];

	return task_memory_read(mem, goroutine, g, sizeof(g)) == sizeof(g) && g[G_SELF] == goroutine && g[G_LO] < g[G_HI] &&
	       g[G_LO] % 2048 == 0 && g[G_HI] % 2048 == 0;
}

/* Where the goroutine's stack was left and where it ends, if the goroutine is in a call that switched stacks. */
static bool ask_goroutine(const struct task_memory *mem, const struct other_stack_place *place, uint64_t *ret_sp,
			  uint64_t *ret_end)
{
	uint64_t g[G_WORDS];

	if (task_memory_read(mem, place->goroutine, g, sizeof(g)) != sizeof(g))
		return false;
	*ret_sp = g[G_SP];
	*ret_end = g[G_HI];
	return g[G_SELF] == place->goroutine && g[G_LO] < g[G_SP] && g[G_SP] < g[G_HI] &&
	       g[G_HI] - g[G_SP] == place->depth && g[G_SP] % 8 == 0 && g[G_HI] % 8 == 0;
}

/* Too small for an address; pruning finds other words that are none. Authentication codes make any address large. */
static bool may_be_address(uint64_t word)
{
	return word >= 4096 && (arch_native() != &arch_x86_64 || !(word >> 47));
}

/* struct process, in words. */
#define P_HTOP	10
#define P_STOP	11
#define P_HEAP	16
#define P_HEND	17
#define P_WORDS 18

/* Where the stack of Erlang's process @process was left, and its end, which is also the heap's. */
static bool ask_process(const struct task_memory *mem, uint64_t process, uint64_t *ret_sp, uint64_t *ret_heap, uint64_t *ret_end)
{
	uint64_t p[P_WORDS];

	if (process % 8 || !may_be_address(process) || task_memory_read(mem, process, p, sizeof(p)) != sizeof(p))
		return false;
	*ret_sp = p[P_STOP];
	*ret_heap = p[P_HEAP];
	*ret_end = p[P_HEND];
	return p[P_HEAP] && p[P_HEAP] <= p[P_HTOP] && p[P_HTOP] <= p[P_STOP] && p[P_STOP] < p[P_HEND] && p[P_STOP] % 8 == 0 &&
	       p[P_HEND] % 8 == 0;
}

enum way_back { NO_WAY_BACK, BY_PROCESS, BY_REGISTER };

/*
 *	lea -0x80(%rbx), %rsp     onto the scheduler's stack; mov %rsp, %rbp before it, if that register keeps the process's
 *	…
 *	call C                    ◄ @ip is behind it
 *	mov 0x58(%r13), %rsp      back: one of the two
 *	mov %rbp, %rsp
 */
static enum way_back way_back(const struct task_memory *mem, uint64_t ip)
{
	static const uint8_t there[] = { 0x48, 0x8d, 0x63, 0x80 }, register_back[] = { 0x48, 0x89, 0xec };
	static const uint8_t process_back[] = { 0x49, 0x8b, 0x65, 8 * P_STOP };
	uint8_t code[CALL_MAX + BACK_MAX];

	if (!may_be_address(ip) || task_memory_read(mem, ip - CALL_MAX, code, sizeof(code)) != sizeof(code) ||
	    !memmem(code, CALL_MAX, there, sizeof(there)))
		return NO_WAY_BACK;
	if (memcmp(code + CALL_MAX, register_back, sizeof(register_back)) == 0)
		return BY_REGISTER;
	return memmem(code + CALL_MAX, BACK_MAX, process_back, sizeof(process_back)) ? BY_PROCESS : NO_WAY_BACK;
}

static bool is_on_process(const struct task_memory *mem, const struct other_stack_snapshot *s)
{
	uint64_t sp, heap, end;

	return ask_process(mem, s->process, &sp, &heap, &end) && s->base >= heap && s->base < end;
}

/* The process whose code made the call that returns to @slot: its register is among the first that are saved, or was not saved. */
static bool find_process(const struct task_memory *mem, const struct other_stack_snapshot *s, size_t slot, uint64_t *ret)
{
	uint64_t sp, heap, end;

	for (size_t i = 1; i <= slot && i <= SAVED_MAX; i++) {
		*ret = word_at(s, slot - i);
		if (!holds(s, *ret) && ask_process(mem, *ret, &sp, &heap, &end))
			return true;
	}
	*ret = s->process;
	return ask_process(mem, *ret, &sp, &heap, &end);
}

/*
 * The register is the frame pointer, or some frame of C has saved it. Other pointers into the process's memory are into the heap, below
 * the stack, or to terms of the same frame.
 */
static uint64_t kept_pointer(const struct task_memory *mem, const struct other_stack_snapshot *s, size_t slot, uint64_t process)
{
	uint64_t stop, heap, end, best = 0;

	if (!ask_process(mem, process, &stop, &heap, &end))
		return 0;
	for (size_t i = 0; i <= slot; i++) {
		uint64_t word = i < slot ? word_at(s, i) : s->fp;

		if (word % 8 == 0 && word > heap && word < end)
			best = MAX(best, word);
	}
	return best;
}

bool other_stack_find_erlang(const struct task_memory *mem, const struct other_stack_snapshot *s, struct other_stack_place *ret)
{
	/* BEAM code calls C with a stack pointer that is a multiple of 64. */
	size_t slot = ((56 - s->base) & 63) / 8;
	enum way_back way = NO_WAY_BACK;

	if (s->arch != &arch_x86_64 || is_on_process(mem, s))
		return false;
	for (unsigned i = 0; slot < s->nwords && i < CALLS_MAX; i++, slot += 8) {
		way = holds(s, word_at(s, slot)) ? NO_WAY_BACK : way_back(mem, word_at(s, slot));
		if (way != NO_WAY_BACK)
			break;
	}
	*ret = (struct other_stack_place){ 0 };
	if (way == NO_WAY_BACK || !find_process(mem, s, slot, &ret->process))
		return false;
	if (way == BY_REGISTER)
		ret->sp = kept_pointer(mem, s, slot, ret->process);
	keep_proof(s, slot, ret);
	return way == BY_PROCESS || ret->sp;
}

#define RACE_TRIES_MAX 16 /* words that may be a goroutine */
#define GO_HEAP(word)  ((word) >> 32 == 0xc0) /* where Go's heap begins, and with it stacks of goroutines */

bool other_stack_may_be_race(const struct other_stack_snapshot *s)
{
	return s->arch == &arch_x86_64 && !GO_HEAP(s->base) && GO_HEAP(s->fp) && GO_HEAP(s->race) && GO_HEAP(s->goroutine);
}

/*
 *	mov %rsp, %r12            racecall(), on the goroutine's stack
 *	mov 0x38(%r10), %rsp      onto the thread's, to where the goroutine of that was left
 *	and $-16, %rsp
 *	call *%rax                ◄ @ip is behind it
 *	mov %r12, %rsp
 */
static bool is_in_racecall(const struct task_memory *mem, uint64_t ip)
{
	static const uint8_t code[] = { 0xff, 0xd0, 0x4c, 0x89, 0xe4 };
	uint8_t found[sizeof(code)];

	return may_be_address(ip) && task_memory_read(mem, ip - 2, found, sizeof(found)) == sizeof(found) &&
	       memcmp(found, code, sizeof(code)) == 0;
}

/*
 * Is there a goroutine at @at that has called racecall()? Then @g becomes its words, and below *@ret_slot of the snapshot is what that has called; 0: it
 * has switched stacks, but was interrupted itself.
 */
static bool is_race_call_of(const struct task_memory *mem, const struct other_stack_snapshot *s, uint64_t at, uint64_t g[G_WORDS],
			    size_t *ret_slot)
{
	uint64_t of_thread, sp;

	if (at % 32 || !may_be_address(at) || holds(s, at) || task_memory_read(mem, at, g, G_WORDS * 8) != G_WORDS * 8 ||
	    g[G_SELF] != at || g[G_LO] >= g[G_HI] || s->base - g[G_LO] < g[G_HI] - g[G_LO] ||
	    task_memory_read(mem, g[G_M], &of_thread, sizeof(of_thread)) != sizeof(of_thread) ||
	    task_memory_read(mem, of_thread + 8 * G_SP, &sp, sizeof(sp)) != sizeof(sp))
		return false;
	*ret_slot = 0;
	if (s->base == sp || s->base == (sp & ~15ULL))
		return true;
	sp = (sp & ~15ULL) - 8;
	*ret_slot = (size_t)(sp - s->base) / 8;
	return holds(s, sp) && is_in_racecall(mem, word_at(s, *ret_slot));
}

static bool find_race_call(const struct task_memory *mem, const struct other_stack_snapshot *s, uint64_t g[G_WORDS], size_t *ret_slot)
{
	unsigned tries = 0;

	if (is_race_call_of(mem, s, s->goroutine, g, ret_slot))
		return true;
	for (size_t i = 0; i < s->nwords && tries < RACE_TRIES_MAX; i++) {
		uint64_t word = word_at(s, i);

		if (!GO_HEAP(word) || word % 32)
			continue;
		tries++;
		if (is_race_call_of(mem, s, word, g, ret_slot))
			return true;
	}
	return false;
}

/* Does the word at @sp follow a direct call, as all of racecall() are? */
static bool has_called_near(const struct task_memory *mem, uint64_t sp)
{
	uint64_t ip;
	uint8_t call;

	return task_memory_read(mem, sp, &ip, sizeof(ip)) == sizeof(ip) && may_be_address(ip) &&
	       task_memory_read(mem, ip - 5, &call, sizeof(call)) == sizeof(call) && call == 0xe8;
}

bool other_stack_find_race(const struct task_memory *mem, const struct other_stack_snapshot *s, struct other_stack_place *ret)
{
	uint64_t g[G_WORDS], sp = 0;
	unsigned tries = 0;
	size_t slot;

	if (s->arch != &arch_x86_64 || GO_HEAP(s->base) || !find_race_call(mem, s, g, &slot))
		return false;
	/* Other pointers into the goroutine's stack are to what lies above. */
	for (size_t i = 0; i <= slot && tries < RACE_TRIES_MAX; i++) {
		uint64_t word = i < slot ? word_at(s, i) : s->race;

		if (word % 8 || word - g[G_LO] >= g[G_HI] - g[G_LO] || (sp && word >= sp))
			continue;
		tries++;
		if (has_called_near(mem, word))
			sp = word;
	}
	*ret = (struct other_stack_place){ .sp = sp, .depth = g[G_HI] - sp };
	keep_proof(s, slot, ret);
	return sp != 0;
}

static bool is_proof(const struct other_stack_place *place, const uint64_t now[OTHER_STACK_PROOF])
{
	for (size_t i = 0; i < OTHER_STACK_PROOF; i++)
		if (place->proof[i] && now[i] != place->proof[i])
			return false;
	return true;
}

/* The first of @words is number @slot. */
static void take_words(const uint64_t *words, size_t count, size_t slot, struct other_stack *ret)
{
	for (size_t i = 0; i < count; i++) {
		if (!may_be_address(words[i]))
			continue;
		ret->slots[ret->nwords] = (uint32_t)(slot + i);
		ret->words[ret->nwords] = words[i];
		ret->nwords++;
	}
}

#define PAGES_MAX (EVENT_OTHER_STACK_MAX / 4096 + 1)

/* Where a page, or the stack, ends that @addr is in. */
static uint64_t end_of_page(uint64_t addr, uint64_t end)
{
	const uint64_t page_len = (uint64_t)sysconf(_SC_PAGESIZE);

	return MIN((addr / page_len + 1) * page_len, end);
}

/* The first page from *@sp on that is there; false: none is, up to @end. */
static bool skip_hole(const struct task_memory *mem, uint64_t *sp, uint64_t end)
{
	uint64_t limit = MIN(end, *sp + HOLE_MAX);

	*sp += task_memory_absent(mem, *sp, (size_t)(limit - *sp));
	return *sp < limit;
}

/* Read from *@sp to @end, and the proof, in one call. Missing pages read as zero; those before the first present page are omitted. */
static size_t read_rest(const struct task_memory *mem, const struct other_stack_place *place, uint64_t *sp, uint64_t end, uint8_t *ret)
{
	uint64_t proof[OTHER_STACK_PROOF], begin = end, got_end = 0;
	struct task_memory_piece pieces[1 + PAGES_MAX] = { { place->proof_at, proof, sizeof(proof), 0 } };
	size_t count = 1;

	memset(ret, 0, (size_t)(end - *sp));
	for (uint64_t at = *sp; at < end; at = end_of_page(at, end))
		pieces[count++] = (struct task_memory_piece){ at, ret + (at - *sp), (size_t)(end_of_page(at, end) - at), 0 };
	task_memory_read_pieces(mem, pieces, count);
	for (size_t i = 1; i < count; i++) {
		if (!pieces[i].got)
			continue;
		begin = MIN(begin, pieces[i].addr);
		got_end = pieces[i].addr + pieces[i].got;
	}
	if (!got_end || pieces[0].got != sizeof(proof) || !is_proof(place, proof))
		return 0;
	memmove(ret, ret + (begin - *sp), (size_t)(got_end - begin));
	*sp = begin;
	return (size_t)(got_end - begin);
}

/* The same of another stack, which has no holes. */
static size_t read_left(const struct task_memory *mem, const struct other_stack_place *place, uint64_t sp, uint64_t end, void *ret)
{
	uint64_t proof[OTHER_STACK_PROOF];
	size_t got = task_memory_read(mem, sp, ret, (size_t)(end - sp));

	return task_memory_read(mem, place->proof_at, proof, sizeof(proof)) == sizeof(proof) && is_proof(place, proof) ? got : 0;
}

#define READ_LEN (64u << 10) /* bytes of a deep stack at once, so that they stay in the caches */

/* Read @len bytes; missing pages read as zero. */
static void read_part(const struct task_memory *mem, uint64_t addr, uint8_t *ret, size_t len)
{
	for (size_t at = 0; at < len;) {
		size_t got = task_memory_read(mem, addr + at, ret + at, len - at), hole = 0;

		if (at + got < len)
			hole = (size_t)(end_of_page(addr + at + got, addr + len) - addr) - at - got;
		memset(ret + at + got, 0, hole);
		at += got + hole;
	}
}

/* Add the words from @at on; unchanged whole pieces are only marked. */
static void take_pieces(const uint64_t *words, uint64_t at, size_t len, struct stack_pieces *pieces, struct other_stack *ret)
{
	size_t first = (size_t)(ret->base / STACK_PIECE_LEN);

	for (size_t pos = 0, n; pos < len; pos += n) {
		n = MIN(len - pos, (size_t)(STACK_PIECE_LEN - (at + pos) % STACK_PIECE_LEN));
		if (n == STACK_PIECE_LEN && stack_pieces_same(pieces, at + pos, words + pos / 8)) {
			size_t piece = (size_t)((at + pos) / STACK_PIECE_LEN) - first;

			ret->same[piece / 64] |= 1ULL << (piece % 64);
		} else {
			take_words(words + pos / 8, n / 8, (size_t)(at + pos - ret->base) / 8, ret);
		}
	}
}

static bool read_deep(const struct task_memory *mem, const struct other_stack_place *place, struct stack_pieces *pieces,
		      struct other_stack *ret)
{
	uint64_t words[READ_LEN / 8], proof[OTHER_STACK_PROOF];

	ret->base = place->sp;
	ret->end = place->end & ~7ULL;
	ret->cut = false;
	ret->deep = true;
	ret->nwords = 0;
	memset(ret->same, 0, sizeof(ret->same));
	for (uint64_t at = ret->base, len; at < ret->end; at += len) {
		len = MIN(ret->end - at, READ_LEN - at % READ_LEN);
		read_part(mem, at, (uint8_t *)words, (size_t)len);
		take_pieces(words, at, (size_t)len, pieces, ret);
	}
	return task_memory_read(mem, place->proof_at, proof, sizeof(proof)) == sizeof(proof) && is_proof(place, proof);
}

bool other_stack_read(const struct task_memory *mem, struct other_stack_place place, struct stack_pieces *pieces, struct other_stack *ret)
{
	uint64_t words[EVENT_OTHER_STACK_MAX / 8], sp = place.sp, end = place.end, stop, heap;
	size_t got;

	if (place.deep)
		return read_deep(mem, &place, pieces, ret);
	if (!end && place.depth)
		end = sp + place.depth;
	if (place.goroutine && !ask_goroutine(mem, &place, &sp, &end))
		return false;
	if (place.process && !ask_process(mem, place.process, &stop, &heap, &end))
		return false;
	if (place.process && !sp)
		sp = stop;
	sp = (sp + 7) & ~7ULL;

	uint64_t limit = end && end - sp < sizeof(words) ? end : sp + sizeof(words);

	got = place.end ? read_rest(mem, &place, &sp, limit, (uint8_t *)words) : read_left(mem, &place, sp, limit, words);
	if (!got && place.end && place.end > limit && skip_hole(mem, &sp, end)) {
		limit = MIN(end, sp + sizeof(words));
		got = read_rest(mem, &place, &sp, limit, (uint8_t *)words);
	}
	got &= ~(size_t)7;
	if (!got)
		return false;
	ret->base = sp;
	ret->end = sp + got;
	ret->cut = ret->end == limit && limit != end;
	ret->deep = false;
	ret->nwords = 0;
	take_words(words, got / 8, 0, ret);
	return true;
}
