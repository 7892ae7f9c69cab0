/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_spans.c - whenever something opens or closes, the time since the last such moment belongs to what was innermost.
 */
#include "formats/profile/import/import_spans.h"

void import_spans_begin(struct import_spans *s, struct profile *p, uint32_t type, uint32_t thread)
{
	s->p = p;
	s->type = type;
	s->thread = thread;
	s->now_ns = 0;
	s->open.len = 0;
	map_clear(&s->nopen);
	s->times = true;
	s->unmatched = 0;
}

static void push(struct import_spans *s, const struct import_span *span)
{
	vec_push(&s->open, *span);
	++*map_put(&s->nopen, span->location, NULL);
	if (span->end_ns == IMPORT_NO_END)
		++*map_put(&s->nopen, PROFILE_NONE, NULL);
}

static void pop(struct import_spans *s)
{
	const struct import_span *span = &s->open.items[--s->open.len];

	--*map_put(&s->nopen, span->location, NULL);
	if (span->end_ns == IMPORT_NO_END)
		--*map_put(&s->nopen, PROFILE_NONE, NULL);
}

static void advance(struct import_spans *s, uint64_t time_ns)
{
	struct import_sample sample = { .type = s->type, .thread = s->thread, .count = 1, .uncounted = true };

	if (time_ns <= s->now_ns)
		return;
	if (s->open.len) {
		sample.stack = s->open.items[s->open.len - 1].stack;
		sample.weight = (int64_t)MIN(time_ns - s->now_ns, (uint64_t)INT64_MAX);
		sample.has_time = sample.has_duration = s->times;
		sample.time_ns = s->now_ns;
		sample.duration_ns = time_ns - s->now_ns;
		import_sample(s->p, &sample);
	}
	s->now_ns = time_ns;
}

/* Those whose end was known and has come. */
static void close_ended(struct import_spans *s, uint64_t time_ns)
{
	while (s->open.len && s->open.items[s->open.len - 1].end_ns <= time_ns) {
		advance(s, s->open.items[s->open.len - 1].end_ns);
		pop(s);
	}
}

void import_spans_open(struct import_spans *s, uint32_t location, uint64_t time_ns, uint64_t end_ns)
{
	struct import_span span = { .location = location, .end_ns = end_ns };

	close_ended(s, time_ns);
	advance(s, time_ns);
	if (s->open.len) { /* no call ends after its caller */
		span.stack = s->open.items[s->open.len - 1].stack;
		span.end_ns = MIN(end_ns, s->open.items[s->open.len - 1].end_ns);
	}
	span.stack = import_stack(s->p, span.stack, location);
	push(s, &span);
}

/* What is not open is found out by counts: to look through a deep stack each time would be quadratic. */
void import_spans_close(struct import_spans *s, uint32_t location, uint64_t time_ns)
{
	const uint64_t *count;
	bool found = false;

	close_ended(s, time_ns);
	advance(s, time_ns);
	count = map_get(&s->nopen, location);
	if (!count || !*count) {
		s->unmatched++;
		return;
	}
	while (!found) {
		const struct import_span *top = &s->open.items[s->open.len - 1];

		found = location == PROFILE_NONE ? top->end_ns == IMPORT_NO_END : top->location == location;
		pop(s);
	}
}

void import_spans_finish(struct import_spans *s, uint64_t time_ns)
{
	close_ended(s, time_ns);
	advance(s, time_ns);
	s->open.len = 0;
	map_clear(&s->nopen);
}

void import_spans_deinit(struct import_spans *s)
{
	vec_deinit(&s->open);
	map_deinit(&s->nopen);
}
