/* SPDX-License-Identifier: Apache-2.0 */
#include "record/sample/deep_stack.h"

#include "formats/base/memory.h"
#include "formats/base/vec.h"

#include <stdlib.h>

struct word {
	uint64_t addr, word;
};

/* Words that pruning keeps, in the order of their addresses. */
struct words {
	VEC(struct word) list;
};

/* The words of the last turn at a place. */
struct place {
	bool known;
	uint32_t turn;
	uint32_t pid, serial; /* of the process and its mappings, by which they were pruned */
	uint64_t forgotten;   /* of the front's resets, as of this turn */
	struct words words;
};

#define WORDS_MAX (1u << 21) /* of all places, 32 MiB: 8 threads in which every word is an address */

struct deep_stacks {
	VEC(struct place *) places;
	size_t nwords;	   /* of all of them */
	struct words next; /* of the turn that comes */
};

struct deep_stacks *deep_stacks_new(void)
{
	return memory_zeroed(1, sizeof(struct deep_stacks));
}

void deep_stacks_free(struct deep_stacks *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->places.len; i++) {
		if (s->places.items[i])
			vec_deinit(&s->places.items[i]->words.list);
		free(s->places.items[i]);
	}
	vec_deinit(&s->places);
	vec_deinit(&s->next.list);
	free(s);
}

static struct place *place_of(struct deep_stacks *s, uint32_t number)
{
	while (s->places.len <= number)
		vec_push(&s->places, NULL);
	if (!s->places.items[number])
		s->places.items[number] = memory_zeroed(1, sizeof(struct place));
	return s->places.items[number];
}

static void forget_words(struct deep_stacks *s, struct place *place)
{
	s->nwords -= place->words.list.len;
	vec_deinit(&place->words.list);
	place->known = false;
}

/* Later references to them are refused. */
static void forget_others(struct deep_stacks *s, const struct place *place)
{
	for (size_t i = 0; i < s->places.len; i++)
		if (s->places.items[i] && s->places.items[i] != place)
			forget_words(s, s->places.items[i]);
}

static bool is_any_same(const struct other_stack *rest)
{
	uint64_t any = 0;

	for (size_t i = 0; i < ARRAY_LEN(rest->same); i++)
		any |= rest->same[i];
	return any;
}

/* The first word at @addr or above. */
static size_t find(const struct words *words, uint64_t addr)
{
	size_t low = 0, high = words->list.len;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (words->list.items[middle].addr < addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* What @from has in [low, high). */
static void copy(const struct words *from, uint64_t low, uint64_t high, struct words *ret)
{
	size_t first = find(from, low), end = find(from, high);

	vec_append(&ret->list, from->list.items + first, end - first);
}

struct chooser {
	const struct process *proc;
	const struct prune *prune;
	struct attach_front *front;
};

static void choose(const struct chooser *c, struct word word, struct words *ret)
{
	bool code;

	if (!prune_keeps_other(c->prune, c->proc, word.word, &code))
		return;
	if (code)
		attach_address(c->front, word.word & c->prune->mask, ATTACH_CALLER);
	vec_push(&ret->list, word);
}

/* Add the words of @rest from number *@next up to @high; those that were there last time pass without a check. */
static void take_fresh(const struct chooser *c, const struct words *known, const struct other_stack *rest, size_t *next, uint64_t high,
		       struct words *ret)
{
	size_t at = *next < rest->nwords ? find(known, rest->base + 8 * (uint64_t)rest->slots[*next]) : 0;

	for (; *next < rest->nwords; ++*next) {
		struct word word = { rest->base + 8 * (uint64_t)rest->slots[*next], rest->words[*next] };

		if (word.addr >= high)
			return;
		while (at < known->list.len && known->list.items[at].addr < word.addr)
			at++;
		if (at < known->list.len && known->list.items[at].addr == word.addr && known->list.items[at].word == word.word)
			vec_push(&ret->list, word);
		else
			choose(c, word, ret);
	}
}

/* Run by run of pieces: either all of a run are unchanged or none. */
static void take_turn(const struct chooser *c, const struct words *known, const struct other_stack *rest, struct words *ret)
{
	uint64_t start = rest->base - rest->base % STACK_PIECE_LEN;
	size_t next = 0, npieces = (size_t)((rest->end - start + STACK_PIECE_LEN - 1) / STACK_PIECE_LEN);

	ret->list.len = 0;
	for (size_t i = 0, end; i < npieces; i = end) {
		bool same = other_stack_is_same(rest, i);

		for (end = i + 1; end < npieces && other_stack_is_same(rest, end) == same;)
			end++;
		if (same)
			copy(known, start + i * STACK_PIECE_LEN, start + end * STACK_PIECE_LEN, ret);
		else
			take_fresh(c, known, rest, &next, start + end * STACK_PIECE_LEN, ret);
	}
}

/* The front has forgotten these pieces. */
static void tell_again(const struct chooser *c, const struct words *known)
{
	for (size_t i = 0; i < known->list.len; i++) {
		uint64_t ip = known->list.items[i].word & c->prune->mask;

		if (process_is_code(c->proc, ip))
			attach_address(c->front, ip, ATTACH_CALLER);
	}
}

/* Does @rest refer to the words of the last turn, pruned with the mappings of now? */
static bool recall(struct deep_stacks *s, struct place *place, const struct chooser *c, const struct other_stack *rest)
{
	bool known = place->known && rest->turn == place->turn + 1 && place->pid == c->proc->pid && place->serial == c->proc->serial;

	if (!known)
		forget_words(s, place);
	place->known = known || !is_any_same(rest);
	place->turn = rest->turn;
	place->pid = c->proc->pid;
	place->serial = c->proc->serial;
	if (place->forgotten != attach_forgotten(c->front))
		tell_again(c, &place->words);
	place->forgotten = attach_forgotten(c->front);
	return place->known;
}

static void append(struct prune *prune, const struct words *words, uint64_t end, struct event_stack *stack)
{
	for (size_t i = 0; i < words->list.len; i++) {
		prune->slots[stack->nwords] = (uint32_t)((words->list.items[i].addr - stack->base) / 8);
		prune->words[stack->nwords++] = words->list.items[i].word;
	}
	stack->end = end;
	stack->cut = false;
}

bool deep_stacks_add(struct deep_stacks *s, const struct process *proc, const struct other_stack *rest, struct prune *prune,
		     struct attach_front *front, struct event_stack *stack)
{
	const struct chooser chooser = { proc, prune, front };
	struct place *place = place_of(s, rest->place);

	attach_begin(front, proc->pid);
	if (!recall(s, place, &chooser, rest))
		return false;
	take_turn(&chooser, &place->words, rest, &s->next);

	struct words last = place->words;

	place->words = s->next;
	s->next = last;
	s->nwords += place->words.list.len - last.list.len;
	if (s->nwords > WORDS_MAX)
		forget_others(s, place);
	if (stack->cut && !stack->shortened && stack->end == rest->base)
		append(prune, &place->words, rest->end, stack);
	return true;
}
