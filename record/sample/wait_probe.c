/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_probe.c - a list of waiting threads, ordered by start, and a thread that reads their stacks.
 */
#include "record/sample/wait_probe.h"

#include "formats/base/clock.h"
#include "formats/base/compiler.h"
#include "formats/base/map.h"
#include "formats/base/memory.h"
#include "formats/base/vec.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#define MAKE_ROOM_EVERY 4096 /* waits without room between attempts to make some, so that the cost of each attempt is spread */
#define AT_ONCE	     64	   /* requests and results */
#define BURST	     WAIT_PROBE_RATE
#define END_WAIT_NS  1000000000
#define SAME_SWITCH_NS 100000 /* at most, from the sample of a stack to the record of its switch */

struct request {
	uint32_t pid, tid;
	uint64_t out_ns;
};

struct wait_probe {
	struct map waits; /* tid -> when it left its CPU, of those whose stack is not known */
	struct map known; /* tid -> when a stack of it was last known */
	VEC(struct request) queue; /* in order of time, from @first on */
	size_t first;
	uint64_t full; /* waits that found no room */
	bool paused;   /* switches are not recorded */
	double tokens;
	uint64_t asked_ns;
	struct wait_probe_totals totals;

	pthread_t thread;
	bool started, cannot;
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t wakeup;
	bool over;
	struct request requests[AT_ONCE];
	size_t nrequests;
	struct wait_probe_found *found; /* AT_ONCE */
	size_t nfound;
	uint64_t answered; /* requests, including those of threads that had stopped waiting */

	struct thread_looker *looker; /* the thread's */
	struct priority priority;     /* the same */
	const struct priority *first_in_line; /* the recorder's thread; NULL: it is as ordinary as this one */
};

/* ---- the probing thread ---- */

static void *run(void *arg)
{
	struct wait_probe *p = arg;
	struct wait_probe_found *found = memory_zeroed(1, sizeof(*found));

	pthread_mutex_lock(&p->lock);
	for (;;) {
		while (!p->over && (!p->nrequests || p->nfound == AT_ONCE))
			pthread_cond_wait(&p->wakeup, &p->lock);
		if (p->over)
			break;

		struct request request = p->requests[--p->nrequests];

		pthread_mutex_unlock(&p->lock);
		if (p->first_in_line)
			priority_join(&p->priority, p->first_in_line);
		bool waits = thread_look(p->looker, request.pid, request.tid, &found->sight);

		priority_check(&p->priority);
		found->out_ns = request.out_ns;
		pthread_mutex_lock(&p->lock);
		p->answered++;
		if (waits && p->nfound < AT_ONCE)
			p->found[p->nfound++] = *found;
	}
	pthread_mutex_unlock(&p->lock);
	free(found);
	return NULL;
}

/* Block signals: the recorder's thread handles them. */
static bool start(struct wait_probe *p)
{
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	p->started = pthread_create(&p->thread, NULL, run, p) == 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	p->cannot = !p->started;
	return p->started;
}

/* ---- the recorder's side ---- */

struct wait_probe *wait_probe_new(struct managed_table *table, const struct priority *first)
{
	struct wait_probe *p = memory_zeroed(1, sizeof(*p));

	p->looker = thread_looker_new(table);
	p->first_in_line = first;
	p->found = memory_zeroed(AT_ONCE, sizeof(*p->found));
	p->tokens = BURST;
	priority_mutex_init(&p->lock);
	pthread_cond_init(&p->wakeup, NULL);
	return p;
}

static bool ended(struct wait_probe *p)
{
	if (!p->started)
		return true;
	pthread_mutex_lock(&p->lock);
	p->over = true;
	pthread_cond_signal(&p->wakeup);
	pthread_mutex_unlock(&p->lock);
	struct timespec until = clock_deadline(END_WAIT_NS);

	return pthread_timedjoin_np(p->thread, NULL, &until) == 0;
}

void wait_probe_free(struct wait_probe *p)
{
	if (!p || !ended(p))
		return;
	pthread_mutex_destroy(&p->lock);
	pthread_cond_destroy(&p->wakeup);
	map_deinit(&p->waits);
	map_deinit(&p->known);
	thread_looker_free(p->looker);
	vec_deinit(&p->queue);
	free(p->found);
	free(p);
}

static bool waits_still(const struct wait_probe *p, const struct request *at)
{
	const uint64_t *out_ns = map_get(&p->waits, at->tid);

	return out_ns && *out_ns == at->out_ns;
}

/* Drop waits that are over, which most soon are. */
static void make_room(struct wait_probe *p)
{
	size_t kept = 0;

	for (size_t i = p->first; i < p->queue.len; i++)
		if (waits_still(p, &p->queue.items[i]))
			p->queue.items[kept++] = p->queue.items[i];
	p->queue.len = kept;
	p->first = 0;
}

static void follow(struct wait_probe *p, const struct event *ev, uint64_t out_ns)
{
	if (p->queue.len >= WAIT_PROBE_WAITERS_MAX && p->full++ % MAKE_ROOM_EVERY == 0)
		make_room(p);
	if (p->queue.len >= WAIT_PROBE_WAITERS_MAX) {
		p->totals.dropped++;
		return;
	}
	*map_put(&p->waits, ev->tid, NULL) = out_ns;
	vec_push(&p->queue, ((struct request){ ev->pid, ev->tid, out_ns }));
}

static void note_known(struct wait_probe *p, uint32_t tid, uint64_t time_ns)
{
	if (p->known.len < WAIT_PROBE_WAITERS_MAX || map_get(&p->known, tid))
		*map_put(&p->known, tid, NULL) = time_ns;
}

/* The stack of its last wait is recent: let the other threads have their turn. */
static bool is_known(const struct wait_probe *p, const struct request *at)
{
	const uint64_t *known_ns = map_get(&p->known, at->tid);

	return known_ns && at->out_ns < *known_ns + WAIT_PROBE_FRESH_NS;
}

/* Was the stack of the switch at @out_ns sampled? That comes just before. */
static bool is_of_switch(uint64_t sampled_ns, uint64_t out_ns)
{
	return out_ns >= sampled_ns && out_ns - sampled_ns < SAME_SWITCH_NS;
}

/* Its sample may have been read in the pass before. */
static bool was_sampled(const struct wait_probe *p, const struct event *out)
{
	const uint64_t *known_ns = map_get(&p->known, out->tid);

	return known_ns && is_of_switch(*known_ns, out->time_ns);
}

void wait_probe_event(struct wait_probe *p, const struct event *ev)
{
	switch (ev->kind) {
	case EVENT_FORK: /* at time 0: it was there before */
		if (!ev->time_ns && ev->tid && ev->tid != UINT32_MAX)
			follow(p, ev, 1);
		break;
	case EVENT_SWITCH:
		if (!ev->cpu_switch.in && !ev->cpu_switch.preempted && !was_sampled(p, ev))
			follow(p, ev, ev->time_ns);
		else
			map_remove(&p->waits, ev->tid);
		break;
	case EVENT_TASK_TIMES: /* what it waits for now began unseen, and may last */
		if (p->paused)
			follow(p, ev, ev->time_ns);
		break;
	case EVENT_EXIT:
		map_remove(&p->waits, ev->tid);
		map_remove(&p->known, ev->tid);
		break;
	default:
		break;
	}
}

void wait_probe_pause(struct wait_probe *p, bool paused)
{
	p->paused = paused;
}

/* The switch record follows the sample. */
void wait_probe_sampled(struct wait_probe *p, uint32_t tid, uint64_t time_ns)
{
	const uint64_t *out_ns = map_get(&p->waits, tid);

	note_known(p, tid, time_ns);
	if (out_ns && is_of_switch(time_ns, *out_ns))
		map_remove(&p->waits, tid);
}

/* The next thread that still waits, without its stack, or NULL. Most waits are over at the next pass, or their stack is known then. */
static const struct request *next_waiter(struct wait_probe *p)
{
	while (p->first < p->queue.len && !waits_still(p, &p->queue.items[p->first]))
		p->first++;
	if (p->first < p->queue.len)
		return &p->queue.items[p->first];
	p->queue.len = p->first = 0;
	return NULL;
}

/* The next one that has waited for long. */
static const struct request *next_long(struct wait_probe *p, uint64_t now)
{
	bool many = MIN(p->queue.len - p->first, p->waits.len) > BURST;
	const struct request *at;

	while ((at = next_waiter(p)) != NULL) {
		if (now < at->out_ns || now - at->out_ns < WAIT_PROBE_LONG_NS)
			return NULL;
		if (!many || !is_known(p, at))
			break;
		p->first++;
	}
	return at;
}

void wait_probe_ask(struct wait_probe *p, uint64_t now)
{
	double more = p->asked_ns ? (double)(now - p->asked_ns) * WAIT_PROBE_RATE / 1e9 : 0;
	const struct request *at;

	p->tokens = MIN(p->tokens + more, (double)BURST);
	p->asked_ns = now;
	if (!next_long(p, now) || p->cannot || (!p->started && !start(p)))
		return;
	pthread_mutex_lock(&p->lock);
	while (p->nrequests < AT_ONCE && p->tokens >= 1 && (at = next_long(p, now)) != NULL) {
		note_known(p, at->tid, at->out_ns);
		p->requests[p->nrequests++] = *at;
		p->first++;
		p->tokens--;
		p->totals.asked++;
	}
	if (p->nrequests)
		pthread_cond_signal(&p->wakeup);
	pthread_mutex_unlock(&p->lock);
}

struct err *wait_probe_take(struct wait_probe *p, wait_probe_take_fn *take, void *context)
{
	struct err *err = NULL;

	if (!p->started)
		return NULL;
	pthread_mutex_lock(&p->lock);
	for (size_t i = 0; i < p->nfound && !err; i++) {
		struct wait_probe_found *found = &p->found[i];

		found->waits = waits_still(p, &(struct request){ found->sight.pid, found->sight.tid, found->out_ns });
		if (found->waits)
			map_remove(&p->waits, found->sight.tid);
		err = take(context, found);
		p->totals.found++;
	}
	p->nfound = 0;
	p->totals.answered = p->answered;
	pthread_mutex_unlock(&p->lock);
	return err;
}

bool wait_probe_busy(const struct wait_probe *p)
{
	return !p->cannot && (p->first < p->queue.len || p->totals.asked > p->totals.answered);
}

struct wait_probe_totals wait_probe_totals(const struct wait_probe *p)
{
	return p->totals;
}
