/* SPDX-License-Identifier: Apache-2.0 */
/*
 * managed_reader.c - a thread per sample ring.
 */
#include "record/sample/managed_reader.h"

#include "formats/base/budget.h"
#include "formats/base/clock.h"
#include "formats/base/memory.h"
#include "formats/base/vec.h"
#include "record/sample/sample_claims.h"
#include "record/sample/sample_head.h"
#include "record/sample/stack_reader.h"
#include "record/sample/thread_clock.h"
#include "record/sample/wake_filter.h"
#include "record/task/process_stat.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define LATE_NS	      1000000	  /* a stack read later than this after its sample is discarded, if the thread may have run meanwhile */
#define KEPT_NS	      3000000	  /* likewise, if what delayed the reader delayed the thread too */
#define MOMENT_NS      100000	  /* from a sample to the switch to its reader: 24 to 50 us */
#define MOMENT_MAX     SAMPLE_CLAIMS_MAX /* samples at one moment: several events, and that switch */
#define QUIET_NS      2000000000u /* after this time without interpreters, samples wake no reader */
#define WAITING_MAX   (4u << 20)  /* bytes of results that wait for the drain */
#define STACKS_MAX    (WAITING_MAX / 8 * 7) /* likewise, with stacks: there is room to say what others lack */
#define END_WAIT_NS   1000000000
#define BEGIN_WAIT_NS 20000000 /* the longest delay of the recording's start: examining a process takes 1 ms */
#define DEEP_PERCENT  3	  /* of a CPU: the budget for deep stacks */
#define DEEP_DRAIN    2	  /* cost of reading and processing one, relative to reading */
#define STUCK_NS      50000000  /* a reader that reads one sample's memory for this long waits for a lock of the process */
#define LEFT_MAX      16	/* readers that wait for such locks, at a time */
#define CHECK_EVERY   16	  /* wake-ups between checks of the thread's CPU time, which costs a sixth of reading a stack */

/* One result; its frames follow. */
struct result {
	uint64_t time_ns; /* of the sample */
	uint32_t pid, tid;
	enum event_managed_runtime runtime;
	enum event_managed_state state;
	const struct managed_binary *binary; /* lives as long as the table */
	size_t nframes;
	size_t nlabels;
	struct event_managed_label labels[EVENT_MANAGED_LABELS];
};

struct results {
	VEC(uint8_t) bytes;
};

struct reader {
	struct managed_readers *all;
	struct ring *ring;
	size_t number; /* of the ring */
	_Atomic bool left; /* it was stuck, and another one does its work: it ends */
	_Atomic uint64_t reads_since_ns; /* at the sample below; 0: it does not */
	_Atomic uint64_t sample_ns;
	_Atomic uint32_t pid;
	_Atomic uint32_t own_tid;
	pthread_t thread;
	int epoll_fd; /* for the ring and the end */
	bool started;
	_Atomic uint64_t pos; /* in the ring: results of what is before it are there */
	struct sample_claims *claims; /* of the ring; owed ones under @lock, and none of ours once @left */
	uint64_t rung_tail; /* the ring's tail when the drain was last woken */
	struct priority priority;
	unsigned wakeups;
	uint64_t waits_ns; /* idle since */
	struct managed_view view;
	struct managed_stack stack;
	struct stack_reader *other; /* of stacks that a thread has left */
	struct budget budget; /* of read_ns */
	struct budget deep_budget; /* of deep_ns as if that were BUDGET_PERCENT */
	uint64_t deep_ns;
	bool deep_rests; /* the budget was used up and is not full again: deep stacks that are read only now and then cost more in the trace */
	bool was_deep;	 /* what was read last */

	pthread_mutex_t lock; /* of the results and claims */
	struct results results;
	bool crowded; /* results take more than half of the room */
	uint64_t dropped, read_ns;
};

struct managed_readers {
	struct managed_table *table;
	struct stack_shapes *shapes;
	struct stack_shelves *shelves;
	struct perf_fds *fds;
	const struct priority *first;
	int bell_fd, end_fd;
	bool by_cpu, started, refused;
	size_t nreaders;
	struct reader **readers;
	size_t nleft;
	struct reader *left[LEFT_MAX]; /* those that were stuck */
	struct sample_claims *claims; /* of each ring */
	struct results taken; /* of the reader that the drain is at */
	struct thread_clocks clocks;
	struct wake_filter *filter; /* NULL: each sample wakes its reader */
	uint32_t marked[STACK_SHELF_PIDS]; /* processes marked for the shelves, by place; 0: none */
	_Atomic uint64_t samples, missed;
	struct managed_totals totals;
};

/* ---- in the reader's thread ------------------------------------------------------------------------ */

/* Locked. There is room for WAITING_MAX (give_room()): nothing is allocated. */
static bool put_within(struct reader *r, const struct result *result, size_t room)
{
	size_t len = result->nframes * sizeof(*r->stack.frames);

	if (r->results.bytes.len + sizeof(*result) + len > room)
		return false;
	vec_append(&r->results.bytes, (const uint8_t *)result, sizeof(*result));
	vec_append(&r->results.bytes, (const uint8_t *)r->stack.frames, len);
	r->crowded = r->results.bytes.len > WAITING_MAX / 2;
	return true;
}

/* Locked. A stack without room is late. */
static void put(struct reader *r, const struct result *result)
{
	struct result late = *result;

	late.state = EVENT_MANAGED_LATE;
	late.nframes = late.nlabels = 0;
	if (!put_within(r, result, STACKS_MAX) && !put_within(r, &late, WAITING_MAX))
		r->dropped++;
}

static size_t number_of(const struct reader *r)
{
	return r->number;
}

/* The drain is woken when half of the room for results is in use, or a quarter of the ring if that no longer wakes it. */
static void ring_bell(struct reader *r)
{
	uint64_t tail = sample_head_tail(r->ring), one = 1;
	bool full = (!r->all->filter && ring_head(r->ring) - tail >= r->ring->data_len / 4) || r->crowded ||
		    stack_shelves_crowded(r->all->shelves, number_of(r));

	if (!full || r->rung_tail == tail + 1)
		return;
	r->rung_tail = tail + 1;
	if (write(r->all->bell_fd, &one, sizeof(one)) < 0)
		r->rung_tail = 0;
}

static bool may_read_deep(struct reader *r)
{
	bool left = budget_charge(&r->deep_budget, clock_now_ns(CLOCK_MONOTONIC), r->deep_ns * DEEP_DRAIN * BUDGET_PERCENT / DEEP_PERCENT);

	r->deep_rests = !left || (r->deep_rests && !budget_is_full(&r->deep_budget));
	return !r->deep_rests;
}

/* What its interpreter's reader wants to know of the sample. Its head is copied to the other reader's room, as the whole is if @other. */
static const struct event_regs *regs_of(struct reader *r, const struct sample_head *seen, bool other, const struct managed_process *p)
{
	size_t len = MIN(seen->len, (size_t)STACK_READER_HEAD_LEN);

	if (!p || !managed_process_runtime(p)->wants_regs)
		return NULL;
	if (!other)
		sample_head_copy(r->ring, seen->pos, stack_reader_room(r->other), len);
	if (sample_head_tail(r->ring) > seen->pos)
		return NULL;
	return stack_reader_regs(r->other, len);
}

/*
 * Read the sampled thread's stacks, which it cannot change while it does not run. False: its CPU clock moved meanwhile; for an
 * interpreter, while that stack was read, since the other stack takes longer.
 */
static bool read_once(struct reader *r, const struct sample_head *seen, bool other, struct managed_process *p)
{
	struct thread_clocks *clocks = &r->all->clocks;
	const struct event_regs *regs = regs_of(r, seen, other, p);
	uint64_t before = thread_clocks_begin(clocks, seen->pid, seen->tid);
	bool unchanged = true;

	if (p) {
		managed_process_read(p, seen->tid, regs, &r->view, &r->stack);
		if (r->left)
			return false;
		unchanged = r->stack.state == EVENT_MANAGED_LATE || before == thread_clocks_read(clocks, seen->pid, seen->tid);
	}
	r->was_deep = false;
	if (other && unchanged) {
		stack_reader_look(r->other, seen->len, may_read_deep(r));
		if (r->left)
			return false;
		bool still = before == thread_clocks_read(clocks, seen->pid, seen->tid);

		r->was_deep = stack_reader_keep(r->other, still);
		unchanged = p || still;
	}
	return unchanged;
}

/* False: it did run. If another thread moved the process's clock, an interpreter's stack is read again, with the thread's own clock. */
static bool read_memory(struct reader *r, const struct sample_head *seen, bool other, struct managed_process *p)
{
	if (read_once(r, seen, other, p))
		return true;
	return thread_clocks_refine(&r->all->clocks, seen->pid, seen->tid) && p &&
	       clock_now_ns(CLOCK_MONOTONIC) < seen->time_ns + LATE_NS && read_once(r, seen, /* other= */ false, p);
}

/* What is known of a sample without its stack. */
static struct result result_of(const struct sample_head *seen, enum event_managed_runtime runtime, const struct managed_binary *binary)
{
	return (struct result){ .time_ns = seen->time_ns, .pid = seen->pid, .tid = seen->tid,
				.runtime = runtime, .binary = binary, .state = EVENT_MANAGED_LATE };
}

/* The stack in @r, which has been read of @p; if @state has one. */
static struct result result_read(const struct reader *r, const struct sample_head *seen, const struct managed_process *p,
				 enum event_managed_state state)
{
	struct result result = result_of(seen, managed_process_runtime(p)->id, managed_process_binary(p));

	result.state = state;
	if (state != EVENT_MANAGED_LATE && state != EVENT_MANAGED_TORN) {
		result.nframes = r->stack.nframes;
		result.nlabels = r->stack.nlabels;
		memcpy(result.labels, r->stack.labels, sizeof(result.labels));
	}
	return result;
}

/* The answer for a sample whose stack nobody has read. False: it needs none. */
static bool result_without(struct managed_table *table, const struct sample_head *seen, struct result *ret)
{
	const struct managed_expected *expected;
	struct managed_process *p = managed_table_hold_or_expect(table, seen->pid, &expected);

	if (p)
		*ret = result_of(seen, managed_process_runtime(p)->id, managed_process_binary(p));
	else if (expected)
		*ret = result_of(seen, expected->runtime, &expected->binary);
	managed_process_release(table, p);
	return p || expected;
}

/* Answer a sample that we owe; no @result: it needs none. Somebody else may have answered it, late. */
static void answer(struct reader *r, const struct sample_head *seen, const struct result *result)
{
	pthread_mutex_lock(&r->lock);
	if (!r->left && sample_claims_settle(r->claims, seen->pos) && result)
		put(r, result);
	pthread_mutex_unlock(&r->lock);
}

/* Its stack is not read: the thread has run since, or nobody has looked at its process yet. */
static void pass_over(struct reader *r, const struct sample_head *seen)
{
	struct result result;
	bool any = result_without(r->all->table, seen, &result);

	answer(r, seen, any ? &result : NULL);
}

/* False: the drain has answered for it. */
static bool claim(struct reader *r, const struct sample_head *seen, uint64_t end)
{
	pthread_mutex_lock(&r->lock);
	bool ours = !r->left && sample_claims_owe(r->claims, seen, end);

	pthread_mutex_unlock(&r->lock);
	return ours;
}

/* The sample itself, for the stack that the thread has left for the one in it. */
static bool copy_sample(struct reader *r, const struct sample_head *seen)
{
	sample_head_copy(r->ring, seen->pos, stack_reader_room(r->other), seen->len);
	return sample_head_tail(r->ring) <= seen->pos;
}

/*
 * Samples of one moment, oldest first; their threads did not run in between. The first wakes our thread, the second is the switch to it, from the
 * sampled thread or from its successor.
 */
struct moment {
	size_t count;
	struct sample_head samples[MOMENT_MAX];
};

/* Drop the first @count samples. */
static void pass_over_first(struct reader *r, struct moment *moment, size_t count)
{
	for (size_t i = 0; i < count; i++)
		pass_over(r, &moment->samples[i]);
	moment->count -= count;
	memmove(moment->samples, moment->samples + count, moment->count * sizeof(*moment->samples));
}

/* Drop the samples of @moment that are too far from @time_ns, or beyond its room. */
static void pass_over_before(struct reader *r, struct moment *moment, uint64_t time_ns)
{
	size_t count = moment->count == MOMENT_MAX;

	while (count < moment->count && moment->samples[count].time_ns + MOMENT_NS < time_ns)
		count++;
	pass_over_first(r, moment, count);
}

/*
 * Claim all samples that nobody has answered; @ret are the newest, and older ones are late. If the drain takes newer ones out first, all are: it
 * may take out those that woke no reader.
 */
static void newest_moment(struct reader *r, uint64_t head, struct moment *ret)
{
	uint64_t pos = MAX(sample_claims_end(r->claims), sample_head_tail(r->ring));
	struct sample_head next;

	ret->count = 0;
	while (pos < head) {
		if (sample_head_next(r->ring, &pos, head, &next)) {
			pass_over_before(r, ret, next.time_ns);
			if (claim(r, &next, pos))
				ret->samples[ret->count++] = next;
			else
				pass_over_first(r, ret, ret->count);
			continue;
		}
		if (pos == head)
			return;
		pass_over_first(r, ret, ret->count);
		/* Taken out meanwhile; what cannot be a record ends the ring. */
		uint64_t tail = sample_head_tail(r->ring);

		pos = tail > pos ? tail : head;
	}
}

static bool is_same_thread(const struct sample_head *one, const struct sample_head *other)
{
	return one->tid == other->tid && one->pid == other->pid;
}

/*
 * A waiting reader preempts the sampled thread as soon as the kernel allows it; until then the CPU handles interrupts or is taken by the
 * hypervisor. A reader that was busy and blocked, for example on a lock of an address space, let the thread run.
 */
static bool is_late(const struct reader *r, const struct sample_head *seen, uint64_t now)
{
	return now >= seen->time_ns + (r->priority.raised && seen->time_ns > r->waits_ns ? KEPT_NS : LATE_NS);
}

/* Read the stacks of the thread of sample @number of @moment; returns the result's state for an interpreter. */
static enum event_managed_state read_thread(struct reader *r, const struct moment *moment, size_t number, bool other, struct managed_process *p)
{
	const struct sample_head *newest = &moment->samples[number];

	if (!read_memory(r, newest, other && copy_sample(r, newest), p))
		return EVENT_MANAGED_TORN;
	bool deep = r->was_deep;

	for (size_t i = 0; i < number && other; i++) {
		const struct sample_head *seen = &moment->samples[i];

		if (is_same_thread(seen, newest) && copy_sample(r, seen))
			read_once(r, seen, /* other= */ true, NULL);
		deep |= r->was_deep;
	}
	r->was_deep = deep;
	return r->stack.state;
}

/* The result for the thread of sample @number of @moment, without time: its state is late if its stack was not read. */
static enum event_managed_state try_thread(struct reader *r, const struct moment *moment, size_t number, bool other, struct managed_process *p)
{
	const struct sample_head *newest = &moment->samples[number];
	enum event_managed_state state = EVENT_MANAGED_LATE;
	uint64_t begin = clock_now_ns(CLOCK_MONOTONIC), took;

	r->was_deep = false;
	r->sample_ns = newest->time_ns;
	r->pid = newest->pid;
	r->reads_since_ns = begin;
	if (!is_late(r, newest, begin) && budget_charge(&r->budget, begin, r->read_ns))
		state = read_thread(r, moment, number, other, p);
	r->reads_since_ns = 0;
	took = clock_now_ns(CLOCK_MONOTONIC) - begin;
	r->read_ns += took;
	r->deep_ns += r->was_deep ? took : 0;
	return state;
}

/* Handle sample @number of @moment, the newest of its thread, and the thread's other samples. */
static void take_thread(struct reader *r, const struct moment *moment, size_t number)
{
	const struct sample_head *newest = &moment->samples[number];
	bool other = stack_shelves_wants(r->all->shelves, newest->pid);
	struct managed_process *p = managed_table_hold(r->all->table, newest->pid);
	enum event_managed_state state = p || other ? try_thread(r, moment, number, other, p) : EVENT_MANAGED_LATE;

	for (size_t i = 0; i <= number; i++) {
		const struct sample_head *seen = &moment->samples[i];

		if (!is_same_thread(seen, newest))
			continue;
		if (p) {
			struct result result = result_read(r, seen, p, state);

			answer(r, seen, &result);
		} else {
			pass_over(r, seen);
		}
	}
	managed_process_release(r->all->table, p);
}

static void take_moment(struct reader *r, const struct moment *moment)
{
	for (size_t i = moment->count; i-- > 0;) {
		bool newest = true;

		for (size_t j = i + 1; j < moment->count; j++)
			newest = newest && !is_same_thread(&moment->samples[i], &moment->samples[j]);
		if (newest)
			take_thread(r, moment, i);
	}
}

/* The drain may run meanwhile: it answers for samples that are not claimed yet. */
static void take_samples(struct reader *r)
{
	uint64_t head = ring_head(r->ring);
	struct moment moment;

	newest_moment(r, head, &moment);
	take_moment(r, &moment);
	r->pos = head;
}

/* Bells that ring meanwhile end the next wait. */
static void look(struct reader *r)
{
	struct wake_filter *filter = r->all->filter;
	uint64_t rung = filter ? wake_filter_rung(filter, number_of(r)) : 0;

	take_samples(r);
	if (r->left)
		return;
	if (filter)
		wake_filter_answer(filter, number_of(r), rung);
	r->waits_ns = clock_now_ns(CLOCK_MONOTONIC);
}

/* False: it is off line. */
static bool pin(uint32_t cpu)
{
	cpu_set_t *set = CPU_ALLOC(cpu + 1);
	size_t len = CPU_ALLOC_SIZE(cpu + 1);

	CPU_ZERO_S(len, set);
	CPU_SET_S(cpu, len, set);
	int failed = sched_setaffinity(0, len, set);

	CPU_FREE(set);
	return !failed;
}

static void *run_reader(void *context)
{
	struct reader *r = context;
	struct epoll_event event;

	r->own_tid = (uint32_t)gettid();
	if (!pin(r->ring->cpu))
		return NULL;
	budget_init(&r->budget, clock_now_ns(CLOCK_MONOTONIC), 0);
	budget_init(&r->deep_budget, clock_now_ns(CLOCK_MONOTONIC), 0);
	priority_join(&r->priority, r->all->first);
	while (epoll_wait(r->epoll_fd, &event, 1, -1) >= 0 || errno == EINTR) {
		if (event.data.fd == r->all->end_fd || event.events & (EPOLLHUP | EPOLLERR))
			break;
		/* A CPU that goes off line sends its threads away for good. */
		if (sched_getcpu() != (int)r->ring->cpu)
			pin(r->ring->cpu);
		look(r);
		if (r->left)
			break;
		ring_bell(r);
		if (++r->wakeups % CHECK_EVERY == 0)
			priority_check(&r->priority);
	}
	return NULL;
}

/* ---- in the recorder's thread ---------------------------------------------------------------------- */

struct managed_readers *managed_readers_new(struct perf_fds *fds, bool by_cpu,
					    const struct priority *first)
{
	struct managed_readers *m = memory_zeroed(1, sizeof(*m));

	m->fds = fds;
	m->by_cpu = by_cpu;
	m->first = first;
	m->bell_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	m->end_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	m->table = managed_table_new(m->bell_fd, first);
	thread_clocks_init(&m->clocks);
	m->shapes = stack_shapes_new();
	m->shelves = stack_shelves_new(fds->samples.len);
	m->refused = !by_cpu || m->bell_fd < 0 || m->end_fd < 0;
	return m;
}

/* Edge-triggered, the kernel asks the ring once for each wake-up. */
static bool wait_for(struct reader *r, int fd, uint32_t how)
{
	struct epoll_event event = { .events = EPOLLIN | how, .data.fd = fd };

	return epoll_ctl(r->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

/* Untouched memory costs nothing. */
static void give_room(struct results *results)
{
	vec_reserve(&results->bytes, WAITING_MAX);
}

static void start_reader(struct reader *r)
{
	struct wake_filter *filter = r->all->filter;

	r->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	r->started = r->epoll_fd >= 0 && wait_for(r, filter ? wake_filter_fd(filter, number_of(r)) : r->ring->fd, EPOLLET) &&
		     wait_for(r, r->all->end_fd, 0) &&
		     pthread_create(&r->thread, NULL, run_reader, r) == 0;
}

static void mark_known(void *context, uint32_t pid, bool known)
{
	struct managed_readers *m = context;

	if (known)
		wake_filter_mark(m->filter, pid);
	else
		wake_filter_unmark(m->filter, pid);
}

/* The filter stays attached to the events until they are closed, even if one refuses it. */
static void open_filter(struct managed_readers *m)
{
	struct wake_filter *filter = wake_filter_new(m->fds->samples.len);

	if (filter && perf_fds_filter(m->fds, filter)) {
		m->filter = filter;
		managed_table_follow(m->table, mark_known, m);
	} else {
		wake_filter_free(filter);
	}
}

/* Mark the processes that the shelves need read, unmark others. */
static void mark_suspects(struct managed_readers *m)
{
	for (size_t i = 0; i < STACK_SHELF_PIDS && m->filter; i++) {
		uint32_t pid = stack_shelves_wanted_at(m->shelves, i);

		if (pid == m->marked[i])
			continue;
		if (pid)
			wake_filter_mark(m->filter, pid);
		if (m->marked[i])
			wake_filter_unmark(m->filter, m->marked[i]);
		m->marked[i] = pid;
	}
}

static struct reader *reader_new(struct managed_readers *m, size_t number)
{
	struct reader *r = memory_zeroed(1, sizeof(*r));

	r->all = m;
	r->number = number;
	r->ring = &m->fds->samples.items[number];
	r->other = stack_reader_new(m->shapes, m->shelves, number);
	r->epoll_fd = -1;
	r->pos = r->ring->tail;
	r->claims = &m->claims[number];
	priority_mutex_init(&r->lock);
	give_room(&r->results);
	return r;
}

static void reader_free(struct reader *r)
{
	if (r->epoll_fd >= 0)
		close(r->epoll_fd);
	stack_reader_free(r->other);
	vec_deinit(&r->results.bytes);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

static void start_readers(struct managed_readers *m)
{
	m->started = true;
	m->nreaders = m->fds->samples.len;
	open_filter(m);
	m->readers = memory_zeroed(m->nreaders, sizeof(*m->readers));
	m->claims = memory_zeroed(m->nreaders, sizeof(*m->claims));
	give_room(&m->taken);
	for (size_t i = 0; i < m->nreaders; i++) {
		/* Samples of before are in the ring: they get their answer, too. */
		sample_claims_init(&m->claims[i], m->fds->samples.items[i].tail);
		m->readers[i] = reader_new(m, i);
		start_reader(m->readers[i]);
	}
}

/* ---- readers that are stuck ------------------------------------------------------------------------ */

/* It does not wait for its CPU, but in the kernel, where nothing wakes it. */
static bool is_blocked(const struct reader *r)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/self/task/%" PRIu32, r->own_tid);
	int folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	bool blocked = folder >= 0 && process_state(folder) == 'D';

	if (folder >= 0)
		close(folder);
	return blocked;
}

/* Answer what @r owes of before @before_ns: it takes too long. Locked. */
static void answer_late(struct reader *r, uint64_t before_ns)
{
	struct sample_head owed;
	struct result result;

	while (sample_claims_expire(r->claims, before_ns, &owed))
		if (result_without(r->all->table, &owed, &result))
			put(r, &result);
}

/* From now on @old neither claims nor answers, however soon it wakes. Its results are @fresh's; its samples are late. */
static void take_over(struct reader *old, struct reader *fresh)
{
	pthread_mutex_lock(&old->lock);
	answer_late(old, UINT64_MAX);
	old->left = true;
	struct results results = old->results;

	old->results = fresh->results;
	pthread_mutex_unlock(&old->lock);
	fresh->results = results;
	fresh->pos = sample_claims_end(fresh->claims);
	fresh->dropped = old->dropped;
	fresh->read_ns = old->read_ns;
}

/* Give the work of reader number @i, who cannot be woken, to another one. */
static void replace(struct managed_readers *m, size_t i, uint64_t now_ns)
{
	struct reader *old = m->readers[i], *fresh = reader_new(m, i);
	uint32_t pid = old->pid;
	struct managed_process *p = managed_table_hold(m->table, pid);

	take_over(old, fresh);
	if (p)
		managed_process_rest(m->table, p, now_ns);
	managed_process_release(m->table, p);
	stack_shelves_give_up(m->shelves, pid);
	m->readers[i] = fresh;
	m->left[m->nleft++] = old;
	start_reader(fresh);
}

/* Release those that were stuck and have ended. */
static void free_left(struct managed_readers *m)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->nleft; i++) {
		if (pthread_tryjoin_np(m->left[i]->thread, NULL) == 0)
			reader_free(m->left[i]);
		else
			m->left[kept++] = m->left[i];
	}
	m->nleft = kept;
}

/*
 * A process's memory has a lock (mmap lock), which it holds while it changes its mappings or forks; a mapped file on a server that does
 * not answer makes that for ever. A reader that waits for it would miss the samples of all others on its CPU.
 */
static void replace_stuck(struct managed_readers *m, uint64_t now_ns)
{
	for (size_t i = 0; i < m->nreaders; i++) {
		uint64_t since = m->readers[i]->reads_since_ns;

		if (since && now_ns > since + STUCK_NS && m->nleft < LEFT_MAX && is_blocked(m->readers[i]))
			replace(m, i, now_ns);
	}
	if (m->nleft)
		free_left(m);
}

/* Join the threads that have ended; false if one hangs. */
static bool end_readers(struct managed_readers *m)
{
	uint64_t one = 1;
	bool all = true;

	if (m->started && write(m->end_fd, &one, sizeof(one)) < 0)
		return false;
	struct timespec until = clock_deadline(END_WAIT_NS);

	for (size_t i = 0; i < m->nreaders; i++) {
		struct reader *r = m->readers[i];

		if (r->started && pthread_timedjoin_np(r->thread, NULL, &until) != 0)
			all = false;
	}
	free_left(m);
	return all && !m->nleft;
}

void managed_readers_free(struct managed_readers *m)
{
	if (!m || !end_readers(m))
		return;
	for (size_t i = 0; i < m->nreaders; i++)
		reader_free(m->readers[i]);
	vec_deinit(&m->taken.bytes);
	thread_clocks_deinit(&m->clocks);
	if (m->bell_fd >= 0)
		close(m->bell_fd);
	if (m->end_fd >= 0)
		close(m->end_fd);
	managed_table_follow(m->table, NULL, NULL); /* its thread may outlive us */
	managed_table_free(m->table);
	wake_filter_free(m->filter);
	stack_shapes_free(m->shapes);
	stack_shelves_free(m->shelves);
	free(m->readers);
	free(m->claims);
	free(m);
}

void managed_readers_begin(struct managed_readers *m, bool all)
{
	managed_table_begin(m->table, all, BEGIN_WAIT_NS);
	managed_readers_wanted(m, clock_now_ns(CLOCK_MONOTONIC));
}

bool managed_readers_wanted(struct managed_readers *m, uint64_t now)
{
	uint64_t last = MAX(managed_table_last_ns(m->table), stack_shelves_last_ns(m->shelves));

	if (m->refused || !last || now > last + QUIET_NS)
		return false;
	if (!m->started)
		start_readers(m);
	replace_stuck(m, now);
	mark_suspects(m);
	stack_shapes_learn(m->shapes, m->fds);
	return true;
}

bool managed_readers_have_bells(const struct managed_readers *m)
{
	return m->filter;
}

void managed_readers_set_layouts(struct managed_readers *m, const struct perf_layout *layouts, size_t count)
{
	stack_shapes_set(m->shapes, layouts, count);
}

struct stack_shelves *managed_readers_shelves(const struct managed_readers *m)
{
	return m->refused ? NULL : m->shelves;
}

int managed_readers_fd(const struct managed_readers *m)
{
	return m->bell_fd;
}

uint64_t managed_readers_seen(const struct managed_readers *m, size_t ring, uint64_t head)
{
	if (ring >= m->nreaders || !m->readers[ring]->started || (m->filter && !wake_filter_waits(m->filter, ring)))
		return head;
	return MIN(m->readers[ring]->pos, head);
}

void managed_readers_sampled(struct managed_readers *m, uint32_t pid)
{
	if (managed_table_sampled(m->table, pid) || (!m->refused && managed_table_expects(m->table, pid)))
		m->samples++;
}

static void event_of(const struct result *result, const uint8_t *frames, struct event *ret)
{
	*ret = (struct event){
		.kind = EVENT_MANAGED,
		.time_ns = result->time_ns - 1,
		.cpu = EVENT_NO_CPU,
		.pid = result->pid,
		.tid = result->tid,
		.managed = {
			.runtime = result->runtime,
			.state = result->state,
			.module = result->binary->path,
			.nloops = result->binary->nloops,
			.nframes = result->nframes,
			.frames = (const struct event_managed_frame *)(const void *)frames,
			.nlabels = result->nlabels,
			.labels = result->labels,
		},
	};
	memcpy(ret->managed.loops, result->binary->loops, sizeof(ret->managed.loops));
}

bool managed_readers_missed(struct managed_readers *m, size_t ring, uint64_t end, const struct event *sample, struct event *ret)
{
	struct sample_head seen = { .time_ns = sample->time_ns, .pid = sample->pid, .tid = sample->tid };
	struct result result;

	if (m->refused || (ring < m->nreaders && !sample_claims_pass(&m->claims[ring], end)))
		return false;
	if (!result_without(m->table, &seen, &result))
		return false;
	event_of(&result, NULL, ret);
	m->missed++;
	return true;
}

static struct err *tell(struct managed_readers *m, const struct result *result, const uint8_t *frames,
			managed_take_fn *take, void *context)
{
	struct event ev;

	event_of(result, frames, &ev);
	m->totals.states[result->state]++;
	return take(context, &ev);
}

static struct err *take_results(struct managed_readers *m, struct reader *r, const struct managed_times *times,
				managed_take_fn *take, void *context)
{
	struct results swap = m->taken;
	struct err *err = NULL;
	size_t pos = 0;

	swap.bytes.len = 0;
	pthread_mutex_lock(&r->lock);
	answer_late(r, times->next_ns == UINT64_MAX ? UINT64_MAX : times->next_ns + 1);
	m->taken = r->results;
	r->results = swap;
	pthread_mutex_unlock(&r->lock);
	while (pos < m->taken.bytes.len && !err) {
		struct result result;

		memcpy(&result, m->taken.bytes.items + pos, sizeof(result));
		pos += sizeof(result);
		if (result.time_ns - 1 < times->oldest_ns)
			m->totals.dropped++;
		else
			err = tell(m, &result, m->taken.bytes.items + pos, take, context);
		pos += result.nframes * sizeof(struct event_managed_frame);
	}
	return err;
}

struct err *managed_readers_take(struct managed_readers *m, const struct managed_times *times, managed_take_fn *take,
				 void *context)
{
	struct err *err = NULL;

	for (size_t i = 0; i < m->nreaders && !err; i++)
		err = take_results(m, m->readers[i], times, take, context);
	return err;
}

struct managed_table *managed_readers_table(struct managed_readers *m)
{
	return m->table;
}

struct managed_refusals managed_readers_refusals(const struct managed_readers *m)
{
	return managed_table_refusals(m->table);
}

struct managed_totals managed_readers_totals(const struct managed_readers *m)
{
	struct managed_totals totals = m->totals;

	totals.samples = m->samples;
	totals.states[EVENT_MANAGED_LATE] += m->missed;
	totals.not_by_cpu = !m->by_cpu;
	for (size_t i = 0; i < m->nreaders; i++) {
		totals.dropped += m->readers[i]->dropped;
		totals.read_ns += m->readers[i]->read_ns;
	}
	return totals;
}
