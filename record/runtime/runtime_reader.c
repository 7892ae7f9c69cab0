/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime_reader.c - a queue, and one thread that empties it.
 */
#include "record/runtime/runtime_reader.h"

#include "formats/base/budget.h"
#include "formats/base/clock.h"
#include "formats/base/map.h"
#include "formats/base/memory.h"
#include "formats/base/vec.h"
#include "record/system/priority.h"
#include "record/system/stop_signal.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#define QUEUE_MAX     (1U << 16)
#define PROCESSES_MAX 256
#define TOLD_MAX      4096
#define DUMP_LEN_MAX  (16U << 20)   /* of one process */
#define HELD_MAX      (128U << 20)  /* of all, with what is known of their code */
#define WAIT_NS	      1000000000ULL /* for the thread */
#define RETURN_NS     300000000ULL  /* for it to come back from one process, where nobody can wait longer */
#define SLICE_NS      20000000ULL   /* of waiting, between looks for a signal */
#define TICK_NS	      25000000ULL /* between looks at what has changed, so long as a process's code */
#define TICKED_NS     10000000000ULL /* was asked for in this time */

enum ask { ASK_PROCESS, ASK_LOOK, ASK_CHECK, ASK_END };

struct question {
	struct runtime_look look; /* ASK_LOOK */
	uint32_t pid;
	enum ask ask;
	bool at_once; /* a check */
};

struct process {
	uint32_t pid;
	struct runtime_process *runtimes;
	uint64_t asked_ns; /* when its code was asked for, the last time */
	size_t held;	   /* bytes of it, as counted in the reader's */
};

struct runtime_reader {
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t more, idle;
	VEC(struct question) queue;
	bool ending, pausing, busy, has_thread;
	struct map told_files; /* pid -> whether its interpreter was asked for; the recorder's */
	struct map asked_for;  /* pids that the thread may know; likewise */
	pthread_t thread;
	uint64_t left_out;
	struct runtime_news news; /* has a lock of its own */
	atomic_bool has_runtimes;
	uint64_t asked_ns;     /* the recorder's: for a check */
	atomic_bool hurry; /* what is asked is only counted */
	const struct priority *first; /* NULL: the thread is an ordinary one */
	/* The thread's, or the recorder's while it pauses. */
	struct priority priority;
	struct map by_pid;
	struct runtime_files files;
	struct managed_view *view;
	struct budget budget;
	uint64_t spent_ns;
	uint64_t ticks_until_ns; /* without being asked */
	size_t held; /* bytes, of all processes */
};

struct runtime_reader *runtime_reader_new(const struct priority *first)
{
	struct runtime_reader *r = memory_zeroed(1, sizeof(*r));

	r->first = first;
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->more, NULL);
	pthread_cond_init(&r->idle, NULL);
	budget_init(&r->budget, clock_now_ns(CLOCK_MONOTONIC), 0);
	runtime_news_init(&r->news);
	r->files.files.reader = foreign_reader_new(FOREIGN_THREAD);
	return r;
}

/* ---- processes ---- */

static struct process *process_of(const struct map_slot *slot)
{
	return (struct process *)(uintptr_t)slot->value;
}

static struct process *find(const struct runtime_reader *r, uint32_t pid)
{
	const uint64_t *slot = map_get(&r->by_pid, pid);

	return slot ? (struct process *)(uintptr_t)*slot : NULL;
}

static void count_held(struct runtime_reader *r, struct process *p)
{
	size_t now = runtime_process_held(p->runtimes);

	r->held += now - p->held;
	p->held = now;
}

static void free_process(struct process *p)
{
	runtime_process_free(p->runtimes);
	free(p);
}

/* What was read of it stays; others get its place if that is nothing. @p may be NULL. */
static void end_process(struct runtime_reader *r, struct process *p)
{
	if (!p)
		return;
	runtime_process_close(p->runtimes);
	count_held(r, p);
	if (runtime_process_dump(p->runtimes)->len)
		return;
	map_remove(&r->by_pid, p->pid);
	free_process(p);
}

static struct process *get(struct runtime_reader *r, uint32_t pid)
{
	struct process *p = find(r, pid);

	if (p || r->by_pid.len >= PROCESSES_MAX)
		return p;
	p = memory_zeroed(1, sizeof(*p));
	p->pid = pid;
	p->runtimes = runtime_process_new(pid, &r->files, r->view, &r->news);
	*map_put(&r->by_pid, pid, NULL) = (uintptr_t)p;
	return p;
}

/* ---- the thread ---- */

static bool within_budget(struct runtime_reader *r)
{
	return budget_charge(&r->budget, clock_now_ns(CLOCK_MONOTONIC), r->spent_ns);
}

/* Those whose code was asked for since @since_ns. */
static void check_all(struct runtime_reader *r, uint64_t since_ns, bool at_once)
{
	const struct map_slot *slot;

	for (size_t pos = 0; (slot = map_next(&r->by_pid, &pos));) {
		struct process *p = process_of(slot);
		uint64_t begin_ns = clock_now_ns(CLOCK_THREAD_CPUTIME_ID);
		size_t len = runtime_process_dump(p->runtimes)->len;

		if (!runtime_process_has_any(p->runtimes) || !len || len > DUMP_LEN_MAX || p->asked_ns < since_ns)
			continue;
		runtime_process_check(p->runtimes, at_once);
		if (r->held <= HELD_MAX && !r->hurry && within_budget(r))
			runtime_process_look_again(p->runtimes, at_once);
		count_held(r, p);
		r->spent_ns += clock_now_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
	}
}

/* From now on what is known of it is looked at without being asked, for a while. */
static void note_asked(struct runtime_reader *r, struct process *p)
{
	p->asked_ns = clock_now_ns(CLOCK_MONOTONIC);
	r->ticks_until_ns = p->asked_ns + TICKED_NS;
}

/* False: there is no room for more. */
static bool look(struct runtime_reader *r, struct process *p, const struct question *q)
{
	if (runtime_process_dump(p->runtimes)->len > DUMP_LEN_MAX || r->held > HELD_MAX)
		return false;
	r->has_runtimes = true;
	note_asked(r, p);
	runtime_process_check(p->runtimes, /* at_once= */ false);
	runtime_process_look(p->runtimes, &q->look);
	count_held(r, p);
	return true;
}

static bool answer(struct runtime_reader *r, const struct question *q)
{
	struct process *p;

	if (q->ask == ASK_END) {
		end_process(r, find(r, q->pid));
		return true;
	}
	p = get(r, q->pid);
	if (!p)
		return false;
	/* Others may have to be waited for meanwhile, which counts like work. */
	r->spent_ns += runtime_process_find(p->runtimes, q->ask != ASK_PROCESS);
	if (q->ask != ASK_PROCESS)
		return !runtime_process_has_any(p->runtimes) || look(r, p, q);
	if (runtime_process_find_interpreter(p->runtimes))
		note_asked(r, p);
	return true;
}

/* There is no time for it. False if there will be none either. */
static bool put_off(const struct runtime_reader *r, const struct question *q)
{
	struct process *p = r->hurry || q->ask != ASK_LOOK ? NULL : find(r, q->pid);

	return p && runtime_process_has_any(p->runtimes) && runtime_process_look_later(p->runtimes, &q->look);
}

static void answer_all(struct runtime_reader *r, const struct question *questions, size_t count, uint64_t *ret_left_out)
{
	uint64_t begin_ns = clock_now_ns(CLOCK_THREAD_CPUTIME_ID), end_ns;
	bool paid = true;

	for (size_t i = 0; i < count; i++) {
		paid = !r->hurry && (i % 16 ? paid : within_budget(r));
		if (questions[i].ask == ASK_CHECK) {
			check_all(r, 0, questions[i].at_once); /* counts its own time */
			begin_ns = clock_now_ns(CLOCK_THREAD_CPUTIME_ID);
		} else if (paid || questions[i].ask == ASK_END) {
			*ret_left_out += !answer(r, &questions[i]);
		} else {
			*ret_left_out += !put_off(r, &questions[i]);
		}
		end_ns = clock_now_ns(CLOCK_THREAD_CPUTIME_ID);
		r->spent_ns += end_ns - begin_ns;
		begin_ns = end_ns;
	}
}

/* Of machines that have just begun, and had none yet when they were asked. */
static void look_for_interpreters(struct runtime_reader *r, uint64_t since_ns)
{
	const struct map_slot *slot;

	for (size_t pos = 0; (slot = map_next(&r->by_pid, &pos));) {
		struct process *p = process_of(slot);

		if (runtime_process_lacks_interpreter(p->runtimes) && p->asked_ns >= since_ns)
			runtime_process_find_interpreter(p->runtimes);
	}
}

static void tick(struct runtime_reader *r)
{
	uint64_t begin_ns = clock_now_ns(CLOCK_THREAD_CPUTIME_ID);

	look_for_interpreters(r, clock_now_ns(CLOCK_MONOTONIC) - TICKED_NS);
	r->spent_ns += clock_now_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
	check_all(r, clock_now_ns(CLOCK_MONOTONIC) - TICKED_NS, /* at_once= */ false);
}

/* Wait for questions; without any, for the next look at what has changed, if there is one to be taken. */
static bool wait_for_tick(struct runtime_reader *r)
{
	if (r->pausing || clock_now_ns(CLOCK_MONOTONIC) >= r->ticks_until_ns) {
		pthread_cond_wait(&r->more, &r->lock);
		return false;
	}
	struct timespec until = clock_deadline(TICK_NS);

	return pthread_cond_timedwait(&r->more, &r->lock, &until) == ETIMEDOUT && !r->ending && !r->pausing && !r->queue.len;
}

static void *run(void *context)
{
	struct runtime_reader *r = context;
	VEC(struct question) taken = { 0 };

	if (r->first)
		priority_join(&r->priority, r->first);
	pthread_mutex_lock(&r->lock);
	while (!r->ending) {
		uint64_t left_out = 0;

		if ((!r->queue.len || r->pausing) && !wait_for_tick(r))
			continue;
		taken.len = 0;
		vec_append(&taken, r->queue.items, r->queue.len);
		r->queue.len = 0;
		r->busy = true;
		pthread_mutex_unlock(&r->lock);
		answer_all(r, taken.items, taken.len, &left_out);
		if (!taken.len && within_budget(r))
			tick(r);
		priority_check(&r->priority);
		pthread_mutex_lock(&r->lock);
		r->left_out += left_out;
		r->busy = false;
		pthread_cond_signal(&r->idle);
	}
	pthread_mutex_unlock(&r->lock);
	vec_deinit(&taken);
	return NULL;
}

void runtime_reader_free(struct runtime_reader *r)
{
	const struct map_slot *slot;
	struct timespec until = clock_deadline(WAIT_NS);

	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	r->ending = true;
	r->hurry = true;
	pthread_cond_signal(&r->more);
	pthread_mutex_unlock(&r->lock);
	if (r->has_thread && pthread_timedjoin_np(r->thread, NULL, &until) != 0)
		return;
	for (size_t pos = 0; (slot = map_next(&r->by_pid, &pos));)
		free_process(process_of(slot));
	map_deinit(&r->by_pid);
	map_deinit(&r->told_files);
	map_deinit(&r->asked_for);
	runtime_files_deinit(&r->files);
	runtime_news_deinit(&r->news);
	vec_deinit(&r->queue);
	free(r->view);
	pthread_mutex_destroy(&r->lock);
	pthread_cond_destroy(&r->more);
	pthread_cond_destroy(&r->idle);
	free(r);
}

/* ---- what the recorder tells ---- */

static void put_question(struct runtime_reader *r, struct question q)
{
	pthread_mutex_lock(&r->lock);
	if (!r->has_thread) {
		r->view = memory_zeroed(1, sizeof(*r->view));
		r->view->by_cpu_time = true; /* on a busy machine it waits for a CPU longer than it reads */
		r->has_thread = pthread_create(&r->thread, NULL, run, r) == 0;
	}
	if (r->queue.len < QUEUE_MAX && r->has_thread)
		vec_push(&r->queue, q);
	else
		r->left_out++;
	if (!r->pausing)
		pthread_cond_signal(&r->more);
	pthread_mutex_unlock(&r->lock);
}

/* About a process, which the thread may know from now on. */
static void ask(struct runtime_reader *r, struct question q)
{
	if (r->asked_for.len < TOLD_MAX)
		*map_put(&r->asked_for, q.pid, NULL) = 1;
	put_question(r, q);
}

/* Most processes make no code, so that nobody has to be woken when they end. */
static bool may_be_known(struct runtime_reader *r, uint32_t pid)
{
	bool known = map_get(&r->asked_for, pid) || r->asked_for.len >= TOLD_MAX;

	map_remove(&r->asked_for, pid);
	return known;
}

bool runtime_reader_wants_file(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && v8_in_file.is_file(slash + 1);
}

void runtime_reader_tell_file(struct runtime_reader *r, uint32_t pid, const char *path)
{
	bool is_new = false;

	if (!runtime_reader_wants_file(path) || r->told_files.len >= TOLD_MAX)
		return;
	map_put(&r->told_files, pid, &is_new);
	if (is_new)
		ask(r, (struct question){ .pid = pid, .ask = ASK_PROCESS });
}

void runtime_reader_tell_code(struct runtime_reader *r, uint32_t pid)
{
	ask(r, (struct question){ .pid = pid, .ask = ASK_PROCESS });
}

void runtime_reader_tell(struct runtime_reader *r, uint32_t pid, uint64_t ip, bool leaf)
{
	ask(r, (struct question){ .look = { .ip = ip, .leaf = leaf }, .pid = pid, .ask = ASK_LOOK });
}

void runtime_reader_tell_bytecode(struct runtime_reader *r, uint32_t pid, struct runtime_bytecode bytecode)
{
	ask(r, (struct question){ .look = { .bytecode = bytecode }, .pid = pid, .ask = ASK_LOOK });
}

bool runtime_reader_interpreter(struct runtime_reader *r, struct runtime_interpreter *ret)
{
	return runtime_news_take_interpreter(&r->news, ret);
}

bool runtime_reader_gone(struct runtime_reader *r, struct runtime_gone *ret)
{
	return runtime_news_take_gone(&r->news, ret);
}

void runtime_reader_check(struct runtime_reader *r)
{
	uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);

	if (!r->has_runtimes || now_ns - r->asked_ns < RUNTIME_CHECK_NS)
		return;
	r->asked_ns = now_ns;
	put_question(r, (struct question){ .ask = ASK_CHECK });
}

void runtime_reader_end(struct runtime_reader *r, uint32_t pid)
{
	map_remove(&r->told_files, pid);
	if (r->has_thread && may_be_known(r, pid))
		put_question(r, (struct question){ .pid = pid, .ask = ASK_END });
}

/* What was put off and not asked, with which the thread is not busy. */
static uint64_t unasked(const struct runtime_reader *r)
{
	const struct map_slot *slot;
	uint64_t count = 0;

	for (size_t pos = 0; (slot = map_next(&r->by_pid, &pos));)
		count += runtime_process_unasked(process_of(slot)->runtimes);
	return count;
}

static void say(struct runtime_reader *r, struct diag *notes)
{
	r->left_out += r->busy ? 0 : unasked(r);
	if (r->left_out)
		diag_warn(notes,
			  "%" PRIu64 " addresses of code that a runtime made were not looked up: there was no time or room for more",
			  r->left_out);
	r->left_out = 0;
	runtime_news_report(&r->news, notes);
}

/* Until the thread has answered all, it is @until_ns, or a signal came. */
static void wait_for_answers(struct runtime_reader *r, uint64_t until_ns)
{
	while ((r->busy || r->queue.len) && clock_now_ns(CLOCK_MONOTONIC) < until_ns && !stop_signal_pending()) {
		struct timespec slice = clock_deadline(SLICE_NS);

		pthread_cond_timedwait(&r->idle, &r->lock, &slice);
	}
}

static void wait_for_return(struct runtime_reader *r, uint64_t wait_ns)
{
	struct timespec until = clock_deadline(wait_ns);

	while (r->busy && pthread_cond_timedwait(&r->idle, &r->lock, &until) == 0)
		;
}

/* The thread rests: all is answered, or a second has passed, or it is @end_ns. False if it does not even come back from what it is at. */
static bool rest(struct runtime_reader *r, uint64_t end_ns, struct diag *notes)
{
	bool idle;

	pthread_mutex_lock(&r->lock);
	wait_for_answers(r, MIN(clock_now_ns(CLOCK_MONOTONIC) + WAIT_NS, end_ns));
	r->left_out += r->queue.len;
	r->queue.len = 0;
	r->pausing = true;
	r->hurry = true;
	wait_for_return(r, clock_now_ns(CLOCK_MONOTONIC) >= end_ns || stop_signal_pending() ? RETURN_NS : WAIT_NS);
	idle = !r->busy;
	if (notes)
		say(r, notes);
	pthread_mutex_unlock(&r->lock);
	return idle;
}

bool runtime_reader_pause(struct runtime_reader *r, uint64_t end_ns, struct diag *notes)
{
	const struct map_slot *slot;

	if (r->has_runtimes)
		put_question(r, (struct question){ .ask = ASK_CHECK, .at_once = true });
	bool idle = rest(r, end_ns, notes);

	for (size_t pos = 0; idle && (slot = map_next(&r->by_pid, &pos));)
		runtime_process_put_checked(process_of(slot)->runtimes);
	if (!idle)
		diag_warn(notes, "reading what a runtime knows of its code hangs: that code has no names");
	return idle;
}

void runtime_reader_resume(struct runtime_reader *r)
{
	pthread_mutex_lock(&r->lock);
	r->pausing = false;
	r->hurry = false;
	pthread_cond_signal(&r->more);
	pthread_mutex_unlock(&r->lock);
}

const void *runtime_reader_dump(const struct runtime_reader *r, uint32_t pid, size_t *ret_len)
{
	const struct process *p = find(r, pid);

	*ret_len = p ? runtime_process_dump(p->runtimes)->len : 0;
	return *ret_len ? runtime_process_dump(p->runtimes)->data : NULL;
}

void runtime_reader_forget(struct runtime_reader *r)
{
	const struct map_slot *slot;

	if (!rest(r, UINT64_MAX, NULL))
		return;
	for (size_t pos = 0; (slot = map_next(&r->by_pid, &pos));)
		free_process(process_of(slot));
	map_clear(&r->by_pid);
	r->held = 0;
	runtime_reader_resume(r);
}
