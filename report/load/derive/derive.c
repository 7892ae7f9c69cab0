/* SPDX-License-Identifier: Apache-2.0 */
/*
 * derive.c - the table of transformers, and the loop over it.
 */
#include "report/load/derive/derive.h"

#include "formats/base/memory.h"
#include "report/load/derive/derive_kind.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

static const struct derive_kind *const kinds[] = { &derive_period, &derive_switches, &derive_syscalls };

struct derive {
	struct derive_request request;
	struct derive_out out;
	void *states[ARRAY_LEN(kinds)]; /* NULL: not at work */
};

bool derive_is_off_cpu(const struct recording *rec, uint32_t index)
{
	const struct recording_event *event = &rec->events[index];

	return event->samples && event->type == PERF_TYPE_SOFTWARE &&
	       event->config == PERF_COUNT_SW_CONTEXT_SWITCHES && strcmp(event->unit, "ns") == 0;
}

bool derive_is_idle(const struct recording *rec, uint32_t index)
{
	const struct recording_event *event = &rec->events[index];

	return event->samples && event->type == PERF_TYPE_SOFTWARE &&
	       event->config == PERF_COUNT_SW_DUMMY && strcmp(event->unit, "ns") == 0;
}

struct derive *derive_new(const struct derive_request *request, const struct derive_out *out)
{
	struct derive *d = memory_zeroed(1, sizeof(*d));

	d->request = *request;
	d->out = *out;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		d->states[i] = kinds[i]->begin(&d->request, &d->out);
	return d;
}

void derive_free(struct derive *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (d->states[i])
			kinds[i]->free(d->states[i]);
	free(d);
}

bool derive_wants(const struct derive *d, const struct event *ev)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (d->states[i] && kinds[i]->wants && kinds[i]->wants(d->states[i], ev))
			return true;
	return false;
}

bool derive_wants_anyones(const struct derive *d, const struct event *ev)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (d->states[i] && kinds[i]->wants_anyones && kinds[i]->wants_anyones(d->states[i], ev))
			return true;
	return false;
}

void derive_event(struct derive *d, const struct derive_event *event)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (d->states[i])
			kinds[i]->event(d->states[i], event);
}

void derive_finish(struct derive *d)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (d->states[i] && kinds[i]->finish)
			kinds[i]->finish(d->states[i]);
}

struct profile_lives derive_lives(const struct derive *d)
{
	struct profile_lives lives = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (d->states[i] && kinds[i]->lives)
			kinds[i]->lives(d->states[i], &lives);
	return lives;
}
