/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_splice.c - two samples of a thread mostly differ near the leaf only.
 *
 *	last chain   leaf  f1  f2  f3  f4 … root      and the words of its stack, up to the last one read
 *	new chain    leaf'  g1  ↑ the same ip, sp and needed registers; no word that f2 … root read has changed
 *
 * Every step of a walk leaves an account: the registers that decided it, those it set, and the range of the
 * stack it read. Summed from the root towards the leaf these say what a frame's callers depend on. Two
 * snapshots are compared from the root down, which gives the lowest address from which on they are
 * equal. A frame may be taken over if its callers depend on nothing below that.
 *
 * What is remembered is kept at the end of its arrays, so that what two samples have in common stays where
 * it is and only the part near the leaf is written again.
 */
#include "symbolize/unwind_splice.h"

#include "formats/base/map.h"
#include "formats/base/memory.h"

#include <stdlib.h>
#include <string.h>

#define PAST_SLOTS      512          /* threads that are remembered */
#define ORIGIN_BELOW    (1ULL << 34) /* so far below @high, no stack extends: slots fit 32 bits */
#define FRAMES_AT_FIRST 32
#define WORDS_AT_FIRST  256
#define BLOCK           16 /* words compared at a time, which the compiler makes a few instructions of */

/* Registers that frames are compared by, besides instruction and stack pointer. */
struct values {
	uint64_t fp, lr; /* 0 if not known */
	bool knows_fp, knows_lr;
};

/* On what the callers of a frame depend. */
struct account {
	uint64_t sp;
	struct values values;
	uint64_t needed;     /* registers that decide this step and all that follow */
	uint64_t low, high;  /* stack that they read; low 0: it cannot be said */
	bool exact, lasting; /* not @lasting: other registers are needed, so that it cannot be compared */
};

/* A frame of the walk in progress, and its own step. */
struct fresh {
	uint64_t sp;
	struct values values;
	uint64_t reads, writes;
	uint64_t low, high;
	bool exact;
};

/* The last chain of a thread. */
struct past {
	uint32_t pid, tid;
	bool usable;
	bool broke_off; /* the last walk could not be kept */
	const struct space *space;
	uint64_t generation; /* of @space */
	enum unwind_stop stop;

	/* At the end of arrays of @frames_cap, leaf first. */
	struct unwind_frame *frames;
	struct account *accounts;
	size_t nframes, frames_cap;

	/* Likewise, ascending: the words of the snapshot in [@base, @high), slots counted from @origin. */
	uint32_t *slots;
	uint64_t *words;
	size_t nwords, slots_cap, words_cap;
	uint64_t base, high, origin;
	size_t nabove; /* words of the snapshot at or above @high */
};

struct unwind_splices {
	const struct arch *arch;
	uint64_t comparable; /* registers: what struct values has, ip and sp */
	uint64_t spliced;
	struct past slots[PAST_SLOTS];

	/* The walk in progress. */
	struct past *past;
	bool idle; /* nothing to take over, and most likely nothing that could be kept */
	uint64_t equal_from; /* no word at or above this, and below past->high, has changed */
	size_t nchanged;     /* words of the snapshot below that */
	size_t next;         /* first frame of @past that may match */
	size_t matched;      /* the one that did; past->nframes: none */
	size_t first;        /* fresh frame among those of the walk */
	size_t nfresh;
	struct fresh fresh[UNWIND_FRAMES_MAX];
};

/* Registers that decide whether a frame is the root. */
static uint64_t beyond_root(const struct arch *arch)
{
	uint64_t needed = 1ULL << arch->ip | 1ULL << arch->sp | 1ULL << arch->fp;

	return arch->lr >= 0 ? needed | 1ULL << arch->lr : needed;
}

struct unwind_splices *unwind_splices_new(const struct arch *arch)
{
	struct unwind_splices *s = memory_zeroed(1, sizeof(*s));

	s->arch = arch;
	s->comparable = beyond_root(arch);
	return s;
}

void unwind_splices_free(struct unwind_splices *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < PAST_SLOTS; i++) {
		free(s->slots[i].frames);
		free(s->slots[i].accounts);
		free(s->slots[i].slots);
		free(s->slots[i].words);
	}
	free(s);
}

uint64_t unwind_splices_frames(const struct unwind_splices *s)
{
	return s ? s->spliced : 0;
}

/* ---- comparing snapshots --------------------------------------------------------------------------- */

static const uint32_t *past_slots(const struct past *p)
{
	return p->slots + p->slots_cap - p->nwords;
}

static const uint64_t *past_words(const struct past *p)
{
	return p->words + p->words_cap - p->nwords;
}

static const struct unwind_frame *past_frames(const struct past *p)
{
	return p->frames + p->frames_cap - p->nframes;
}

static const struct account *past_accounts(const struct past *p)
{
	return p->accounts + p->frames_cap - p->nframes;
}

/* How many words of @stack lie below @address; @guess may be it. */
static size_t words_below(const struct event_stack *stack, uint64_t address, size_t guess)
{
	uint64_t slot = (address - stack->base + 7) / 8;
	size_t low = 0, high = stack->nwords;

	if (address <= stack->base)
		return 0;
	if (guess <= high && (guess == high || stack->slots[guess] >= slot) &&
	    (guess == 0 || stack->slots[guess - 1] < slot))
		return guess;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (stack->slots[mid] < slot)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* What to add to the slots of a snapshot with this base. */
static uint32_t slot_shift(const struct past *p, const struct event_stack *stack)
{
	return (uint32_t)((stack->base - p->origin) / 8);
}

static bool block_is_equal(const uint32_t *slots, const uint64_t *words,
			   const struct event_stack *stack, size_t from, uint32_t shift)
{
	uint32_t moved = 0;
	uint64_t changed = 0;

	for (size_t k = 0; k < BLOCK; k++) {
		moved |= slots[k] ^ (stack->slots[from + k] + shift);
		changed |= words[k] ^ stack->words[from + k];
	}
	return !moved && !changed;
}

/* The lowest address from which on, up to @p->high, both snapshots hold the same; and how many words are not. */
static uint64_t equal_from(const struct past *p, const struct event_stack *stack,
			   size_t *ret_nchanged)
{
	const uint32_t *slots = past_slots(p);
	const uint64_t *words = past_words(p);
	uint32_t shift = slot_shift(p, stack);
	size_t i = p->nwords, j = words_below(stack, p->high, stack->nwords - p->nabove);
	uint64_t from = MAX(p->base, stack->base);

	while (i >= BLOCK && j >= BLOCK &&
	       block_is_equal(slots + i - BLOCK, words + i - BLOCK, stack, j - BLOCK, shift)) {
		i -= BLOCK;
		j -= BLOCK;
	}
	while (i && j && slots[i - 1] == stack->slots[j - 1] + shift &&
	       words[i - 1] == stack->words[j - 1]) {
		i--;
		j--;
	}
	if (i)
		from = MAX(from, p->origin + 8ULL * slots[i - 1] + 8);
	if (j)
		from = MAX(from, stack->base + 8ULL * stack->slots[j - 1] + 8);
	*ret_nchanged = j;
	return from;
}

/* ---- a walk ---------------------------------------------------------------------------------------- */

static bool is_comparable(const struct past *p, const struct unwind_walk *w)
{
	return p->usable && p->space == w->space && p->generation == space_generation(w->space) &&
	       p->high <= w->stack.snapshot->end;
}

/* A slot that is used for the first time. */
static void give_room(struct past *p)
{
	p->frames_cap = FRAMES_AT_FIRST;
	p->slots_cap = p->words_cap = WORDS_AT_FIRST;
	p->frames = memory_zeroed(p->frames_cap, sizeof(*p->frames));
	p->accounts = memory_zeroed(p->frames_cap, sizeof(*p->accounts));
	p->slots = memory_zeroed(p->slots_cap, sizeof(*p->slots));
	p->words = memory_zeroed(p->words_cap, sizeof(*p->words));
}

void unwind_splices_begin(struct unwind_splices *s, const struct unwind_walk *w,
			  const struct unwind_frames *frames, const struct event *ev)
{
	struct past *p = &s->slots[map_hash((uint64_t)ev->pid << 32 | ev->tid) % PAST_SLOTS];

	if (!p->frames)
		give_room(p);
	p->usable = p->usable && p->pid == ev->pid && p->tid == ev->tid && is_comparable(p, w);
	p->pid = ev->pid;
	p->tid = ev->tid;
	if (!p->usable)
		p->nframes = p->nwords = 0;
	s->past = p;
	s->idle = !p->usable && p->broke_off && w->stack.snapshot->cut;
	s->first = frames->len;
	s->nfresh = 0;
	s->next = 0;
	s->matched = p->nframes;
	s->equal_from = p->usable ? equal_from(p, w->stack.snapshot, &s->nchanged) : 0;
	while (s->next < p->nframes && past_accounts(p)[s->next].low < s->equal_from)
		s->next++;
}

/* Is what decides the step from a frame and all that follow the same? Their stack pointers are. */
static bool same_step(const struct unwind_splices *s, const struct account *a,
		      const struct values *now, bool exact)
{
	const struct arch *arch = s->arch;

	if (a->exact != exact || !a->lasting)
		return false;
	if (a->needed >> arch->fp & 1 &&
	    (a->values.knows_fp != now->knows_fp || a->values.fp != now->fp))
		return false;
	if (arch->lr >= 0 && a->needed >> arch->lr & 1 &&
	    (a->values.knows_lr != now->knows_lr || a->values.lr != now->lr))
		return false;
	return true;
}

/* Append the callers from frame @first of @p on, as far as there is room. */
static enum unwind_stop take_over(struct unwind_splices *s, size_t first, struct unwind_frames *out)
{
	const struct past *p = s->past;
	size_t count = MIN(p->nframes - first, UNWIND_FRAMES_MAX - out->len);

	memcpy(out->items + out->len, past_frames(p) + first, count * sizeof(out->items[0]));
	out->len += count;
	s->spliced += count;
	return count < p->nframes - first ? UNWIND_TOO_DEEP : p->stop;
}

/* These two are never "saved", so they can be looked at directly. */
static struct values values_of(const struct unwind_walk *w)
{
	const struct arch *arch = w->arch;
	const struct unwind_state *state = &w->state;
	struct values values = { .knows_fp = state->known & w->fp };

	if (values.knows_fp)
		values.fp = state->regs[arch->fp];
	if (arch->lr >= 0 && unwind_knows(state, (unsigned)arch->lr)) {
		values.knows_lr = true;
		values.lr = state->regs[arch->lr];
	}
	return values;
}

bool unwind_splices_match(struct unwind_splices *s, const struct unwind_walk *w,
			  enum unwind_how how, struct unwind_frames *out,
			  enum unwind_stop *ret_stop)
{
	uint64_t sp = w->state.regs[w->arch->sp], ip = w->state.regs[w->arch->ip];
	const struct account *accounts;
	const struct unwind_frame *frames;
	struct values now;

	if (s->next == s->past->nframes)
		return false;
	accounts = past_accounts(s->past);
	while (s->next < s->past->nframes && accounts[s->next].sp < sp)
		s->next++;
	if (s->next == s->past->nframes || accounts[s->next].sp != sp)
		return false;
	frames = past_frames(s->past);
	now = values_of(w);
	for (size_t i = s->next; i < s->past->nframes && accounts[i].sp == sp; i++) {
		if (frames[i].ip != ip || frames[i].how != how ||
		    !same_step(s, &accounts[i], &now, w->state.exact))
			continue;
		s->matched = i;
		*ret_stop = take_over(s, i, out);
		return true;
	}
	return false;
}

/* The step from the newest fresh frame is over: note what it depended on. */
static void close_step(struct unwind_splices *s, const struct unwind_walk *w)
{
	struct fresh *f;

	if (!s->nfresh)
		return;
	f = &s->fresh[s->nfresh - 1];
	f->reads = w->reads;
	f->writes = w->writes;
	f->low = w->stack.failed ? 0 : w->stack.low;
	f->high = w->stack.high;
}

void unwind_splices_frame(struct unwind_splices *s, const struct unwind_walk *w)
{
	struct fresh *f;

	if (s->idle)
		return;
	close_step(s, w);
	f = &s->fresh[s->nfresh++];
	f->sp = w->state.regs[w->arch->sp];
	f->values = values_of(w);
	f->exact = w->state.exact;
}

/* ---- remembering ----------------------------------------------------------------------------------- */

/* The account of @fresh, whose callers' is @older. */
static struct account sum_up(const struct unwind_splices *s, const struct fresh *fresh,
			     const struct account *older)
{
	uint64_t needed = fresh->reads | (older->needed & ~fresh->writes);

	return (struct account){
		.sp = fresh->sp,
		.values = fresh->values,
		.needed = needed,
		.low = MIN(older->low, fresh->low),
		.high = MAX(older->high, fresh->high),
		.exact = fresh->exact,
		.lasting = !(needed & ~s->comparable),
	};
}

/* Room for @need items of which the last @keep are in use: they move to the new end. */
static void *grow_at_front(void *items, size_t *cap, size_t keep, size_t need, size_t size)
{
	size_t bigger = MAX(need, *cap * 2);
	char *fresh = memory_alloc(bigger * size);

	if (keep)
		memcpy(fresh + (bigger - keep) * size, (char *)items + (*cap - keep) * size,
		       keep * size);
	free(items);
	*cap = bigger;
	return fresh;
}

static void grow_frames(struct past *p, size_t keep, size_t need)
{
	size_t cap = p->frames_cap;

	p->frames = grow_at_front(p->frames, &cap, keep, need, sizeof(*p->frames));
	p->accounts = grow_at_front(p->accounts, &p->frames_cap, keep, need, sizeof(*p->accounts));
}

/* Put the fresh frames in front of those taken over, and sum up their accounts from the root's side. */
static void store_frames(struct unwind_splices *s, struct past *p, const struct unwind_frames *walked)
{
	const struct account end = { .needed = beyond_root(s->arch), .low = UINT64_MAX };
	const struct account *older = &end;
	size_t kept = p->nframes - s->matched;
	struct account *account;

	if (kept + s->nfresh > p->frames_cap)
		grow_frames(p, kept, kept + s->nfresh);
	account = p->accounts + p->frames_cap - kept;
	if (kept)
		older = account;
	for (size_t i = s->nfresh; i > 0; i--) {
		*--account = sum_up(s, &s->fresh[i - 1], older);
		older = account;
	}
	p->nframes = kept + s->nfresh;
	memcpy(p->frames + p->frames_cap - p->nframes, walked->items + s->first,
	       s->nfresh * sizeof(*p->frames));
}

static void grow_words(struct past *p, size_t keep, size_t need)
{
	p->slots = grow_at_front(p->slots, &p->slots_cap, keep, need, sizeof(*p->slots));
	p->words = grow_at_front(p->words, &p->words_cap, keep, need, sizeof(*p->words));
}

/* Remember the snapshot's words below @high; those that the last one had too are there already. */
static void store_words(struct unwind_splices *s, struct past *p, const struct event_stack *stack,
			uint64_t high)
{
	size_t len = words_below(stack, high, stack->nwords - p->nabove), fresh = len;
	uint32_t *slots, shift;
	uint64_t *words;

	if (p->usable && high == p->high)
		fresh = s->nchanged;
	else
		p->origin = high / 8 * 8 - ORIGIN_BELOW;
	if (len > p->words_cap)
		grow_words(p, len - fresh, len);
	slots = p->slots + p->slots_cap - len;
	words = p->words + p->words_cap - len;
	shift = slot_shift(p, stack);
	for (size_t i = 0; i < fresh; i++)
		slots[i] = stack->slots[i] + shift;
	if (fresh)
		memcpy(words, stack->words, fresh * sizeof(*words));
	p->nwords = len;
	p->nabove = stack->nwords - len;
	p->base = stack->base;
	p->high = high;
}

/* Other ends also depend on the size of the snapshot, the kernel's chain or the frames in front. */
static bool is_account_complete(enum unwind_stop stop)
{
	return stop == UNWIND_ROOT || stop == UNWIND_NO_TABLE || stop == UNWIND_BAD_TABLE ||
	       stop == UNWIND_NO_BINARY;
}

/* Is there something to remember, and can it be said what it depends on? */
static bool is_lasting(const struct unwind_splices *s, enum unwind_stop stop)
{
	if (!is_account_complete(stop))
		return false;
	return s->matched < s->past->nframes || (s->nfresh && s->fresh[s->nfresh - 1].low);
}

void unwind_splices_end(struct unwind_splices *s, const struct unwind_walk *w,
			const struct unwind_frames *frames, enum unwind_stop stop)
{
	struct past *p = s->past;

	p->broke_off = !is_account_complete(stop);
	if (s->idle)
		return;
	close_step(s, w);
	if (!is_lasting(s, stop)) {
		p->usable = false;
		p->nframes = p->nwords = 0;
		return;
	}
	store_frames(s, p, frames);
	store_words(s, p, w->stack.snapshot, past_accounts(p)->high);
	p->usable = true;
	p->space = w->space;
	p->generation = space_generation(w->space);
	p->stop = stop;
}
