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
	s->times = true;
	s->unmatched = 0;
}

static void advance(struct import_spans *s, uint64_t time_ns)
{
	struct import_sample sample = { .type = s->type, .thread = s->thread, .count = 1 };

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
		s->open.len--;
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
	vec_push(&s->open, span);
}

void import_spans_close(struct import_spans *s, uint32_t location, uint64_t time_ns)
{
	size_t at;

	close_ended(s, time_ns);
	advance(s, time_ns);
	for (at = s->open.len; at > 0; at--)
		if (location == PROFILE_NONE ? s->open.items[at - 1].end_ns == IMPORT_NO_END
					     : s->open.items[at - 1].location == location)
			break;
	if (at)
		s->open.len = at - 1;
	else
		s->unmatched++;
}

void import_spans_finish(struct import_spans *s, uint64_t time_ns)
{
	close_ended(s, time_ns);
	advance(s, time_ns);
	s->open.len = 0;
}

void import_spans_deinit(struct import_spans *s)
{
	vec_deinit(&s->open);
}
