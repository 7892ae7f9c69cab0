/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drain.c - one reader for all rings.
 *
 * Rounds: when a pass ends, everything that was written before the previous pass ended has been read,
 * so nothing still to come is older than the newest record seen by then (the rule of perf's FINISHED_ROUND).
 */
#include "record/drain.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

/* Above this share of a ring the recorder is behind: it reads less of each stack to catch up. */
#define BEHIND_PERCENT       80
#define FAR_BEHIND_PERCENT   92
#define BEHIND_STACK_LEN     (16 * 1024)
#define FAR_BEHIND_STACK_LEN (4 * 1024)

/* A record of a side-band ring, where it lies until the ring is released. */
struct side_record {
	uint64_t time_ns;
	size_t ring, order;
	const uint8_t *data;
	size_t len;
};

#define TIMES_AGREE 20 /* within a twentieth: each task's times are read at moments of their own */

struct drain {
	struct sensors *sensors;
	struct journal *journal;
	struct attach *attach;
	struct family *family;
	struct drain_options options;
	struct drain_totals totals;

	struct perf_layout *layouts; /* by event number, the side-band's last */
	struct process_table processes;
	VEC(uint64_t) heads;            /* of the sample rings, in this pass */
	VEC(struct side_record) side;   /* the side-band of this pass */
	struct arena copies;            /* of those of its records that wrap around a ring's end */
	struct recording_count *counts; /* [event][sample ring] */
	uint64_t *foreign;              /* the same: samples that were not kept */
	size_t nevents, nrings;

	uint64_t newest_ns;        /* record seen */
	uint64_t newest_before_ns; /* the same when the previous pass ended */

	struct perf_record record;
	struct prune prune;
	uint8_t scratch[RING_RECORD_MAX];
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
	};
}

struct drain *drain_new(struct sensors *sensors, struct journal *journal, struct attach *attach,
			struct family *family, const struct drain_options *options)
{
	const struct event_plan *plan = sensors->plan;
	struct drain *d = memory_zeroed(1, sizeof(*d));

	d->sensors = sensors;
	d->journal = journal;
	d->attach = attach;
	d->family = family;
	d->options = *options;
	d->nevents = plan->nevents;
	d->nrings = sensors->samples.len;
	d->layouts = memory_zeroed(d->nevents + 1, sizeof(*d->layouts));
	for (size_t i = 0; i < d->nevents; i++)
		d->layouts[i] = layout_of(&plan->events[i].attr);
	d->layouts[d->nevents] = layout_of(&plan->side_band);
	d->counts = memory_zeroed(d->nevents * d->nrings + 1, sizeof(*d->counts));
	d->foreign = memory_zeroed(d->nevents * d->nrings + 1, sizeof(*d->foreign));
	vec_reserve(&d->heads, d->nrings);
	d->prune.arch = arch_native();
	d->prune.raw = options->raw_stacks;
	return d;
}

void drain_free(struct drain *d)
{
	if (!d)
		return;
	process_table_deinit(&d->processes);
	vec_deinit(&d->heads);
	vec_deinit(&d->side);
	arena_deinit(&d->copies);
	free(d->layouts);
	free(d->counts);
	free(d->foreign);
	free(d);
}

const struct drain_totals *drain_totals(const struct drain *d)
{
	return &d->totals;
}

void drain_existing_process(struct drain *d, uint32_t pid, uint32_t nthreads)
{
	process_add_existing(&d->processes, pid, nthreads);
}

/* What pruning and the attachments must know about a side-band event. */
static void follow(struct drain *d, const struct event *ev)
{
	bool ended = process_table_event(&d->processes, ev);

	if (ev->kind == EVENT_MMAP)
		attach_mmap(d->attach, ev->pid, &ev->mmap);
	else if (ev->kind == EVENT_FORK && ev->pid != ev->fork.parent_pid)
		attach_fork(d->attach, ev->pid, ev->fork.parent_pid);
	else if (ev->kind == EVENT_COMM && ev->comm.exec)
		attach_exec(d->attach, ev->pid);
	else if (ev->kind == EVENT_KSYMBOL)
		attach_ksymbol(d->attach, &ev->ksymbol);
	else if (ended)
		attach_exit(d->attach, ev->pid);
}

struct err *drain_event(struct drain *d, const struct event *ev)
{
	d->totals.side_band++;
	follow(d, ev);
	return journal_event(d->journal, ev);
}

/*
 * The user's part of the chain up to the first address that is no code, which the kernel's walk made up:
 * a mark takes its place, unless it is 0, where walks end.
 */
static void trim_chain(struct drain *d, const struct process *proc, struct event_sample *sample)
{
	size_t n = MIN(sample->nuser_ips, (size_t)1);

	if (d->options.raw_stacks)
		return;
	while (n < sample->nuser_ips && process_is_code(proc, sample->user_ips[n]))
		n++;
	if (n < sample->nuser_ips && sample->user_ips[n])
		d->record.words[sample->user_ips + n - d->record.words] = EVENT_IP_ASTRAY;
	sample->nuser_ips = MIN(n + 1, sample->nuser_ips);
}

/* A word that may be the address of code: pruning has found out, unless it keeps everything. */
static void note_word(struct drain *d, const struct process *proc, struct attach_process *to,
		      uint64_t word)
{
	uint64_t ip = word & d->prune.arch->code_mask;

	if (process_is_code(proc, ip))
		attach_address(d->attach, to, ip, ATTACH_CALLER);
}

static void note_stack(struct drain *d, const struct process *proc, struct attach_process *to)
{
	const struct event_stack *stack = &d->record.event.sample.stack;
	const struct prune *prune = &d->prune;

	for (size_t i = 0; prune->raw && i < stack->nwords; i++)
		note_word(d, proc, to, stack->words[i]);
	for (size_t i = 0; i < prune->ncode; i++)
		attach_address(d->attach, to, prune->words[prune->code[i]] & prune->arch->code_mask,
			       ATTACH_CALLER);
}

/* Every address that a report may have to name or unwind through. */
static void note_code(struct drain *d, uint32_t pid, const struct process *proc)
{
	const struct event_sample *sample = &d->record.event.sample;
	struct attach_process *to = attach_process(d->attach, pid);
	const struct event_regs *regs = sample->regs;

	if (sample->mode == EVENT_MODE_USER)
		attach_address(d->attach, to, sample->ip, ATTACH_LEAF);
	else if (sample->mode == EVENT_MODE_KERNEL)
		attach_kernel_address(d->attach, sample->ip);
	for (size_t i = 0; i < sample->nkernel_ips; i++)
		attach_kernel_address(d->attach, sample->kernel_ips[i]);
	for (size_t i = 0; i < sample->nuser_ips; i++)
		attach_address(d->attach, to, sample->user_ips[i], ATTACH_CALLER);
	note_stack(d, proc, to);
	for (uint64_t left = regs ? regs->mask : 0; left; left &= left - 1)
		note_word(d, proc, to, regs->values[__builtin_ctzll(left)]);
}

static void count_sample(struct drain *d, struct recording_count *count)
{
	const struct event_stack *stack = &d->record.event.sample.stack;

	count->samples++;
	count->stacks_cut += stack->cut;
	count->stacks_shortened += stack->shortened;
	d->totals.samples++;
	d->totals.cut += stack->cut;
	d->totals.shortened += stack->shortened;
	d->totals.stack_bytes += d->record.stack_len;
}

/* Samples that are not kept: of those who are not recorded, or our own if that is not wanted. */
static bool is_foreign(const struct drain *d, const struct event *ev)
{
	return !family_has(d->family, ev->pid, ev->tid) ||
	       (d->options.skip_pid && ev->pid == d->options.skip_pid);
}

static struct err *take_sample(struct drain *d, size_t row, size_t max_stack)
{
	struct event *ev = &d->record.event;

	if (is_foreign(d, ev)) {
		d->foreign[row]++;
		return NULL;
	}
	struct process *proc = process_get(&d->processes, ev->pid);

	for (size_t i = 0; i < ev->sample.ncounts; i++)
		d->record.counts[i].event = sensors_event(d->sensors, d->record.count_ids[i]);
	prune_sample(&d->prune, proc, max_stack, &d->record);
	trim_chain(d, proc, &ev->sample);
	note_code(d, ev->pid, proc);
	count_sample(d, &d->counts[row]);
	return journal_event(d->journal, ev);
}

static struct err *take_other(struct drain *d, size_t ring, bool side)
{
	struct event *ev = &d->record.event;
	uint32_t about = sensors_event(d->sensors, d->record.about_id);
	bool known = about != RECORDING_NO_EVENT;

	if (!family_event(d->family, ev))
		return NULL;
	if (ev->kind == EVENT_LOST) {
		*(side ? &d->totals.side_lost : &d->totals.lost) += ev->lost.count;
		ev->lost.event = about;
	} else if (ev->kind == EVENT_LOST_SAMPLES) {
		d->totals.lost += ev->lost.count;
	} else if (ev->kind == EVENT_THROTTLE) {
		ev->throttle.event = about;
		d->totals.throttled += ev->throttle.stopped;
		if (known && !side)
			d->counts[about * d->nrings + ring].throttled += ev->throttle.stopped;
	}
	return drain_event(d, ev);
}

/* One record of ring number @ring. */
static struct err *take_record(struct drain *d, size_t ring, bool side, const uint8_t *data,
			       size_t len, size_t max_stack)
{
	uint32_t number = sensors_event(d->sensors, perf_record_id(data, len, false));
	bool known = number != RECORDING_NO_EVENT;
	struct err *err = perf_record_parse(&d->layouts[known ? number : d->nevents], data, len,
					    false, &d->record);

	if (err) {
		err_free(err);
		d->totals.broken++;
		return NULL;
	}
	if (!d->record.known)
		return NULL;
	d->newest_ns = MAX(d->newest_ns, d->record.event.time_ns);
	if (d->record.event.kind != EVENT_SAMPLE)
		return take_other(d, ring, side);
	if (!known)
		return NULL;
	d->record.event.sample.event = number;
	return take_sample(d, number * d->nrings + ring, max_stack);
}

/* What is in side-band ring number @number. Records that cannot be parsed are left for take_record(). */
static void gather_side_band(struct drain *d, size_t number)
{
	struct ring *ring = &d->sensors->side.items[number];
	uint64_t head = ring_head(ring);
	struct side_record side = { .ring = number };

	while (ring_next(ring, head, d->scratch, &side.data, &side.len)) {
		uint32_t event =
			sensors_event(d->sensors, perf_record_id(side.data, side.len, false));
		struct err *err = perf_record_parse(
			&d->layouts[event != RECORDING_NO_EVENT ? event : d->nevents], side.data,
			side.len, false, &d->record);

		if (!err && d->record.known)
			side.time_ns = d->record.event.time_ns;
		err_free(err);
		if (side.data == d->scratch)
			side.data = (const uint8_t *)arena_memdup(&d->copies, side.data, side.len);
		side.order = d->side.len;
		vec_push(&d->side, side);
	}
}

static int by_time(const void *a, const void *b)
{
	const struct side_record *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

/*
 * In order of time: a task that moves between CPUs writes its exec to one ring and the mappings of its new
 * program to another, and followed ring by ring the exec would come last and take them away.
 */
static struct err *drain_side_band(struct drain *d)
{
	struct err *err = NULL;

	d->side.len = 0;
	for (size_t i = 0; i < d->sensors->side.len; i++)
		gather_side_band(d, i);
	vec_sort(&d->side, by_time);
	for (size_t i = 0; i < d->side.len && !err; i++) {
		const struct side_record *side = &d->side.items[i];

		err = take_record(d, side->ring, true, side->data, side->len, PRUNE_ALL);
	}
	for (size_t i = 0; i < d->sensors->side.len; i++)
		ring_release(&d->sensors->side.items[i]);
	arena_reset(&d->copies);
	return err;
}

/* How much of each stack to look at, going by how full the ring is. */
static size_t stack_limit(struct drain *d, const struct ring *ring, uint64_t head)
{
	uint64_t percent = (head - ring->tail) * 100 / ring->data_len;

	d->totals.fullest = MAX(d->totals.fullest, percent);
	if (percent > FAR_BEHIND_PERCENT)
		return FAR_BEHIND_STACK_LEN;
	return percent > BEHIND_PERCENT ? BEHIND_STACK_LEN : PRUNE_ALL;
}

static struct err *drain_samples(struct drain *d, size_t number)
{
	struct ring *ring = &d->sensors->samples.items[number];
	uint64_t head = d->heads.items[number];
	size_t max_stack = stack_limit(d, ring, head);
	struct err *err = NULL;
	const uint8_t *data;
	size_t len;

	while (!err && ring_next(ring, head, d->scratch, &data, &len)) {
		err = take_record(d, number, false, data, len, max_stack);
		/* Room for the kernel as soon as there can be. */
		ring_release(ring);
	}
	return err;
}

struct err *drain_pass(struct drain *d)
{
	journal_begin_pass(d->journal);
	d->heads.len = 0;
	for (size_t i = 0; i < d->nrings; i++)
		vec_push(&d->heads, ring_head(&d->sensors->samples.items[i]));
	struct err *err = drain_side_band(d);

	for (size_t i = 0; i < d->nrings && !err; i++)
		err = drain_samples(d, i);
	if (err)
		return err;
	d->totals.passes++;
	process_table_round(&d->processes);
	attach_round(d->attach);
	uint64_t finished_ns = d->newest_before_ns;

	d->newest_before_ns = d->newest_ns;
	return journal_end_pass(d->journal, finished_ns);
}

/* Add what the counter of @sensor says to the row of its event and CPU. */
static void add_reading(const struct drain *d, const struct sensor *sensor,
			struct recording_count *rows)
{
	struct sensor_reading reading;

	if (sensor->event == SENSOR_SIDE_BAND || !sensors_read(d->sensors, sensor, &reading))
		return;
	for (size_t ring = 0; ring < d->nrings; ring++) {
		struct recording_count *row = &rows[sensor->event * d->nrings + ring];

		if (row->cpu != sensor->cpu)
			continue;
		row->value += reading.value;
		row->enabled_ns += reading.enabled_ns;
		row->running_ns += reading.running_ns;
		row->lost_kernel += reading.lost;
	}
}

/*
 * An event of a task on one CPU is enabled whenever the task runs, and runs only there: that alone is no
 * sharing of counters. Over all CPUs the two agree unless there was some.
 */
static void settle_times(const struct drain *d, struct recording_count *rows)
{
	uint64_t enabled = 0, running = 0;

	for (size_t ring = 0; ring < d->nrings; ring++) {
		enabled = MAX(enabled, rows[ring].enabled_ns);
		running += rows[ring].running_ns;
	}
	bool shared = running < enabled - enabled / TIMES_AGREE;

	for (size_t ring = 0; ring < d->nrings; ring++) {
		double part = running ? (double)rows[ring].running_ns / (double)running : 0;

		rows[ring].enabled_ns =
			shared ? (uint64_t)((double)enabled * part) : rows[ring].running_ns;
	}
}

/*
 * Events of CPUs count and lose for everybody: of the losses the family has the share that it has of the
 * samples, and the counter says nothing about it.
 */
static void settle_share(struct recording_count *row, uint64_t foreign)
{
	uint64_t all = row->samples + foreign;

	if (all)
		row->lost_kernel =
			(uint64_t)((double)row->lost_kernel * (double)row->samples / (double)all +
				   0.5);
	row->value = 0;
}

struct recording_count *drain_counts(const struct drain *d, struct arena *arena, size_t *ret_count)
{
	size_t count = d->nevents * d->nrings;
	struct recording_count *rows = ARENA_ARRAY(arena, struct recording_count, count);

	for (size_t i = 0; i < count; i++) {
		rows[i] = d->counts[i];
		rows[i].event = (uint32_t)(i / d->nrings);
		rows[i].cpu = d->sensors->samples.items[i % d->nrings].cpu;
	}
	for (size_t i = 0; i < d->sensors->items.len; i++)
		add_reading(d, &d->sensors->items.items[i], rows);
	for (size_t i = 0; i < count && d->family->selected && d->options.by_cpu; i++)
		settle_share(&rows[i], d->foreign[i]);
	for (size_t i = 0; i < d->nevents && !d->options.by_cpu; i++)
		settle_times(d, rows + i * d->nrings);
	*ret_count = count;
	return rows;
}
