/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampling_switch.c - windows, the signal and commands all set the same state; the last one wins.
 */
#include "record/sample/sampling_switch.h"

#include "formats/base/text.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MAX 512

/* At once, and without stdio, since the recording continues. @text has words of the sender of commands. */
static void say(const char *what, const char *text)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	char line[TEXT_MAX];
	int len = snprintf(line, sizeof(line), "precord: %s: %.400s\n", what, text_escape(&arena, text));

	if (write(STDERR_FILENO, line, MIN((size_t)len, sizeof(line) - 1)) < 0)
		return; /* a closed terminal does not stop the recording */
}

struct err *sampling_switch_open(struct sampling_switch *s, const struct control_args *args)
{
	*s = (struct sampling_switch){ .next_ns = UINT64_MAX };
	return control_open(args, &s->control);
}

void sampling_switch_close(struct sampling_switch *s)
{
	control_close(&s->control);
}

static void note_enabled(struct sampling_switch *s, bool on)
{
	s->enabled = on;
	s->was_enabled |= on;
}

static void turn(struct sampling_switch *s, bool on)
{
	if (on)
		perf_fds_enable(s->perf_fds);
	else
		perf_fds_disable(s->perf_fds);
	note_enabled(s, on);
}

static void wait_for_edge(struct sampling_switch *s, uint64_t elapsed_ns)
{
	uint64_t next = delay_next(s->delay, elapsed_ns);

	s->next_ns = next == DELAY_NEVER ? UINT64_MAX : s->start_ns + next;
}

void sampling_switch_start(struct sampling_switch *s, struct perf_fds *perf_fds, const struct delay *delay,
		    uint64_t now_ns, bool by_exec)
{
	s->perf_fds = perf_fds;
	s->delay = delay;
	s->start_ns = now_ns;
	if (by_exec && !delay->given)
		note_enabled(s, true);
	else if (delay_is_on(delay, 0))
		turn(s, true);
	wait_for_edge(s, 0);
}

void sampling_switch_tick(struct sampling_switch *s, uint64_t now_ns)
{
	if (now_ns < s->next_ns)
		return;
	turn(s, delay_is_on(s->delay, now_ns - s->start_ns));
	wait_for_edge(s, now_ns - s->start_ns);
}

void sampling_switch_toggle(struct sampling_switch *s)
{
	turn(s, !s->enabled);
}

bool sampling_switch_read(struct sampling_switch *s)
{
	return control_read(&s->control);
}

static void list_events(const struct sampling_switch *s)
{
	for (size_t i = 0; i < s->perf_fds->plan->nevents; i++)
		say("event", s->perf_fds->plan->events[i].name);
}

/* By its requested name, or the name that it was opened under. */
static struct err *turn_event(struct sampling_switch *s, const char *name, bool on)
{
	const struct event_plan *plan = s->perf_fds->plan;
	bool found = false;

	for (size_t i = 0; i < plan->nevents; i++) {
		const struct event_planned *event = &plan->events[i];

		if (strcmp(event->name, name) != 0 && strcmp(event->desc->name, name) != 0)
			continue;
		perf_fds_switch(s->perf_fds, i, on);
		note_enabled(s, s->enabled || on);
		found = true;
	}
	return found ? NULL
		     : err_new(ERR_USAGE, "there is no event '%s'; 'evlist' names them", name);
}

/* Every event, or the one that is named. */
static struct err *turn_as_told(struct sampling_switch *s, const struct control_command *command)
{
	bool on = command->verb == CONTROL_ENABLE;

	if (command->event)
		return turn_event(s, command->event, on);
	turn(s, on);
	return NULL;
}

static struct err *obey_one(struct sampling_switch *s, const struct control_command *command,
			    enum sampling_switch_order *ret)
{
	switch (command->verb) {
	case CONTROL_SNAPSHOT:
		*ret = SAMPLING_SWITCH_SNAPSHOT;
		break;
	case CONTROL_STOP:
		*ret = SAMPLING_SWITCH_STOP;
		break;
	case CONTROL_EVLIST:
		list_events(s);
		break;
	case CONTROL_PING:
		break;
	case CONTROL_ENABLE:
	case CONTROL_DISABLE:
		return turn_as_told(s, command);
	}
	return NULL;
}

enum sampling_switch_order sampling_switch_obey(struct sampling_switch *s)
{
	enum sampling_switch_order order = SAMPLING_SWITCH_NOTHING;
	struct control_command command;
	struct err *err;

	while (control_next(&s->control, &command, &err)) {
		if (!err)
			err = obey_one(s, &command, &order);
		if (order != SAMPLING_SWITCH_NOTHING)
			return order;
		sampling_switch_answer(s, err);
		err_free(err);
	}
	return order;
}

void sampling_switch_answer(const struct sampling_switch *s, const struct err *err)
{
	if (err)
		say("--control", err_message(err));
	control_answer(&s->control, err);
}
