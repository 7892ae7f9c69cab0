/* SPDX-License-Identifier: Apache-2.0 */
/*
 * managed_table.c - looking at a process reads /proc and files, which may take long or hang, so a thread of its own does
 * it. It is started when the first process that may be an interpreter comes up.
 */
#include "record/managed/managed_table.h"

#include "formats/base/memory.h"
#include "formats/base/vec.h"
#include "record/managed/managed_binary.h"
#include "record/task/task_memory.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const struct managed_runtime *const runtimes[] = {
	&managed_python,
	&managed_php,
};

#define END_WAIT_S 1

enum status {
	NOTED,	/* it maps a file with the right name */
	QUEUED, /* to be looked at */
	KNOWN,
	REFUSED, /* no interpreter, or not one that we can read */
};

struct managed_process {
	uint32_t pid;
	enum status status;
	bool again; /* more was mapped while it was looked at */
	unsigned holders; /* the table is one of them */
	const struct managed_runtime *runtime;
	struct managed_host host;
	struct task_memory memory;
	pthread_mutex_t reading;
	void *state; /* the runtime's */
};

struct managed_table {
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t more;
	struct map by_pid; /* to struct managed_process * */
	VEC(uint32_t) queue;
	bool ending, has_finder;
	pthread_t finder;
	struct managed_files files; /* the finder's, under @looking */
	pthread_mutex_t looking;
	struct managed_names names;
	int news_fd;
	_Atomic size_t count; /* of by_pid */
	_Atomic uint64_t last_ns;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct managed_table *managed_table_new(int news_fd)
{
	struct managed_table *t = memory_zeroed(1, sizeof(*t));

	t->news_fd = news_fd;
	pthread_mutex_init(&t->lock, NULL);
	pthread_mutex_init(&t->looking, NULL);
	pthread_cond_init(&t->more, NULL);
	managed_names_init(&t->names);
	return t;
}

/* ---- processes ------------------------------------------------------------------------------------- */

static struct managed_process *find(const struct managed_table *t, uint32_t pid)
{
	const uint64_t *slot = map_get(&t->by_pid, pid);

	return slot ? (struct managed_process *)(uintptr_t)*slot : NULL;
}

/* Locked. */
static void unhold(struct managed_process *p)
{
	if (--p->holders)
		return;
	if (p->state)
		p->runtime->close(p->state);
	task_memory_close(&p->memory);
	pthread_mutex_destroy(&p->reading);
	free(p);
}

/* Locked. */
static void forget(struct managed_table *t, uint32_t pid)
{
	struct managed_process *p = find(t, pid);

	if (!p)
		return;
	map_remove(&t->by_pid, pid);
	t->count--;
	unhold(p);
}

/* Locked. */
static struct managed_process *note(struct managed_table *t, uint32_t pid)
{
	struct managed_process *p = memory_zeroed(1, sizeof(*p));

	p->pid = pid;
	p->holders = 1;
	p->memory.pagemap_fd = -1;
	pthread_mutex_init(&p->reading, NULL);
	*map_put(&t->by_pid, pid, NULL) = (uintptr_t)p;
	t->count++;
	return p;
}

/* ---- looking at them ------------------------------------------------------------------------------- */

/* Make @p known if one of the runtimes is there. It is not in the table's hands meanwhile. */
static bool look_at(struct managed_table *t, struct managed_process *p)
{
	char *path = memory_alloc(PATH_MAX);

	pthread_mutex_lock(&t->looking);
	for (size_t i = 0; i < ARRAY_LEN(runtimes) && !p->state; i++) {
		struct managed_host host = { .pid = p->pid, .names = &t->names };
		struct managed_place place;

		if (!managed_place_find(p->pid, runtimes[i], path, &place))
			continue;
		host.binary = managed_files_get(&t->files, runtimes[i], &place, &host.bias);
		p->host = host;
		p->runtime = runtimes[i];
		p->state = host.binary ? runtimes[i]->open(&host) : NULL;
	}
	pthread_mutex_unlock(&t->looking);
	free(path);
	return p->state && task_memory_open(&p->memory, p->pid);
}

static void announce(struct managed_table *t)
{
	uint64_t one = 1;

	t->last_ns = now_ns();
	/* Full, it is readable anyway. */
	if (t->news_fd >= 0 && write(t->news_fd, &one, sizeof(one)) < 0)
		return;
}

/* Locked, and unlocked meanwhile. */
static void look(struct managed_table *t, uint32_t pid)
{
	struct managed_process *p = find(t, pid);
	bool known;

	if (!p || p->status != QUEUED)
		return;
	p->holders++;
	do {
		p->again = false;
		pthread_mutex_unlock(&t->lock);
		known = look_at(t, p);
		pthread_mutex_lock(&t->lock);
	} while (!known && p->again);
	p->status = known ? KNOWN : REFUSED;
	if (known)
		announce(t);
	unhold(p);
}

static void *find_processes(void *context)
{
	struct managed_table *t = context;

	pthread_mutex_lock(&t->lock);
	while (!t->ending) {
		if (t->queue.len)
			look(t, t->queue.items[--t->queue.len]);
		else
			pthread_cond_wait(&t->more, &t->lock);
	}
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

/* Locked. */
static void queue(struct managed_table *t, struct managed_process *p)
{
	if (!t->has_finder && pthread_create(&t->finder, NULL, find_processes, t) != 0) {
		p->status = REFUSED;
		return;
	}
	t->has_finder = true;
	p->status = QUEUED;
	vec_push(&t->queue, p->pid);
	pthread_cond_signal(&t->more);
}

void managed_table_free(struct managed_table *t)
{
	const struct map_slot *slot;
	struct timespec until;

	if (!t)
		return;
	pthread_mutex_lock(&t->lock);
	t->ending = true;
	pthread_cond_signal(&t->more);
	pthread_mutex_unlock(&t->lock);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += END_WAIT_S;
	if (t->has_finder && pthread_timedjoin_np(t->finder, NULL, &until) != 0)
		return;
	for (size_t pos = 0; (slot = map_next(&t->by_pid, &pos));)
		unhold((struct managed_process *)(uintptr_t)slot->value);
	map_deinit(&t->by_pid);
	vec_deinit(&t->queue);
	managed_files_deinit(&t->files);
	managed_names_deinit(&t->names);
	pthread_mutex_destroy(&t->lock);
	pthread_mutex_destroy(&t->looking);
	pthread_cond_destroy(&t->more);
	free(t);
}

/* ---- what the recorder tells ----------------------------------------------------------------------- */

static bool may_be_interpreter(const char *path)
{
	const char *slash = strrchr(path, '/');

	for (size_t i = 0; i < ARRAY_LEN(runtimes) && slash; i++) {
		if (runtimes[i]->is_file(slash + 1))
			return true;
	}
	return false;
}

/* @new: it was mapped now, not before the recording. A library may come after the program that uses it. */
static void tell_mapping(struct managed_table *t, uint32_t pid, const char *path, bool new)
{
	if (!may_be_interpreter(path))
		return;
	pthread_mutex_lock(&t->lock);
	struct managed_process *p = find(t, pid);

	if (!p)
		p = note(t, pid);
	p->again = p->status == QUEUED;
	if (p->status == REFUSED)
		p->status = NOTED;
	if (new && p->status == NOTED)
		queue(t, p);
	pthread_mutex_unlock(&t->lock);
}

static void tell_fork(struct managed_table *t, uint32_t pid, uint32_t parent)
{
	pthread_mutex_lock(&t->lock);
	const struct managed_process *p = find(t, parent);
	bool child = p && p->status != REFUSED;

	forget(t, pid);
	if (child)
		queue(t, note(t, pid));
	pthread_mutex_unlock(&t->lock);
}

static void tell_end(struct managed_table *t, uint32_t pid)
{
	pthread_mutex_lock(&t->lock);
	forget(t, pid);
	pthread_mutex_unlock(&t->lock);
}

void managed_table_event(struct managed_table *t, const struct event *ev)
{
	if (ev->kind == EVENT_MMAP && ev->mmap.flags & EVENT_MMAP_EXEC &&
	    !(ev->mmap.flags & EVENT_MMAP_KERNEL))
		tell_mapping(t, ev->pid, ev->mmap.path, ev->time_ns);
	else if (t->count && ev->kind == EVENT_FORK && ev->pid != ev->fork.parent_pid)
		tell_fork(t, ev->pid, ev->fork.parent_pid);
	else if (t->count && ((ev->kind == EVENT_COMM && ev->comm.exec) ||
			      (ev->kind == EVENT_EXIT && ev->pid == ev->tid)))
		tell_end(t, ev->pid);
}

bool managed_table_sampled(struct managed_table *t, uint32_t pid)
{
	bool known = false;

	if (!t->count)
		return false;
	pthread_mutex_lock(&t->lock);
	struct managed_process *p = find(t, pid);

	if (p && p->status == NOTED)
		queue(t, p);
	known = p && p->status == KNOWN;
	pthread_mutex_unlock(&t->lock);
	if (known)
		t->last_ns = now_ns();
	return known;
}

uint64_t managed_table_last_ns(const struct managed_table *t)
{
	return t->last_ns;
}

/* ---- reading --------------------------------------------------------------------------------------- */

struct managed_process *managed_table_hold(struct managed_table *t, uint32_t pid)
{
	if (!t->count)
		return NULL;
	pthread_mutex_lock(&t->lock);
	struct managed_process *p = find(t, pid);

	if (p && p->status == KNOWN)
		p->holders++;
	else
		p = NULL;
	pthread_mutex_unlock(&t->lock);
	return p;
}

struct managed_process *managed_table_open(struct managed_table *t, uint32_t pid)
{
	pthread_mutex_lock(&t->lock);
	if (!find(t, pid)) {
		note(t, pid)->status = QUEUED;
		look(t, pid);
	}
	pthread_mutex_unlock(&t->lock);
	return managed_table_hold(t, pid);
}

void managed_process_release(struct managed_table *t, struct managed_process *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&t->lock);
	unhold(p);
	pthread_mutex_unlock(&t->lock);
}

const struct managed_runtime *managed_process_runtime(const struct managed_process *p)
{
	return p->runtime;
}

const struct managed_binary *managed_process_binary(const struct managed_process *p)
{
	return p->host.binary;
}

static size_t read_memory(void *context, uint64_t addr, void *ret, size_t len)
{
	return task_memory_read(context, addr, ret, len);
}

void managed_process_read(struct managed_process *p, uint32_t tid, struct managed_view *view,
			  struct managed_stack *ret)
{
	pthread_mutex_lock(&p->reading);
	managed_view_begin(view, read_memory, &p->memory);
	p->runtime->read(p->state, tid, view, ret);
	pthread_mutex_unlock(&p->reading);
}
