/* SPDX-License-Identifier: Apache-2.0 */
/*
 * managed_table.c - examining a process reads /proc and files, which may be slow or block, so a separate thread does it (the
 * finder). It is started with the first candidate.
 */
#include "record/managed/managed_table.h"

#include "formats/base/budget.h"
#include "formats/base/clock.h"
#include "formats/base/memory.h"
#include "formats/base/path.h"
#include "formats/base/vec.h"
#include "record/managed/managed_binary.h"
#include "record/managed/managed_queue.h"
#include "record/task/inner_pid.h"
#include "record/task/process_clock.h"
#include "record/task/process_stat.h"
#include "record/task/task_memory.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const struct managed_runtime *const runtimes[] = {
	&managed_python,
	&managed_php,
	&managed_ruby,
};

#define END_WAIT_NS 1000000000
#define LOCKED_NS   1000000000 /* how long a process is left alone whose memory was locked */
#define REST_NS    50000000
#define PLAIN_MAX  16384 /* programs and libraries known to contain none */
#define LIBRARY_LEN_MIN 0x100000 /* of an interpreter's code: known ones have at least 0x180000 */
#define BEGIN_MAX 256 /* processes that are looked at when the recording begins */
#define EXPECTED_MAX 64 /* files */
#define LIBRARIES_MAX 16 /* that are looked into at a time */
#define FILTER_LEN 4096
#define LOOKS_MAX 16 /* at one process: it may map files with an interpreter's name for ever */
#define THREADS_MAX 1024 /* of a process that something is remembered of */
#define THREAD_LEN (sizeof(struct thread) + MANAGED_SLOT_LEN)

enum status {
	NOTED,	/* it maps a file with the right name, or a program that has not been examined */
	QUEUED, /* to be looked at */
	KNOWN,
	REFUSED, /* no interpreter, or not one that we can read */
};

/* What is remembered of one that was read. */
struct thread {
	struct managed_recent recent;
	uint32_t inner;	   /* the number that the program knows it by; 0: not known */
	uint32_t misses; /* lookups by it that failed */
};

struct managed_process {
	uint32_t pid;
	enum status status;
	bool again; /* more was mapped while it was looked at */
	unsigned looks;
	uint64_t noted_ns; /* its CPU time when it was reported; 0: it began during the recording */
	uint64_t program; /* if none of its files has a known name: hash of the program or library to examine; else 0 */
	const struct managed_expected *expected; /* NULL: its name says nothing, or it began during the recording */
	unsigned holders; /* the table is one of them */
	const struct managed_runtime *runtime;
	struct managed_host host;
	struct task_memory memory;
	pthread_mutex_t reading;
	struct map threads; /* tid -> struct thread * */
	bool has_namespace; /* of process numbers: a container */
	_Atomic uint64_t rests_until_ns; /* 0: reading it never stood still */
	void *state; /* the runtime's */
};

struct managed_table {
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t more, done;
	struct map by_pid; /* to struct managed_process * */
	struct map plain;  /* hashes of programs that hold no interpreter */
	struct managed_queue queue;
	bool ending, has_finder, finds; /* finds: it is at work on one */
	pthread_t finder;
	struct managed_files files; /* the finder's, under @looking */
	struct map plain_libraries; /* hashes of where they are, likewise */
	struct budget budget; /* of its time, likewise */
	uint64_t spent_ns;
	pthread_mutex_t looking;
	char path[PATH_MAX]; /* of what is looked at */
	struct managed_names names;
	struct managed_refusals refusals;
	VEC(struct managed_expected *) expected; /* each path once */
	struct arena arena; /* of these and their paths */
	int news_fd;
	const struct priority *first; /* NULL: ordinary */
	struct priority priority;     /* the finder's */
	bool locals;
	managed_known_fn *known; /* NULL: no listener */
	void *context;
	unsigned held; /* processes, by managed_table_hold() */
	/* Processes of by_pid at each hash of their number: what every sample asks, without the lock. */
	_Atomic uint32_t filter[FILTER_LEN];
	_Atomic size_t count; /* of by_pid */
	_Atomic uint64_t last_ns;
};

struct managed_table *managed_table_new(int news_fd, const struct priority *first)
{
	struct managed_table *t = memory_zeroed(1, sizeof(*t));

	t->news_fd = news_fd;
	t->first = first;
	priority_mutex_init(&t->lock);
	pthread_mutex_init(&t->looking, NULL);
	pthread_cond_init(&t->more, NULL);
	pthread_cond_init(&t->done, NULL);
	managed_names_init(&t->names);
	t->files.reader = foreign_reader_new(FOREIGN_THREAD);
	return t;
}

void managed_table_ask_locals(struct managed_table *t)
{
	t->locals = true;
}

static _Atomic uint32_t *filter_of(const struct managed_table *t, uint32_t pid)
{
	return (_Atomic uint32_t *)&t->filter[map_hash(pid) % FILTER_LEN];
}

/* False: process @pid is none of ours. */
static bool may_be_ours(const struct managed_table *t, uint32_t pid)
{
	return atomic_load_explicit(&t->count, memory_order_relaxed) &&
	       atomic_load_explicit(filter_of(t, pid), memory_order_relaxed);
}

/* ---- processes ------------------------------------------------------------------------------------- */

static struct managed_process *find(const struct managed_table *t, uint32_t pid)
{
	const uint64_t *slot = map_get(&t->by_pid, pid);

	return slot ? (struct managed_process *)(uintptr_t)*slot : NULL;
}

static void forget_threads(struct managed_process *p)
{
	const struct map_slot *slot;

	for (size_t pos = 0; (slot = map_next(&p->threads, &pos));) {
		free((void *)(uintptr_t)slot->value);
		managed_names_give(p->host.names, THREAD_LEN);
	}
	map_deinit(&p->threads);
	p->threads = (struct map){ 0 };
}

/* Locked. */
static void unhold(struct managed_process *p)
{
	if (--p->holders)
		return;
	if (p->state)
		p->runtime->close(p->state);
	forget_threads(p);
	map_deinit(&p->threads);
	task_memory_close(&p->memory);
	pthread_mutex_destroy(&p->reading);
	free(p);
}

/* Locked. */
static void tell_known(struct managed_table *t, uint32_t pid, bool known)
{
	if (t->known)
		t->known(t->context, pid, known);
}

/* Locked. */
static void forget(struct managed_table *t, uint32_t pid)
{
	struct managed_process *p = find(t, pid);

	if (!p)
		return;
	if (p->status == KNOWN)
		tell_known(t, pid, false);
	map_remove(&t->by_pid, pid);
	t->count--;
	--*filter_of(t, pid);
	unhold(p);
}

/* Locked. */
static struct managed_process *note(struct managed_table *t, uint32_t pid)
{
	struct managed_process *p = memory_zeroed(1, sizeof(*p));

	p->pid = pid;
	p->holders = 1;
	p->memory.pagemap_fd = -1;
	priority_mutex_init(&p->reading);
	*map_put(&t->by_pid, pid, NULL) = (uintptr_t)p;
	t->count++;
	++*filter_of(t, pid);
	return p;
}

/* ---- looking at them ------------------------------------------------------------------------------- */

/* Count a process whose interpreter at @path cannot be read because of @why. */
static void refuse(struct managed_table *t, const char *path, const char *why)
{
	struct managed_refusals *r = &t->refusals;

	pthread_mutex_lock(&t->lock);
	for (size_t i = 0; i < r->len; i++) {
		if (strcmp(r->items[i].path, path) == 0 && strcmp(r->items[i].why, why) == 0) {
			r->items[i].count++;
			pthread_mutex_unlock(&t->lock);
			return;
		}
	}
	if (r->len < MANAGED_REFUSALS_MAX)
		r->items[r->len++] = (struct managed_refusal){
			.path = arena_memdup(&t->arena, path, strlen(path)), .why = why, .count = 1
		};
	else
		r->more++;
	pthread_mutex_unlock(&t->lock);
}

static void open_at(struct managed_table *t, struct managed_process *p, const struct managed_runtime *runtime,
		    const struct managed_place *place)
{
	struct managed_host host = { .pid = inner_tid(p->pid, p->pid), .names = &t->names, .locals = t->locals };
	const char *why = NULL;

	host.binary = managed_files_get(&t->files, runtime, place, &host.bias, &why);
	p->host = host;
	p->runtime = runtime;
	p->state = host.binary ? runtime->open(&host, &why) : NULL;
	if (why)
		refuse(t, place->path, why);
}

/* By the names of files. */
static void look_for(struct managed_table *t, struct managed_process *p, const struct managed_runtime *runtime, char *path)
{
	struct managed_place place;

	if (managed_place_find(p->pid, runtime, path, &place))
		open_at(t, p, runtime, &place);
}

/* Of too many libraries keep the newest. */
static void remember(struct map *plain, uint64_t hash)
{
	if (plain->len >= PLAIN_MAX) {
		map_deinit(plain);
		*plain = (struct map){ 0 };
	}
	*map_put(plain, hash, NULL) = 1;
}

struct looking {
	struct managed_table *table;
	struct managed_process *process;
	unsigned asked;
	bool refused;
};

static bool take_library(void *context, const struct managed_place *place)
{
	struct looking *looking = context;
	struct managed_table *t = looking->table;
	const struct managed_runtime *runtime = NULL;
	uint64_t hash = map_hash(place->inode ^ map_hash(place->device ^ map_hash(place->offset)));

	if (!strstr(place->path, ".so") || place->end - place->start < LIBRARY_LEN_MIN || map_get(&t->plain_libraries, hash))
		return true;
	if (looking->asked++ == LIBRARIES_MAX ||
	    !managed_files_which(&t->files, runtimes, ARRAY_LEN(runtimes), place, &runtime)) {
		looking->refused = true;
		return false;
	}
	if (runtime)
		open_at(t, looking->process, runtime, place);
	else
		remember(&t->plain_libraries, hash);
	return !looking->process->state;
}

/* By what the program holds, and the libraries that it maps. False: of some nothing is known. */
static bool look_into(struct managed_table *t, struct managed_process *p, char *path)
{
	const struct managed_runtime *runtime = NULL;
	struct looking looking = { .table = t, .process = p };
	struct managed_place place;

	if (!managed_place_program(p->pid, path, &place) ||
	    !managed_files_which(&t->files, runtimes, ARRAY_LEN(runtimes), &place, &runtime))
		return false;
	if (runtime)
		open_at(t, p, runtime, &place);
	if (!p->state)
		managed_place_each(p->pid, take_library, &looking);
	return !looking.refused;
}

/* Make @p known if one of the runtimes is there. It is not in the table's hands meanwhile. *@ret_plain: its @program, if not 0, holds none. */
static bool look_at(struct managed_table *t, struct managed_process *p, uint64_t program, bool *ret_plain, uint64_t *ret_spent_ns)
{
	uint64_t begin_ns = clock_now_ns(CLOCK_MONOTONIC), waited_ns = foreign_reader_waited_ns(t->files.reader);

	pthread_mutex_lock(&t->looking);
	for (size_t i = 0; i < ARRAY_LEN(runtimes) && !p->state && !program; i++)
		look_for(t, p, runtimes[i], t->path);
	*ret_plain = program && look_into(t, p, t->path) && !p->state;
	*ret_spent_ns = clock_now_ns(CLOCK_MONOTONIC) - begin_ns;
	/* What waits for a file uses no CPU: that has its own budget. */
	t->spent_ns += *ret_spent_ns - MIN(foreign_reader_waited_ns(t->files.reader) - waited_ns, *ret_spent_ns);
	pthread_mutex_unlock(&t->looking);
	p->has_namespace = p->host.pid != p->pid;
	return p->state && task_memory_open(&p->memory, p->pid);
}

static void announce(struct managed_table *t)
{
	uint64_t one = 1;

	t->last_ns = clock_now_ns(CLOCK_MONOTONIC);
	/* Full, it is readable anyway. */
	if (t->news_fd >= 0 && write(t->news_fd, &one, sizeof(one)) < 0)
		return;
}

/* Locked, and unlocked meanwhile. */
static void look(struct managed_table *t, uint32_t pid, uint32_t uid)
{
	struct managed_process *p = find(t, pid);
	bool known = false, plain = false;
	uint64_t spent_ns;

	if (!p || p->status != QUEUED)
		return;
	p->holders++;
	p->looks++;
	p->again = false;

	uint64_t program = p->program;

	/* Another process may have been looked at that runs it. */
	plain = program && map_get(&t->plain, program);
	if (!plain) {
		pthread_mutex_unlock(&t->lock);
		known = look_at(t, p, program, &plain, &spent_ns);
		pthread_mutex_lock(&t->lock);
		managed_queue_charge(&t->queue, uid, spent_ns);
		if (plain)
			remember(&t->plain, program);
	}
	/* When it is its user's turn again. */
	if (!known && p->again && find(t, pid) == p) {
		managed_queue_push(&t->queue, pid, uid);
		unhold(p);
		return;
	}
	p->status = known ? KNOWN : REFUSED;
	if (known && find(t, pid) == p)
		tell_known(t, pid, true);
	if (known)
		announce(t);
	else if (p->program && find(t, pid) == p)
		forget(t, pid);
	unhold(p);
}

/* Locked, and unlocked meanwhile. */
static void look_at_next(struct managed_table *t)
{
	uint32_t uid, pid = managed_queue_take(&t->queue, &uid);

	look(t, pid, uid);
}

/* Locked, and unlocked meanwhile. */
static void rest(struct managed_table *t)
{
	struct timespec until = clock_deadline(REST_NS);

	pthread_cond_timedwait(&t->more, &t->lock, &until);
}

static void *find_processes(void *context)
{
	struct managed_table *t = context;

	if (t->first)
		priority_join(&t->priority, t->first);
	pthread_mutex_lock(&t->lock);
	budget_init(&t->budget, clock_now_ns(CLOCK_MONOTONIC), 0);
	while (!t->ending) {
		t->finds = t->queue.len;
		priority_check(&t->priority);
		if (!t->finds) {
			pthread_cond_broadcast(&t->done);
			pthread_cond_wait(&t->more, &t->lock);
		} else if (budget_charge(&t->budget, clock_now_ns(CLOCK_MONOTONIC), t->spent_ns))
			look_at_next(t);
		else
			rest(t); /* over budget: so many processes start */
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
	managed_queue_push(&t->queue, p->pid, process_owner(p->pid));
	pthread_cond_signal(&t->more);
}

void managed_table_free(struct managed_table *t)
{
	const struct map_slot *slot;

	if (!t)
		return;
	pthread_mutex_lock(&t->lock);
	t->ending = true;
	pthread_cond_signal(&t->more);
	bool used = t->held;
	pthread_mutex_unlock(&t->lock);
	struct timespec until = clock_deadline(END_WAIT_NS);

	/* A finder that was abandoned because a read blocks. */
	if (used)
		return;
	if (t->has_finder && pthread_timedjoin_np(t->finder, NULL, &until) != 0)
		return;
	for (size_t pos = 0; (slot = map_next(&t->by_pid, &pos));)
		unhold((struct managed_process *)(uintptr_t)slot->value);
	map_deinit(&t->by_pid);
	map_deinit(&t->plain);
	map_deinit(&t->plain_libraries);
	arena_deinit(&t->arena);
	managed_queue_deinit(&t->queue);
	vec_deinit(&t->expected);
	managed_files_deinit(&t->files);
	managed_names_deinit(&t->names);
	pthread_mutex_destroy(&t->lock);
	pthread_mutex_destroy(&t->looking);
	pthread_cond_destroy(&t->more);
	pthread_cond_destroy(&t->done);
	free(t);
}

/* ---- reports of the recorder ----------------------------------------------------------------------- */

/* The runtime whose name the file has; NULL: it has none's. */
static const struct managed_runtime *runtime_named(const char *path)
{
	const char *slash = strrchr(path, '/');

	for (size_t i = 0; i < ARRAY_LEN(runtimes) && slash; i++) {
		if (runtimes[i]->is_file(slash + 1))
			return runtimes[i];
	}
	return NULL;
}

/* Locked. */
static const struct managed_expected *expect(struct managed_table *t, const struct managed_runtime *runtime, const char *path)
{
	for (size_t i = 0; i < t->expected.len; i++)
		if (strcmp(t->expected.items[i]->binary.path, path) == 0)
			return t->expected.items[i];
	if (t->expected.len == EXPECTED_MAX)
		return NULL;
	struct managed_expected *e = ARENA_NEW(&t->arena, struct managed_expected);

	e->runtime = runtime->id;
	e->binary.path = arena_memdup(&t->arena, path, strlen(path));
	e->binary.name = path_last_part(e->binary.path);
	vec_push(&t->expected, e);
	return e;
}

/* When a process maps its interpreter. A library may come after the program that uses it. */
enum mapped {
	MAPPED_BEFORE, /* the recording: it is looked at when it is sampled */
	MAPPED_NOW,    /* at once, so that its first samples are not lost */
};

static void tell_mapping(struct managed_table *t, uint32_t pid, const char *path, enum mapped when)
{
	const struct managed_runtime *runtime = runtime_named(path);

	if (!runtime)
		return;
	pthread_mutex_lock(&t->lock);
	struct managed_process *p = find(t, pid);

	if (!p)
		p = note(t, pid);
	if (p->looks >= LOOKS_MAX) {
		pthread_mutex_unlock(&t->lock);
		if (p->looks++ == LOOKS_MAX)
			refuse(t, path, "its process maps such files again and again");
		return;
	}
	p->program = 0;
	p->again = p->status == QUEUED;
	if (p->status == REFUSED)
		p->status = NOTED;
	if (when == MAPPED_BEFORE) {
		p->noted_ns = process_clock_ns(pid);
		p->expected = expect(t, runtime, path);
	} else if (p->status == NOTED)
		queue(t, p);
	pthread_mutex_unlock(&t->lock);
}

/* Of its path and what its build says. Never 0. */
static uint64_t hash_program(const struct event *ev)
{
	uint64_t hash = 0;

	for (const char *at = ev->mmap.path; *at; at++)
		hash = map_hash(hash ^ (uint8_t)*at);
	for (size_t i = 0; i < ev->mmap.build_id_len; i++)
		hash = map_hash(hash ^ ev->mmap.build_id[i]);
	return hash | 1;
}

/* A program or library with another name may contain an interpreter: it is examined once, when it is sampled. */
static void tell_program(struct managed_table *t, const struct event *ev)
{
	const char *slash = strrchr(ev->mmap.path, '/');

	if (!slash || (strstr(slash, ".so") && ev->mmap.end - ev->mmap.start < LIBRARY_LEN_MIN))
		return;
	uint64_t program = hash_program(ev);

	pthread_mutex_lock(&t->lock);
	if (!find(t, ev->pid) && !map_get(&t->plain, program))
		note(t, ev->pid)->program = program;
	pthread_mutex_unlock(&t->lock);
}

static void tell_fork(struct managed_table *t, uint32_t pid, uint32_t parent)
{
	pthread_mutex_lock(&t->lock);
	const struct managed_process *p = find(t, parent);
	bool child = p && p->status != REFUSED, known = p && p->status == KNOWN;
	uint64_t program = p ? p->program : 0;

	forget(t, pid);
	if (child) {
		struct managed_process *noted = note(t, pid);

		noted->program = program;
		if (known || !program)
			queue(t, noted);
	}
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
	    !(ev->mmap.flags & EVENT_MMAP_KERNEL)) {
		tell_program(t, ev);
		tell_mapping(t, ev->pid, ev->mmap.path,
			     /* What was there before has no time. */
			     ev->time_ns ? MAPPED_NOW : MAPPED_BEFORE);
	} else if (t->count && ev->kind == EVENT_FORK && ev->pid != ev->fork.parent_pid)
		tell_fork(t, ev->pid, ev->fork.parent_pid);
	else if (t->count && ((ev->kind == EVENT_COMM && ev->comm.exec) ||
			      (ev->kind == EVENT_EXIT && ev->pid == ev->tid)))
		tell_end(t, ev->pid);
}

/* Locked. Queue at most @count of those that there were before, with a name that says so: all, or those that have run since they were told. */
static size_t queue_noted(struct managed_table *t, bool all, size_t count)
{
	const struct map_slot *slot;
	size_t queued = 0;

	for (size_t pos = 0; queued < count && (slot = map_next(&t->by_pid, &pos));) {
		struct managed_process *p = (struct managed_process *)(uintptr_t)slot->value;

		if (p->status != NOTED || p->program || !p->noted_ns || (!all && process_clock_ns(p->pid) == p->noted_ns))
			continue;
		queue(t, p);
		queued++;
	}
	return queued;
}

void managed_table_begin(struct managed_table *t, bool all, uint64_t wait_ns)
{
	struct timespec until = clock_deadline(wait_ns);

	pthread_mutex_lock(&t->lock);
	size_t queued = queue_noted(t, all, BEGIN_MAX);

	while ((t->queue.len || t->finds) && pthread_cond_timedwait(&t->done, &t->lock, &until) == 0)
		;
	queue_noted(t, /* all= */ true, BEGIN_MAX - queued);
	pthread_mutex_unlock(&t->lock);
}

void managed_table_follow(struct managed_table *t, managed_known_fn *fn, void *context)
{
	const struct map_slot *slot;

	pthread_mutex_lock(&t->lock);
	t->known = fn;
	t->context = context;
	for (size_t pos = 0; (slot = map_next(&t->by_pid, &pos));) {
		const struct managed_process *p = (const struct managed_process *)(uintptr_t)slot->value;

		if (p->status == KNOWN)
			tell_known(t, p->pid, true);
	}
	pthread_mutex_unlock(&t->lock);
}

enum managed_look managed_table_look(struct managed_table *t, uint32_t pid)
{
	enum managed_look look = MANAGED_NONE;

	if (!may_be_ours(t, pid))
		return MANAGED_NONE;
	pthread_mutex_lock(&t->lock);
	struct managed_process *p = find(t, pid);

	if (p && p->status == NOTED)
		queue(t, p);
	if (p)
		look = p->status == KNOWN ? MANAGED_KNOWN : p->status == QUEUED ? MANAGED_PENDING : MANAGED_NONE;
	pthread_mutex_unlock(&t->lock);
	return look;
}

/* Locked. */
static const struct managed_expected *expected_of(const struct managed_process *p)
{
	return p && (p->status == NOTED || p->status == QUEUED) ? p->expected : NULL;
}

bool managed_table_expects(struct managed_table *t, uint32_t pid)
{
	if (!may_be_ours(t, pid))
		return false;
	pthread_mutex_lock(&t->lock);
	bool expects = expected_of(find(t, pid));

	pthread_mutex_unlock(&t->lock);
	return expects;
}

bool managed_table_sampled(struct managed_table *t, uint32_t pid)
{
	bool known = managed_table_look(t, pid) == MANAGED_KNOWN;

	if (known)
		t->last_ns = clock_now_ns(CLOCK_MONOTONIC);
	return known;
}

uint64_t managed_table_last_ns(const struct managed_table *t)
{
	return t->last_ns;
}

struct managed_refusals managed_table_refusals(struct managed_table *t)
{
	pthread_mutex_lock(&t->lock);
	struct managed_refusals refusals = t->refusals;

	pthread_mutex_unlock(&t->lock);
	refusals.names = managed_names_left_out(&t->names);
	return refusals;
}

/* ---- reading --------------------------------------------------------------------------------------- */

struct managed_process *managed_table_hold_or_expect(struct managed_table *t, uint32_t pid, const struct managed_expected **ret)
{
	*ret = NULL;
	if (!may_be_ours(t, pid))
		return NULL;
	pthread_mutex_lock(&t->lock);
	struct managed_process *p = find(t, pid);

	*ret = expected_of(p);
	if (p && p->status == KNOWN) {
		p->holders++;
		t->held++;
	} else {
		p = NULL;
	}
	pthread_mutex_unlock(&t->lock);
	return p;
}

struct managed_process *managed_table_hold(struct managed_table *t, uint32_t pid)
{
	const struct managed_expected *expected;

	return managed_table_hold_or_expect(t, pid, &expected);
}

void managed_process_release(struct managed_table *t, struct managed_process *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&t->lock);
	t->held--;
	unhold(p);
	pthread_mutex_unlock(&t->lock);
}

void managed_process_rest(struct managed_table *t, struct managed_process *p, uint64_t now_ns)
{
	if (!atomic_exchange(&p->rests_until_ns, now_ns + LOCKED_NS))
		refuse(t, p->host.binary->path, "its memory was locked (mmap lock) when it was to be read, so it was left alone for a while");
}

const struct managed_runtime *managed_process_runtime(const struct managed_process *p)
{
	return p->runtime;
}

const struct managed_binary *managed_process_binary(const struct managed_process *p)
{
	return p->host.binary;
}

static void read_memory(void *context, struct task_memory_piece *pieces, size_t count)
{
	task_memory_read_pieces(context, pieces, count);
}

static struct thread *thread_of(struct managed_process *p, uint32_t tid)
{
	if ((p->threads.len >= THREADS_MAX || managed_names_full(p->host.names)) && !map_get(&p->threads, tid))
		forget_threads(p);
	uint64_t *slot = map_put(&p->threads, tid, NULL);

	if (!*slot) {
		*slot = (uintptr_t)memory_zeroed(1, sizeof(struct thread));
		managed_names_take(p->host.names, THREAD_LEN);
	}
	return (struct thread *)(uintptr_t)*slot;
}

/* The number of @thread in its own PID namespace. While the interpreter does not know it, it is looked up again at growing intervals. */
static uint32_t inner_of(struct managed_process *p, uint32_t tid, struct thread *thread)
{
	if (!p->has_namespace)
		return tid;
	if (!thread->inner || (thread->misses && !(thread->misses & (thread->misses - 1))))
		thread->inner = inner_tid(p->pid, tid);
	return thread->inner;
}

/* False: who reads it stands still, or takes longer than @wait_ns. */
static bool begin_reading(struct managed_process *p, uint64_t wait_ns)
{
	bool rested = p->rests_until_ns;

	if (rested && clock_now_ns(CLOCK_MONOTONIC) < p->rests_until_ns)
		return false;
	if (pthread_mutex_trylock(&p->reading) == 0)
		return true;
	struct timespec until = clock_deadline(wait_ns);
	bool locked = pthread_mutex_timedlock(&p->reading, &until) == 0;

	if (!locked && rested)
		p->rests_until_ns = clock_now_ns(CLOCK_MONOTONIC) + LOCKED_NS;
	return locked;
}

void managed_process_read(struct managed_process *p, uint32_t tid, const struct event_regs *regs,
			  struct managed_view *view, struct managed_stack *ret)
{
	ret->nframes = ret->nlabels = 0;
	ret->state = EVENT_MANAGED_LATE;
	if (!begin_reading(p, view->limit_ns ? view->limit_ns : MANAGED_TIME_NS))
		return;
	struct thread *thread = thread_of(p, tid);
	struct managed_thread inner = { .tid = inner_of(p, tid, thread), .regs = regs };

	managed_view_begin(view, read_memory, &p->memory, view->limit_ns ? view->limit_ns : MANAGED_TIME_NS);
	managed_view_want_recent(view, &thread->recent);
	managed_view_fetch(view);
	p->runtime->read(p->state, &inner, view, ret);
	managed_view_remember(view, &thread->recent);
	thread->misses = ret->nframes ? 0 : thread->misses + 1;
	pthread_mutex_unlock(&p->reading);
}

void managed_event_make(struct event *ret, const struct managed_binary *binary,
			enum event_managed_runtime runtime, const struct managed_stack *stack)
{
	*ret = (struct event){
		.kind = EVENT_MANAGED,
		.cpu = EVENT_NO_CPU,
		.managed = {
			.runtime = runtime,
			.state = stack->state,
			.module = binary->path,
			.nloops = binary->nloops,
			.nframes = stack->nframes,
			.frames = stack->frames,
			.nlabels = stack->nlabels,
			.labels = stack->labels,
		},
	};
	memcpy(ret->managed.loops, binary->loops, sizeof(ret->managed.loops));
}
