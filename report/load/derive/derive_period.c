/* SPDX-License-Identifier: Apache-2.0 */
/*
 * derive_period.c - the identity: a sample stands for its period. Threads that waited were looked at (precord --idle): without
 * records of switches, these and samples of a clock are together the time on the wall, by samples both.
 */
#include "formats/base/compiler.h"
#include "formats/base/memory.h"
#include "report/load/derive/derive_kind.h"

#include <stdlib.h>
#include <string.h>

struct period {
	const struct derive_request *request;
	const struct derive_out *out;
	bool hide_calls; /* they come as spans */
	uint32_t wall_event; /* PROFILE_NONE: not made here */
};

bool derive_has_sampled_wall(const struct profile *p)
{
	bool has_idle = false;

	for (size_t i = 0; i < p->types.len; i++) {
		const char *name = profile_text(p, p->types.items[i].name);

		has_idle |= strcmp(name, DERIVE_IDLE) == 0;
		if (strcmp(name, DERIVE_OFF_CPU) == 0)
			return false;
	}
	return has_idle && strcmp(profile_text(p, p->types.items[0].unit), "ns") == 0;
}

static void *begin(const struct derive_request *request, const struct derive_out *out)
{
	struct period *p = memory_zeroed(1, sizeof(*p));

	*p = (struct period){ request, out, derive_is_wanted(request, DERIVE_SYSCALLS) && derive_has_syscalls(request->recording),
			      PROFILE_NONE };
	if (derive_is_wanted(request, DERIVE_WALL) && derive_has_sampled_wall(request->profile))
		p->wall_event = derive_add_type(request->profile, DERIVE_WALL);
	return p;
}

static void add_to_wall(const struct period *p, const struct derived *derived)
{
	const struct derive_request *request = p->request;
	uint64_t end_ns = request->recording->end_ns;
	struct derived wall = *derived;

	/* The last look at a thread that waits comes when all is over; it stands for the time before. */
	if (derived->event && end_ns)
		wall.time_ns = MIN(wall.time_ns, end_ns - 1);
	if ((derived->event && derived->state != PROFILE_STATE_BLOCKED) || !derive_looked_at(request, wall.time_ns, wall.time_ns + 1) ||
	    (p->out->wanted && !p->out->wanted(p->out->context, derived->thread)))
		return;
	wall.event = p->wall_event;
	if (wall.state == PROFILE_STATE_NONE)
		wall.state = PROFILE_STATE_ON_CPU;
	wall.ev = NULL;
	p->out->add(p->out->context, &wall);
}

static void take(void *state, const struct derive_event *event)
{
	const struct period *p = state;
	const struct event_sample *sample = &event->ev->sample;

	/* A stack that leaves a CPU, or goes into a system call, has no length yet. */
	if (event->ev->kind != EVENT_SAMPLE ||
	    sample->event >= p->request->recording->nevents ||
	    derive_is_off_cpu(p->request->recording, sample->event) ||
	    (p->hide_calls && derive_is_syscall(p->request->recording, sample->event)))
		return;

	struct derived derived = {
		.event = sample->event,
		.thread = event->thread,
		.stack = event->stack,
		.cpu = event->ev->cpu,
		.stop = event->stop,
		.state = derive_is_idle(p->request->recording, sample->event) ? PROFILE_STATE_BLOCKED : PROFILE_STATE_NONE,
		.waker = PROFILE_NONE,
		.user = sample->mode == EVENT_MODE_USER,
		.time_ns = event->ev->time_ns,
		.weight = sample->period ? sample->period : 1,
		.ev = event->ev,
	};

	if (event->passes)
		p->out->add(p->out->context, &derived);
	if (p->wall_event != PROFILE_NONE)
		add_to_wall(p, &derived);
}

/* Which event's samples pass is settled by then: those of which it is made are wanted, too. */
static bool wants(const void *state, const struct event *ev)
{
	const struct period *p = state;

	return p->wall_event != PROFILE_NONE && ev->kind == EVENT_SAMPLE &&
	       (!ev->sample.event || derive_is_idle(p->request->recording, ev->sample.event));
}

const struct derive_kind derive_period = {
	.name = "by period",
	.begin = begin,
	.wants = wants,
	.event = take,
	.free = free,
};
