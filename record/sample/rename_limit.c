/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rename_limit.c - a bucket for each thread, in one number: milliseconds above, what is left in the lowest four bits.
 */
#include "record/sample/rename_limit.h"

#include "formats/base/compiler.h"

#include <stdio.h>
#include <string.h>

#define LEFT_BITS 4
#define LEFT_MASK ((1U << LEFT_BITS) - 1)
#define REFILL_MS 1000
#define MS_NS	  1000000

void rename_limit_deinit(struct rename_limit *l)
{
	map_deinit(&l->threads);
	vec_deinit(&l->waiting);
}

/* Take one for thread @tid; false if it has none. */
static bool take(struct rename_limit *l, uint32_t tid, uint64_t now_ns)
{
	uint64_t now_ms = now_ns / MS_NS;
	bool fresh;

	if (l->threads.len >= RENAME_LIMIT_THREADS && !map_get(&l->threads, tid))
		map_clear(&l->threads);
	uint64_t *slot = map_put(&l->threads, tid, &fresh);
	uint64_t since_ms = fresh ? now_ms : *slot >> LEFT_BITS, left = fresh ? RENAME_LIMIT_AT_ONCE : *slot & LEFT_MASK;
	uint64_t come = now_ms > since_ms ? (now_ms - since_ms) / REFILL_MS : 0;

	left = MIN(left + come, (uint64_t)RENAME_LIMIT_AT_ONCE);
	bool any = left > 0;

	*slot = (since_ms + come * REFILL_MS) << LEFT_BITS | (left - any);
	return any;
}

static size_t find(const struct rename_limit *l, uint32_t tid)
{
	size_t i = 0;

	while (i < l->waiting.len && l->waiting.items[i].tid != tid)
		i++;
	return i;
}

void rename_limit_exit(struct rename_limit *l, uint32_t tid)
{
	size_t i = find(l, tid);

	if (i < l->waiting.len)
		vec_remove(&l->waiting, i, 1);
}

bool rename_limit_keeps(struct rename_limit *l, const struct event *ev)
{
	if (take(l, ev->tid, ev->time_ns)) {
		rename_limit_exit(l, ev->tid); /* what waited is older */
		return true;
	}
	size_t i = find(l, ev->tid);

	l->left_out++;
	if (i == RENAME_LIMIT_WAITING)
		return false;
	if (i == l->waiting.len)
		vec_push(&l->waiting, ((struct rename_waiting){ .pid = ev->pid, .tid = ev->tid }));
	snprintf(l->waiting.items[i].name, RENAME_LIMIT_NAME, "%s", ev->comm.comm);
	return false;
}

bool rename_limit_next(struct rename_limit *l, uint64_t now_ns, struct event *ret)
{
	for (size_t i = 0; i < l->waiting.len; i++) {
		struct rename_waiting *w = &l->waiting.items[i];

		if (!take(l, w->tid, now_ns))
			continue;
		memcpy(l->next, w->name, sizeof(l->next));
		*ret = (struct event){ .kind = EVENT_COMM, .cpu = EVENT_NO_CPU, .pid = w->pid, .tid = w->tid, .time_ns = now_ns,
				       .comm = { .comm = l->next } };
		vec_remove(&l->waiting, i, 1);
		l->left_out--;
		return true;
	}
	return false;
}
