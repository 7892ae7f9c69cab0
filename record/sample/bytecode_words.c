/* SPDX-License-Identifier: Apache-2.0 */
#include "record/sample/bytecode_words.h"

#include "formats/arch.h"

#include <string.h>

#define METHOD_BELOW   24 /* bytes below the frame pointer */
#define BYTECODE_BELOW 64
#define BYTECODE_REG   13 /* r13 */
#define USER_END       (1ULL << 47)

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

/* The machine puts methods nowhere lower; numbers of the application, which a frame may have left behind, are small. */
static bool is_data_address(uint64_t word)
{
	return word >> 32 && word < USER_END;
}

/* The frame at @fp of the interpreter, @bytecode is what it executes, found in @slot. */
static void add(struct bytecode_words *words, const struct perf_record *rec, uint64_t fp, uint64_t bytecode, uint32_t slot)
{
	uint64_t method = word_at(rec, fp - METHOD_BELOW);

	if (is_data_address(bytecode) && is_data_address(method) && method % 8 == 0 && words->len < BYTECODE_WORDS_MAX)
		words->items[words->len++] = (struct bytecode_word){ bytecode, method, slot };
}

/* Frames farther out lie higher: a list that ascends by slots. */
static void find(const struct prune *prune, const struct process *proc, const struct perf_record *rec,
		 struct bytecode_words *ret)
{
	const struct event_stack *stack = &rec->event.sample.stack;
	uint32_t last = 0;

	for (size_t i = 0; i < prune->ncode; i++) {
		uint32_t at = prune->code[i];
		uint64_t fp = at ? stack->words[at - 1] : 0;
		uint64_t offset = fp - BYTECODE_BELOW - stack->base;

		if (!in_interpreter(proc, stack->words[at]) || !at || stack->slots[at - 1] + 1 != stack->slots[at] || fp % 8 ||
		    offset >= stack->end - stack->base || offset / 8 <= MAX(last, stack->slots[at]))
			continue;
		last = (uint32_t)(offset / 8);
		add(ret, rec, fp, word_at(rec, fp - BYTECODE_BELOW), last);
	}
}

/* Put the words where they belong, from the last one on; the numbers of code words move along. */
static void insert(struct prune *prune, struct event_stack *stack, const struct bytecode_word *words, size_t count)
{
	size_t from = stack->nwords, to = from + count, code = prune->ncode;

	stack->nwords = to;
	while (count) {
		const struct bytecode_word *word = &words[count - 1];

		to--;
		if (!from || prune->slots[from - 1] < word->slot) {
			prune->slots[to] = word->slot;
			prune->words[to] = word->bytecode;
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
		if (words->items[i].slot != UINT32_MAX && (at == stack->nwords || prune->slots[at] != words->items[i].slot))
			ret[count++] = words->items[i];
	}
	return count;
}

uint64_t bytecode_words_register(const struct process *proc, const struct perf_record *rec)
{
	const struct event_regs *regs = &rec->regs;

	if (arch_native() != &arch_x86_64 || !proc->interpreter_len || !in_interpreter(proc, regs->values[arch_native()->ip]))
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
	find(prune, proc, rec, ret);
	insert(prune, stack, new, list_new(prune, stack, ret, new));
	if (!reg)
		return;
	add(ret, rec, rec->regs.values[arch_native()->fp], reg, UINT32_MAX);
	if (ret->len && ret->items[ret->len - 1].slot == UINT32_MAX)
		rec->regs.values[BYTECODE_REG] = reg;
}
