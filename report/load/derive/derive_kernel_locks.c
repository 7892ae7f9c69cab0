/* SPDX-License-Identifier: Apache-2.0 */
/*
 * derive_kernel_locks.c - how long threads wait for locks of the kernel: from lock:contention_begin to contention_end, both in
 * the thread that waits.
 *
 * An interrupt may wait for a second lock meanwhile. Idle CPUs share one thread, so there it goes by the CPU. A mutex for which
 * a thread spins first, then sleeps, begins twice and is one wait. A thread that ends has lost its number by the end of its
 * last wait, which is a spinlock's, on the same CPU.
 */
#include "formats/base/memory.h"
#include "formats/tracepoint_format.h"
#include "report/load/derive/derive_kind.h"
#include "report/load/derive/point_pairs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define BEGIN_POINT "lock:contention_begin"
#define END_POINT   "lock:contention_end"

/* Flags of contention_begin. */
#define LOCK_SPIN   0x01u
#define LOCK_READ   0x02u
#define LOCK_WRITE  0x04u
#define LOCK_RT	    0x08u
#define LOCK_PERCPU 0x10u
#define LOCK_MUTEX  0x20u

struct kernel_locks {
	struct point_pairs pairs;
	uint32_t begin_event, end_event; /* of the recording */
	struct tracepoint_number begun, flags, ended, result; /* in their payloads */
	struct map last; /* CPU -> the thread that began to wait there last */
};

static void *begin(const struct derive_request *request, const struct derive_out *out)
{
	const struct recording *rec = request->recording;
	uint32_t begin_event = derive_find_every(rec, BEGIN_POINT), end_event = derive_find_every(rec, END_POINT);
	struct kernel_locks *k;

	if (!derive_is_wanted(request, DERIVE_KERNEL_LOCK) || begin_event == PROFILE_NONE || end_event == PROFILE_NONE)
		return NULL;
	k = memory_zeroed(1, sizeof(*k));
	point_pairs_init(&k->pairs, request, out, DERIVE_KERNEL_LOCK);
	k->begin_event = begin_event;
	k->end_event = end_event;
	k->begun = tracepoint_number_find(rec->events[begin_event].format, "lock_addr");
	k->flags = tracepoint_number_find(rec->events[begin_event].format, "flags");
	k->ended = tracepoint_number_find(rec->events[end_event].format, "lock_addr");
	k->result = tracepoint_number_find(rec->events[end_event].format, "ret");
	return k;
}

static void free_locks(void *state)
{
	struct kernel_locks *k = state;

	point_pairs_deinit(&k->pairs);
	map_deinit(&k->last);
	free(k);
}

static bool is_ours(const void *state, const struct event *ev)
{
	const struct kernel_locks *k = state;

	return ev->kind == EVENT_SAMPLE && (ev->sample.event == k->begin_event || ev->sample.event == k->end_event);
}

static uint64_t key_of(const struct kernel_locks *k, const struct event *ev, uint64_t lock)
{
	uint64_t who = ev->tid ? ev->tid : (uint64_t)ev->cpu << 32 | 1u << 31;
	const uint64_t *last = ev->tid == UINT32_MAX ? map_get(&k->last, ev->cpu) : NULL;

	if (last)
		who = *last;
	return map_hash(map_hash(lock) ^ who);
}

static const char *kind_name(uint64_t flags)
{
	if (flags & LOCK_MUTEX)
		return "mutex";
	if (flags & LOCK_RT)
		return "rtmutex";
	if (flags & LOCK_SPIN)
		return flags & LOCK_READ ? "rwlock (read)" : flags & LOCK_WRITE ? "rwlock (write)" : "spinlock";
	if (flags & LOCK_PERCPU)
		return flags & LOCK_READ ? "percpu-rwsem (read)" : "percpu-rwsem (write)";
	/* Kernels before 6.0 say nothing of mutexes. */
	return flags & LOCK_READ ? "rwsem (read)" : flags & LOCK_WRITE ? "rwsem (write)" : "mutex or semaphore";
}

static void take_begin(struct kernel_locks *k, const struct derive_event *event)
{
	struct profile *p = k->pairs.request->profile;
	uint64_t lock, flags = 0, key;
	char text[64];

	if (!tracepoint_number_read(&k->begun, event->ev, &lock))
		return;
	tracepoint_number_read(&k->flags, event->ev, &flags);
	key = key_of(k, event->ev, lock);

	snprintf(text, sizeof(text), "%s 0x%" PRIx64, kind_name(flags), lock);

	struct derived span = { .state = PROFILE_STATE_CONTENDED, .lock = profile_string(p, text) };
	const struct derived *earlier = point_pairs_find(&k->pairs, key);

	/* It spun so far, and sleeps now. */
	if (earlier && earlier->lock == span.lock && flags & LOCK_MUTEX && !(flags & LOCK_SPIN))
		return;
	point_pairs_begin(&k->pairs, key, event, &span);
	*map_put(&k->last, event->ev->cpu, NULL) = event->ev->tid;
}

static void take(void *state, const struct derive_event *event)
{
	struct kernel_locks *k = state;
	const struct event *ev = event->ev;
	uint64_t lock, result = 0;

	if (!is_ours(k, ev))
		return;
	if (ev->sample.event == k->begin_event) {
		take_begin(k, event);
		return;
	}
	if (!tracepoint_number_read(&k->ended, ev, &lock))
		return;
	tracepoint_number_read(&k->result, ev, &result);
	point_pairs_end(&k->pairs, key_of(k, ev, lock), ev->time_ns,
			derive_error_text(k->pairs.request->profile, (int64_t)result));
}

static void finish(void *state)
{
	struct kernel_locks *k = state;

	point_pairs_finish(&k->pairs);
}

const struct derive_kind derive_kernel_locks = {
	.name = "locks of the kernel",
	.adds = { { DERIVE_KERNEL_LOCK, .unasked = true } },
	.begin = begin,
	.wants = is_ours,
	.event = take,
	.finish = finish,
	.free = free_locks,
};
