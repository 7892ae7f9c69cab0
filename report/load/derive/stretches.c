/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stretches.c - spans of a thread's life, with what else is known of them.
 */
#include "report/load/derive/stretches.h"

/* A wait whose descriptor may be known later, when it was looked at again. */
struct pending_wait {
	struct derived span;
	uint32_t descriptor;
	uint64_t from_ns, to_ns; /* whole */
	bool shares;
};

static void put_more(void *context, const struct derived *span)
{
	wait_events_add_wait(context, span);
}

static bool has_wanted_length(const struct stretches *s, uint64_t len_ns)
{
	return len_ns >= s->events.request->min_wait_ns &&
	       (!s->events.request->max_wait_ns || len_ns <= s->events.request->max_wait_ns);
}

/* @span, of whole length @len_ns, is complete. @shares: it may stand for others or, without a stack, others for it. */
static void deliver(struct stretches *s, struct thread_stretches *of, const struct derived *span, uint64_t len_ns, bool shares)
{
	if (shares && !span->stack) {
		bool ready = len_ns == STAND_INS_ANY_LENGTH && span->state == PROFILE_STATE_RUNNABLE;

		/* Ready is also who was blocked until then: it is so at the same place. */
		stand_ins_add(&of->stand_ins, ready ? STAND_INS_ANY_KIND : span->state, len_ns, span);
		return;
	}
	if (shares)
		stand_ins_keep(&of->stand_ins, span->state, len_ns, span);
	wait_events_add_wait(&s->events, span);
}

/* Hand out the waits whose descriptors are known by now; @all: or never will be. */
static void settle_pending(struct stretches *s, struct thread_stretches *of, bool all)
{
	size_t kept = 0;

	for (size_t i = 0; i < of->pending.len; i++) {
		struct pending_wait *at = &of->pending.items[i];

		if (!all && !descriptors_settled(s->descriptors, of->pid, at->descriptor, at->to_ns)) {
			of->pending.items[kept++] = *at;
			continue;
		}
		descriptors_find(s->descriptors, of->pid, at->descriptor, at->from_ns, at->to_ns, &at->span.file);
		deliver(s, of, &at->span, at->to_ns - at->from_ns, at->shares);
	}
	of->pending.len = kept;
}

/*
 * Were stacks thinned, or lost? A sample says that of its CPU only, and of one that has none of these threads' for a while none does: so
 * it counts wherever it was, once it was seen. What is new has not left a CPU and has no stack anyway.
 */
static bool may_share(const struct stretches *s, const struct stretch *at)
{
	return (s->sums->thinned || s->sums->stacks_lost || s->left_out) && !s->events.request->each_wait &&
	       !at->is_new && (at->state == PROFILE_STATE_BLOCKED || at->state == PROFILE_STATE_RUNNABLE);
}

/* Where single waits are wanted, what is only known as a sum is none. */
static bool has_single_waits(const struct stretches *s)
{
	return s->events.request->each_wait || s->events.request->min_wait_ns || s->events.request->max_wait_ns;
}

/* The part of it in @window. */
static void deliver_wait(struct stretches *s, struct thread_stretches *of, const struct stretch *at,
			 const struct derive_window *window)
{
	uint64_t from_ns = window->from_ns, to_ns = window->to_ns, len_ns = at->to_ns - at->from_ns;

	s->sums->by_state[at->state] += to_ns - from_ns;
	if (at->unwatched ? has_single_waits(s) : !has_wanted_length(s, len_ns))
		return;
	if (at->unwatched)
		len_ns = STAND_INS_ANY_LENGTH;

	struct derived span = {
		.thread = at->thread,
		.stack = at->leaving.stack,
		.cpu = at->leaving.is_known ? at->leaving.cpu : EVENT_NO_CPU,
		.stop = at->leaving.stop,
		.state = at->state,
		.waker = at->waker,
		.waker_stack = at->waker_stack,
		.place = at->leaving.is_known ? at->leaving.place : 0,
		.time_ns = from_ns,
		.weight = to_ns - from_ns,
	};
	bool shares = may_share(s, at);

	if (s->events.out->span)
		s->events.out->span(s->events.out->context, &span, !at->unwatched);
	if (!at->leaving.is_known || at->leaving.descriptor == PROFILE_NONE) {
		deliver(s, of, &span, len_ns, shares);
		return;
	}
	vec_push(&of->pending, ((struct pending_wait){ span, at->leaving.descriptor, at->from_ns, at->from_ns + len_ns, shares }));
	settle_pending(s, of, false);
}

/* Time on a CPU goes in equal parts to the stacks that were sampled meanwhile; the remainder to the first ones. */
static void deliver_run(struct stretches *s, const struct stretch *at, const struct derive_window *window)
{
	uint64_t from_ns = window->from_ns, to_ns = window->to_ns, count = MAX(at->running.list.len, 1);

	s->sums->by_state[PROFILE_STATE_ON_CPU] += to_ns - from_ns;
	if (s->events.out->span)
		s->events.out->span(s->events.out->context, &(struct derived){ .thread = at->thread,
								 .cpu = EVENT_NO_CPU,
								 .state = PROFILE_STATE_ON_CPU,
								 .waker = PROFILE_NONE,
								 .time_ns = from_ns,
								 .weight = to_ns - from_ns }, !at->unwatched);
	for (uint64_t i = 0; i < count && s->events.wall != PROFILE_NONE; i++) {
		struct held_stack none = { .cpu = EVENT_NO_CPU };
		const struct held_stack *held = at->running.list.len ? &at->running.list.items[i] : &none;
		struct derived span = {
			.thread = at->thread,
			.stack = held->stack,
			.cpu = held->cpu,
			.stop = held->stop,
			.user = held->user,
			.state = PROFILE_STATE_ON_CPU,
			.waker = PROFILE_NONE,
			.sampled = at->running.list.len != 0,
			.time_ns = from_ns,
			.weight = (to_ns - from_ns) / count + (i < (to_ns - from_ns) % count),
		};

		wait_events_add_run(&s->events, &span);
	}
}

static void deliver_stretch(struct stretches *s, struct thread_stretches *of, const struct stretch *at)
{
	struct derive_pieces pieces = { 0 };

	if (at->from_ns >= at->to_ns)
		return;
	while (derive_next_piece(s->events.request, at->from_ns, at->to_ns, &pieces))
		if (at->on_cpu)
			deliver_run(s, at, &pieces.at);
		else
			deliver_wait(s, of, at, &pieces.at);
}

bool stretches_find_doubt(const struct stretches *s, const struct thread_stretches *of, const struct stretch *at,
			  uint64_t *ret_from_ns, uint64_t *ret_to_ns)
{
	uint32_t cpu = at->on_cpu && s->events.request->recording->by_cpu ? at->cpu : EVENT_NO_CPU;

	if (at->unwatched || !switch_losses_find(&s->losses, of->judged, cpu, at->from_ns, at->to_ns, ret_from_ns, ret_to_ns))
		return false;
	*ret_from_ns = MAX(*ret_from_ns, at->from_ns);
	/* Who came to a CPU and left it again waits for something else from then on. */
	*ret_to_ns = at->on_cpu ? MIN(*ret_to_ns, at->to_ns) : at->to_ns;
	return true;
}

/* @at, but for what is not known of it. */
static void deliver_doubtful(struct stretches *s, struct thread_stretches *of, const struct stretch *at)
{
	struct stretch before = *at, behind = *at;
	struct stretch lost = { .state = PROFILE_STATE_LOST, .thread = at->thread, .waker = PROFILE_NONE };

	if (!stretches_find_doubt(s, of, at, &lost.from_ns, &lost.to_ns)) {
		deliver_stretch(s, of, at);
		return;
	}
	before.to_ns = lost.from_ns;
	behind.from_ns = lost.to_ns;
	deliver_stretch(s, of, &before);
	deliver_stretch(s, of, &lost);
	deliver_stretch(s, of, &behind);
}

/*
 * Nothing may pass what was put aside: spans of a thread follow each other.
 */
bool stretches_put(struct stretches *s, struct thread_stretches *of, const struct stretch *at)
{
	uint64_t from_ns, to_ns;

	if (!of->aside.len && !(s->accounts && stretches_find_doubt(s, of, at, &from_ns, &to_ns))) {
		deliver_stretch(s, of, at);
		return true;
	}
	vec_push(&of->aside, *at);
	return false;
}

void stretches_settle(struct stretches *s, struct thread_stretches *of, bool whole)
{
	for (size_t i = 0; i < of->aside.len; i++) {
		struct stretch *at = &of->aside.items[i];

		if (whole)
			deliver_stretch(s, of, at);
		else
			deliver_doubtful(s, of, at);
		vec_deinit(&at->running.list);
	}
	of->aside.len = 0;
}

void stretches_share_out(struct stretches *s, struct thread_stretches *of)
{
	settle_pending(s, of, true);
	s->sums->estimated_ns += stand_ins_share_out(&of->stand_ins, put_more, &s->events);
}

void thread_stretches_deinit(struct thread_stretches *of)
{
	for (size_t i = 0; i < of->aside.len; i++)
		vec_deinit(&of->aside.items[i].running.list);
	vec_deinit(&of->aside);
	vec_deinit(&of->pending);
	stand_ins_deinit(&of->stand_ins);
}
