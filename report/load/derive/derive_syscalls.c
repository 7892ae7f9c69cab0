/* SPDX-License-Identifier: Apache-2.0 */
/*
 * derive_syscalls.c - how long system calls take, and how they end: from raw_syscalls:sys_enter and sys_exit.
 *
 *	enter            exit   enter        end of the recording
 *	  │  one call     │       │   still in it    │
 *	  ├──────────────►┤       ├─────────────────►┤
 *	  ▲ its stack, if there is one
 *
 * Both events come for each call, as a rule without a stack. A second sys_enter with stacks is sampled beside them, some
 * hundred times a second; calls without one add to those of the same thread and call that have one (stand_ins.h).
 *
 * An exit without its entry belongs to a call that began before the recording, if it is the first that the thread does; then
 * it counts from the beginning of the recording. Any other, and an entry without its exit, is one of lost records and is
 * left out, since nothing tells how long it took. A new thread comes out of a call that it never went into.
 */
#include "formats/base/map.h"
#include "formats/base/memory.h"
#include "formats/base/vec.h"
#include "formats/syscall_name.h"
#include "formats/tracepoint_format.h"
#include "report/load/derive/derive_kind.h"
#include "report/load/derive/stand_ins.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENTER	  "raw_syscalls:sys_enter"
#define EXIT	  "raw_syscalls:sys_exit"
#define NO_CALL	  UINT64_MAX

/* A stack that was sampled on the way into a call. */
struct entry_stack {
	uint32_t stack;
	uint8_t stop;
	bool is_known;
};

struct caller {
	uint32_t pid, tid;
	uint32_t thread; /* of the profile; PROFILE_NONE: not looked up yet */
	uint64_t call;	 /* its number; NO_CALL: in none */
	uint64_t since_ns;
	uint32_t cpu;
	bool was_there;	 /* since before the recording, and no call of it was seen yet */
	bool ended;
	struct entry_stack entry; /* of this call or, outside, of the next one */
	struct stand_ins stand_ins;
};

struct syscalls {
	const struct derive_request *request;
	const struct derive_out *out;
	uint32_t type; /* of the profile */
	uint32_t enter, exit; /* events of the recording */
	struct tracepoint_number entered, left, result; /* in their payloads */
	struct map numbers; /* tid -> number in callers + 1 */
	VEC(struct caller) callers;
	struct map names; /* call, or errno + ERRNO_BASE -> string of the profile */
	bool stacks; /* are sampled beside */
	uint64_t newest_ns;
};

#define ERRNO_BASE (1ull << 32)

bool derive_is_syscall(const struct recording *rec, uint32_t index)
{
	return derive_is_tracepoint(rec, index, ENTER) || derive_is_tracepoint(rec, index, EXIT);
}

bool derive_has_syscalls(const struct recording *rec)
{
	return derive_find_every(rec, ENTER) != PROFILE_NONE && derive_find_every(rec, EXIT) != PROFILE_NONE;
}

static void *begin(const struct derive_request *request, const struct derive_out *out)
{
	const struct recording *rec = request->recording;
	struct profile *p = request->profile;
	struct syscalls *s;

	if (!derive_is_wanted(request, DERIVE_SYSCALLS) || !derive_has_syscalls(rec))
		return NULL;
	s = memory_zeroed(1, sizeof(*s));
	s->request = request;
	s->out = out;
	s->enter = derive_find_every(rec, ENTER);
	s->exit = derive_find_every(rec, EXIT);
	s->entered = tracepoint_number_find(rec->events[s->enter].format, "id");
	s->left = tracepoint_number_find(rec->events[s->exit].format, "id");
	s->result = tracepoint_number_find(rec->events[s->exit].format, "ret");
	for (uint32_t i = 0; i < rec->nevents; i++)
		s->stacks |= i != s->enter && derive_is_tracepoint(rec, i, ENTER);
	s->type = profile_add_value_type(
		p, &(struct profile_value_type){ .name = profile_string(p, DERIVE_SYSCALLS), .unit = profile_string(p, "ns") });
	return s;
}

static void free_syscalls(void *state)
{
	struct syscalls *s = state;

	for (size_t i = 0; i < s->callers.len; i++)
		stand_ins_deinit(&s->callers.items[i].stand_ins);
	vec_deinit(&s->callers);
	map_deinit(&s->numbers);
	map_deinit(&s->names);
	free(s);
}

static bool is_ours(const struct syscalls *s, const struct event *ev)
{
	const struct recording *rec = s->request->recording;

	return ev->kind == EVENT_SAMPLE && ev->sample.event < rec->nevents &&
	       (ev->sample.event == s->exit || derive_is_tracepoint(rec, ev->sample.event, ENTER));
}

static bool wants(const void *state, const struct event *ev)
{
	/* What lies before the window says in which call it begins. */
	return ev->kind == EVENT_FORK || ev->kind == EVENT_EXIT || is_ours(state, ev);
}

static uint32_t call_text(struct syscalls *s, uint64_t call)
{
	const char *name = syscall_name(s->request->recording->arch, call);
	char text[40];
	bool fresh;
	uint64_t *string = map_put(&s->names, map_hash(call), &fresh);

	if (!fresh)
		return (uint32_t)*string;
	snprintf(text, sizeof(text), "system call %" PRIu64, call);
	*string = profile_string(s->request->profile, name ? name : text);
	return (uint32_t)*string;
}

static struct caller *find(struct syscalls *s, const struct derive_event *event)
{
	bool fresh;
	uint64_t *number = map_put(&s->numbers, event->ev->tid, &fresh);
	struct caller *caller;

	if (fresh) {
		vec_push(&s->callers, ((struct caller){ .pid = event->ev->pid, .tid = event->ev->tid,
							.thread = PROFILE_NONE, .call = NO_CALL, .was_there = true }));
		*number = s->callers.len;
	}
	caller = &s->callers.items[*number - 1];
	if (event->thread != PROFILE_NONE)
		caller->thread = event->thread;
	return caller;
}

static void put_more(void *context, const struct derived *span)
{
	struct syscalls *s = context;

	s->out->add(s->out->context, span);
}

/* @span of a call of @len_ns. */
static void put_piece(struct syscalls *s, struct caller *caller, const struct derived *span, uint64_t len_ns)
{
	if (s->stacks && !s->request->each_wait && !caller->entry.is_known) {
		stand_ins_add(&caller->stand_ins, span->call, len_ns, span);
		return;
	}
	if (s->stacks && !s->request->each_wait)
		stand_ins_keep(&caller->stand_ins, span->call, len_ns, span);
	s->out->add(s->out->context, span);
}

/* @caller's call ended with @result, or has not ended by @to_ns. */
static void put_call(struct syscalls *s, struct caller *caller, uint64_t to_ns, int64_t result)
{
	struct derive_pieces pieces = { 0 };
	uint64_t len_ns = to_ns > caller->since_ns ? to_ns - caller->since_ns : 0;

	if (caller->thread == PROFILE_NONE)
		caller->thread = s->out->thread(s->out->context, caller->pid, caller->tid);
	if (len_ns < s->request->min_wait_ns ||
	    (s->request->max_wait_ns && len_ns > s->request->max_wait_ns) ||
	    (s->out->wanted && !s->out->wanted(s->out->context, caller->thread)))
		return;

	struct derived span = {
		.event = s->type,
		.thread = caller->thread,
		.stack = caller->entry.stack,
		.stop = caller->entry.stop,
		.cpu = caller->cpu,
		.state = PROFILE_STATE_CALL,
		.waker = PROFILE_NONE,
		.call = call_text(s, caller->call),
		.error = derive_error_text(s->request->profile, result),
	};

	while (derive_next_piece(s->request, caller->since_ns, to_ns, &pieces)) {
		span.time_ns = pieces.at.from_ns;
		span.weight = pieces.at.to_ns - pieces.at.from_ns;
		put_piece(s, caller, &span, len_ns);
	}
}

static void leave(struct caller *caller)
{
	caller->call = NO_CALL;
	caller->was_there = false;
	caller->entry = (struct entry_stack){ 0 };
}

static void take_enter(struct caller *caller, const struct event *ev, uint64_t call)
{
	if (caller->call != NO_CALL) /* its exit was lost */
		leave(caller);
	caller->call = call;
	caller->since_ns = ev->time_ns;
	caller->cpu = ev->cpu;
	caller->was_there = false;
}

static void take_exit(struct syscalls *s, struct caller *caller, const struct event *ev, uint64_t call)
{
	uint64_t result = 0;

	if (caller->call == NO_CALL && caller->was_there) {
		caller->call = call;
		caller->since_ns = s->request->recording->start_ns;
		caller->cpu = ev->cpu;
	}
	if (caller->call == call && tracepoint_number_read(&s->result, ev, &result))
		put_call(s, caller, ev->time_ns, (int64_t)result);
	leave(caller);
}

/* Recorders differ in which of the two comes first, the entry or its stack. */
static void take_stack(struct caller *caller, const struct derive_event *event)
{
	caller->entry = (struct entry_stack){ event->stack, event->stop, true };
}

static void take_sample(struct syscalls *s, struct caller *caller, const struct derive_event *event)
{
	const struct event *ev = event->ev;
	uint64_t call;

	if (ev->sample.event == s->exit) {
		if (tracepoint_number_read(&s->left, ev, &call))
			take_exit(s, caller, ev, call);
		return;
	}
	if (ev->sample.event == s->enter && tracepoint_number_read(&s->entered, ev, &call))
		take_enter(caller, ev, call);
	if (ev->sample.event != s->enter || (!s->stacks && derive_has_callers(s->request->profile, event->stack)))
		take_stack(caller, event);
}

/* Of calls that are not over, like exit_group(), the time is known. */
static void end(struct syscalls *s, struct caller *caller, uint64_t time_ns)
{
	if (caller->call != NO_CALL)
		put_call(s, caller, time_ns, 0);
	leave(caller);
	stand_ins_share_out(&caller->stand_ins, put_more, s);
}

static void take(void *state, const struct derive_event *event)
{
	struct syscalls *s = state;
	const struct event *ev = event->ev;
	struct caller *caller;

	s->newest_ns = MAX(s->newest_ns, ev->time_ns);
	if (!ev->tid || ev->tid == UINT32_MAX || !wants(s, ev))
		return;
	caller = find(s, event);
	if (ev->kind == EVENT_SAMPLE) {
		take_sample(s, caller, event);
		return;
	}
	if (ev->kind == EVENT_FORK && !ev->time_ns)
		return; /* a list of who lives */
	end(s, caller, ev->time_ns);
	if (ev->kind == EVENT_FORK)
		caller->thread = PROFILE_NONE; /* somebody else, perhaps */
}

static void finish(void *state)
{
	struct syscalls *s = state;
	uint64_t end_ns = s->request->recording->end_ns;

	for (size_t i = 0; i < s->callers.len; i++)
		end(s, &s->callers.items[i], end_ns ? end_ns : s->newest_ns);
}

const struct derive_kind derive_syscalls = {
	.name = "system calls",
	.adds = { { DERIVE_SYSCALLS, .unasked = true } },
	.begin = begin,
	.wants = wants,
	.event = take,
	.finish = finish,
	.free = free_syscalls,
};
