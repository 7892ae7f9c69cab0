/* SPDX-License-Identifier: Apache-2.0 */
#include "record/sample/stack_shelf.h"

#include "formats/base/map.h"
#include "formats/base/memory.h"
#include "formats/base/vec.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PIDS	      256
#define MISSES_MAX    200 /* in turn, after which it was something else that looked so */
#define QUESTIONS_MAX 16  /* of a process, whether it has goroutines */
#define END_WAIT_S    1

/* One of the processes whose number leads here: the last one that was told of. */
struct suspect {
	_Atomic uint32_t pid, misses, questions;
	_Atomic bool proven;
};

/* An entry; its words and then their slots follow. */
struct entry {
	uint64_t time_ns, base, end;
	uint32_t tid, nwords;
	bool cut;
};

struct shelf {
	pthread_mutex_t lock;
	VEC(uint8_t) bytes;
	size_t pos; /* of the oldest entry that was not taken */
	struct stack_shelf_totals totals;
};

/* The question that the thread works on. */
struct question {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t asked;
	bool started, refused, ended;
	uint32_t pid; /* 0: none */
	uint64_t goroutine;
};

struct stack_shelves {
	struct suspect suspects[PIDS];
	struct question question;
	_Atomic uint64_t last_ns;
	size_t nshelves;
	struct shelf shelves[];
};

struct stack_shelves *stack_shelves_new(size_t nrings)
{
	struct stack_shelves *s = memory_zeroed(1, sizeof(*s) + nrings * sizeof(s->shelves[0]));

	s->nshelves = nrings;
	pthread_mutex_init(&s->question.lock, NULL);
	pthread_cond_init(&s->question.asked, NULL);
	for (size_t i = 0; i < nrings; i++)
		pthread_mutex_init(&s->shelves[i].lock, NULL);
	return s;
}

/* False: it hangs. */
static bool end_thread(struct question *q)
{
	struct timespec until;

	if (!q->started)
		return true;
	pthread_mutex_lock(&q->lock);
	q->ended = true;
	pthread_cond_signal(&q->asked);
	pthread_mutex_unlock(&q->lock);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += END_WAIT_S;
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
	return map_hash(pid) % PIDS;
}

static void answer(struct stack_shelves *s, uint32_t pid, uint64_t goroutine)
{
	struct suspect *suspect = &s->suspects[place_of(pid)];
	struct task_memory mem;

	if (!task_memory_open(&mem, pid))
		return;
	if (other_stack_is_goroutine(&mem, goroutine) && suspect->pid == pid)
		suspect->proven = true;
	task_memory_close(&mem);
}

static void *answer_all(void *context)
{
	struct stack_shelves *s = context;
	struct question *q = &s->question;

	pthread_mutex_lock(&q->lock);
	while (!q->ended) {
		uint32_t pid = q->pid;
		uint64_t goroutine = q->goroutine;

		if (!pid) {
			pthread_cond_wait(&q->asked, &q->lock);
			continue;
		}
		pthread_mutex_unlock(&q->lock);
		answer(s, pid, goroutine);
		pthread_mutex_lock(&q->lock);
		q->pid = 0;
	}
	pthread_mutex_unlock(&q->lock);
	return NULL;
}

/* While one question is worked on, others are not asked. */
static void ask(struct stack_shelves *s, struct suspect *suspect, uint32_t pid, uint64_t goroutine)
{
	struct question *q = &s->question;

	pthread_mutex_lock(&q->lock);
	if (!q->started && !q->refused) {
		q->started = pthread_create(&q->thread, NULL, answer_all, s) == 0;
		q->refused = !q->started;
	}
	if (q->started && !q->pid) {
		suspect->questions++;
		q->pid = pid;
		q->goroutine = goroutine;
		pthread_cond_signal(&q->asked);
	}
	pthread_mutex_unlock(&q->lock);
}

void stack_shelves_suspect(struct stack_shelves *s, uint32_t pid, uint64_t goroutine, uint64_t now_ns)
{
	struct suspect *suspect = &s->suspects[place_of(pid)];

	if (suspect->pid != pid) {
		suspect->misses = suspect->questions = 0;
		suspect->proven = false;
		suspect->pid = pid;
	}
	if (!goroutine)
		suspect->proven = true;
	if (suspect->proven && suspect->misses < MISSES_MAX)
		s->last_ns = now_ns;
	else if (!suspect->proven && suspect->questions < QUESTIONS_MAX)
		ask(s, suspect, pid, goroutine);
}

bool stack_shelves_asks(const struct stack_shelves *s, uint32_t pid)
{
	const struct suspect *suspect = &s->suspects[place_of(pid)];

	return suspect->pid != pid || suspect->proven || suspect->questions < QUESTIONS_MAX;
}

uint64_t stack_shelves_last_ns(const struct stack_shelves *s)
{
	return s->last_ns;
}

bool stack_shelves_wants(const struct stack_shelves *s, uint32_t pid)
{
	const struct suspect *suspect = &s->suspects[place_of(pid)];

	return suspect->pid == pid && suspect->proven && suspect->misses < MISSES_MAX;
}

static void put(struct shelf *shelf, const struct entry *entry, const struct other_stack *stack)
{
	size_t len = sizeof(*entry) + stack->nwords * (sizeof(stack->words[0]) + sizeof(stack->slots[0]));

	if (shelf->bytes.len + len > STACK_SHELF_LEN) {
		shelf->totals.dropped++;
		return;
	}
	vec_reserve(&shelf->bytes, STACK_SHELF_LEN); /* once: memory that is not used yet costs nothing */
	vec_append(&shelf->bytes, (const uint8_t *)entry, sizeof(*entry));
	vec_append(&shelf->bytes, (const uint8_t *)stack->words, stack->nwords * sizeof(stack->words[0]));
	vec_append(&shelf->bytes, (const uint8_t *)stack->slots, stack->nwords * sizeof(stack->slots[0]));
	shelf->totals.read++;
	shelf->totals.bytes += stack->end - stack->base;
}

void stack_shelves_put(struct stack_shelves *s, size_t ring, uint32_t pid, uint32_t tid, uint64_t time_ns,
		       const struct other_stack *stack)
{
	struct suspect *suspect = &s->suspects[place_of(pid)];
	struct shelf *shelf = &s->shelves[ring];

	if (suspect->pid == pid)
		suspect->misses = stack ? 0 : suspect->misses + 1;
	pthread_mutex_lock(&shelf->lock);
	if (stack) {
		struct entry entry = { .time_ns = time_ns, .base = stack->base, .end = stack->end, .tid = tid,
				       .nwords = (uint32_t)stack->nwords, .cut = stack->cut };

		put(shelf, &entry, stack);
	} else {
		shelf->totals.failed++;
	}
	pthread_mutex_unlock(&shelf->lock);
}

static void unpack(const struct entry *entry, const uint8_t *bytes, struct other_stack *ret)
{
	ret->base = entry->base;
	ret->end = entry->end;
	ret->cut = entry->cut;
	ret->nwords = entry->nwords;
	memcpy(ret->words, bytes, entry->nwords * sizeof(ret->words[0]));
	memcpy(ret->slots, bytes + entry->nwords * sizeof(ret->words[0]), entry->nwords * sizeof(ret->slots[0]));
}

/* Pass entries that are older than @time_ns, and take the one of @tid at that time. */
static bool take(struct shelf *shelf, uint32_t tid, uint64_t time_ns, struct other_stack *ret)
{
	while (shelf->pos < shelf->bytes.len) {
		const uint8_t *at = shelf->bytes.items + shelf->pos;
		struct entry entry;

		memcpy(&entry, at, sizeof(entry));
		if (entry.time_ns > time_ns)
			return false;
		shelf->pos += sizeof(entry) + entry.nwords * (sizeof(ret->words[0]) + sizeof(ret->slots[0]));
		if (entry.time_ns == time_ns && entry.tid == tid) {
			unpack(&entry, at + sizeof(entry), ret);
			return true;
		}
		shelf->totals.dropped++;
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
		pthread_mutex_unlock(&shelf->lock);
	}
	return sum;
}
