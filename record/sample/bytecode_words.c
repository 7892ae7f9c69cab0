/* SPDX-License-Identifier: Apache-2.0 */
#include "record/sample/bytecode_words.h"

#include "formats/arch.h"

#include <stdlib.h>
#include <string.h>

#define METHOD_BELOW   24 /* bytes below the frame pointer */
#define BYTECODE_BELOW 64
#define BYTECODE_REG   13 /* r13 */
#define LAST_BELOW     16 /* where its stack ended when it called, or 0: an address, from JDK 22 on in words from the frame pointer */
#define SENDER_BELOW   8 /* its caller's */
#define FRAME_LEN_MAX  65536
#define PUSHED_MAX     16 /* words that are kept */
#define LOW_BEGIN	(1ULL << 20)
#define ARCHIVE_LEN_MAX (128ULL << 20)
#define USER_END       (1ULL << 47)

/* Of V8, bytes below the frame pointer. */
#define V8_CONTEXT  8
#define V8_FUNCTION 16
#define V8_ARRAY    32
#define V8_OFFSET   40
#define V8_OFFSET_MAX (1U << 28)
#define PAGE_LEN    4096

static bool in_interpreter(const struct process *proc, uint64_t ip)
{
	return ip - proc->interpreter < proc->interpreter_len;
}

/* The word at @addr of the whole snapshot; 0 if it does not hold that. */
static uint64_t word_at(const struct perf_record *rec, uint64_t addr)
{
	uint64_t offset = addr - rec->regs.values[arch_native()->sp], word;

	if (offset > rec->stack_len || rec->stack_len - offset < sizeof(word))
		return 0;
	memcpy(&word, rec->stack + offset, sizeof(word));
	return word;
}

/* Numbers of the application, which a frame may have left behind, are small. */
static bool is_data_address(uint64_t word)
{
	return word >> 32 && word < USER_END;
}

/* From JDK 25 on, HotSpot maps the methods of its archive (CDS) in the first 4 GiB; a method and its bytecode are both there. */
static bool is_method(uint64_t method, uint64_t bytecode)
{
	if (method % 8)
		return false;
	if (is_data_address(method) && is_data_address(bytecode))
		return true;
	return method >= LOW_BEGIN && bytecode >= LOW_BEGIN && method < USER_END && bytecode < USER_END &&
	       (method > bytecode ? method - bytecode : bytecode - method) < ARCHIVE_LEN_MAX;
}

/* The interpreter's frame at @fp executes @bytecode, found in @slot. A native method has no bytecode: its own address is used. */
static void add(struct bytecode_words *words, const struct perf_record *rec, uint64_t fp, uint64_t bytecode, uint32_t slot)
{
	uint64_t method = word_at(rec, fp - METHOD_BELOW);

	bytecode = bytecode ? bytecode : method;
	if (is_method(method, bytecode) && words->len < BYTECODE_WORDS_MAX)
		words->items[words->len++] = (struct bytecode_word){ { .bytecode = bytecode, .function = method }, slot };
}

static int by_slot(const void *a, const void *b)
{
	const struct bytecode_word *x = a, *y = b;

	return COMPARE(x->slot, y->slot);
}

/* Remains of earlier calls may lead to the same frames, in any order. */
static void put_in_order(struct bytecode_words *words)
{
	size_t kept = 0;

	qsort(words->items, words->len, sizeof(words->items[0]), by_slot);
	for (size_t i = 0; i < words->len; i++) {
		bool again = kept && words->items[i].slot != BYTECODE_WORDS_NO_SLOT &&
			     words->items[kept - 1].slot == words->items[i].slot;

		if (!again)
			words->items[kept++] = words->items[i];
	}
	words->len = kept;
}

/* Keep the words that say what the frame at @fp executes. */
static void add_frame(struct bytecode_words *words, const struct perf_record *rec, uint64_t fp)
{
	const struct event_stack *stack = &rec->event.sample.stack;
	uint64_t offset = fp - BYTECODE_BELOW - stack->base;

	if (fp % 8 == 0 && offset < stack->end - stack->base)
		add(words, rec, fp, word_at(rec, fp - BYTECODE_BELOW), (uint32_t)(offset / 8));
}

static bool is_last(uint64_t last, uint64_t from, uint64_t fp)
{
	uint64_t below = 0 - last;

	return !last || (last >= from && last < fp) || below <= (fp - from) / 8;
}

/* Is @fp a frame of the interpreter whose callee's return address lies at @from? It has its caller's and perhaps its own stack pointer. */
static bool is_frame(const struct perf_record *rec, uint64_t from, uint64_t fp)
{
	uint64_t sender = word_at(rec, fp - SENDER_BELOW), last = word_at(rec, fp - LAST_BELOW);
	uint64_t method = word_at(rec, fp - METHOD_BELOW), bytecode = word_at(rec, fp - BYTECODE_BELOW);

	return fp % 8 == 0 && fp > from && fp - from < FRAME_LEN_MAX && sender > fp && sender - fp < FRAME_LEN_MAX &&
	       is_last(last, from, fp) && is_method(method, bytecode ? bytecode : method);
}

/*
 * Keep those of the frame that the return address in word @at leads to. Its pointer most often lies below that; C++ pushes other registers
 * before, which may point into the stack as well, or leaves it where it is, as does code that has just been entered.
 */
static void add_caller(struct bytecode_words *words, const struct perf_record *rec, uint32_t at)
{
	const struct event_stack *stack = &rec->event.sample.stack;
	uint64_t from = stack->base + 8ULL * stack->slots[at], fp = rec->regs.values[arch_native()->fp];

	if (at && stack->slots[at - 1] + 1 == stack->slots[at] && stack->words[at - 1] > from)
		add_frame(words, rec, stack->words[at - 1]);
	for (uint32_t i = at; i-- > 0 && at - i <= PUSHED_MAX;) {
		if (is_frame(rec, from, stack->words[i])) {
			add_frame(words, rec, stack->words[i]);
			return;
		}
	}
	if (is_frame(rec, from, fp))
		add_frame(words, rec, fp);
}

/*
 * Where the interpreter itself was interrupted, its bytecode register may hold something else, left by a call. The frame has the
 * bytecode of the last call.
 */
static void find_hotspot(const struct prune *prune, const struct process *proc, const struct perf_record *rec,
			 struct bytecode_words *ret)
{
	const struct event_stack *stack = &rec->event.sample.stack;

	if (in_interpreter(proc, rec->regs.values[arch_native()->ip]))
		add_frame(ret, rec, rec->regs.values[arch_native()->fp]);
	for (size_t i = 0; i < prune->ncode; i++) {
		if (in_interpreter(proc, stack->words[prune->code[i]]))
			add_caller(ret, rec, prune->code[i]);
	}
	put_in_order(ret);
}

/* A pointer to an object of V8's heap. */
static bool is_tagged(uint64_t word)
{
	return (word & 3) == 1 && is_data_address(word);
}

/* What V8's frame at @fp executes; false if it is not the frame of a function with bytecode. */
static bool read_v8_frame(const struct perf_record *rec, uint64_t fp, struct runtime_bytecode *ret)
{
	uint64_t offset = word_at(rec, fp - V8_OFFSET);

	ret->function = word_at(rec, fp - V8_FUNCTION);
	ret->bytecode = word_at(rec, fp - V8_ARRAY);
	ret->offset = 0;
	ret->feedback = is_tagged(offset) ? offset : 0;
	if (!is_tagged(word_at(rec, fp - V8_CONTEXT)) || !is_tagged(ret->function) || !is_tagged(ret->bytecode))
		return false;
	if (!(uint32_t)offset && offset >> 32 && offset >> 32 < V8_OFFSET_MAX)
		ret->offset = (uint32_t)(offset >> 32);
	return ret->offset || is_tagged(offset); /* compiled code has its feedback there */
}

/* Interpreted functions are kept only if @in_entry. */
static void add_v8(const struct perf_record *rec, uint64_t fp, bool in_entry, struct bytecode_words *ret)
{
	const struct event_stack *stack = &rec->event.sample.stack;
	uint64_t at = fp - V8_ARRAY - stack->base;
	struct bytecode_word word = { .slot = BYTECODE_WORDS_NO_SLOT };

	if (fp % 8 || at >= stack->end - stack->base || ret->len >= BYTECODE_WORDS_MAX ||
	    !read_v8_frame(rec, fp, &word.code) || (word.code.offset && !in_entry))
		return;
	if (word.code.offset)
		word.slot = (uint32_t)(at / 8);
	ret->items[ret->len++] = word;
}

/* Return addresses into the code that runs interpreted functions, wherever its pages are mapped. */
static void find_v8(const struct prune *prune, const struct process *proc, const struct perf_record *rec,
		    struct bytecode_words *ret)
{
	const struct event_stack *stack = &rec->event.sample.stack;

	add_v8(rec, rec->regs.values[arch_native()->fp], /* in_entry= */ true, ret);
	for (size_t i = 0; i < prune->ncode; i++) {
		uint32_t at = prune->code[i];

		if (at && stack->slots[at - 1] + 1 == stack->slots[at])
			add_v8(rec, stack->words[at - 1],
			       (stack->words[at] - proc->interpreter) % PAGE_LEN < proc->interpreter_len, ret);
	}
	put_in_order(ret);
}

static uint64_t kept_word(const struct runtime_bytecode *code)
{
	return code->bytecode + code->offset;
}

/* Insert the words, from the last one on; the indices of code words shift. */
static void insert(struct prune *prune, struct event_stack *stack, const struct bytecode_word *words, size_t count)
{
	size_t from = stack->nwords, to = from + count, code = prune->ncode;

	stack->nwords = to;
	while (count) {
		const struct bytecode_word *word = &words[count - 1];

		to--;
		if (!from || prune->slots[from - 1] < word->slot) {
			prune->slots[to] = word->slot;
			prune->words[to] = kept_word(&word->code);
			count--;
			continue;
		}
		from--;
		prune->slots[to] = prune->slots[from];
		prune->words[to] = prune->words[from];
		if (code && prune->code[code - 1] == from)
			prune->code[--code] = (uint32_t)to;
	}
}

/* Those whose slots hold no word yet. */
static size_t list_new(const struct prune *prune, const struct event_stack *stack, const struct bytecode_words *words,
		       struct bytecode_word *ret)
{
	size_t count = 0, at = 0;

	for (size_t i = 0; i < words->len; i++) {
		while (at < stack->nwords && prune->slots[at] < words->items[i].slot)
			at++;
		if (words->items[i].slot != BYTECODE_WORDS_NO_SLOT && (at == stack->nwords || prune->slots[at] != words->items[i].slot))
			ret[count++] = words->items[i];
	}
	return count;
}

uint64_t bytecode_words_register(const struct process *proc, const struct perf_record *rec)
{
	const struct event_regs *regs = &rec->regs;

	if (arch_native() != &arch_x86_64 || !proc->interpreter_len || proc->runs_v8 || !in_interpreter(proc, regs->values[arch_native()->ip]))
		return 0;
	return regs->values[BYTECODE_REG];
}

void bytecode_words_keep(struct prune *prune, const struct process *proc, uint64_t reg, struct perf_record *rec,
			 struct bytecode_words *ret)
{
	struct event_stack *stack = &rec->event.sample.stack;
	struct bytecode_word new[BYTECODE_WORDS_MAX];

	ret->len = 0;
	if (arch_native() != &arch_x86_64 || prune->raw || !rec->stack)
		return;
	if (proc->runs_v8)
		find_v8(prune, proc, rec, ret);
	else
		find_hotspot(prune, proc, rec, ret);
	insert(prune, stack, new, list_new(prune, stack, ret, new));
	if (!reg)
		return;
	add(ret, rec, rec->regs.values[arch_native()->fp], reg, BYTECODE_WORDS_NO_SLOT);
	if (ret->len && ret->items[ret->len - 1].slot == BYTECODE_WORDS_NO_SLOT)
		rec->regs.values[BYTECODE_REG] = reg;
}
