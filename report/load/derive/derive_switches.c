/* SPDX-License-Identifier: Apache-2.0 */
/*
 * derive_switches.c - a thread's life as spans on a CPU and off it, from the records of its switches.
 *
 *	             out            in             out                    end
 *	  on a CPU    │   waits      │  on a CPU    │   still waiting      │
 *	──────────────┤◄────────────►├──────────────┤◄────────────────────►│
 *	              ▲ the stack that waits, sampled just before
 *
 * Spans of a thread follow each other without gaps from the beginning of the window (or of the thread) to its end, so
 * that what they add up to is the length by construction. A wait whose stack was not sampled is a row of its own.
 *
 * Where threads switch so often that the recorder thinned stacks (one switch in N has one), waits without a stack are
 * given to those of the same thread and state that have one, in proportion to their lengths. Sums stay what they are. So
 * are those whose samples were lost.
 *
 * Where there were so many that the recorder left switches out for a while, the scheduler's account of each thread, read
 * before and behind, says how long it ran, waited for a CPU and was blocked in between; one that has not run according
 * to it still waits as it did.
 *
 *	  ┤◄─ switches ─►├─ ran 3, ready 1, blocked 6 ms ─┤◄─ switches ─►├
 *	                 ▲ left out                       ▲ the account is read
 *
 * What a thread does before its first switch shows in that switch: who comes out was on a CPU, who comes in was not.
 */
#include "formats/base/map.h"
#include "formats/base/memory.h"
#include "formats/base/vec.h"
#include "report/load/derive/derive_kind.h"
#include "report/load/derive/sched_points.h"
#include "report/load/derive/stretches.h"

#include <stdlib.h>
#include <string.h>

#define SAME_WAKING_NS 50000

enum now {
	NOT_KNOWN, /* until the first switch */
	ON_CPU,
	WAITING,
	ENDED,
};

/* The scheduler's account of a thread at a moment, and ours at the same. */
struct reading {
	uint64_t time_ns, run_ns, wait_ns, turns, own_run_ns, own_turns;
	bool is_known;
	bool own_is_open; /* until the first switch tells what it did before */
};

struct life {
	uint32_t pid, tid;
	uint32_t thread; /* of the profile; PROFILE_NONE: not looked up yet */
	enum now now;
	enum profile_state state; /* while waiting */
	uint64_t since_ns, born_ns;
	uint64_t exit_ns; /* when it said that it ends, where its last switch is still to come; 0: it did not */
	struct held_stack leaving;
	struct held_stacks running; /* sampled since it came to a CPU, if that is wanted */
	uint32_t cpu;		/* that it came to last */
	uint64_t ran_ns, turns; /* so far, whatever the window is */
	struct reading first, last;
	struct reading agreed; /* the last one with as many turns as there are records, or losses that tell why not */
	struct thread_stretches stretches;
	uint64_t woken_ns;		/* 0: not yet, while waiting */
	uint32_t waker;			/* thread of the profile, PROFILE_NONE if not known */
	uint32_t waker_stack;		/* of the profile, 0 if not known */
	bool sampled;			/* on a CPU, ever */
	bool seen;			/* more is known of it than that it was there */
	bool found;			/* it was looked at while it waited, see take_found() */
	uint64_t found_ns;		/* when, if @leaving is of that look */
	bool by_point;			/* its last switch came from a tracepoint */
	bool unwatched;			/* since @since_ns it did what no switch tells, see settle_unwatched() */
};

struct switches {
	const struct derive_request *request;
	const struct derive_out *out;
	struct stretches stretches;
	uint64_t start_ns, end_ns, newest_ns; /* of the recording; @end_ns 0: not known */
	struct map numbers; /* tid -> number in lives + 1 */
	VEC(struct life) lives;
	struct sched_points *points;
	uint32_t switch_event; /* the tracepoint that tells of every switch; PROFILE_NONE: there is none, or there are records of them */
	struct profile_lives sums;
	bool any; /* a switch was recorded: otherwise nothing is known of waits */
	uint64_t left_out_ns; /* switches are not recorded since then; 0: they are */
};

/* Where single tasks were recorded, the tracepoint tells who leaves a CPU, not who comes. */
static uint32_t find_switch_event(const struct switches *s)
{
	const struct recording *rec = s->request->recording;

	for (uint32_t i = 0; i < rec->nevents && rec->by_cpu; i++)
		if (sched_points_kind(s->points, i) == SCHED_POINT_SWITCH && derive_is_every(rec, i))
			return i;
	return PROFILE_NONE;
}

static void *begin(const struct derive_request *request, const struct derive_out *out)
{
	struct wait_events events;
	struct switches *s;

	if (!wait_events_init(&events, request, out))
		return NULL;
	s = memory_zeroed(1, sizeof(*s));
	s->request = request;
	s->out = out;
	s->points = sched_points_new(request->recording);
	s->switch_event = find_switch_event(s);
	s->start_ns = request->recording->start_ns;
	s->end_ns = request->recording->end_ns;
	s->stretches = (struct stretches){ .events = events, .descriptors = descriptors_new(), .sums = &s->sums };
	return s;
}

static void free_switches(void *state)
{
	struct switches *s = state;

	for (size_t i = 0; i < s->lives.len; i++) {
		vec_deinit(&s->lives.items[i].running.list);
		thread_stretches_deinit(&s->lives.items[i].stretches);
	}
	descriptors_free(s->stretches.descriptors);
	switch_losses_deinit(&s->stretches.losses);
	sched_points_free(s->points);
	vec_deinit(&s->lives);
	map_deinit(&s->numbers);
	free(s);
}

static bool is_off_cpu(const struct switches *s, const struct event *ev)
{
	return ev->sample.event < s->request->recording->nevents &&
	       derive_is_off_cpu(s->request->recording, ev->sample.event);
}

static bool is_point(const struct switches *s, const struct event *ev)
{
	return ev->kind == EVENT_SAMPLE && sched_points_kind(s->points, ev->sample.event) != SCHED_POINT_NONE;
}

/* Which thread of the process waits for a descriptor is not said, nor whose samples or switches were lost. */
static bool is_anyones(const void *state, const struct event *ev)
{
	return ev->kind == EVENT_DESCRIPTOR || ev->kind == EVENT_THROTTLE || ev->kind == EVENT_LOST ||
	       ev->kind == EVENT_LOST_SAMPLES || is_point(state, ev);
}

static bool wants(const void *state, const struct event *ev)
{
	const struct switches *s = state;

	/* What lies before the window says in which state it begins. */
	switch (ev->kind) {
	case EVENT_SAMPLE:
		return s->stretches.events.wall != PROFILE_NONE || is_off_cpu(s, ev) || is_point(s, ev);
	case EVENT_SWITCH:
	case EVENT_FORK:
	case EVENT_EXIT:
	case EVENT_TASK_TIMES:
	case EVENT_DESCRIPTOR:
	case EVENT_THROTTLE:
		return true;
	default:
		return false;
	}
}

/* ---- spans ---- */

static uint32_t thread_of(const struct switches *s, struct life *life)
{
	if (life->thread == PROFILE_NONE)
		life->thread = s->out->thread(s->out->context, life->pid, life->tid);
	return life->thread;
}

static bool is_wanted(const struct switches *s, struct life *life)
{
	if (s->request->recording->by_cgroup && !life->seen)
		return false;
	return !s->out->wanted || s->out->wanted(s->out->context, thread_of(s, life));
}

static void put(struct switches *s, struct life *life, struct stretch *at)
{
	if (!derive_looked_at(s->request, at->from_ns, at->to_ns) || !is_wanted(s, life))
		return;
	at->thread = thread_of(s, life);
	life->stretches.pid = life->pid;
	if (!stretches_put(&s->stretches, &life->stretches, at) && at->on_cpu)
		life->running = (struct held_stacks){ 0 };
}

/* A stretch of @life that ends now, at @to_ns. */
static struct stretch stretch_of(const struct switches *s, const struct life *life, uint64_t to_ns)
{
	return (struct stretch){ .state = life->state,
				 .from_ns = life->since_ns,
				 .to_ns = MAX(to_ns, life->since_ns),
				 .leaving = life->leaving,
				 .waker = life->waker,
				 .waker_stack = life->waker_stack,
				 .is_new = life->born_ns > s->start_ns && life->since_ns == life->born_ns,
				 .unwatched = life->unwatched };
}

static void put_part(struct switches *s, struct life *life, uint64_t to_ns)
{
	struct stretch at = stretch_of(s, life, to_ns);

	put(s, life, &at);
}

/* From when on it was woken, it waited for a CPU only. */
static void put_wait(struct switches *s, struct life *life, uint64_t to_ns)
{
	if (life->woken_ns > life->since_ns && life->woken_ns < to_ns) {
		put_part(s, life, life->woken_ns);
		life->since_ns = life->woken_ns;
		life->state = PROFILE_STATE_RUNNABLE;
	}
	put_part(s, life, to_ns);
	life->woken_ns = 0;
	life->waker = PROFILE_NONE;
	life->waker_stack = 0;
}

static void put_run(struct switches *s, struct life *life, uint64_t to_ns)
{
	struct stretch at = stretch_of(s, life, to_ns);

	at.on_cpu = true;
	at.cpu = life->cpu;
	at.running = life->running;
	life->ran_ns += at.to_ns - at.from_ns;
	if (s->any) /* without switches it is not known to have run all along */
		put(s, life, &at);
	life->running.list.len = 0;
}

/* At @now_ns what @life does goes on, but since records were lost it may be something else. */
static void doubt_now(struct switches *s, struct life *life, uint64_t now_ns)
{
	struct stretch at = stretch_of(s, life, now_ns);
	uint64_t from_ns, to_ns;

	at.on_cpu = life->now == ON_CPU;
	at.cpu = life->cpu;
	if ((life->now != ON_CPU && life->now != WAITING) || !stretches_find_doubt(&s->stretches, &life->stretches, &at, &from_ns, &to_ns))
		return;
	life->stretches.judged = s->stretches.losses.items.len;
	if (life->now == WAITING) {
		put_part(s, life, from_ns);
		life->since_ns = from_ns;
		life->state = PROFILE_STATE_LOST;
		life->leaving = (struct held_stack){ 0 };
		return;
	}
	put_run(s, life, from_ns);

	struct stretch lost = { .state = PROFILE_STATE_LOST, .from_ns = from_ns, .to_ns = to_ns, .waker = PROFILE_NONE };

	put(s, life, &lost);
	life->since_ns = to_ns;
}

/* The account of @life at @now_ns says that records of it were lost, or (@whole) that none were. */
static void settle_losses(struct switches *s, struct life *life, bool whole, uint64_t now_ns)
{
	stretches_settle(&s->stretches, &life->stretches, whole);
	if (!whole)
		doubt_now(s, life, now_ns);
	life->stretches.judged = s->stretches.losses.items.len;
}

/* ---- lives ---- */

static struct life *life_of(struct switches *s, uint32_t pid, uint32_t tid)
{
	bool fresh;
	uint64_t *number = map_put(&s->numbers, tid, &fresh);

	if (fresh) {
		vec_push(&s->lives, ((struct life){ .pid = pid,
						    .tid = tid,
						    .thread = PROFILE_NONE,
						    .waker = PROFILE_NONE,
						    .cpu = EVENT_NO_CPU,
						    .since_ns = s->start_ns,
						    .born_ns = s->start_ns,
						    .state = PROFILE_STATE_BLOCKED }));
		*number = s->lives.len;
	}
	return &s->lives.items[*number - 1];
}

static struct life *find(struct switches *s, const struct derive_event *event)
{
	struct life *life = life_of(s, event->ev->pid, event->ev->tid);

	if (event->thread != PROFILE_NONE) {
		life->thread = event->thread;
		life->pid = event->ev->pid;
	}
	return life;
}

static void begin_wait(struct life *life, enum profile_state state, uint64_t time_ns)
{
	life->now = WAITING;
	life->unwatched = false;
	life->woken_ns = 0;
	life->waker = PROFILE_NONE;
	life->waker_stack = 0;
	life->state = state;
	life->since_ns = time_ns;
}

/* Of records that were lost, or left out (@why): it came to a CPU or left one in between, and nothing tells when. */
static void put_gap(struct switches *s, struct life *life, uint64_t to_ns, enum profile_state why)
{
	struct held_stack leaving = life->leaving;

	life->state = why;
	life->leaving = (struct held_stack){ 0 };
	put_wait(s, life, to_ns);
	life->leaving = leaving;
}

/* The wait that began before the recording: its stack is not known, unless it was looked at. */
static enum profile_state earlier(const struct life *life)
{
	return life->found || life->unwatched ? PROFILE_STATE_BLOCKED : PROFILE_STATE_EARLIER;
}

static void take_in(struct switches *s, struct life *life, const struct event *ev)
{
	if (life->now == NOT_KNOWN)
		life->state = earlier(life);
	if (life->now == ON_CPU)
		put_gap(s, life, ev->time_ns, PROFILE_STATE_LOST);
	else
		put_wait(s, life, ev->time_ns);
	life->now = ON_CPU;
	life->turns++;
	life->since_ns = ev->time_ns;
	life->leaving = (struct held_stack){ 0 };
	life->found = life->unwatched = false;
	life->running.list.len = 0;
	life->cpu = ev->cpu;
}

/* What it did before its first switch is known now: it @ran or not. */
static void close_readings(struct life *life, bool ran)
{
	struct reading *const readings[] = { &life->first, &life->last, &life->agreed };

	for (size_t i = 0; i < ARRAY_LEN(readings); i++) {
		if (readings[i]->own_is_open && ran && readings[i]->time_ns > life->since_ns)
			readings[i]->own_run_ns += readings[i]->time_ns - life->since_ns;
		readings[i]->own_is_open = false;
	}
}

/* What a thread did from @from_ns on is not known before its next switch. */
static void begin_unwatched(struct life *life, uint64_t from_ns)
{
	life->now = NOT_KNOWN;
	life->since_ns = from_ns;
	life->leaving = (struct held_stack){ 0 };
	life->found = false;
	life->unwatched = true;
	life->woken_ns = 0;
	life->waker = PROFILE_NONE;
	life->waker_stack = 0;
}

/*
 * What it was known to do ends where switches were left out. Without a switch before, it waited all along where it was found; what
 * was found since may be another wait.
 */
static void close_watched(struct switches *s, struct life *life)
{
	uint64_t to_ns = MAX(s->left_out_ns, life->since_ns);

	if (life->found && life->found_ns >= to_ns) {
		life->leaving = (struct held_stack){ 0 };
		life->found = false;
	}
	if (life->now == NOT_KNOWN && life->found) {
		life->now = WAITING;
		life->state = PROFILE_STATE_BLOCKED;
		life->unwatched = false;
	}
	if (life->now == WAITING)
		put_wait(s, life, to_ns);
	else if (life->now == ON_CPU)
		put_run(s, life, to_ns);
	begin_unwatched(life, life->now == NOT_KNOWN ? life->since_ns : to_ns);
}

/* If its account at @ev has turns on a CPU without a switch: the time since then as sums. */
static void settle_unwatched(struct switches *s, struct life *life, const struct event *ev)
{
	const struct reading *before = life->last.is_known ? &life->last : &life->first;
	uint64_t run_ns = ev->task_times.run_ns, wait_ns = ev->task_times.wait_ns;

	if (!before->is_known || run_ns < before->run_ns || wait_ns < before->wait_ns ||
	    ev->task_times.turns - before->turns == life->turns - before->own_turns)
		return;
	close_watched(s, life);

	uint64_t own_ns = life->ran_ns - MIN(before->own_run_ns, life->ran_ns);
	uint64_t left_ns = ev->time_ns - MIN(life->since_ns, ev->time_ns);
	uint64_t ran_ns = MIN(run_ns - before->run_ns - MIN(own_ns, run_ns - before->run_ns), left_ns);
	uint64_t ready_ns = MIN(wait_ns - before->wait_ns, left_ns - ran_ns);

	put_run(s, life, life->since_ns + ran_ns);
	life->since_ns += ran_ns;
	life->state = PROFILE_STATE_RUNNABLE;
	put_part(s, life, life->since_ns + ready_ns);
	life->since_ns += ready_ns;
	life->state = PROFILE_STATE_BLOCKED;
	put_part(s, life, ev->time_ns);
	begin_unwatched(life, ev->time_ns);
}

/* An account lags behind by a tick, and leaves out what interrupts took. */
#define ACCOUNT_LAG_NS 20000000

/*
 * Does its account at @ev know of as many turns on a CPU as its records since the one that did? That it left one for good shows in
 * no turn, but in the time that it ran.
 */
static bool agrees(const struct life *life, const struct event *ev)
{
	const struct reading *before = life->agreed.is_known ? &life->agreed : &life->first;
	uint64_t running_ns = life->now == ON_CPU && ev->time_ns > life->since_ns ? ev->time_ns - life->since_ns : 0;
	uint64_t own_ns = life->ran_ns + running_ns - MIN(before->own_run_ns, life->ran_ns + running_ns);

	return before->is_known && ev->task_times.turns - before->turns == life->turns - before->own_turns &&
	       own_ns <= ev->task_times.run_ns - MIN(before->run_ns, ev->task_times.run_ns) + ACCOUNT_LAG_NS;
}

static void take_times(struct switches *s, struct life *life, const struct event *ev)
{
	s->stretches.accounts = true;

	/* A ring may tell of a loss after the account has noticed it. */
	bool whole = agrees(life, ev), is_settled = whole || s->left_out_ns || life->stretches.judged < s->stretches.losses.items.len;

	if (life->now != ENDED)
		settle_losses(s, life, whole, ev->time_ns);
	if (s->left_out_ns && life->now != ENDED)
		settle_unwatched(s, life, ev);

	uint64_t running_ns = life->now == ON_CPU && ev->time_ns > life->since_ns ? ev->time_ns - life->since_ns : 0;
	struct reading reading = {
		.time_ns = ev->time_ns,
		.run_ns = ev->task_times.run_ns,
		.wait_ns = ev->task_times.wait_ns,
		.turns = ev->task_times.turns,
		.own_turns = life->turns,
		.own_run_ns = life->ran_ns + running_ns,
		.is_known = true,
		.own_is_open = life->now == NOT_KNOWN,
	};

	if (life->now == ENDED)
		return;
	life->last = reading;
	if (is_settled || !life->first.is_known)
		life->agreed = reading;
	if (!life->first.is_known)
		life->first = reading;
}

/* Hold both accounts of @life, which is over at @end_ns, against each other. */
static void add_account(struct switches *s, struct life *life, uint64_t end_ns)
{
	const struct reading *a = &life->first, *b = &life->last;
	struct profile_account *sum = &s->sums.account;

	/* Of the part of a recording only one of them is known. */
	if (!a->is_known || !b->is_known || s->request->from_ns > s->start_ns || s->request->to_ns < s->end_ns || s->request->nwindows > 1 ||
	    b->run_ns < a->run_ns || b->wait_ns < a->wait_ns || b->own_run_ns < a->own_run_ns || !is_wanted(s, life))
		return;
	sum->threads++;
	/* Had it run since it was last looked at, there would be another reading. */
	sum->ns += (life->now == ENDED ? b->time_ns : MAX(b->time_ns, end_ns)) - a->time_ns;
	sum->run_ns += b->run_ns - a->run_ns;
	sum->wait_ns += b->wait_ns - a->wait_ns;
	sum->own_run_ns += b->own_run_ns - a->own_run_ns;
}

/* A record that follows the tracepoint which has said the same, at the first one: it makes tracepoints stacks only. */
static bool is_echo(struct switches *s, struct life *life, const struct event *ev)
{
	bool by_point = life->by_point;

	s->switch_event = PROFILE_NONE;
	life->by_point = false;
	return by_point && life->now == (ev->cpu_switch.in ? ON_CPU : WAITING);
}

static void take_switch(struct switches *s, struct life *life, const struct event *ev)
{
	s->any = true;
	if (life->now == ENDED || s->left_out_ns)
		return; /* its last way off the CPU */
	close_readings(life, !ev->cpu_switch.in);
	if (ev->cpu_switch.in) {
		take_in(s, life, ev);
		return;
	}
	if (life->now == WAITING)
		put_gap(s, life, ev->time_ns, PROFILE_STATE_LOST);
	else
		put_run(s, life, ev->time_ns);
	begin_wait(life, ev->cpu_switch.preempted ? PROFILE_STATE_RUNNABLE : PROFILE_STATE_BLOCKED,
		   ev->time_ns);
}

#define DESCRIPTOR_MAX (1u << 20) /* higher numbers are addresses */

static void note_period(struct switches *s, const struct event *ev)
{
	if (ev->sample.period > 1)
		s->sums.thinned = MAX(s->sums.thinned, ev->sample.period);
}

/* A sample that no CPU took: the recorder looked at a thread that waited, and had no stack. */
static void take_found(struct switches *s, struct life *life, struct held_stack held, uint64_t time_ns)
{
	if (life->now != WAITING && life->now != NOT_KNOWN)
		return;
	if (life->now == WAITING && life->state == PROFILE_STATE_LOST) {
		put_wait(s, life, time_ns);
		begin_wait(life, PROFILE_STATE_BLOCKED, time_ns);
	}
	if (!life->leaving.is_known) {
		life->leaving = held;
		life->found_ns = time_ns;
	}
	/* It has not run since before the recording began: what it waits for is known all the same. */
	s->any |= life->now == NOT_KNOWN;
	life->found = true;
}

/* The number that may be a descriptor which the stack of a wait waits for. */
static uint32_t descriptor_of(const struct event_sample *sample)
{
	return sample->addr && sample->addr <= DESCRIPTOR_MAX ? (uint32_t)sample->addr - 1 : PROFILE_NONE;
}

static void take_sample(struct switches *s, struct life *life, const struct derive_event *event)
{
	struct held_stack held = {
		.stack = event->stack,
		.cpu = event->ev->cpu,
		.stop = event->stop,
		.user = event->ev->sample.mode == EVENT_MODE_USER,
		.is_known = true,
		.place = event->place,
		.descriptor = descriptor_of(&event->ev->sample),
	};

	if (is_off_cpu(s, event->ev) && event->ev->cpu == EVENT_NO_CPU) {
		take_found(s, life, held, event->ev->time_ns);
		return;
	}
	if (is_off_cpu(s, event->ev)) {
		note_period(s, event->ev);
		if (life->now != WAITING && !s->left_out_ns)
			life->leaving = held;
		return;
	}
	life->sampled = true;
	if (s->stretches.events.wall != PROFILE_NONE && event->ev->sample.event == 0)
		vec_push(&life->running.list, held);
}

static void end_life(struct switches *s, struct life *life, uint64_t to_ns)
{
	uint64_t looked_at_ns = derive_looked_at(s->request, life->born_ns, to_ns);

	if (!looked_at_ns || !is_wanted(s, life))
		return;
	s->sums.threads++;
	s->sums.life_ns += looked_at_ns;
}

/* The first one counts: it can run from then on. */
static void take_waking(struct switches *s, const struct derive_event *event, const struct sched_point *point)
{
	const uint64_t *number = map_get(&s->numbers, point->woken_tid);

	if (!number)
		return;

	struct life *life = &s->lives.items[*number - 1];
	uint32_t stack = derive_has_callers(s->request->profile, event->stack) ? event->stack : 0;

	/* Some have a stack: a second sample of the same waking. */
	if (life->woken_ns && stack && !life->waker_stack && life->waker == event->thread && !s->left_out_ns &&
	    event->ev->time_ns - life->woken_ns < SAME_WAKING_NS) {
		life->waker_stack = stack;
		return;
	}
	if (s->left_out_ns || life->woken_ns || life->state == PROFILE_STATE_RUNNABLE ||
	    (life->now != WAITING && life->now != NOT_KNOWN))
		return;
	life->woken_ns = event->ev->time_ns;
	life->waker = point->kind == SCHED_POINT_WAKING ? event->thread : PROFILE_NONE;
	life->waker_stack = point->kind == SCHED_POINT_WAKING ? stack : 0;
}

static void share_out_all(struct switches *s, struct life *life);

/* What it did until @to_ns since switches were left out, or its account was last read, nothing tells. */
static void put_left_out(struct switches *s, struct life *life, uint64_t to_ns)
{
	close_watched(s, life);
	put_gap(s, life, to_ns, PROFILE_STATE_LEFT_OUT);
	begin_unwatched(life, to_ns);
}

static void end_now(struct switches *s, struct life *life, uint64_t time_ns)
{
	if (s->left_out_ns && life->now != ENDED)
		put_left_out(s, life, time_ns);
	switch (life->now) {
	case ENDED:
		return;
	case WAITING:
		if (s->any) /* no thread ends off a CPU: its switch to one was lost */
			put_gap(s, life, time_ns, PROFILE_STATE_LOST);
		break;
	default:
		put_run(s, life, time_ns);
	}
	end_life(s, life, time_ns);
	life->now = ENDED;
	settle_losses(s, life, false, time_ns);
	add_account(s, life, time_ns);
}

/* A thread of which nothing is known yet but its number and, if it is new, when it began. */
static void begin_life(struct switches *s, struct life *life, const struct event *fork)
{
	uint64_t time_ns = fork->time_ns;

	life->pid = fork->pid;
	life->thread = PROFILE_NONE; /* somebody else, perhaps */
	life->now = NOT_KNOWN;
	life->cpu = EVENT_NO_CPU;
	life->leaving = (struct held_stack){ 0 };
	life->sampled = life->seen = life->found = life->unwatched = false;
	life->since_ns = life->born_ns = s->start_ns;
	life->woken_ns = 0;
	life->waker = PROFILE_NONE;
	life->waker_stack = 0;
	life->state = PROFILE_STATE_BLOCKED;
	life->ran_ns = life->turns = life->exit_ns = 0;
	life->stretches.judged = s->stretches.losses.items.len;
	life->first = life->last = life->agreed = (struct reading){ 0 };
	if (time_ns) { /* it has not been on a CPU yet */
		life->first = (struct reading){ .time_ns = time_ns, .is_known = true };
		life->born_ns = time_ns;
		begin_wait(life, PROFILE_STATE_RUNNABLE, time_ns);
	}
}

/* @life's number may have been another thread's, whose end was lost. */
static void take_fork(struct switches *s, struct life *life, const struct event *ev)
{
	if (life->now == ON_CPU || life->now == WAITING) {
		if (!ev->time_ns)
			return; /* a list of who lives, and this one is known */
		end_now(s, life, life->exit_ns ? MAX(life->exit_ns, life->since_ns) : ev->time_ns);
	}
	share_out_all(s, life);
	begin_life(s, life, ev);
	if (ev->time_ns && ev->tid == ev->pid)
		descriptors_forget(s->stretches.descriptors, ev->pid);
}

/* What it did while it leaves a CPU is known; that it leaves it, records of switches tell, too. */
static void hold_stack(struct switches *s, struct life *life, const struct derive_event *event)
{
	if (life->now == WAITING || s->left_out_ns || !derive_has_callers(s->request->profile, event->stack))
		return;
	life->leaving = (struct held_stack){ .stack = event->stack, .cpu = event->ev->cpu, .stop = event->stop,
					     .is_known = true, .descriptor = PROFILE_NONE };
}

/* Both threads of it: @point is all that is known of the one that comes. */
static void switch_by_point(struct switches *s, struct life *leaves, const struct event *ev, const struct sched_point *point)
{
	struct event at = { .kind = EVENT_SWITCH, .time_ns = ev->time_ns, .cpu = ev->cpu,
			    .cpu_switch = { .preempted = point->left == SCHED_POINT_READY } };
	struct life *comes;

	if (leaves && point->left == SCHED_POINT_ENDED)
		end_now(s, leaves, ev->time_ns);
	else if (leaves)
		take_switch(s, leaves, &at);
	if (leaves)
		leaves->by_point = leaves->seen = true;
	if (!point->next_tid)
		return;
	comes = life_of(s, point->next_tid, point->next_tid);
	at.cpu_switch = (struct event_switch){ .in = true };
	take_switch(s, comes, &at);
	comes->by_point = comes->seen = true;
}

static void take_switch_point(struct switches *s, const struct derive_event *event, const struct sched_point *point)
{
	const struct event *ev = event->ev;
	const uint64_t *number = map_get(&s->numbers, point->prev_tid);
	struct life *life = number ? &s->lives.items[*number - 1] : NULL;

	if (ev->tid && ev->tid != UINT32_MAX)
		life = find(s, event);
	if (life)
		hold_stack(s, life, event);
	if (ev->sample.event == s->switch_event)
		switch_by_point(s, life, ev, point);
	else if (life)
		note_period(s, ev);
}

static void take_point(struct switches *s, const struct derive_event *event)
{
	struct sched_point point;

	if (!sched_points_read(s->points, event->ev, &point))
		return;
	if (point.kind == SCHED_POINT_SWITCH)
		take_switch_point(s, event, &point);
	else
		take_waking(s, event, &point);
}

/* Tracepoints tell of the switch after which it is gone. */
static void take_exit(struct switches *s, struct life *life, const struct event *ev)
{
	if (s->switch_event == PROFILE_NONE || life->now == ENDED || life->now == NOT_KNOWN) {
		end_now(s, life, ev->time_ns);
		return;
	}
	life->exit_ns = ev->time_ns;
	thread_of(s, life); /* under the name that it has now */
}

/* The recorder left switches out from here on, or records them again. */
static void take_guard(struct switches *s, const struct event *ev)
{
	uint64_t from_ns = s->left_out_ns, to_ns = ev->time_ns;

	if (!ev->throttle.by_recorder || ev->throttle.stopped == (s->left_out_ns != 0))
		return;
	if (ev->throttle.stopped) {
		s->left_out_ns = ev->time_ns;
		s->stretches.left_out = true;
		return;
	}
	/* As in files of perf, which have no account. */
	for (size_t i = 0; i < s->lives.len && !s->stretches.accounts; i++)
		if (s->lives.items[i].now != ENDED)
			put_left_out(s, &s->lives.items[i], to_ns);
	s->left_out_ns = 0;
	s->sums.unwatched_ns += derive_looked_at(s->request, from_ns, to_ns);
}

/* Records of switches have rings without samples, where they are not tracepoints. */
static void take_loss(struct switches *s, const struct event *ev)
{
	s->sums.stacks_lost |= derive_is_loss(ev);
	if (ev->kind == EVENT_LOST && (ev->lost.event == RECORDING_NO_EVENT || ev->lost.event == s->switch_event))
		switch_losses_add(&s->stretches.losses, s->request->recording->by_cpu ? ev->cpu : EVENT_NO_CPU, ev->time_ns);
}

static void take(void *state, const struct derive_event *event)
{
	struct switches *s = state;
	const struct event *ev = event->ev;
	struct life *life;

	if (!s->start_ns)
		s->start_ns = ev->time_ns;
	s->newest_ns = MAX(s->newest_ns, ev->time_ns);
	if (is_point(s, ev)) {
		take_point(s, event);
		return;
	}
	if (ev->kind == EVENT_THROTTLE) {
		take_guard(s, ev);
		return;
	}
	if (ev->kind == EVENT_LOST || ev->kind == EVENT_LOST_SAMPLES) {
		take_loss(s, ev);
		return;
	}
	if (ev->kind == EVENT_DESCRIPTOR) {
		descriptors_look(s->stretches.descriptors, ev->pid, ev->descriptor.number, ev->time_ns,
				 profile_string(s->request->profile, ev->descriptor.name));
		return;
	}
	if (!ev->tid || ev->tid == UINT32_MAX || (ev->kind != EVENT_SAMPLE && !wants(s, ev)))
		return;
	life = find(s, event);
	life->seen |= ev->kind != EVENT_FORK && ev->kind != EVENT_EXIT;
	if (ev->kind == EVENT_SWITCH)
		switch_losses_record(&s->stretches.losses, ev->cpu, ev->time_ns);
	switch (ev->kind) {
	case EVENT_SAMPLE:
		take_sample(s, life, event);
		break;
	case EVENT_SWITCH:
		if (!is_echo(s, life, ev))
			take_switch(s, life, ev);
		break;
	case EVENT_FORK:
		take_fork(s, life, ev);
		break;
	case EVENT_TASK_TIMES:
		take_times(s, life, ev);
		break;
	default: /* EVENT_EXIT */
		take_exit(s, life, ev);
	}
}

/* Waits without stacks, to those that stand for them; without any, they are a row of their own. */
static void share_out_all(struct switches *s, struct life *life)
{
	stretches_share_out(&s->stretches, &life->stretches);
}

/* Did its last account agree with its records, of which none followed? */
static bool is_confirmed(const struct life *life)
{
	return life->last.is_known && life->last.time_ns == life->agreed.time_ns && life->turns == life->last.own_turns;
}

static void finish(void *state)
{
	struct switches *s = state;
	uint64_t end_ns = s->request->recording->end_ns;

	if (!end_ns)
		end_ns = s->newest_ns;
	if (s->left_out_ns)
		take_guard(s, &(struct event){ .time_ns = end_ns, .throttle.by_recorder = true });
	uint64_t from_ns = s->start_ns, to_ns = end_ns;

	s->sums.window_ns = derive_looked_at(s->request, from_ns, to_ns);
	for (size_t i = 0; i < s->lives.len; i++) {
		struct life *life = &s->lives.items[i];

		if (life->exit_ns)
			end_now(s, life, MAX(life->exit_ns, life->since_ns));
		if (life->now != ENDED) {
			end_life(s, life, end_ns);
			add_account(s, life, end_ns);
		}
		if (!s->any)
			continue;
		/* Without a switch it did the same all along. */
		if (life->now == ON_CPU || (life->now == NOT_KNOWN && life->sampled && !life->unwatched))
			put_run(s, life, end_ns);
		else if (life->now != ENDED) {
			if (life->now == NOT_KNOWN)
				life->state = earlier(life);
			put_wait(s, life, end_ns);
		}
		life->now = ENDED;
		/* Had it run since its account was last read, there would be another reading. */
		settle_losses(s, life, is_confirmed(life), end_ns);
		/* Last: the wait that is not over may have no stack either. */
		share_out_all(s, life);
	}
}

static void get_lives(const void *state, struct profile_lives *ret)
{
	const struct switches *s = state;

	*ret = s->sums;
	ret->switches = s->any;
}

const struct derive_kind derive_switches = {
	.name = "switches",
	.adds = { { .name = DERIVE_OFF_CPU, .unasked = true }, { .name = DERIVE_WALL }, { .name = DERIVE_OFF_WAKE } },
	.begin = begin,
	.wants = wants,
	.wants_anyones = is_anyones,
	.event = take,
	.finish = finish,
	.lives = get_lives,
	.free = free_switches,
};
