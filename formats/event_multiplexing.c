/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_multiplexing.c - the recorder reads every counter when it ends; these are its times.
 */
#include "formats/event_multiplexing.h"

#include "formats/event.h"

#define ON_NS_MIN 1000000 /* a counter that was on for less tells nothing about its share */

static void add(struct event_multiplexing *m, const struct recording_count *count)
{
	m->enabled_ns += count->enabled_ns;
	m->running_ns += count->running_ns;
	m->samples += count->samples;
	m->value += (double)count->value;
	m->impossible |= !event_count_is_possible(count->value, count->running_ns);
}

static void finish(struct event_multiplexing *m)
{
	m->known = m->enabled_ns >= ON_NS_MIN;
	if (m->running_ns && m->running_ns < m->enabled_ns)
		m->value *= (double)m->enabled_ns / (double)m->running_ns;
}

struct event_multiplexing event_multiplexing_of_count(const struct recording_count *count)
{
	struct event_multiplexing m = { 0 };

	add(&m, count);
	finish(&m);
	return m;
}

struct event_multiplexing event_multiplexing_of(const struct recording *rec, uint32_t event)
{
	struct event_multiplexing m = { 0 };

	for (size_t i = 0; i < rec->ncounts; i++)
		if (rec->counts[i].event == event)
			add(&m, &rec->counts[i]);
	finish(&m);
	return m;
}

double event_multiplexing_share(const struct event_multiplexing *m)
{
	if (!m->known || m->running_ns >= m->enabled_ns)
		return 1;
	return (double)m->running_ns / (double)m->enabled_ns;
}

bool event_multiplexing_never(const struct event_multiplexing *m)
{
	return m->known && !m->running_ns && !m->samples;
}
