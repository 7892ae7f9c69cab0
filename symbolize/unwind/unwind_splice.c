/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_splice.c - two samples of a thread mostly differ near the leaf only.
 *
 *	last chain   leaf  f1  f2  f3  f4 … root      and the number of its snapshot
 *	new chain    leaf'  g1  ↑ the same ip, sp and needed registers; no word that f2 … root read has changed
 *
 * Every step of a walk leaves an account: the registers that decided it, those it set, and the range of the
 * stack it read. Summed from the root towards the leaf these say what a frame's callers depend on. No
 * words are compared: decoding the trace has shown from which address on a snapshot holds the same as the
 * thread's one before it in the file (formats/event.h). That need not be the one whose chain is remembered:
 * samples are filtered, walked in other threads, or come in another order. So a search goes back from one
 * snapshot to the next until it finds the remembered one, and the highest of their addresses counts. If it
 * does not, as at the start of each block of the file, nothing is taken over. A frame may be taken over if
 * its callers depend on nothing below that address.
 *
 * What is remembered is kept at the end of its arrays, so that what two samples have in common stays where
 * it is and only the part near the leaf is written again.
 */
#include "symbolize/unwind/unwind_splice.h"

#include "formats/base/map.h"
#include "formats/base/memory.h"

#include <stdlib.h>
#include <string.h>

#define PAST_SLOTS      512          /* threads that are remembered */
#define FRAMES_AT_FIRST 32
#define SEARCH_MAX      64 /* snapshots: looking at more would cost as much as a walk */

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
	enum stack_stop stop;

	/* At the end of arrays of @frames_cap, leaf first. */
	struct unwind_frame *frames;
	struct account *accounts;
	size_t nframes, frames_cap;

	uint64_t number; /* of the snapshot */
	uint64_t high;   /* the end of what was read of it */
};

struct unwind_splices {
	const struct arch *arch;
	uint64_t comparable; /* registers: what struct values has, ip and sp */
	uint64_t spliced;
	struct past slots[PAST_SLOTS];

	/* The walk in progress. */
	struct past *past;
	bool idle;           /* nothing to take over, and most likely nothing that could be kept */
	bool given_up;       /* frames were left out, or another stack was entered */
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
	}
	free(s);
}

uint64_t unwind_splices_frames(const struct unwind_splices *s)
{
	return s ? s->spliced : 0;
}

static const struct unwind_frame *past_frames(const struct past *p)
{
	return p->frames + p->frames_cap - p->nframes;
}

static const struct account *past_accounts(const struct past *p)
{
	return p->accounts + p->frames_cap - p->nframes;
}

/* ---- a walk ---------------------------------------------------------------------------------------- */

/* Is it of this thread, and would the same be found at all addresses? */
static bool is_comparable(const struct past *p, const struct unwind_walk *w, const struct event *ev)
{
	return p->usable && p->pid == ev->pid && p->tid == ev->tid && p->space == w->space &&
	       p->generation == space_generation(w->space);
}

/*
 * An address from which on, up to @p->high, @stack holds the same as the snapshot of @p and all between the two;
 * UINT64_MAX: that one is not found.
 */
static uint64_t equal_from(const struct past *p, const struct event_stack *stack)
{
	uint64_t from = stack->base;

	for (unsigned i = 0; i < SEARCH_MAX && stack && p->high <= stack->end; i++) {
		if (stack->number == p->number)
			return from;
		from = MAX(from, stack->same_from);
		stack = stack->previous;
	}
	return UINT64_MAX;
}

/* A slot that is used for the first time. */
static void give_room(struct past *p)
{
	p->frames_cap = FRAMES_AT_FIRST;
	p->frames = memory_zeroed(p->frames_cap, sizeof(*p->frames));
	p->accounts = memory_zeroed(p->frames_cap, sizeof(*p->accounts));
}

void unwind_splices_begin(struct unwind_splices *s, const struct unwind_walk *w,
			  const struct unwind_frames *frames, const struct event *ev)
{
	struct past *p = &s->slots[map_hash((uint64_t)ev->pid << 32 | ev->tid) % PAST_SLOTS];
	const struct event_stack *stack = w->stack.snapshot;
	uint64_t from = UINT64_MAX;

	if (!p->frames)
		give_room(p);
	if (is_comparable(p, w, ev))
		from = equal_from(p, stack);
	p->usable = from != UINT64_MAX;
	p->pid = ev->pid;
	p->tid = ev->tid;
	if (!p->usable)
		p->nframes = 0;
	s->past = p;
	s->idle = !stack->number || (!p->usable && p->broke_off && stack->cut);
	s->given_up = false;
	s->first = frames->len;
	s->nfresh = 0;
	s->next = 0;
	s->matched = p->nframes;
	while (s->next < p->nframes && past_accounts(p)[s->next].low < from)
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

/* Append the callers from frame @first of @p on, for which there is room. */
static enum stack_stop take_over(struct unwind_splices *s, size_t first, struct unwind_frames *out)
{
	const struct past *p = s->past;
	size_t count = p->nframes - first;

	memcpy(out->items + out->len, past_frames(p) + first, count * sizeof(out->items[0]));
	out->len += count;
	s->spliced += count;
	return p->stop;
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
			  enum stack_stop *ret_stop)
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
		    s->past->nframes - i > UNWIND_FRAMES_MAX - out->len || !same_step(s, &accounts[i], &now, w->state.exact))
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

void unwind_splices_give_up(struct unwind_splices *s)
{
	s->given_up = s->idle = true;
	s->next = s->matched = s->past->nframes;
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

/* Other ends also depend on the size of the snapshot, the kernel's chain or the frames in front. */
static bool is_account_complete(enum stack_stop stop)
{
	return stop == STACK_STOP_ROOT || stop == STACK_STOP_NO_TABLE || stop == STACK_STOP_BAD_TABLE ||
	       stop == STACK_STOP_NO_BINARY;
}

/* Is there something to remember, and can it be said what it depends on? */
static bool is_lasting(const struct unwind_splices *s, enum stack_stop stop)
{
	if (!is_account_complete(stop))
		return false;
	return s->matched < s->past->nframes || (s->nfresh && s->fresh[s->nfresh - 1].low);
}

void unwind_splices_end(struct unwind_splices *s, const struct unwind_walk *w,
			const struct unwind_frames *frames, enum stack_stop stop)
{
	struct past *p = s->past;

	p->broke_off = !is_account_complete(stop);
	if (s->given_up) {
		p->usable = false;
		p->nframes = 0;
	}
	if (s->idle)
		return;
	close_step(s, w);
	if (!is_lasting(s, stop)) {
		p->usable = false;
		p->nframes = 0;
		return;
	}
	store_frames(s, p, frames);
	p->number = w->stack.snapshot->number;
	p->high = past_accounts(p)->high;
	p->usable = true;
	p->space = w->space;
	p->generation = space_generation(w->space);
	p->stop = stop;
}
