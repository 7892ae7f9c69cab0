/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_events.c - one span, for each event that is wanted.
 */
#include "report/load/derive/wait_events.h"

#include <stdio.h>

static void hand_out(const struct wait_events *e, const struct derived *span, uint32_t event)
{
	struct derived derived = *span;

	derived.event = event;
	e->out->add(e->out->context, &derived);
}

/* A call of @text behind @stack, which is no code. */
static uint32_t add_frame(struct profile *p, uint32_t stack, const char *text)
{
	struct profile_function function = { .module = PROFILE_NONE, .name = profile_string(p, text) };
	struct profile_line line = { .function = profile_add_function(p, &function) };

	return profile_add_stack(p, stack, profile_add_named_location(p, PROFILE_FRAME_MARKER, PROFILE_NONE, &line, 1), 0);
}

/*
 * The stack that waited, "--", and that of who ended the wait, from its leaf to its root, and the thread: in a flame graph the
 * waker stands on its head on what it woke.
 */
static void hand_out_joined(const struct wait_events *e, const struct derived *span)
{
	struct profile *p = e->request->profile;
	struct derived joined = *span;
	char name[64] = "[waker not known]";

	joined.stack = add_frame(p, span->stack ? span->stack : add_frame(p, 0, "[stack not sampled]"), "--");
	for (uint32_t at = span->waker_stack; at; at = p->stacks.items[at].parent)
		joined.stack = profile_add_stack(p, joined.stack, p->stacks.items[at].location, p->stacks.items[at].how);
	if (span->waker != PROFILE_NONE)
		snprintf(name, sizeof(name), "[%s]", profile_text(p, p->threads.items[span->waker].comm));
	joined.stack = add_frame(p, joined.stack, name);
	joined.state = PROFILE_STATE_NONE; /* whose frames are whose is said */
	joined.waker_stack = 0;
	hand_out(e, &joined, e->wake);
}

bool wait_events_init(struct wait_events *e, const struct derive_request *request, const struct derive_out *out)
{
	*e = (struct wait_events){ .request = request, .out = out, .off = PROFILE_NONE, .wall = PROFILE_NONE, .wake = PROFILE_NONE };
	e->off_is_wanted = derive_is_wanted(request, DERIVE_OFF_CPU);
	for (uint32_t i = 0; i < request->recording->nevents; i++)
		if (derive_is_off_cpu(request->recording, i))
			e->off = i;
	if (derive_is_wanted(request, DERIVE_WALL))
		e->wall = derive_add_type(request->profile, DERIVE_WALL);
	if (derive_is_wanted(request, DERIVE_OFF_WAKE))
		e->wake = derive_add_type(request->profile, DERIVE_OFF_WAKE);
	return e->off_is_wanted || e->wall != PROFILE_NONE || e->wake != PROFILE_NONE;
}

void wait_events_add_run(const struct wait_events *e, const struct derived *span)
{
	hand_out(e, span, e->wall);
}

void wait_events_add_wait(struct wait_events *e, const struct derived *span)
{
	if (e->off_is_wanted) {
		if (e->off == PROFILE_NONE)
			e->off = derive_add_type(e->request->profile, DERIVE_OFF_CPU);
		hand_out(e, span, e->off);
	}
	if (e->wall != PROFILE_NONE)
		hand_out(e, span, e->wall);
	if (e->wake != PROFILE_NONE)
		hand_out_joined(e, span);
}
