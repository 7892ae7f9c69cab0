/* SPDX-License-Identifier: Apache-2.0 */
/*
 * point_pairs.c - a table of what is under way; places in it are used again, so that it grows with that, not with the stream.
 */
#include "report/load/derive/point_pairs.h"

#include "formats/base/compiler.h"

struct open_point {
	uint64_t key;
	struct derived span; /* its time_ns is when it began; its weight is not known yet */
	bool is_used;
};

void point_pairs_init(struct point_pairs *pairs, const struct derive_request *request, const struct derive_out *out,
		      const char *name)
{
	*pairs = (struct point_pairs){ .request = request, .out = out, .type = derive_add_type(request->profile, name) };
}

void point_pairs_deinit(struct point_pairs *pairs)
{
	map_deinit(&pairs->numbers);
	vec_deinit(&pairs->open);
	vec_deinit(&pairs->unused);
}

static struct open_point *place_for(struct point_pairs *pairs, uint64_t key)
{
	bool fresh;
	uint64_t *number = map_put(&pairs->numbers, key, &fresh);

	if (fresh && pairs->unused.len) {
		*number = pairs->unused.items[--pairs->unused.len] + 1;
	} else if (fresh) {
		vec_push(&pairs->open, ((struct open_point){ 0 }));
		*number = pairs->open.len;
	}
	return &pairs->open.items[*number - 1];
}

void point_pairs_begin(struct point_pairs *pairs, uint64_t key, const struct derive_event *event, const struct derived *span)
{
	const struct event *ev = event->ev;
	struct open_point *at = place_for(pairs, key);

	pairs->newest_ns = MAX(pairs->newest_ns, ev->time_ns);
	*at = (struct open_point){ .key = key, .span = *span, .is_used = true };
	at->span.event = pairs->type;
	at->span.thread = event->thread;
	at->span.stack = derive_has_callers(pairs->request->profile, event->stack) ? event->stack : 0;
	at->span.stop = at->span.stack ? event->stop : 0;
	at->span.cpu = ev->cpu;
	at->span.waker = PROFILE_NONE;
	at->span.time_ns = ev->time_ns;
}

const struct derived *point_pairs_find(const struct point_pairs *pairs, uint64_t key)
{
	const uint64_t *number = map_get(&pairs->numbers, key);

	return number ? &pairs->open.items[*number - 1].span : NULL;
}

static bool has_wanted_length(const struct derive_request *request, uint64_t len_ns)
{
	return len_ns >= request->min_wait_ns && (!request->max_wait_ns || len_ns <= request->max_wait_ns);
}

static void put(const struct point_pairs *pairs, struct derived span, uint64_t to_ns, uint32_t error)
{
	const struct derive_request *request = pairs->request;
	const struct derive_out *out = pairs->out;
	struct derive_pieces pieces = { 0 };
	uint64_t from_ns = span.time_ns, len_ns = to_ns > from_ns ? to_ns - from_ns : 0;

	if (!has_wanted_length(request, len_ns) || (out->wanted && !out->wanted(out->context, span.thread)))
		return;
	span.error = error;
	while (derive_next_piece(request, from_ns, to_ns, &pieces)) {
		span.time_ns = pieces.at.from_ns;
		span.weight = pieces.at.to_ns - pieces.at.from_ns;
		out->add(out->context, &span);
	}
}

/* Is forgotten with it. */
static bool take_out(struct point_pairs *pairs, uint64_t key, struct derived *ret)
{
	const uint64_t *number = map_get(&pairs->numbers, key);
	uint32_t at;

	if (!number)
		return false;
	at = (uint32_t)(*number - 1);
	*ret = pairs->open.items[at].span;
	pairs->open.items[at].is_used = false;
	vec_push(&pairs->unused, at);
	map_remove(&pairs->numbers, key);
	return true;
}

void point_pairs_end(struct point_pairs *pairs, uint64_t key, uint64_t time_ns, uint32_t error)
{
	struct derived span;

	pairs->newest_ns = MAX(pairs->newest_ns, time_ns);
	if (take_out(pairs, key, &span))
		put(pairs, span, time_ns, error);
}

void point_pairs_rename(struct point_pairs *pairs, uint64_t key, uint64_t now)
{
	struct derived span;

	if (take_out(pairs, key, &span))
		*place_for(pairs, now) = (struct open_point){ .key = now, .span = span, .is_used = true };
}

void point_pairs_finish(struct point_pairs *pairs)
{
	uint64_t end_ns = pairs->request->recording->end_ns;

	for (size_t i = 0; i < pairs->open.len; i++)
		if (pairs->open.items[i].is_used)
			put(pairs, pairs->open.items[i].span, end_ns ? end_ns : pairs->newest_ns, 0);
}
