/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counting.c - differences are made of every sample, measures only of those that pass the filter.
 */
#include "report/load/counting.h"

#include "report/print/number.h"

#define SHARED_SHARE 0.999 /* of the time: counters that ran less were multiplexed */
#define DOUBT_SHARE  0.9   /* ... and less than this is worth a doubt */

static void heard_event(void *context, const struct event *ev)
{
	struct counting *c = context;

	if (ev->kind == EVENT_SAMPLE)
		group_deltas_add(&c->deltas, ev);
}

static void heard_row(void *context, const struct event *ev, uint32_t row)
{
	struct counting *c = context;

	for (size_t i = 0; i < c->sets.len; i++) {
		struct measures *m = c->sets.items[i];

		if (m->method == MEASURES_GROUP)
			measures_add_deltas(m, row, c->deltas.now.items, c->deltas.now.len);
		else
			measures_add_period(m, row, ev->sample.event, MAX(ev->sample.period, 1));
	}
}

void counting_open(struct counting *c, struct session *s)
{
	*c = (struct counting){ .listener = { .context = c, .heard = heard_event, .row = heard_row } };
	if (s->imported)
		return;
	group_deltas_init(&c->deltas, s->recording);
	loader_listen(s->loader, &c->listener);
}

void counting_add(struct counting *c, struct measures *m)
{
	vec_push(&c->sets, m);
}

void counting_close(struct counting *c)
{
	vec_deinit(&c->sets);
	group_deltas_deinit(&c->deltas);
	*c = (struct counting){ 0 };
}

const char *counting_note(const struct counting *c, struct arena *arena)
{
	const struct group_delta_tally *unwind_quality = &c->deltas.unwind_quality;
	double ran = unwind_quality->enabled_ns ? (double)unwind_quality->running_ns / (double)unwind_quality->enabled_ns : 1;
	const char *text = arena_printf(arena, "counted from sample to sample (%s)",
					number_of(arena, unwind_quality->used, "sample"));

	if (ran < SHARED_SHARE)
		text = arena_printf(arena,
				    "%s, multiplexed: counted %s of the time%s", text,
				    number_share(arena, ran),
				    ran < DOUBT_SHARE ? ", so treat with care" : "");
	if (unwind_quality->not_counted)
		text = arena_printf(arena, "%s; %s without counts", text,
				    number_of(arena, unwind_quality->not_counted, "sample"));
	if (unwind_quality->impossible)
		text = arena_printf(arena, "%s; %s left out, whose counts are impossible", text,
				    number_of(arena, unwind_quality->impossible, "sample"));
	return text;
}
