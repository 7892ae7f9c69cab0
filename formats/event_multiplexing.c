/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_multiplexing.c - the recorder reads every counter when it ends; these are its times.
 */
#include "formats/event_multiplexing.h"

#include "formats/event.h"

#define ON_NS_MIN 1000000 /* a counter that was on for less tells nothing about turns */

static void add(struct event_multiplexing *turns, const struct recording_count *count)
{
	turns->enabled_ns += count->enabled_ns;
	turns->running_ns += count->running_ns;
	turns->samples += count->samples;
	turns->value += (double)count->value;
	turns->impossible |= !event_count_is_possible(count->value, count->running_ns);
}

static void finish(struct event_multiplexing *turns)
{
	turns->known = turns->enabled_ns >= ON_NS_MIN;
	if (turns->running_ns && turns->running_ns < turns->enabled_ns)
		turns->value *= (double)turns->enabled_ns / (double)turns->running_ns;
}

struct event_multiplexing event_multiplexing_of_count(const struct recording_count *count)
{
	struct event_multiplexing turns = { 0 };

	add(&turns, count);
	finish(&turns);
	return turns;
}

struct event_multiplexing event_multiplexing_of(const struct recording *rec, uint32_t event)
{
	struct event_multiplexing turns = { 0 };

	for (size_t i = 0; i < rec->ncounts; i++)
		if (rec->counts[i].event == event)
			add(&turns, &rec->counts[i]);
	finish(&turns);
	return turns;
}

double event_multiplexing_share(const struct event_multiplexing *turns)
{
	if (!turns->known || turns->running_ns >= turns->enabled_ns)
		return 1;
	return (double)turns->running_ns / (double)turns->enabled_ns;
}

bool event_multiplexing_never(const struct event_multiplexing *turns)
{
	return turns->known && !turns->running_ns && !turns->samples;
}
