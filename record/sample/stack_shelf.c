/* SPDX-License-Identifier: Apache-2.0 */
#include "record/sample/stack_shelf.h"

#include "formats/base/clock.h"
#include "formats/base/map.h"
#include "formats/base/memory.h"
#include "formats/base/vec.h"
#include "record/system/priority.h"
#include "record/task/map_query.h"
#include "record/task/process_stat.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MISSES_MAX    200 /* in a row, after which the process is no longer suspected */
#define QUESTIONS_MAX 16  /* lookups of goroutines for each process */
#define SHORTS_MIN    8	  /* truncated samples before the rest is read: it does not pay for short programs */
#define THREADS	      1024
#define SAMPLES_MIN   4		  /* of a thread before the end of its stack is looked up */
/*
 * Go's heap, which holds goroutines' stacks, is mapped in such pieces below this address (runtime/malloc.go: hints for arenas); mappings do not
 * show where a stack ends there. Threads' stacks, which the kernel aligns to 2 MiB, lie far above.
 */
#define GO_HEAP	      (4ULL << 20)
#define GO_HEAP_END   (1ULL << 44)
#define END_WAIT_NS   1000000000

/* A suspected process, direct-mapped by number: the last one added. */
struct suspect {
	_Atomic uint32_t pid, misses, questions, shorts;
	_Atomic bool proven;
	_Atomic bool switches; /* a sample had another stack */
	_Atomic bool erlang;   /* it is an Erlang machine */
};

/* A thread, direct-mapped by number: the last one. */
struct thread_end {
	_Atomic uint32_t tid, samples;
	_Atomic uint64_t start, end; /* of the mapping of its stack; 0: unknown */
	_Atomic bool in_heap;	     /* its stacks lie in Go's heap */
};

#define HEAD_LEN offsetof(struct other_stack, slots)

/* An entry. It is followed by struct other_stack up to its slots, the words, and their slots. */
struct entry {
	uint64_t time_ns;
	uint32_t tid, nwords;
};

struct shelf {
	pthread_mutex_t lock;
	VEC(uint8_t) bytes;
	size_t pos; /* of the oldest entry that was not taken */
	_Atomic uint64_t lost;
	struct stack_shelf_totals totals;
};

/* The lookup in progress. */
struct question {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t asked;
	bool started, refused, ended;
	uint32_t pid; /* 0: none */
	uint64_t goroutine; /* 0: look up the end of the mapping of @sp */
	uint32_t tid;
	uint64_t sp;
};

struct stack_shelves {
	struct suspect suspects[STACK_SHELF_PIDS];
	struct thread_end ends[THREADS];
	struct question question;
	_Atomic uint64_t last_ns;
	size_t nshelves;
	struct shelf shelves[];
};

struct stack_shelves *stack_shelves_new(size_t nrings)
{
	struct stack_shelves *s = memory_zeroed(1, sizeof(*s) + nrings * sizeof(s->shelves[0]));

	s->nshelves = nrings;
	priority_mutex_init(&s->question.lock);
	pthread_cond_init(&s->question.asked, NULL);
	for (size_t i = 0; i < nrings; i++)
		priority_mutex_init(&s->shelves[i].lock);
	return s;
}

/* False: the thread hangs. */
static bool end_thread(struct question *q)
{
	if (!q->started)
		return true;
	pthread_mutex_lock(&q->lock);
	q->ended = true;
	pthread_cond_signal(&q->asked);
	pthread_mutex_unlock(&q->lock);
	struct timespec until = clock_deadline(END_WAIT_NS);

	return pthread_timedjoin_np(q->thread, NULL, &until) == 0;
}

void stack_shelves_free(struct stack_shelves *s)
{
	if (!s || !end_thread(&s->question))
		return;
	pthread_mutex_destroy(&s->question.lock);
	pthread_cond_destroy(&s->question.asked);
	for (size_t i = 0; i < s->nshelves; i++) {
		pthread_mutex_destroy(&s->shelves[i].lock);
		vec_deinit(&s->shelves[i].bytes);
	}
	free(s);
}

static size_t place_of(uint32_t pid)
{
	return map_hash(pid) % STACK_SHELF_PIDS;
}

static struct thread_end *end_of(struct stack_shelves *s, uint32_t tid)
{
	return &s->ends[map_hash(tid) % THREADS];
}

static void answer_goroutine(struct stack_shelves *s, const struct question *q)
{
	struct suspect *suspect = &s->suspects[place_of(q->pid)];
	struct task_memory mem;

	if (!task_memory_open(&mem, q->pid))
		return;
	if (other_stack_is_goroutine(&mem, q->goroutine) && suspect->pid == q->pid)
		suspect->switches = suspect->proven = true;
	task_memory_close(&mem);
}

/*
 * The main thread's stack, mapped from @start to @end: above the first frame are a gap of random size, whose pages may be untouched, and
 * then arguments and environment. No stack follows where snapshots end.
 */
static uint64_t end_of_frames(uint32_t pid, uint64_t start, uint64_t end)
{
	char path[40];
	uint64_t first;

	snprintf(path, sizeof(path), "/proc/%" PRIu32, pid);
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	bool told = fd >= 0 && process_stat_u64(fd, PROCESS_STAT_START_STACK, &first);

	if (fd >= 0)
		close(fd);
	return told && first > start && first < end ? (first + 7) / 8 * 8 : end;
}

static void answer_end(struct stack_shelves *s, const struct question *q)
{
	struct thread_end *thread = end_of(s, q->tid);
	uint64_t start, end;

	if (!map_query_bounds(q->pid, q->sp, &start, &end) || thread->tid != q->tid)
		return;
	if (start % GO_HEAP == 0 && start < GO_HEAP_END) {
		thread->in_heap = true;
		return;
	}
	thread->start = start;
	thread->end = end_of_frames(q->pid, start, end);
}

static void *answer_all(void *context)
{
	struct stack_shelves *s = context;
	struct question *q = &s->question;

	pthread_mutex_lock(&q->lock);
	while (!q->ended) {
		struct question asked = { .pid = q->pid, .tid = q->tid, .goroutine = q->goroutine, .sp = q->sp };

		if (!asked.pid) {
			pthread_cond_wait(&q->asked, &q->lock);
			continue;
		}
		pthread_mutex_unlock(&q->lock);
		if (asked.goroutine)
			answer_goroutine(s, &asked);
		else
			answer_end(s, &asked);
		pthread_mutex_lock(&q->lock);
		q->pid = 0;
	}
	pthread_mutex_unlock(&q->lock);
	return NULL;
}

/* False while another lookup is in progress. */
static bool ask(struct stack_shelves *s, uint32_t pid, uint32_t tid, uint64_t goroutine, uint64_t sp)
{
	struct question *q = &s->question;
	bool asked = false;

	pthread_mutex_lock(&q->lock);
	if (!q->started && !q->refused) {
		q->started = pthread_create(&q->thread, NULL, answer_all, s) == 0;
		q->refused = !q->started;
	}
	if (q->started && !q->pid) {
		q->pid = pid;
		q->tid = tid;
		q->goroutine = goroutine;
		q->sp = sp;
		pthread_cond_signal(&q->asked);
		asked = true;
	}
	pthread_mutex_unlock(&q->lock);
	return asked;
}

uint64_t stack_shelves_end(const struct stack_shelves *s, uint32_t tid, uint64_t sp)
{
	const struct thread_end *thread = &s->ends[map_hash(tid) % THREADS];
	uint64_t start = thread->start, end = thread->end;

	return thread->tid == tid && sp >= start && sp < end ? end : 0;
}

bool stack_shelves_in_heap(const struct stack_shelves *s, uint32_t tid)
{
	const struct thread_end *thread = &s->ends[map_hash(tid) % THREADS];

	return thread->tid == tid && thread->in_heap;
}

void stack_shelves_learn_end(struct stack_shelves *s, uint32_t pid, uint32_t tid, uint64_t sp)
{
	struct thread_end *thread = end_of(s, tid);

	/* Another stack, by an exec, or the main thread's, which has grown. */
	if (thread->tid != tid || (thread->end && !stack_shelves_end(s, tid, sp))) {
		thread->samples = 0;
		thread->start = thread->end = 0;
		thread->in_heap = false;
		thread->tid = tid;
	}
	if (++thread->samples == SAMPLES_MIN && !ask(s, pid, tid, /* goroutine= */ 0, sp))
		thread->samples--;
}

static struct suspect *begin_suspect(struct stack_shelves *s, uint32_t pid)
{
	struct suspect *suspect = &s->suspects[place_of(pid)];

	if (suspect->pid != pid) {
		suspect->misses = suspect->questions = suspect->shorts = 0;
		suspect->switches = suspect->proven = suspect->erlang = false;
		suspect->pid = pid;
	}
	return suspect;
}

void stack_shelves_short(struct stack_shelves *s, uint32_t pid, uint64_t now_ns)
{
	struct suspect *suspect = begin_suspect(s, pid);

	suspect->proven = ++suspect->shorts >= SHORTS_MIN || suspect->proven;
	if (suspect->proven && suspect->misses < MISSES_MAX)
		s->last_ns = now_ns;
}

void stack_shelves_give_up(struct stack_shelves *s, uint32_t pid)
{
	struct suspect *suspect = &s->suspects[place_of(pid)];

	if (suspect->pid == pid)
		suspect->misses = MISSES_MAX;
}

void stack_shelves_suspect(struct stack_shelves *s, uint32_t pid, uint64_t goroutine, uint64_t now_ns)
{
	struct suspect *suspect = begin_suspect(s, pid);

	if (!goroutine)
		suspect->switches = suspect->proven = true;
	if (suspect->proven && suspect->misses < MISSES_MAX)
		s->last_ns = now_ns;
	if (!suspect->switches && suspect->questions < QUESTIONS_MAX)
		suspect->questions += ask(s, pid, 0, goroutine, 0);
}

void stack_shelves_erlang(struct stack_shelves *s, uint32_t pid, uint64_t now_ns)
{
	begin_suspect(s, pid)->erlang = true;
	stack_shelves_suspect(s, pid, /* goroutine= */ 0, now_ns);
}

bool stack_shelves_is_erlang(const struct stack_shelves *s, uint32_t pid)
{
	const struct suspect *suspect = &s->suspects[place_of(pid)];

	return suspect->pid == pid && suspect->erlang;
}

bool stack_shelves_asks(const struct stack_shelves *s, uint32_t pid)
{
	const struct suspect *suspect = &s->suspects[place_of(pid)];

	return suspect->pid != pid || suspect->switches || suspect->questions < QUESTIONS_MAX;
}

uint64_t stack_shelves_last_ns(const struct stack_shelves *s)
{
	return s->last_ns;
}

uint32_t stack_shelves_wanted_at(const struct stack_shelves *s, size_t place)
{
	const struct suspect *suspect = &s->suspects[place];

	return suspect->proven && suspect->misses < MISSES_MAX ? suspect->pid : 0;
}

bool stack_shelves_wants(const struct stack_shelves *s, uint32_t pid)
{
	return pid && stack_shelves_wanted_at(s, place_of(pid)) == pid;
}

bool stack_shelves_switches(const struct stack_shelves *s, uint32_t pid)
{
	const struct suspect *suspect = &s->suspects[place_of(pid)];

	return suspect->pid == pid && suspect->switches;
}

static size_t len_of(const struct entry *entry)
{
	return sizeof(*entry) + HEAD_LEN + entry->nwords * (sizeof(uint64_t) + sizeof(uint32_t));
}

static uint64_t fresh_bytes(const struct other_stack *stack)
{
	uint64_t fresh = stack->end - stack->base;

	for (size_t i = 0; i < ARRAY_LEN(stack->same); i++)
		fresh -= STACK_PIECE_LEN * (uint64_t)__builtin_popcountll(stack->same[i]);
	return fresh;
}

static bool put(struct shelf *shelf, const struct entry *entry, const struct other_stack *stack)
{
	if (shelf->bytes.len + len_of(entry) > STACK_SHELF_LEN) {
		shelf->totals.dropped++;
		return false;
	}
	vec_reserve(&shelf->bytes, STACK_SHELF_LEN); /* once: untouched memory costs nothing */
	vec_append(&shelf->bytes, (const uint8_t *)entry, sizeof(*entry));
	vec_append(&shelf->bytes, (const uint8_t *)stack, HEAD_LEN);
	vec_append(&shelf->bytes, (const uint8_t *)stack->words, stack->nwords * sizeof(stack->words[0]));
	vec_append(&shelf->bytes, (const uint8_t *)stack->slots, stack->nwords * sizeof(stack->slots[0]));
	shelf->totals.read++;
	shelf->totals.bytes += stack->end - stack->base;
	shelf->totals.deep += stack->deep;
	shelf->totals.fresh += stack->deep ? fresh_bytes(stack) : 0;
	return true;
}

bool stack_shelves_put(struct stack_shelves *s, size_t ring, uint32_t pid, uint32_t tid, uint64_t time_ns,
		       const struct other_stack *stack)
{
	struct suspect *suspect = &s->suspects[place_of(pid)];
	struct shelf *shelf = &s->shelves[ring];
	bool kept = false;

	if (suspect->pid == pid)
		suspect->misses = stack ? 0 : suspect->misses + 1;
	pthread_mutex_lock(&shelf->lock);
	if (stack) {
		struct entry entry = { .time_ns = time_ns, .tid = tid, .nwords = (uint32_t)stack->nwords };

		kept = put(shelf, &entry, stack);
	} else {
		shelf->totals.failed++;
	}
	pthread_mutex_unlock(&shelf->lock);
	return kept;
}

bool stack_shelves_crowded(struct stack_shelves *s, size_t ring)
{
	struct shelf *shelf = &s->shelves[ring];

	pthread_mutex_lock(&shelf->lock);
	bool crowded = shelf->bytes.len > STACK_SHELF_LEN / 2;

	pthread_mutex_unlock(&shelf->lock);
	return crowded;
}

uint64_t stack_shelves_lost(const struct stack_shelves *s, size_t ring)
{
	return s->shelves[ring].lost;
}

void stack_shelves_lose(struct stack_shelves *s, size_t ring)
{
	s->shelves[ring].lost++;
}

static void unpack(const uint8_t *bytes, struct other_stack *ret)
{
	memcpy(ret, bytes, HEAD_LEN);
	memcpy(ret->words, bytes + HEAD_LEN, ret->nwords * sizeof(ret->words[0]));
	memcpy(ret->slots, bytes + HEAD_LEN + ret->nwords * sizeof(ret->words[0]), ret->nwords * sizeof(ret->slots[0]));
}

/* Drop entries older than @time_ns, and take the one of @tid at that time. */
static bool take(struct shelf *shelf, uint32_t tid, uint64_t time_ns, struct other_stack *ret)
{
	while (shelf->pos < shelf->bytes.len) {
		const uint8_t *at = shelf->bytes.items + shelf->pos;
		struct entry entry;

		memcpy(&entry, at, sizeof(entry));
		if (entry.time_ns > time_ns)
			return false;
		shelf->pos += len_of(&entry);
		if (entry.time_ns == time_ns && entry.tid == tid) {
			unpack(at + sizeof(entry), ret);
			return true;
		}
		shelf->totals.dropped++;
		shelf->lost++;
	}
	return false;
}

bool stack_shelves_take(struct stack_shelves *s, size_t ring, uint32_t tid, uint64_t time_ns, struct other_stack *ret)
{
	struct shelf *shelf = &s->shelves[ring];
	bool found;

	pthread_mutex_lock(&shelf->lock);
	found = take(shelf, tid, time_ns, ret);
	if (shelf->pos == shelf->bytes.len)
		shelf->pos = shelf->bytes.len = 0;
	pthread_mutex_unlock(&shelf->lock);
	return found;
}

struct stack_shelf_totals stack_shelves_totals(struct stack_shelves *s)
{
	struct stack_shelf_totals sum = { 0 };

	for (size_t i = 0; i < s->nshelves; i++) {
		struct shelf *shelf = &s->shelves[i];

		pthread_mutex_lock(&shelf->lock);
		sum.read += shelf->totals.read;
		sum.failed += shelf->totals.failed;
		sum.dropped += shelf->totals.dropped;
		sum.bytes += shelf->totals.bytes;
		sum.deep += shelf->totals.deep;
		sum.fresh += shelf->totals.fresh;
		pthread_mutex_unlock(&shelf->lock);
	}
	return sum;
}
