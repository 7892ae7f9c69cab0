/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drain.c - reads the side-band itself and leaves samples to the readers, which share no state that changes during a pass.
 *
 * Rounds: when a pass ends, everything that was written before the previous pass ended has been read,
 * so nothing still to come is older than the newest record seen by then (the rule of perf's FINISHED_ROUND). Samples
 * left for the next pass delay it.
 */
#include "record/sample/drain.h"

#include "formats/base/clock.h"
#include "formats/base/pool.h"
#include "record/sample/rename_limit.h"
#include "record/sample/side_record.h"
#include "record/sample/side_repair.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

/* With less in its rings, a reader runs in the caller's thread: waking another costs more. */
#define WORTH_A_THREAD (256 * 1024)

/* A side-band ring with less free space may have lost a record; the longest has a path of 4 KiB. */
#define SIDE_ROOM 8192

/* A reader's part of a pass. */
struct part {
	struct pool_task task;
	struct drain *drain;
	struct ring_reader *reader;
	struct err *err;
	bool submitted;
};

struct drain {
	struct perf_fds *perf_fds;
	struct journal *journal;
	struct attach *attach;
	struct task_filter *tasks;
	struct drain_options options;
	struct drain_totals totals;

	struct perf_layout *layouts; /* by event number, the side-band's last */
	const struct probe_args **probes; /* by event number */
	struct side_records side;       /* the side-band of this pass */
	struct side_repair repair;
	struct rename_limit renames;
	struct loss_counts loss_counts;
	struct group_counts group; /* of samples that carry counts */
	size_t nevents, nrings;

	uint64_t newest_ns;        /* record seen */
	uint64_t newest_before_ns; /* the same when the previous pass ended */
	uint64_t finished_ns;      /* older events can no longer be written in order */

	struct ring_scene scene;
	uint64_t *heads_before; /* where the rings ended at the previous pass */
	bool held; /* samples that were there when this pass began are left for the next */
	struct idle_reader *idle; /* NULL: it is no event */
	uint32_t idle_event;
	struct wait_probe *wait_probe; /* NULL: stacks of waits are not recorded */
	struct descriptor_looks *descriptors; /* NULL: the same */
	struct part *parts; /* of nreaders */
	struct pool *pool;  /* NULL: there is one reader */

	struct perf_record record;
};

static struct perf_layout layout_of(const struct perf_event_attr *attr)
{
	return (struct perf_layout){
		.sample_type = attr->sample_type,
		.read_format = attr->read_format,
		.branch_sample_type = attr->branch_sample_type,
		.regs_user = attr->sample_regs_user,
		.regs_intr = attr->sample_regs_intr,
		.period = attr->freq ? 1 : attr->sample_period,
		.arch = arch_native(),
		.sample_id_all = attr->sample_id_all,
		.build_ids = attr->build_id,
	};
}

static void run_part(struct pool_task *task, unsigned worker)
{
	struct part *part = (struct part *)(void *)task;
	const struct drain *d = part->drain;
	struct ring_hand *hand = &d->options.hands[worker];

	if (worker)
		priority_join(&hand->priority, &d->options.hands[0].priority);
	part->err = ring_reader_run(part->reader, hand);
}

static uint32_t only_software_event(const struct event_plan *plan)
{
	uint32_t found = RECORDING_NO_EVENT;

	for (uint32_t i = 0; i < plan->nevents; i++) {
		const struct perf_event_attr *attr = &plan->events[i].attr;

		if (attr->type != PERF_TYPE_SOFTWARE || !plan->events[i].desc->samples ||
		    attr->config == PERF_COUNT_SW_CPU_CLOCK || attr->config == PERF_COUNT_SW_TASK_CLOCK ||
		    attr->config == PERF_COUNT_SW_DUMMY)
			continue;
		if (found != RECORDING_NO_EVENT)
			return RECORDING_NO_EVENT;
		found = i;
	}
	return found;
}

static uint32_t off_cpu_event(const struct event_plan *plan)
{
	for (uint32_t i = 0; i < plan->nevents; i++)
		if (event_desc_is_off_cpu(plan->events[i].desc))
			return i;
	return RECORDING_NO_EVENT;
}

static uint32_t waking_event(const struct event_plan *plan)
{
	for (uint32_t i = 0; i < plan->nevents; i++)
		if (event_desc_is_waking(plan->events[i].desc))
			return i;
	return RECORDING_NO_EVENT;
}

/* Every sample of an event that was requested alone counts. */
static uint32_t waker_event(const struct event_plan *plan)
{
	uint32_t first = waking_event(plan);

	for (uint32_t i = first + 1; first != RECORDING_NO_EVENT && i < plan->nevents; i++)
		if (event_desc_is_waking(plan->events[i].desc))
			return i;
	return RECORDING_NO_EVENT;
}

static void begin_idle(struct drain *d)
{
	const struct event_plan *plan = d->perf_fds->plan;
	struct managed_readers *managed = d->options.managed;

	for (uint32_t i = 0; i < plan->nevents && !d->idle; i++) {
		if (!event_desc_is_idle(plan->events[i].desc))
			continue;
		d->idle_event = i;
		d->idle = idle_reader_new(managed ? managed_readers_table(managed) : NULL,
					  plan->events[i].attr.sample_freq, d->options.idle_scope,
					  &d->options.hands[0].priority);
	}
}

static void begin_readers(struct drain *d)
{
	size_t nreaders = d->options.nreaders;

	d->scene = (struct ring_scene){
		.perf_fds = d->perf_fds,
		.layouts = d->layouts,
		.probes = d->probes,
		.nevents = d->nevents,
		.software_event = only_software_event(d->perf_fds->plan),
		.processes = attach_processes(d->attach),
		.tasks = d->tasks,
		.loss_counts = &d->loss_counts,
		.group = &d->group,
		.journal = d->journal,
		.heads = memory_zeroed(d->nrings + 1, sizeof(*d->scene.heads)),
		.off_cpu_event = off_cpu_event(d->perf_fds->plan),
		.waking_event = waking_event(d->perf_fds->plan),
		.waker_event = waker_event(d->perf_fds->plan),
		.waker_thinning = memory_zeroed(d->nrings + 1, sizeof(*d->scene.waker_thinning)),
		.wakings = memory_zeroed(d->nrings + 1, sizeof(*d->scene.wakings)),
		.thinning = memory_zeroed(d->nrings + 1, sizeof(*d->scene.thinning)),
		.seen = memory_zeroed(d->nrings + 1, sizeof(*d->scene.seen)),
		.descriptors = memory_zeroed(d->nrings + 1, sizeof(*d->scene.descriptors)),
		.behind_ns = memory_zeroed(d->nrings + 1, sizeof(*d->scene.behind_ns)),
		.by_cpu = d->options.by_cpu,
		.raw_stacks = d->options.raw_stacks,
		.code_mask = d->options.code_mask,
		.skip_pid = d->options.skip_pid,
		.managed = d->options.managed,
		.stop = d->options.stop,
	};
	d->parts = memory_zeroed(nreaders, sizeof(*d->parts));
	d->pool = nreaders > 1 ? pool_new((unsigned)nreaders, NULL) : NULL;
	if (d->scene.off_cpu_event != RECORDING_NO_EVENT)
		d->descriptors = descriptor_looks_new(d->options.stop);
	if (d->scene.off_cpu_event != RECORDING_NO_EVENT)
		d->wait_probe = wait_probe_new(d->options.managed ? managed_readers_table(d->options.managed) : NULL,
					       &d->options.hands[0].priority);
	begin_idle(d);
	for (size_t i = 0; i < nreaders; i++)
		d->parts[i] = (struct part){
			.task.run = run_part,
			.drain = d,
			.reader = ring_reader_new(&d->scene, attach_front(d->attach, i), i,
						  nreaders),
		};
}

static struct err *take_told(void *context, const struct event *ev)
{
	return drain_event(context, ev);
}

struct drain *drain_new(struct perf_fds *perf_fds, struct journal *journal, struct attach *attach,
			struct task_filter *tasks, const struct drain_options *options)
{
	const struct event_plan *plan = perf_fds->plan;
	struct drain *d = memory_zeroed(1, sizeof(*d));

	d->perf_fds = perf_fds;
	d->journal = journal;
	d->attach = attach;
	d->tasks = tasks;
	d->options = *options;
	d->nevents = plan->nevents;
	d->nrings = perf_fds->samples.len;
	d->heads_before = memory_zeroed(d->nrings + 1, sizeof(*d->heads_before));
	d->layouts = memory_zeroed(d->nevents + 1, sizeof(*d->layouts));
	d->probes = memory_zeroed(d->nevents + 1, sizeof(*d->probes));
	for (size_t i = 0; i < d->nevents; i++) {
		const struct probe_place *probe = plan->events[i].desc->probe;

		d->layouts[i] = layout_of(&plan->events[i].attr);
		d->probes[i] = probe && probe->args.len ? &probe->args : NULL;
	}
	d->layouts[d->nevents] = layout_of(&plan->side_band);
	d->side.layout = &d->layouts[d->nevents];
	loss_counts_init(&d->loss_counts, perf_fds);
	group_counts_init(&d->group, d->nrings, d->nevents);
	d->repair = (struct side_repair){
		.processes = attach_processes(attach),
		.tasks = tasks,
		.info = options->process_info,
		.stop = options->stop,
		.event = take_told,
		.context = d,
	};
	begin_readers(d);
	if (d->options.managed)
		managed_readers_set_layouts(d->options.managed, d->layouts, d->nevents);
	return d;
}

void drain_free(struct drain *d)
{
	if (!d)
		return;
	pool_free(d->pool);
	for (size_t i = 0; i < d->options.nreaders; i++)
		ring_reader_free(d->parts[i].reader);
	free(d->parts);
	free(d->scene.heads);
	free(d->heads_before);
	free(d->scene.behind_ns);
	free(d->scene.thinning);
	free(d->scene.waker_thinning);
	free(d->scene.wakings);
	for (size_t i = 0; i < d->nrings; i++) {
		vec_deinit(&d->scene.seen[i]);
		vec_deinit(&d->scene.descriptors[i]);
	}
	free(d->scene.seen);
	free(d->scene.descriptors);
	descriptor_looks_free(d->descriptors);
	wait_probe_free(d->wait_probe);
	idle_reader_free(d->idle);
	side_records_deinit(&d->side);
	rename_limit_deinit(&d->renames);
	free(d->layouts);
	free(d->probes);
	loss_counts_deinit(&d->loss_counts);
	group_counts_deinit(&d->group);
	free(d);
}

uint32_t drain_off_cpu_event(const struct drain *d)
{
	return d->scene.off_cpu_event;
}

void drain_set_waits(struct drain *d, bool on, uint64_t now_ns, struct diag *diag)
{
	perf_fds_set_waits(d->perf_fds, on, diag);
	if (d->wait_probe)
		wait_probe_pause(d->wait_probe, !on);
	for (size_t i = 0; i < d->nrings; i++) {
		void (*turn)(struct stack_thinning *, uint64_t) = on ? stack_thinning_resume : stack_thinning_pause;

		turn(&d->scene.thinning[i], now_ns);
		turn(&d->scene.waker_thinning[i], now_ns);
	}
}

void drain_narrow(struct drain *d, bool narrow, uint64_t now_ns, struct diag *diag)
{
	perf_fds_narrow(d->perf_fds, narrow, diag);
	for (size_t i = 0; i < d->nrings && d->scene.off_cpu_event != RECORDING_NO_EVENT; i++) {
		perf_fds_set_period(d->perf_fds, d->scene.off_cpu_event, d->perf_fds->samples.items[i].cpu, 1);
		stack_thinning_reset(&d->scene.thinning[i], now_ns);
	}
}

uint64_t drain_thinned(const struct drain *d)
{
	uint64_t most = 0;

	for (size_t i = 0; i < d->nrings; i++)
		most = MAX(most, d->scene.thinning[i].most);
	return most;
}

const struct drain_totals *drain_totals(const struct drain *d)
{
	return &d->totals;
}

void drain_existing_process(struct drain *d, uint32_t pid, uint32_t nthreads)
{
	attach_existing_process(d->attach, pid, nthreads);
}

struct err *drain_event(struct drain *d, const struct event *ev)
{
	struct event known = *ev;

	d->totals.side_band++;
	if (d->idle)
		idle_reader_event(d->idle, ev);
	if (d->wait_probe && task_filter_owns(d->tasks, ev->pid, ev->tid))
		wait_probe_event(d->wait_probe, ev);
	if (d->options.managed)
		managed_table_event(managed_readers_table(d->options.managed), &known);
	if (attach_event(d->attach, &known))
		task_filter_leave(d->tasks, ev->pid);
	return journal_event(d->journal, &known);
}

/* The idle task switches whenever others wait, and never waits itself. */
static bool is_idle_switch(const struct event *ev)
{
	return ev->kind == EVENT_SWITCH && !ev->tid;
}

/* If @exec changed the user, the process has lost its inherited events: follow CPUs again. */
static void check_scope(struct drain *d, const struct event *exec)
{
	struct diag unheard = { 0 };

	if (switch_scope_lost(d->options.scope, exec->pid))
		drain_narrow(d, false, clock_now_ns(CLOCK_MONOTONIC), &unheard);
	diag_deinit(&unheard);
}

/* False: a new name of a thread that changes it without end. */
static bool is_wanted_name(struct drain *d, const struct event *ev)
{
	if (ev->kind == EVENT_EXIT)
		rename_limit_exit(&d->renames, ev->tid);
	return ev->kind != EVENT_COMM || ev->comm.exec || rename_limit_keeps(&d->renames, ev);
}

/* The names that were left out and are still the last ones. */
static struct err *tell_renames(struct drain *d)
{
	struct err *err = NULL;
	struct event ev;

	while (!err && rename_limit_next(&d->renames, d->newest_ns, &ev))
		err = drain_event(d, &ev);
	d->totals.renames = d->renames.left_out;
	return err;
}

/* One record of a side-band ring. */
static struct err *take_side_band(struct drain *d, const struct side_record *side)
{
	struct err *err = perf_record_parse(&d->layouts[d->nevents], side->data, side->len, false,
					    &d->record);
	struct event *ev = &d->record.event;

	if (err) {
		err_free(err);
		d->totals.broken++;
		return NULL;
	}
	if (!d->record.known || ev->kind == EVENT_SAMPLE)
		return NULL;
	ev->time_ns = MIN(ev->time_ns, side->time_ns); /* the time when it was read, if its own is in the future */
	d->newest_ns = MAX(d->newest_ns, ev->time_ns);
	if (is_idle_switch(ev))
		return NULL;
	bool kept = task_filter_event(d->tasks, ev);

	if (ev->kind == EVENT_SWITCH)
		kept = switch_scope_count(d->options.scope, ev, kept);
	if (!kept)
		return NULL;
	if (ev->kind == EVENT_LOST || ev->kind == EVENT_LOST_SAMPLES) {
		d->totals.side_lost += ev->lost.count;
		ev->lost.event = RECORDING_NO_EVENT;
	}
	if (ev->kind == EVENT_SWITCH)
		switch_guard_count(d->options.guard, side->ring, 1);
	if (!is_wanted_name(d, ev))
		return NULL;
	/* Its new command line, cgroup and user follow the other records, with this time. */
	if (ev->kind == EVENT_COMM && ev->comm.exec) {
		check_scope(d, ev);
		process_info_after_exec(d->options.process_info, ev->pid, ev->time_ns);
	}
	return drain_event(d, ev);
}

static struct err *drain_side_band(struct drain *d)
{
	/* Records whose clock is the kernel's own are all taken. */
	uint64_t until_ns = d->perf_fds->plan->side_band.use_clockid ? clock_now_ns(CLOCK_MONOTONIC) : UINT64_MAX;
	struct ring_list *rings = &d->perf_fds->side;
	bool full = false;
	struct err *err = NULL;

	side_records_reset(&d->side);
	for (size_t i = 0; i < rings->len; i++) {
		full |= ring_head(&rings->items[i]) - rings->items[i].tail + SIDE_ROOM > rings->items[i].data_len;
		side_records_gather(&d->side, &rings->items[i], i, until_ns);
	}
	side_records_sort(&d->side);
	for (size_t i = 0; i < d->side.len && !err; i++)
		err = take_side_band(d, &d->side.items[i]);
	if (!err)
		err = tell_renames(d);
	if (!err)
		err = process_info_tell(d->options.process_info, d->newest_ns, take_told, d);
	for (size_t i = 0; i < rings->len; i++) {
		ring_release(&rings->items[i]);
		d->totals.broken += rings->items[i].skipped > 0;
		rings->items[i].skipped = 0;
	}
	return err || !full ? err : side_repair_run(&d->repair, d->newest_ns);
}

struct err *drain_tell_side_losses(struct drain *d)
{
	struct event ev = { .kind = EVENT_LOST, .cpu = EVENT_NO_CPU, .time_ns = clock_now_ns(CLOCK_MONOTONIC) };
	uint64_t lost = 0;

	for (size_t i = 0; i < d->perf_fds->items.len; i++) {
		const struct perf_fd *perf_fd = &d->perf_fds->items.items[i];
		struct perf_fd_reading reading;

		if (perf_fd->event == PERF_FD_SIDE_BAND && perf_fds_read(d->perf_fds, perf_fd, &reading))
			lost += reading.lost;
	}
	if (lost <= d->totals.side_lost)
		return NULL;
	ev.lost = (struct event_lost){ .event = RECORDING_NO_EVENT, .count = lost - d->totals.side_lost };
	d->totals.side_lost = lost;
	return drain_event(d, &ev);
}

/* The number of the side-band's ring on @cpu. */
static size_t side_of(const struct drain *d, uint32_t cpu)
{
	size_t i = 0;

	while (i < d->perf_fds->side.len && d->perf_fds->side.items[i].cpu != cpu)
		i++;
	return i;
}

/* A record of a wake-up costs as much as one of a switch. */
static void count_wakings(struct drain *d)
{
	for (size_t i = 0; i < d->nrings; i++) {
		if (d->scene.wakings[i])
			switch_guard_count(d->options.guard, side_of(d, d->perf_fds->samples.items[i].cpu), d->scene.wakings[i]);
		d->scene.wakings[i] = 0;
	}
}

/* Run all readers in parallel, or one after the other if there is little to do: waking a thread costs time too. */
static struct err *drain_samples(struct drain *d)
{
	struct err *err = NULL;

	for (size_t i = 0; i < d->options.nreaders; i++) {
		struct part *part = &d->parts[i];

		part->submitted = d->pool && i && ring_reader_backlog(part->reader) >= WORTH_A_THREAD;
		if (part->submitted)
			pool_submit(d->pool, &part->task);
	}
	for (size_t i = 0; i < d->options.nreaders; i++) {
		struct part *part = &d->parts[i];

		if (!part->submitted)
			run_part(&part->task, 0);
	}
	for (size_t i = 0; i < d->options.nreaders; i++) {
		struct part *part = &d->parts[i];

		if (part->submitted)
			pool_wait(d->pool, &part->task);
		ring_reader_tally(part->reader, &d->totals, &d->newest_ns);
		if (err)
			err_free(part->err);
		else
			err = part->err;
	}
	return err;
}

static struct err *take_managed(void *context, const struct event *ev)
{
	struct drain *d = context;

	if (!task_filter_has(d->tasks, ev->pid, ev->tid))
		return NULL;
	d->totals.side_band++;
	return journal_event(d->journal, ev);
}

/* A look at a waiting thread as a sample, after its interpreter's stack. */
static struct err *take_sight(struct drain *d, const struct ring_sight *at)
{
	const struct thread_sight *sight = at->sight;
	struct err *err = NULL;
	struct event ev;

	if (!task_filter_owns(d->tasks, sight->pid, sight->tid) ||
	    (d->options.skip_pid &&
	     process_table_is_copy(attach_processes(d->attach), sight->pid, d->options.skip_pid)))
		return NULL;
	if (thread_sight_managed(sight, at->time_ns, &ev))
		err = take_managed(d, &ev);
	d->totals.samples++;
	return err ? err : ring_reader_take_sight(d->parts[0].reader, at);
}

/* An event older than the last pass can no longer be written in order. */
static uint64_t time_of_sight(const struct drain *d, const struct thread_sight *sight)
{
	return MAX(sight->time_ns, d->newest_before_ns + 1);
}

static struct err *take_found(void *context, const struct wait_probe_found *found)
{
	struct drain *d = context;
	uint64_t time_ns = time_of_sight(d, &found->sight);

	/* But a thread that still waits also waited then. */
	if (time_ns > found->sight.time_ns && !found->waits)
		return NULL;
	return take_sight(d, &(struct ring_sight){ &found->sight, d->scene.off_cpu_event, 1, time_ns });
}

static struct err *take_idle(void *context, const struct thread_sight *sight, uint64_t period_ns)
{
	struct drain *d = context;

	return take_sight(d, &(struct ring_sight){ sight, d->idle_event, period_ns, time_of_sight(d, sight) });
}

bool drain_follow_idle(struct drain *d, bool on)
{
	if (d->idle && on)
		idle_reader_follow(d->idle, d->tasks);
	else if (d->idle)
		idle_reader_rest(d->idle);
	return d->idle;
}

void drain_end_idle(struct drain *d)
{
	if (d->idle)
		idle_reader_end(d->idle);
}

struct idle_totals drain_idle_totals(const struct drain *d)
{
	return d->idle ? idle_reader_totals(d->idle) : (struct idle_totals){ 0 };
}

/* Look at long waits that have no stack; write those found since the last pass. */
static struct err *probe_waits(struct drain *d)
{
	for (size_t i = 0; i < d->nrings; i++) {
		struct wait_probe_seen *seen = &d->scene.seen[i];

		for (size_t j = 0; j < seen->len; j++)
			wait_probe_sampled(d->wait_probe, seen->items[j].tid, seen->items[j].time_ns);
		seen->len = 0;
	}

	uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);
	struct err *err = wait_probe_take(d->wait_probe, take_found, d);

	wait_probe_ask(d->wait_probe, now_ns);
	return err;
}

static struct err *take_descriptor(void *context, const struct event *ev)
{
	struct drain *d = context;

	d->totals.side_band++;
	return journal_event(d->journal, ev);
}

/* Look up the descriptors that threads wait for; at the end, @all of them. */
static struct err *look_at_descriptors(struct drain *d, bool all)
{
	for (size_t i = 0; i < d->nrings; i++) {
		struct descriptor_uses *uses = &d->scene.descriptors[i];

		for (size_t j = 0; j < uses->len; j++)
			descriptor_looks_use(d->descriptors, uses->items[j]);
		uses->len = 0;
	}
	return descriptor_looks_run(d->descriptors, clock_now_ns(CLOCK_MONOTONIC), all, take_descriptor, d);
}

struct err *drain_look_last(struct drain *d)
{
	return d->descriptors ? look_at_descriptors(d, true) : NULL;
}

bool drain_probes_waits(const struct drain *d)
{
	return d->wait_probe && wait_probe_busy(d->wait_probe);
}

struct wait_probe_totals drain_probe_totals(const struct drain *d)
{
	return d->wait_probe ? wait_probe_totals(d->wait_probe) : (struct wait_probe_totals){ 0 };
}

/*
 * The end of ring number @i for this pass. A sample that has just woken its reader is left for the next pass, so that the reader
 * finds it, but no longer.
 */
static uint64_t head_of(struct drain *d, size_t i)
{
	uint64_t head = ring_head(&d->perf_fds->samples.items[i]), before = d->heads_before[i], until;

	d->heads_before[i] = head;
	if (!d->options.managed || !d->perf_fds->enabled ||
	    (!d->perf_fds->waking && !managed_readers_have_bells(d->options.managed)))
		return head;
	until = MAX(before, managed_readers_seen(d->options.managed, i, head));
	d->held |= until < head;
	return until;
}

/* Leave all samples to the next pass, if there is room for them. */
static void hold_samples(struct drain *d)
{
	const struct ring *rings = d->perf_fds->samples.items;

	for (size_t i = 0; i < d->nrings; i++) {
		if (!d->perf_fds->enabled || ring_head(&rings[i]) - rings[i].tail > rings[i].data_len / 4)
			return;
	}
	for (size_t i = 0; i < d->nrings; i++)
		d->scene.heads[i] = rings[i].tail;
	d->held = true;
}

/* Interpreters' stacks. Samples of those that are still being read must not wait for them beyond the next pass. */
static struct err *take_stacks(struct drain *d)
{
	struct managed_times times = { d->finished_ns, d->held ? d->finished_ns : d->newest_before_ns };

	if (!d->perf_fds->enabled)
		times.next_ns = UINT64_MAX;
	return managed_readers_take(d->options.managed, &times, take_managed, d);
}

struct err *drain_pass(struct drain *d)
{
	journal_begin_pass(d->journal);
	d->held = false;
	for (size_t i = 0; i < d->nrings; i++)
		d->scene.heads[i] = head_of(d, i);
	struct err *err = drain_side_band(d);

	if (attach_begin_samples(d->attach))
		hold_samples(d);
	if (!err)
		err = drain_samples(d);
	count_wakings(d);
	if (!err && d->wait_probe)
		err = probe_waits(d);
	if (!err && d->descriptors)
		err = look_at_descriptors(d, false);
	if (!err && d->idle)
		err = idle_reader_take(d->idle, take_idle, d);
	if (!err && d->options.managed)
		err = take_stacks(d);
	if (err)
		return err;
	d->totals.passes++;
	task_filter_round(d->tasks);
	attach_round(d->attach);
	/* Samples that were left may be as old as the end of the previous pass. */
	if (!d->held) {
		d->finished_ns = d->newest_before_ns;
		d->newest_before_ns = d->newest_ns;
	}
	return journal_end_pass(d->journal, d->finished_ns);
}

/* Counting members of a group have no periods from which to compute our share; group_counts has it. */
static void settle_members(const struct drain *d, struct recording_count *counts)
{
	for (size_t event = 0; event < d->nevents; event++) {
		if (d->perf_fds->plan->events[event].desc->samples)
			continue;
		for (size_t ring = 0; ring < d->nrings; ring++)
			counts[event * d->nrings + ring].value =
				group_counts_own(&d->group, ring, event);
	}
}

struct recording_count *drain_counts(const struct drain *d, struct arena *arena, size_t *ret_count)
{
	struct recording_count *counts = loss_counts_close(&d->loss_counts, d->perf_fds, d->options.by_cpu,
						      d->tasks->selected, arena, ret_count);

	if (d->options.by_cpu && d->tasks->selected)
		settle_members(d, counts);
	return counts;
}
