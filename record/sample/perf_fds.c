/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_fds.c - the first descriptor on a CPU is mapped; the others there are redirected to its ring.
 */
#include "record/sample/perf_fds.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define SIDE_LEN_MAX (1ULL << 22) /* a fifth of a second of a program that only maps files */
#define SIDE_LEN_MIN (1ULL << 15)
#define SIDE_WAKEUP  (1ULL << 18) /* most that a side-band ring holds before the reader is woken */
#define SIDE_ALL_MAX (1ULL << 26)  /* limit for all of them, as is 1/256 of the memory; each may have 1 MiB */
#define RING_LEN_MIN (1ULL << 17) /* holds one of the largest records while another is read */

#define GROUP_MAX    64 /* events in a group */

struct words {
	uint64_t items[3 + 3 * GROUP_MAX];
	size_t at, len;
};

#ifndef PERF_FORMAT_LOST
#define PERF_FORMAT_LOST (1U << 4)
#endif

static const struct ring *find_ring(const struct ring_list *rings, uint32_t cpu)
{
	for (size_t i = 0; i < rings->len; i++) {
		if (rings->items[i].cpu == cpu)
			return &rings->items[i];
	}
	return NULL;
}

static void remember(struct perf_fds *s, struct perf_fd perf_fd)
{
	if (ioctl(perf_fd.fd, PERF_EVENT_IOC_ID, &perf_fd.id) == 0)
		*map_put(&s->by_id, perf_fd.id, NULL) = s->items.len + 1;
	vec_push(&s->items, perf_fd);
}

/* Map the ring of @cpu for @fd, the first event there, or send what @fd has to say to the ring of the first. */
static struct err *attach_ring(struct perf_fds *s, struct ring_list *rings, int fd, uint32_t cpu,
			       uint64_t len)
{
	const struct ring *known = find_ring(rings, cpu);
	struct ring ring = { .fd = -1 };

	if (known) {
		if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, known->fd) == 0)
			return NULL;
		return err_system(errno, "cannot share the ring of CPU %" PRIu32, cpu);
	}
	struct err *err = ring_open(&ring, fd, cpu, len);

	if (!err)
		vec_push(rings, ring);
	else
		s->refused = err_errno(err) == EPERM || err_errno(err) == ENOMEM;
	return err;
}

/* One of the values that a read gives, in the order of perf_event_open(2), "read format". */
static uint64_t take(struct words *words)
{
	return words->at < words->len ? words->items[words->at++] : 0;
}

static bool read_open(const struct perf_fds *s, const struct perf_fd *perf_fd, struct perf_fd_reading *ret)
{
	uint64_t format = perf_fd->event == PERF_FD_SIDE_BAND ? s->plan->side_band.read_format
							    : s->plan->events[perf_fd->event].attr.read_format;
	bool group = format & PERF_FORMAT_GROUP;
	struct words words = { 0 };
	ssize_t got = read(perf_fd->fd, words.items, sizeof(words.items));

	if (got < 8)
		return false;
	words.len = (size_t)got / 8;
	*ret = (struct perf_fd_reading){ .value = group ? 0 : take(&words) };

	uint64_t count = group ? take(&words) : 1;

	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		ret->enabled_ns = take(&words);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		ret->running_ns = take(&words);
	for (uint64_t i = 0; i < count && words.at < words.len; i++) {
		uint64_t value = group ? take(&words) : ret->value;
		uint64_t id = format & PERF_FORMAT_ID ? take(&words) : perf_fd->id;
		uint64_t lost = format & PERF_FORMAT_LOST ? take(&words) : 0;

		if (id == perf_fd->id) {
			ret->value = value;
			ret->lost = lost;
		}
	}
	return true;
}

/* @perf_fd is closed, for a while or for good. */
static void close_one(const struct perf_fds *s, struct perf_fd *perf_fd)
{
	struct perf_fd_reading reading;

	if (perf_fds_read(s, perf_fd, &reading))
		perf_fd->closed = reading;
	close(perf_fd->fd);
	perf_fd->fd = -1;
}

/*
 * While any event follows switches, even a disabled one, the kernel walks its lists at every switch of every thread: a
 * ping-pong ran at 0.80 of its speed. So it is closed. If it cannot be reopened because its CPU is offline, the next
 * switch-on tries again.
 */
static struct err *turn_switches(struct perf_fds *s, struct perf_fd *perf_fd, bool on)
{
	const struct event_target at = { .pid = -1, .cpu = (int)perf_fd->cpu, .cgroup_fd = s->cgroup_fd };
	int fd;

	if (on == (perf_fd->fd >= 0))
		return NULL;
	if (!on) {
		close_one(s, perf_fd);
		return NULL;
	}
	struct err *err = event_plan_open_side_band(s->plan, EVENT_SIDE_SWITCHES, &at, &fd);

	if (!err && ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, find_ring(&s->side, perf_fd->cpu)->fd) < 0) {
		err = err_system(errno, "cannot have its records in the ring of CPU %" PRIu32, perf_fd->cpu);
		close(fd);
	}
	if (!err)
		perf_fd->fd = fd;
	return err;
}

static struct err *open_side_part(struct perf_fds *s, const struct event_target *at, enum event_side part)
{
	int fd;
	struct err *err = event_plan_open_side_band(s->plan, part, at, &fd);

	if (err)
		return err;
	err = attach_ring(s, &s->side, fd, (uint32_t)at->cpu, s->side_len);
	if (err) {
		close(fd);
		return err;
	}
	/* It may replace one whose CPU went offline. */
	for (size_t i = 0; i < s->items.len && part == EVENT_SIDE_SWITCHES; i++)
		s->items.items[i].switches &= s->items.items[i].cpu != (uint32_t)at->cpu || s->items.items[i].task;
	remember(s, (struct perf_fd){ .fd = fd, .event = PERF_FD_SIDE_BAND, .cpu = (uint32_t)at->cpu,
				     .switches = part == EVENT_SIDE_SWITCHES });
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	if (part == EVENT_SIDE_SWITCHES && s->without_waits)
		return turn_switches(s, &s->items.items[s->items.len - 1], false);
	return NULL;
}

/* If CPUs are followed, switches have a separate descriptor, which can be closed, or limited to a cgroup. */
static struct err *open_side_band(struct perf_fds *s, const struct event_target *at)
{
	bool apart = at->pid == -1 && s->plan->side_band.context_switch;
	struct event_target switches = *at;
	struct err *err = open_side_part(s, at, apart ? EVENT_SIDE_TASKS : EVENT_SIDE_ALL);

	switches.cgroup_fd = s->cgroup_fd;
	return err || !apart ? err : open_side_part(s, &switches, EVENT_SIDE_SWITCHES);
}

/* The descriptor that leads @index on this very target, among those opened since @first. */
static int group_fd(const struct perf_fds *s, size_t first, uint32_t index)
{
	uint32_t leader = s->plan->events[index].leader;

	for (size_t i = first; leader != index && i < s->items.len; i++) {
		if (s->items.items[i].event == leader)
			return s->items.items[i].fd;
	}
	return -1;
}

/* Open a lean twin of the last one, for when the reader is behind; without it, more samples are lost then. */
static void open_lean(struct perf_fds *s, const struct event_target *at)
{
	struct perf_fd *full = &s->items.items[s->items.len - 1];
	struct perf_fd lean = {
		.event = full->event,
		.cpu = full->cpu,
		.mode = PERF_FD_LEAN,
	};

	if (at->pid != -1)
		return;
	lean.fd = event_plan_open_lean(s->plan, full->event, at, PERF_FDS_LEAN_STACK_LEN);
	if (lean.fd < 0)
		return;
	if (ioctl(lean.fd, PERF_EVENT_IOC_SET_OUTPUT, find_ring(&s->samples, lean.cpu)->fd) < 0) {
		close(lean.fd);
		return;
	}
	full->mode = PERF_FD_FULL;
	remember(s, lean);
}

/* Is @index, or its group leader, not open on this CPU? */
static bool is_refused(const struct perf_fds *s, uint32_t index, const struct event_target *at)
{
	for (size_t i = 0; i < s->refusals.len; i++) {
		const struct perf_fd_refusal *refusal = &s->refusals.items[i];

		if (refusal->cpu == (uint32_t)at->cpu &&
		    refusal->event == s->plan->events[index].leader)
			return true;
	}
	return false;
}

/*
 * May the refusal concern this CPU only, for example because another profiler holds its counters or breakpoints? Trying
 * the event on the other CPUs decides.
 */
static bool may_be_of_cpu(const struct err *err, const struct event_target *at)
{
	int errnum = err_errno(err);

	return at->pid == -1 && (errnum == EBUSY || errnum == ENOSPC || errnum == EOPNOTSUPP ||
				 errnum == EINVAL || errnum == EIO || errnum == ENXIO);
}

static struct err *open_samplers(struct perf_fds *s, const struct event_target *at)
{
	size_t first = s->items.len;

	for (uint32_t i = 0; i < s->plan->nevents; i++) {
		int fd;

		if (!event_desc_runs_on(s->plan->events[i].desc, (uint32_t)at->cpu) ||
		    is_refused(s, i, at))
			continue;
		struct err *err = event_plan_open(s->plan, i, at, group_fd(s, first, i), &fd);

		if (err && may_be_of_cpu(err, at)) {
			vec_push(&s->refusals,
				 ((struct perf_fd_refusal){ i, (uint32_t)at->cpu, err }));
			continue;
		}
		if (err)
			return err;
		err = attach_ring(s, &s->samples, fd, (uint32_t)at->cpu, s->ring_len);
		if (err) {
			close(fd);
			return err;
		}
		remember(s, (struct perf_fd){ .fd = fd, .event = i, .cpu = (uint32_t)at->cpu });
		open_lean(s, at);
	}
	return NULL;
}

/* An error of one CPU or task: go on with the others. */
static bool is_local(const struct err *err)
{
	int errnum = err_errno(err);

	return errnum == ESRCH || errnum == ENODEV;
}

typedef struct err *opener(struct perf_fds *s, const struct event_target *at);

static struct err *try_open(struct perf_fds *s, const struct event_target *at, opener *open_one,
			    struct diag *diag)
{
	struct err *err = open_one(s, at);

	if (!err || !is_local(err))
		return err;
	diag_err(diag, err);
	return NULL;
}

/* @open_one for every task on @cpu, or once if the whole system is the target. */
static struct err *open_cpu(struct perf_fds *s, const struct target *target, uint32_t cpu,
			    opener *open_one, struct diag *diag)
{
	struct event_target at = {
		.pid = -1,
		.cpu = (int)cpu,
		.cgroup_fd = open_one == open_samplers ? target->cgroup_fd : -1,
	};

	if (target->by_cpu)
		return try_open(s, &at, open_one, diag);
	for (size_t i = 0; i < target->tasks.len; i++) {
		at.pid = target->tasks.items[i].tid;
		struct err *err = try_open(s, &at, open_one, diag);

		if (err)
			return err;
	}
	return NULL;
}

static bool is_open(const struct perf_fds *s, uint32_t event)
{
	for (size_t i = 0; i < s->items.len; i++) {
		if (s->items.items[i].event == event)
			return true;
	}
	return false;
}

static void forget_refusals(struct perf_fds *s)
{
	for (size_t i = 0; i < s->refusals.len; i++)
		err_free(s->refusals.items[i].err);
	vec_deinit(&s->refusals);
}

/* An event that opened nowhere is an error; other refusals are warnings for each CPU. */
static struct err *settle_refusals(struct perf_fds *s, struct diag *diag)
{
	struct err *err = NULL;

	for (size_t i = 0; i < s->refusals.len && !err; i++) {
		struct perf_fd_refusal *refusal = &s->refusals.items[i];

		if (is_open(s, refusal->event))
			diag_err(diag, err_wrap(refusal->err, "not sampled on CPU %" PRIu32,
						refusal->cpu));
		else
			err = refusal->err;
		refusal->err = NULL;
	}
	forget_refusals(s);
	return err;
}

static struct err *open_all(struct perf_fds *s, const struct target *target, struct diag *diag)
{
	const struct cpu_list *side_cpus = target->by_cpu ? &target->online : &target->cpus;
	struct err *err = NULL;

	for (size_t i = 0; i < side_cpus->len && !err; i++)
		err = open_cpu(s, target, side_cpus->cpus[i], open_side_band, diag);
	for (size_t i = 0; i < target->cpus.len && !err; i++)
		err = open_cpu(s, target, target->cpus.cpus[i], open_samplers, diag);
	if (!err)
		err = settle_refusals(s, diag);
	if (!err && !s->samples.len)
		err = err_system(target->by_cpu ? ENODEV : ESRCH, "nothing is left to record");
	return err;
}

/* Wake the reader when a quarter of a ring is full: the rest gives it time to run. */
static void set_wakeups(struct event_plan *plan, const struct perf_fds *s)
{
	for (size_t i = 0; i < plan->nevents; i++) {
		plan->events[i].attr.watermark = 1;
		plan->events[i].attr.wakeup_watermark = (uint32_t)(s->ring_len / 4);
	}
	plan->side_band.watermark = 1;
	plan->side_band.wakeup_watermark = (uint32_t)MIN(s->side_len / 4, SIDE_WAKEUP);
}

static void tell_of_smaller_rings(const struct perf_fds *s, struct diag *diag)
{
	if (s->ring_len == s->asked_len)
		return;
	diag_err(diag, err_remedy(err_new(ERR_SYSTEM,
					  "the system allowed ring buffers of %" PRIu64
					  " KiB instead of %" PRIu64
					  " KiB for each CPU, which may lose samples",
					  s->ring_len / 1024, s->asked_len / 1024),
				  "raise /proc/sys/kernel/perf_event_mlock_kb or 'ulimit -l'"));
}

/* A lost sample is one sample less; a lost mapping leaves all samples in it without names. */
static uint64_t full_side_len(const struct target *target)
{
	const struct cpu_list *cpus = target->by_cpu ? &target->online : &target->cpus;
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t most = MIN(memory / 256, SIDE_ALL_MAX) / MAX(cpus->len, 1U), len = SIDE_LEN_MAX;

	while (len > most && len > SIDE_LEN_MAX / 4)
		len /= 2;
	return len;
}

struct err *perf_fds_open(struct event_plan *plan, const struct target *target, uint64_t ring_len,
			 struct diag *diag, struct perf_fds *ret)
{
	struct err *err;

	for (uint64_t len = ring_len;; len /= 2) {
		*ret = (struct perf_fds){
			.plan = plan,
			.asked_len = ring_len,
			.ring_len = len,
			.cgroup_fd = target->cgroup_fd,
			.side_len = len == ring_len ? full_side_len(target)
						    : MIN(MAX(len / 16, SIDE_LEN_MIN), SIDE_LEN_MAX),
		};
		set_wakeups(plan, ret);
		err = open_all(ret, target, diag);
		if (!err) {
			tell_of_smaller_rings(ret, diag);
			return NULL;
		}
		perf_fds_close(ret);
		/* Smaller rings help only if lockable memory is short. */
		if (!ret->refused || len / 2 < RING_LEN_MIN)
			break;
		err_free(err);
	}
	if (!ret->refused)
		return err;
	return err_remedy(err, "raise /proc/sys/kernel/perf_event_mlock_kb or 'ulimit -l', or "
			       "close other profilers");
}

static bool is_off(const struct perf_fds *s, uint32_t event)
{
	for (size_t i = 0; i < s->off.len; i++) {
		if (s->off.items[i] == event)
			return true;
	}
	return false;
}

/* Is it enabled only while switches are recorded? */
static bool is_of_waits(const struct perf_fds *s, const struct perf_fd *perf_fd)
{
	const struct event_desc *desc = perf_fd->event == PERF_FD_SIDE_BAND ? NULL : s->plan->events[perf_fd->event].desc;

	return desc && (event_desc_is_off_cpu(desc) || event_desc_is_waking(desc));
}

/* Is it the one of its twins that is in use on its CPU? */
static bool has_turn(const struct perf_fds *s, const struct perf_fd *perf_fd)
{
	if (perf_fd->paired && perf_fd->wakes != s->waking)
		return false;
	if (s->without_waits && is_of_waits(s, perf_fd))
		return false;
	if (s->narrow && !perf_fd->task && event_desc_is_off_cpu(s->plan->events[perf_fd->event].desc))
		return false;
	return perf_fd->mode == PERF_FD_ALWAYS ||
	       (perf_fd->mode == PERF_FD_LEAN) == find_ring(&s->samples, perf_fd->cpu)->lean;
}

static void set(const struct perf_fd *perf_fd, bool on)
{
	ioctl(perf_fd->fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

/* Enable or disable the sampling events from number @first on, as @s says. */
static void control_samplers(const struct perf_fds *s, size_t first)
{
	for (size_t i = first; i < s->items.len; i++) {
		const struct perf_fd *perf_fd = &s->items.items[i];

		if (perf_fd->event != PERF_FD_SIDE_BAND && !is_off(s, perf_fd->event))
			set(perf_fd, s->enabled && has_turn(s, perf_fd));
	}
}

static void set_period(struct perf_fd *perf_fd, uint64_t period)
{
	ioctl(perf_fd->fd, PERF_EVENT_IOC_PERIOD, &period);
	perf_fd->period = period;
}

/* Open a waking twin of number @number. */
static void open_waking(struct perf_fds *s, const struct target *target, size_t number)
{
	struct perf_fd twin = s->items.items[number];
	const struct ring *ring = find_ring(&s->samples, twin.cpu);
	const struct event_target at = {
		.pid = -1,
		.cpu = (int)twin.cpu,
		.cgroup_fd = target->cgroup_fd,
	};

	twin.fd = event_plan_open_waking(s->plan, twin.event, &at,
					 twin.mode == PERF_FD_LEAN ? PERF_FDS_LEAN_STACK_LEN : UINT32_MAX);
	if (twin.fd < 0)
		return;
	if (!ring || ioctl(twin.fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) < 0) {
		close(twin.fd);
		return;
	}
	if (twin.period)
		set_period(&twin, twin.period);
	twin.paired = twin.wakes = true;
	s->items.items[number].paired = true;
	s->can_wake = true;
	remember(s, twin);
}

/* Attach the filter to the sampling events from number @first on. */
static bool filter_samplers(const struct perf_fds *s, size_t first)
{
	for (size_t i = first; i < s->items.len; i++) {
		const struct perf_fd *perf_fd = &s->items.items[i];
		const struct ring *ring = find_ring(&s->samples, perf_fd->cpu);

		if (perf_fd->event == PERF_FD_SIDE_BAND || !s->plan->events[perf_fd->event].desc->samples)
			continue;
		if (!ring || !wake_filter_attach(s->filter, (size_t)(ring - s->samples.items), perf_fd->fd))
			return false;
	}
	return true;
}

bool perf_fds_filter(struct perf_fds *s, const struct wake_filter *filter)
{
	for (uint32_t i = 0; i < s->plan->nevents; i++)
		if (event_desc_is_off_cpu(s->plan->events[i].desc))
			return false;
	s->filter = filter;
	if (!filter_samplers(s, 0))
		s->filter = NULL;
	return s->filter;
}

/* The sampling events from number @first on replace older ones of their CPU: apply the changes made to those. */
static void take_over(struct perf_fds *s, const struct target *target, size_t first)
{
	size_t count = s->items.len;

	for (size_t i = first; i < count; i++) {
		struct perf_fd *perf_fd = &s->items.items[i];

		if (perf_fd->event == PERF_FD_SIDE_BAND)
			continue;
		for (size_t old = 0; old < first && !perf_fd->period; old++) {
			const struct perf_fd *before = &s->items.items[old];

			if (before->event == perf_fd->event && before->cpu == perf_fd->cpu && before->period)
				set_period(perf_fd, before->period);
		}
		if (s->was_waking)
			open_waking(s, target, i);
	}
	/* Without it no reader is woken there, and its stacks are late. */
	if (s->filter && !filter_samplers(s, first))
		return;
}

struct err *perf_fds_reopen(struct perf_fds *s, const struct target *target, uint32_t cpu,
			   bool enabled)
{
	struct diag none = { 0 };
	struct diag unheard = { 0 };

	perf_fds_narrow(s, false, &unheard); /* tasks have no events there */
	diag_deinit(&unheard);

	size_t first = s->items.len;
	struct err *err = NULL;

	if (find_ring(&s->side, cpu))
		err = open_cpu(s, target, cpu, open_side_band, &none);
	if (!err && find_ring(&s->samples, cpu))
		err = open_cpu(s, target, cpu, open_samplers, &none);
	if (!err)
		err = settle_refusals(s, &none);
	diag_deinit(&none);
	if (!err)
		take_over(s, target, first);
	if (!err && enabled)
		control_samplers(s, first);
	return err;
}

void perf_fds_close(struct perf_fds *s)
{
	for (size_t i = 0; i < s->samples.len; i++)
		ring_close(&s->samples.items[i]);
	for (size_t i = 0; i < s->side.len; i++)
		ring_close(&s->side.items[i]);
	for (size_t i = 0; i < s->items.len; i++)
		if (s->items.items[i].fd >= 0)
			close(s->items.items[i].fd);
	vec_deinit(&s->samples);
	vec_deinit(&s->side);
	vec_deinit(&s->items);
	vec_deinit(&s->off);
	forget_refusals(s);
	map_deinit(&s->by_id);
}

void perf_fds_enable(struct perf_fds *s)
{
	s->off.len = 0;
	s->enabled = true;
	control_samplers(s, 0);
}

void perf_fds_disable(struct perf_fds *s)
{
	s->enabled = false;
	control_samplers(s, 0);
}

void perf_fds_switch(struct perf_fds *s, size_t event, bool on)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->off.len; i++) {
		if (s->off.items[i] != event)
			s->off.items[kept++] = s->off.items[i];
	}
	s->off.len = kept;
	for (size_t i = 0; i < s->items.len; i++) {
		const struct perf_fd *perf_fd = &s->items.items[i];

		if (perf_fd->event == event)
			set(perf_fd, on && has_turn(s, perf_fd));
	}
	if (!on)
		vec_push(&s->off, (uint32_t)event);
}

void perf_fds_set_lean(struct perf_fds *s, struct ring *ring, bool lean)
{
	if (ring->lean == lean || !s->enabled)
		return;
	ring->lean = lean;
	for (size_t i = 0; i < s->items.len; i++) {
		const struct perf_fd *perf_fd = &s->items.items[i];

		if (perf_fd->cpu == ring->cpu && perf_fd->mode != PERF_FD_ALWAYS &&
		    !is_off(s, perf_fd->event))
			set(perf_fd, has_turn(s, perf_fd));
	}
}

/* hotplug reports offline CPUs. Warn once: each switch-on tries again. */
static void tell_no_switches(struct perf_fds *s, uint32_t cpu, struct err *err, struct diag *diag)
{
	if (!err || err_errno(err) == ENODEV || s->told_no_switches) {
		err_free(err);
		return;
	}
	s->told_no_switches = true;
	diag_err(diag, err_wrap(err, "switches on CPU %" PRIu32 " were not recorded for a while", cpu));
}

void perf_fds_set_waits(struct perf_fds *s, bool on, struct diag *diag)
{
	s->without_waits = !on;
	for (size_t i = 0; i < s->items.len; i++) {
		struct perf_fd *perf_fd = &s->items.items[i];

		if (perf_fd->event == PERF_FD_SIDE_BAND && perf_fd->switches && !perf_fd->task)
			tell_no_switches(s, perf_fd->cpu, turn_switches(s, perf_fd, on), diag);
		else if (is_of_waits(s, perf_fd) && !is_off(s, perf_fd->event))
			set(perf_fd, s->enabled && has_turn(s, perf_fd));
	}
}

static struct err *add_task_to(struct perf_fds *s, const struct event_target *at, const struct ring *ring, uint32_t event)
{
	struct perf_fd perf_fd = { .event = event, .cpu = ring->cpu, .switches = event == PERF_FD_SIDE_BAND, .task = true };
	struct err *err = perf_fd.switches ? event_plan_open_side_band(s->plan, EVENT_SIDE_SWITCHES, at, &perf_fd.fd)
					  : event_plan_open(s->plan, event, at, -1, &perf_fd.fd);

	if (err)
		return err;
	if (ioctl(perf_fd.fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) < 0) {
		err = err_system(errno, "cannot share the ring of CPU %" PRIu32, ring->cpu);
		close(perf_fd.fd);
		return err;
	}
	remember(s, perf_fd);
	set(&perf_fd, perf_fd.switches || s->enabled);
	return NULL;
}

struct err *perf_fds_add_task(struct perf_fds *s, pid_t tid, bool inherit)
{
	struct event_target at = { .pid = tid, .cgroup_fd = -1, .inherit = inherit };
	struct err *err = NULL;

	for (size_t i = 0; i < s->side.len && !err; i++) {
		at.cpu = (int)s->side.items[i].cpu;
		err = add_task_to(s, &at, &s->side.items[i], PERF_FD_SIDE_BAND);
	}
	for (size_t i = 0; i < s->samples.len && !err; i++) {
		at.cpu = (int)s->samples.items[i].cpu;
		for (uint32_t event = 0; event < s->plan->nevents && !err; event++)
			if (event_desc_is_off_cpu(s->plan->events[event].desc) && !is_off(s, event))
				err = add_task_to(s, &at, &s->samples.items[i], event);
	}
	return err;
}

void perf_fds_narrow(struct perf_fds *s, bool narrow, struct diag *diag)
{
	s->narrow = narrow;
	for (size_t i = 0; i < s->items.len; i++) {
		struct perf_fd *perf_fd = &s->items.items[i];

		if (perf_fd->task && !narrow && perf_fd->fd >= 0) {
			close_one(s, perf_fd); /* records in the ring still have its id */
		} else if (!perf_fd->task && perf_fd->switches) {
			tell_no_switches(s, perf_fd->cpu, turn_switches(s, perf_fd, !narrow && !s->without_waits), diag);
		} else if (!perf_fd->task && is_of_waits(s, perf_fd) && !is_off(s, perf_fd->event)) {
			set(perf_fd, s->enabled && has_turn(s, perf_fd));
		}
	}
}

void perf_fds_set_period(struct perf_fds *s, uint32_t event, uint32_t cpu, uint64_t period)
{
	for (size_t i = 0; i < s->items.len; i++)
		if (s->items.items[i].event == event && s->items.items[i].cpu == cpu && !s->items.items[i].task)
			set_period(&s->items.items[i], period);
}

bool perf_fds_set_waking(struct perf_fds *s, const struct target *target, bool waking)
{
	size_t count = s->items.len;

	if (waking == s->waking)
		return true;
	if (!target->by_cpu || (s->was_waking && !s->can_wake) || s->narrow)
		return false;
	for (size_t i = 0; i < count && !s->was_waking; i++) {
		if (s->items.items[i].event != PERF_FD_SIDE_BAND && !s->items.items[i].task)
			open_waking(s, target, i);
	}
	s->was_waking = true;
	s->waking = waking && s->can_wake;
	for (size_t i = 0; i < s->items.len && s->enabled; i++) {
		const struct perf_fd *perf_fd = &s->items.items[i];

		if (perf_fd->paired && !is_off(s, perf_fd->event))
			set(perf_fd, has_turn(s, perf_fd));
	}
	return s->waking == waking;
}

static const struct perf_fd *find_perf_fd(const struct perf_fds *s, uint64_t id)
{
	const uint64_t *position = map_get(&s->by_id, id);

	return position ? &s->items.items[*position - 1] : NULL;
}

uint32_t perf_fds_event(const struct perf_fds *s, uint64_t id)
{
	const struct perf_fd *perf_fd = find_perf_fd(s, id);

	return perf_fd && perf_fd->event != PERF_FD_SIDE_BAND ? perf_fd->event : RECORDING_NO_EVENT;
}

bool perf_fds_is_lean(const struct perf_fds *s, uint64_t id)
{
	const struct perf_fd *perf_fd = find_perf_fd(s, id);

	return perf_fd && perf_fd->mode == PERF_FD_LEAN;
}

bool perf_fds_read(const struct perf_fds *s, const struct perf_fd *perf_fd, struct perf_fd_reading *ret)
{
	struct perf_fd_reading open = { 0 };

	if (perf_fd->fd < 0 ? !perf_fd->closed.running_ns && !perf_fd->closed.lost : !read_open(s, perf_fd, &open))
		return false;
	if (perf_fd->task)
		open.enabled_ns = open.running_ns;
	*ret = (struct perf_fd_reading){
		.value = perf_fd->closed.value + open.value,
		.enabled_ns = perf_fd->closed.enabled_ns + open.enabled_ns,
		.running_ns = perf_fd->closed.running_ns + open.running_ns,
		.lost = perf_fd->closed.lost + open.lost,
	};
	return true;
}
