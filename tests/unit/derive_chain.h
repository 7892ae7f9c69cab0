/* SPDX-License-Identifier: Apache-2.0 */
/*
 * derive_chain.h - transformers of events by themselves: events go in by hand, spans come out as a list.
 *
 * Event 0 is a clock, event 1 the stacks of waits, events 2 and 3 are tracepoints of wakings and of every switch; all are of
 * process 1, and threads of the profile have their number. The recording is of all CPUs.
 */
#ifndef UNIT_DERIVE_CHAIN_H
#define UNIT_DERIVE_CHAIN_H

#include "formats/base/vec.h"
#include "formats/recording.h"
#include "report/load/derive/derive.h"

#define START 1000000u
#define END   2000000u
#define WALL  4 /* the event that is added behind those of chain_begin() */

struct chain {
	struct recording recording;
	struct recording_event events[4];
	struct profile *profile;
	struct derive *derive;
	VEC(struct derived) out;
};

/* @wall: wall time is wanted too. chain_end() releases. */
void chain_begin(struct chain *c, bool wall);
void chain_end(struct chain *c);

/* What derive_out wants: a span for @context, a chain's list; the number of a thread. */
void chain_keep(void *context, const struct derived *derived);
uint32_t chain_same_number(void *context, uint32_t pid, uint32_t tid);

/* @ev with @stack; switches are on CPU 0, samples on CPU 3. */
void chain_feed(struct chain *c, struct event ev, uint32_t stack);
void chain_switch(struct chain *c, uint32_t tid, uint64_t time_ns, bool in, bool preempted);
void chain_sample(struct chain *c, uint32_t tid, uint64_t time_ns, uint32_t event, uint32_t stack);
void chain_account(struct chain *c, uint32_t tid, uint64_t time_ns, const struct event_task_times *times);

/* The time that came out so far: of @event and @thread, of @event with @stack, of @event and @thread in @state. */
uint64_t chain_sum(const struct chain *c, uint32_t event, uint32_t thread);
uint64_t chain_sum_of_stack(const struct chain *c, uint32_t event, uint32_t stack);
uint64_t chain_sum_of_state(const struct chain *c, uint32_t event, uint32_t thread, enum profile_state state);

#endif
