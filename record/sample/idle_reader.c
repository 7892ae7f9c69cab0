/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_reader.c - a table of threads with their last stacks, packed, and a queue of such stacks for the recorder.
 */
#include "record/sample/idle_reader.h"

#include "formats/base/clock.h"
#include "formats/base/memory.h"
#include "formats/base/vec.h"

#include <dirent.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOLD_NS	      500000000u /* a stack is handed out after this time even if its thread has not run */
#define QUEUE_LEN_MAX (8u << 20)
#define KEPT_LEN_MAX  (64u << 20) /* of stacks of all threads */
#define END_WAIT_S    1
#define TRIES_MAX     12 /* doublings of the rounds between two looks for a script */
#define PENDING_NS    200000000u /* to wait at the start until interpreters are known */
#define FREE_NS	      300000000u /* of CPU time as a burst: the first stacks and the kernel's symbols take most */

/* A sight without its unused room: kernel addresses, stack and frames follow. */
struct packed {
	uint64_t period_ns;
	uint64_t time_ns, ip, sp;
	const struct managed_binary *binary;
	uint32_t pid, tid;
	uint32_t nkernel_ips, stack_len, nframes;
	enum event_managed_runtime runtime;
	enum event_managed_state state;
	size_t nlabels;
	struct event_managed_label labels[EVENT_MANAGED_LABELS];
};

/* What is to be looked at: a process, or one thread of it. */
struct followed {
	uint32_t pid, tid; /* 0: all threads */
};

/* A thread that was looked at. */
struct idler {
	uint32_t pid, tid;
	uint64_t round;		/* in which it was seen last */
	uint64_t tried, again;	/* looks for its interpreter's stack, which was not to be had; the round of the next one */
	struct packed *packed;	/* NULL: it did not wait */
	char runs[THREAD_SIGHT_RUNS_LEN];
};

struct idle_reader {
	struct managed_table *table;
	const struct priority *first; /* NULL: ordinary */
	uint64_t rate;
	enum idle_scope scope;
	struct map processes; /* the recorder thread's: running processes */
	bool changed;
	uint64_t filter_looks; /* of the filter, at the last check */
	struct thread_sight *unpacked; /* the recorder's */
	VEC(uint8_t) taken;

	pthread_t thread;
	bool started, ended;
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t wakeup, done;
	bool ending, over;
	VEC(struct followed) followed;
	VEC(uint8_t) queue;
	struct idle_totals totals;

	/* The thread's. */
	struct priority priority;
	struct thread_looker *looker;
	struct thread_sight *sight;
	struct map idlers; /* tid -> struct idler * */
	size_t kept_len;
	VEC(struct followed) followed_now;
	uint64_t round, round_ns, started_ns;
};

/* ---- packed sights --------------------------------------------------------------------------------- */

static size_t packed_len(const struct packed *p)
{
	return sizeof(*p) + p->nkernel_ips * sizeof(uint64_t) +
	       p->nframes * sizeof(struct event_managed_frame) + p->stack_len;
}

/* Aligned as the next one in a queue has to be. */
static size_t packed_room(const struct packed *p)
{
	return (packed_len(p) + 7) & ~(size_t)7;
}

static struct packed *pack(const struct thread_sight *s)
{
	struct packed head = {
		.time_ns = s->time_ns,
		.ip = s->ip,
		.sp = s->sp,
		.binary = s->binary,
		.pid = s->pid,
		.tid = s->tid,
		.nkernel_ips = (uint32_t)s->nkernel_ips,
		.stack_len = (uint32_t)s->stack_len,
		.nframes = s->binary ? (uint32_t)s->managed.nframes : 0,
		.runtime = s->runtime,
		.state = s->binary ? s->managed.state : EVENT_MANAGED_NO_FRAMES,
	};
	struct packed *p = memory_zeroed(1, packed_room(&head));
	uint8_t *to = (uint8_t *)(p + 1);

	head.nlabels = s->binary ? s->managed.nlabels : 0;
	memcpy(head.labels, s->managed.labels, head.nlabels * sizeof(*head.labels));
	*p = head;
	memcpy(to, s->kernel_ips, p->nkernel_ips * sizeof(uint64_t));
	to += p->nkernel_ips * sizeof(uint64_t);
	memcpy(to, s->managed.frames, p->nframes * sizeof(*s->managed.frames));
	to += p->nframes * sizeof(*s->managed.frames);
	memcpy(to, s->stack, p->stack_len);
	return p;
}

static void unpack(const struct packed *p, struct thread_sight *ret)
{
	const uint8_t *from = (const uint8_t *)(p + 1);

	ret->pid = p->pid;
	ret->tid = p->tid;
	ret->time_ns = p->time_ns;
	ret->ip = p->ip;
	ret->sp = p->sp;
	ret->binary = p->binary;
	ret->runtime = p->runtime;
	ret->nkernel_ips = p->nkernel_ips;
	ret->stack_len = p->stack_len;
	ret->managed.nframes = p->nframes;
	ret->managed.state = p->state;
	ret->managed.nlabels = p->nlabels;
	memcpy(ret->managed.labels, p->labels, p->nlabels * sizeof(*p->labels));
	memcpy(ret->kernel_ips, from, p->nkernel_ips * sizeof(uint64_t));
	from += p->nkernel_ips * sizeof(uint64_t);
	memcpy(ret->managed.frames, from, p->nframes * sizeof(*ret->managed.frames));
	from += p->nframes * sizeof(*ret->managed.frames);
	memcpy(ret->stack, from, p->stack_len);
}

/* ---- in its thread --------------------------------------------------------------------------------- */

/* Hand out the stack, weighted with the time that it stands for. */
static void flush(struct idle_reader *r, struct idler *idler)
{
	struct packed *p = idler->packed;

	if (!p || !p->period_ns)
		return;
	pthread_mutex_lock(&r->lock);
	if (r->queue.len + packed_room(p) > QUEUE_LEN_MAX)
		r->totals.dropped_ns += p->period_ns;
	else
		vec_append(&r->queue, (const uint8_t *)p, packed_room(p));
	pthread_mutex_unlock(&r->lock);
	p->period_ns = 0;
}

static void drop_stack(struct idle_reader *r, struct idler *idler)
{
	if (idler->packed)
		r->kept_len -= packed_room(idler->packed);
	free(idler->packed);
	idler->packed = NULL;
}

static void forget(struct idle_reader *r, struct idler *idler)
{
	flush(r, idler);
	drop_stack(r, idler);
	map_remove(&r->idlers, idler->tid);
	free(idler);
}

static struct idler *idler_of(struct idle_reader *r, uint32_t pid, uint32_t tid)
{
	uint64_t *slot = map_get(&r->idlers, tid);
	struct idler *idler = slot ? (struct idler *)(uintptr_t)*slot : NULL;

	if (idler && idler->pid != pid) {
		forget(r, idler);
		idler = NULL;
	}
	if (idler || r->idlers.len >= IDLE_READER_THREADS_MAX)
		return idler;
	idler = memory_zeroed(1, sizeof(*idler));
	idler->pid = pid;
	idler->tid = tid;
	*map_put(&r->idlers, tid, NULL) = (uintptr_t)idler;
	return idler;
}

/* What was seen now, in place of what was before; it waited for @period_ns. */
static void keep(struct idle_reader *r, struct idler *idler, uint64_t period_ns)
{
	drop_stack(r, idler);
	idler->packed = pack(r->sight);
	idler->packed->period_ns = period_ns;
	r->kept_len += packed_room(idler->packed);
	memcpy(idler->runs, r->sight->runs, sizeof(idler->runs));
	if (r->kept_len > KEPT_LEN_MAX) {
		flush(r, idler);
		drop_stack(r, idler);
	}
}

/* It ran since the last look, or this is the first. */
static void look_again(struct idle_reader *r, struct idler *idler, uint64_t interval_ns)
{
	drop_stack(r, idler);
	idler->tried = idler->again = 0;
	r->totals.looks++;
	if (thread_look(r->looker, idler->pid, idler->tid, r->sight))
		keep(r, idler, interval_ns);
}

static bool lacks_script(const struct packed *p)
{
	return !p->binary || p->state == EVENT_MANAGED_FAILED;
}

/*
 * It has not run since it was looked at, and that was before its interpreter was found, or did not succeed: what can be read of it now was
 * so then. Tried ever more seldom.
 */
static void look_for_script(struct idle_reader *r, struct idler *idler)
{
	if (r->round < idler->again)
		return;
	idler->again = r->round + (1ULL << MIN(idler->tried, TRIES_MAX));
	idler->tried++;
	r->totals.looks++;
	if (thread_look(r->looker, idler->pid, idler->tid, r->sight) && strcmp(r->sight->runs, idler->runs) == 0)
		keep(r, idler, idler->packed->period_ns);
}

/* It has not run since. */
static void go_on_waiting(struct idle_reader *r, struct idler *idler, uint64_t interval_ns, enum managed_look look)
{
	idler->packed->period_ns += interval_ns;
	if (look == MANAGED_KNOWN && lacks_script(idler->packed))
		look_for_script(r, idler);
	if (!idler->packed)
		return; /* handed out, there was no room to keep it */
	idler->packed->time_ns = r->round_ns;
	if (idler->packed->period_ns >= HOLD_NS && look != MANAGED_PENDING)
		flush(r, idler);
}

static void look_at_thread(struct idle_reader *r, uint32_t pid, uint32_t tid, uint64_t interval_ns, enum managed_look look)
{
	struct idler *idler = idler_of(r, pid, tid);
	char runs[THREAD_SIGHT_RUNS_LEN];

	if (!idler) {
		r->totals.too_many = true;
		return;
	}
	idler->round = r->round;
	if (idler->packed && thread_runs(pid, tid, runs) && strcmp(runs, idler->runs) == 0) {
		go_on_waiting(r, idler, interval_ns, look);
		return;
	}
	flush(r, idler);
	look_again(r, idler, interval_ns);
}

static size_t look_at(struct idle_reader *r, struct followed what, uint64_t interval_ns)
{
	uint32_t pid = what.pid;
	enum managed_look look = r->table ? managed_table_look(r->table, pid) : MANAGED_NONE;
	const struct dirent *entry;
	size_t count = 0;
	char path[64];

	/* Wait a little for the interpreter to be known, for a better stack, but not for ever. */
	if (look == MANAGED_PENDING && clock_now_ns(CLOCK_MONOTONIC) < r->started_ns + PENDING_NS)
		return 0;
	if (r->scope == IDLE_SCOPE_INTERPRETERS && look != MANAGED_KNOWN)
		return 0;
	if (what.tid) {
		look_at_thread(r, pid, what.tid, interval_ns, look);
		return 1;
	}
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task", pid);

	DIR *dir = opendir(path);

	while (dir && (entry = readdir(dir)) != NULL && count < IDLE_READER_THREADS_MAX) {
		uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);

		if (!tid)
			continue;
		look_at_thread(r, pid, tid, interval_ns, look);
		count++;
	}
	if (dir)
		closedir(dir);
	return count;
}

/* Threads missing in this round have ended. */
static void forget_ended(struct idle_reader *r)
{
	const struct map_slot *slot;
	VEC(struct idler *) ended = { 0 };

	for (size_t pos = 0; (slot = map_next(&r->idlers, &pos));) {
		struct idler *idler = (struct idler *)(uintptr_t)slot->value;

		if (idler->round != r->round)
			vec_push(&ended, idler);
	}
	for (size_t i = 0; i < ended.len; i++)
		forget(r, ended.items[i]);
	vec_deinit(&ended);
}

static void copy_followed(struct idle_reader *r)
{
	pthread_mutex_lock(&r->lock);
	r->followed_now.len = 0;
	vec_append(&r->followed_now, r->followed.items, r->followed.len);
	pthread_mutex_unlock(&r->lock);
}

/* The time of the next round: an interval later, and not before the CPU time so far is below SHARE. */
static uint64_t next_round_ns(struct idle_reader *r, uint64_t interval_ns)
{
	uint64_t cpu_ns = r->totals.cpu_ns > FREE_NS ? r->totals.cpu_ns - FREE_NS : 0;

	uint64_t steady_ns = r->round_ns + interval_ns;
	uint64_t paid_ns = r->started_ns + (uint64_t)((double)cpu_ns / IDLE_READER_SHARE);

	r->totals.put_off += paid_ns > steady_ns;
	return MAX(steady_ns, paid_ns);
}

/* The start of the next round. */
static uint64_t do_round(struct idle_reader *r)
{
	uint64_t interval_ns = 1000000000 / r->rate, before = clock_now_ns(CLOCK_THREAD_CPUTIME_ID);
	uint64_t now = clock_now_ns(CLOCK_MONOTONIC);
	uint64_t since_ns = r->round ? now - r->round_ns : interval_ns;
	size_t threads = 0;

	copy_followed(r);
	r->round++;
	r->round_ns = now;
	for (size_t i = 0; i < r->followed_now.len; i++)
		threads += look_at(r, r->followed_now.items[i], since_ns);
	forget_ended(r);

	uint64_t cost_ns = clock_now_ns(CLOCK_THREAD_CPUTIME_ID) - before;

	pthread_mutex_lock(&r->lock);
	r->totals.rounds++;
	r->totals.cpu_ns += cost_ns;
	r->totals.threads = MAX(r->totals.threads, (uint64_t)threads);
	pthread_mutex_unlock(&r->lock);
	return next_round_ns(r, interval_ns);
}

/* Wait until @until_ns, or until asked to stop. */
static bool wait_until(struct idle_reader *r, uint64_t until_ns)
{
	struct timespec until = { .tv_sec = (time_t)(until_ns / 1000000000),
				  .tv_nsec = (long)(until_ns % 1000000000) };

	pthread_mutex_lock(&r->lock);
	while (!r->ending && clock_now_ns(CLOCK_MONOTONIC) < until_ns)
		pthread_cond_timedwait(&r->wakeup, &r->lock, &until);
	bool go_on = !r->ending;

	pthread_mutex_unlock(&r->lock);
	return go_on;
}

static void *run(void *context)
{
	struct idle_reader *r = context;

	/* Behind busy threads looks come late and by bursts, and each stands for the time since the one before. */
	if (r->first)
		priority_join(&r->priority, r->first);
	r->started_ns = clock_now_ns(CLOCK_MONOTONIC);
	while (wait_until(r, do_round(r)))
		priority_check(&r->priority);
	do_round(r);
	r->round++;
	forget_ended(r);
	pthread_mutex_lock(&r->lock);
	r->over = true;
	pthread_cond_signal(&r->done);
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

/* ---- the recorder's side --------------------------------------------------------------------------- */

struct idle_reader *idle_reader_new(struct managed_table *table, uint64_t rate, enum idle_scope scope,
				    const struct priority *first)
{
	struct idle_reader *r = memory_zeroed(1, sizeof(*r));
	pthread_condattr_t attr;

	r->table = table;
	r->first = first;
	r->rate = rate;
	r->scope = scope;
	r->sight = memory_zeroed(1, sizeof(*r->sight));
	r->unpacked = memory_zeroed(1, sizeof(*r->unpacked));
	r->looker = thread_looker_new(table);
	pthread_mutex_init(&r->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&r->wakeup, &attr);
	pthread_cond_init(&r->done, &attr);
	pthread_condattr_destroy(&attr);
	return r;
}

void idle_reader_end(struct idle_reader *r)
{
	uint64_t until_ns = clock_now_ns(CLOCK_MONOTONIC) + END_WAIT_S * 1000000000ull;
	struct timespec until = { .tv_sec = (time_t)(until_ns / 1000000000),
				  .tv_nsec = (long)(until_ns % 1000000000) };
	int failed = 0;

	if (!r->started || r->ended)
		return;
	pthread_mutex_lock(&r->lock);
	r->ending = true;
	pthread_cond_signal(&r->wakeup);
	while (!r->over && !failed)
		failed = pthread_cond_timedwait(&r->done, &r->lock, &until);
	r->ended = r->over;
	pthread_mutex_unlock(&r->lock);
	if (r->ended)
		pthread_join(r->thread, NULL);
}

void idle_reader_free(struct idle_reader *r)
{
	if (!r)
		return;
	idle_reader_end(r);
	if (r->started && !r->ended)
		return;
	pthread_mutex_destroy(&r->lock);
	pthread_cond_destroy(&r->wakeup);
	pthread_cond_destroy(&r->done);
	thread_looker_free(r->looker);
	map_deinit(&r->processes);
	map_deinit(&r->idlers);
	vec_deinit(&r->followed);
	vec_deinit(&r->queue);
	vec_deinit(&r->taken);
	vec_deinit(&r->followed_now);
	free(r->unpacked);
	free(r->sight);
	free(r);
}

void idle_reader_event(struct idle_reader *r, const struct event *ev)
{
	bool fresh = false;

	if (!ev->pid || ev->pid == UINT32_MAX)
		return;
	if (ev->kind == EVENT_FORK || ev->kind == EVENT_COMM)
		*map_put(&r->processes, ev->pid, &fresh) = 1;
	else if (ev->kind == EVENT_EXIT && ev->pid == ev->tid && map_get(&r->processes, ev->pid))
		map_remove(&r->processes, ev->pid), fresh = true;
	r->changed |= fresh;
}

/* Block signals: the recorder's thread handles them. */
static void start(struct idle_reader *r)
{
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r->started = pthread_create(&r->thread, NULL, run, r) == 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* The threads that were named, or whole processes. */
static void follow_tasks(struct idle_reader *r, const struct task_filter *tasks)
{
	const struct map_slot *slot;

	r->followed.len = 0;
	for (size_t i = 0; i < tasks->named.len; i++)
		vec_push(&r->followed, ((struct followed){ (uint32_t)tasks->named.items[i].pid, (uint32_t)tasks->named.items[i].tid }));
	for (size_t pos = 0; !tasks->named.len && (slot = map_next(&r->processes, &pos));) {
		uint32_t pid = (uint32_t)slot->key;

		if (task_filter_owns(tasks, pid, pid))
			vec_push(&r->followed, ((struct followed){ pid, 0 }));
	}
}

void idle_reader_follow(struct idle_reader *r, struct task_filter *tasks)
{
	if (r->changed || r->filter_looks != tasks->looks) {
		r->changed = false;
		r->filter_looks = tasks->looks;
		pthread_mutex_lock(&r->lock);
		follow_tasks(r, tasks);
		pthread_mutex_unlock(&r->lock);
	}
	if (!r->started && r->followed.len)
		start(r);
}

void idle_reader_rest(struct idle_reader *r)
{
	if (!r->followed.len)
		return;
	pthread_mutex_lock(&r->lock);
	r->followed.len = 0;
	pthread_mutex_unlock(&r->lock);
	r->changed = true;
}

struct err *idle_reader_take(struct idle_reader *r, idle_take_fn *take, void *context)
{
	struct err *err = NULL;
	size_t pos = 0;

	r->taken.len = 0;
	pthread_mutex_lock(&r->lock);
	vec_append(&r->taken, r->queue.items, r->queue.len);
	r->queue.len = 0;
	pthread_mutex_unlock(&r->lock);
	while (pos < r->taken.len && !err) {
		const struct packed *p = (const struct packed *)(const void *)(r->taken.items + pos);

		unpack(p, r->unpacked);
		err = take(context, r->unpacked, p->period_ns);
		pos += packed_room(p);
	}
	return err;
}

struct idle_totals idle_reader_totals(struct idle_reader *r)
{
	pthread_mutex_lock(&r->lock);
	struct idle_totals totals = r->totals;

	pthread_mutex_unlock(&r->lock);
	return totals;
}
