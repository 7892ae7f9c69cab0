/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stretches.h - what a thread did from one record to the next, on its way to the profile.
 *
 * A stretch is time on a CPU or a wait. Waits whose stack was not sampled go to those that stand for them (stand_ins.h), if
 * stacks were thinned or lost. A wait for a descriptor is kept until it is known what that was. Where records of switches were
 * lost, a stretch may be more than one in truth: it is put aside until the thread's account tells whether it came to a CPU as
 * often as the records say. If not, or if no account follows, what may have been otherwise is PROFILE_STATE_LOST:
 *
 *	  on a CPU         ├───────┤◄─ lost ─►├─────────┤     from the loss on that CPU to its end
 *	  a wait           ├───────┤◄─ lost ───────────►┤     from the first loss on: it may have come back and wait elsewhere
 */
#ifndef REPORT_STRETCHES_H
#define REPORT_STRETCHES_H

#include "formats/base/vec.h"
#include "report/load/derive/descriptors.h"
#include "report/load/derive/stand_ins.h"
#include "report/load/derive/switch_losses.h"
#include "report/load/derive/wait_events.h"

/* A stack that was sampled on a CPU, or when it was left. */
struct held_stack {
	uint32_t stack, cpu;
	uint8_t stop;
	bool user, is_known;
	uint32_t place;	     /* of a wait: what it is for, see derive_event */
	uint32_t descriptor; /* the same: it may be this one; PROFILE_NONE: it is none */
};

struct held_stacks {
	VEC(struct held_stack) list;
};

/* What a thread did from one record to the next: it was on a CPU, or waited. */
struct stretch {
	bool on_cpu;
	enum profile_state state;
	uint64_t from_ns, to_ns; /* whole */
	uint32_t thread;	 /* of the profile */
	uint32_t cpu;		 /* that it was on */
	struct held_stack leaving;
	struct held_stacks running; /* the caller's, unless it is put aside */
	uint32_t waker, waker_stack;
	bool is_new;		 /* it has not left a CPU yet */
	bool unwatched;
};

struct pending_wait;

/* Of one thread. Zeroed, it is empty. */
struct thread_stretches {
	uint32_t pid;		   /* whose descriptors are its own */
	VEC(struct stretch) aside; /* since records were lost, until its account is known */
	size_t judged;		   /* so many losses are of no concern any more: its account is known since */
	struct stand_ins stand_ins;
	VEC(struct pending_wait) pending;
};

struct stretches {
	struct wait_events events;
	struct descriptors *descriptors;
	struct switch_losses losses;
	struct profile_lives *sums; /* of all that was handed out */
	bool accounts;		    /* there are some */
	bool left_out;		    /* switches were, for a while */
};

void thread_stretches_deinit(struct thread_stretches *of);

/* Hand @at out; false: it was put aside, and @at's running is no longer the caller's. */
bool stretches_put(struct stretches *s, struct thread_stretches *of, const struct stretch *at);

/*
 * The part of @at in which it may have come to a CPU, or left it, unseen, by the losses behind @of's judged ones; false if there
 * is none.
 */
bool stretches_find_doubt(const struct stretches *s, const struct thread_stretches *of, const struct stretch *at,
			  uint64_t *ret_from_ns, uint64_t *ret_to_ns);

/* Hand out what was put aside: @whole, as it is; else without what may have been otherwise. */
void stretches_settle(struct stretches *s, struct thread_stretches *of, bool whole);

/* Hand out all waits that are left: those without a stack to others, or as rows of their own. */
void stretches_share_out(struct stretches *s, struct thread_stretches *of);

#endif
