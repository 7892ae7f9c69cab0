/* SPDX-License-Identifier: Apache-2.0 */
/*
 * derive_period.c - the identity: a sample stands for its period.
 */
#include "formats/base/memory.h"
#include "report/load/derive/derive_kind.h"

#include <stdlib.h>

struct period {
	const struct derive_request *request;
	const struct derive_out *out;
	bool hide_calls; /* they come as spans */
};

static void *begin(const struct derive_request *request, const struct derive_out *out)
{
	struct period *p = memory_zeroed(1, sizeof(*p));

	*p = (struct period){ request, out, derive_is_wanted(request, DERIVE_SYSCALLS) && derive_has_syscalls(request->recording) };
	return p;
}

static void take(void *state, const struct derive_event *event)
{
	const struct period *p = state;
	const struct event_sample *sample = &event->ev->sample;

	/* A stack that leaves a CPU, or goes into a system call, has no length yet. */
	if (event->ev->kind != EVENT_SAMPLE || !event->passes ||
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

	p->out->add(p->out->context, &derived);
}

const struct derive_kind derive_period = {
	.name = "by period",
	.begin = begin,
	.event = take,
	.free = free,
};
