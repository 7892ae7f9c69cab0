/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drain.c - one reader for all rings.
 *
 * Rounds: when a pass ends, everything that was written before the previous pass ended has been read,
 * so nothing still to come is older than the newest record seen by then (the rule of perf's FINISHED_ROUND).
 */
#include "record/drain.h"

#include "record/group_counts.h"
#include "record/ledger.h"
#include "record/side_record.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

/*
 * A recorder that finds so much of a ring in use is behind: it has the kernel write less of each stack there, so that
 * the rest lasts longer, until things have been as usual for a while (it is woken at a quarter). If a ring is nearly
 * full all the same, it also looks at less of what is in it.
 */
#define BEHIND_PERCENT     55
#define CAUGHT_UP_PERCENT  35
#define CAUGHT_UP_NS       2000000000ULL
#define FAR_BEHIND_PERCENT 92

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
	struct side_records side;       /* the side-band of this pass */
	struct arena copies;            /* of those of its records that wrap around a ring's end */
	struct ledger ledger;
	struct group_counts group; /* of samples that carry counts */
	uint64_t *behind_ns; /* by sample ring: when it was last found so */
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
	ledger_init(&d->ledger, sensors);
	group_counts_init(&d->group, d->nrings, d->nevents);
	d->behind_ns = memory_zeroed(d->nrings + 1, sizeof(*d->behind_ns));
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
	ledger_deinit(&d->ledger);
	group_counts_deinit(&d->group);
	free(d->behind_ns);
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

/* An end of a branch, in whichever half of the address space. */
static void note_branch(struct drain *d, const struct process *proc, struct attach_process *to,
			uint64_t ip)
{
	if (ip >> 63)
		attach_kernel_address(d->attach, ip);
	else
		note_word(d, proc, to, ip);
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
	for (size_t i = 0; i < sample->nbranches; i++) {
		note_branch(d, proc, to, sample->branches[i].from);
		note_branch(d, proc, to, sample->branches[i].to);
	}
	note_stack(d, proc, to);
	for (uint64_t left = regs ? regs->mask : 0; left; left &= left - 1)
		note_word(d, proc, to, regs->values[__builtin_ctzll(left)]);
}

static void count_sample(struct drain *d, uint32_t event, size_t ring)
{
	const struct event_sample *sample = &d->record.event.sample;

	ledger_keep(&d->ledger, event, ring, sample);
	d->totals.samples++;
	d->totals.cut += sample->stack.cut && !sample->stack.shortened;
	d->totals.shortened += sample->stack.shortened;
	d->totals.stack_bytes += d->record.stack_len;
}

/* Samples that are not kept: of those who are not recorded, or our own if that is not wanted. */
static bool is_foreign(const struct drain *d, const struct event *ev)
{
	return !family_has(d->family, ev->pid, ev->tid) ||
	       (d->options.skip_pid && ev->pid == d->options.skip_pid);
}

static struct err *take_sample(struct drain *d, size_t ring, bool lean, size_t max_stack)
{
	struct event *ev = &d->record.event;

	for (size_t i = 0; i < ev->sample.ncounts; i++)
		d->record.counts[i].event = sensors_event(d->sensors, d->record.count_ids[i]);
	if (is_foreign(d, ev)) {
		if (d->options.by_cpu)
			group_counts_skip(&d->group, ring, d->record.counts,
					  ev->sample.ncounts);
		ledger_pass_over(&d->ledger, ring);
		return NULL;
	}
	struct process *proc = process_get(&d->processes, ev->pid);

	if (d->options.by_cpu)
		group_counts_keep(&d->group, ring, d->record.counts, ev->sample.ncounts);
	prune_sample(&d->prune, proc, max_stack, &d->record);
	ev->sample.stack.shortened |= lean && ev->sample.stack.cut;
	trim_chain(d, proc, &ev->sample);
	note_code(d, ev->pid, proc);
	count_sample(d, ev->sample.event, ring);
	return journal_event(d->journal, ev);
}

static struct err *take_other(struct drain *d, size_t ring, bool side)
{
	struct event *ev = &d->record.event;
	uint32_t about = sensors_event(d->sensors, d->record.about_id);
	bool known = about != RECORDING_NO_EVENT;

	if (!family_event(d->family, ev))
		return NULL;
	if (ev->kind == EVENT_LOST || ev->kind == EVENT_LOST_SAMPLES) {
		if (!side)
			ev->lost.count = ledger_lose(&d->ledger, ring, ev->lost.count);
		if (!ev->lost.count)
			return NULL;
		*(side ? &d->totals.side_lost : &d->totals.lost) += ev->lost.count;
		ev->lost.event = about;
	} else if (ev->kind == EVENT_THROTTLE) {
		ev->throttle.event = about;
		d->totals.throttled += ev->throttle.stopped;
		if (known && !side && ev->throttle.stopped)
			ledger_throttle(&d->ledger, about, ring);
	}
	return drain_event(d, ev);
}

/* A record that cannot be parsed. If it was a sample, that is a loss like any other. */
static struct err *take_broken(struct drain *d, size_t ring, uint32_t event, const uint8_t *data)
{
	struct perf_event_header header;
	struct event lost = {
		.kind = EVENT_LOST_SAMPLES,
		.time_ns = d->newest_ns,
		.lost = { .event = event, .count = 1, .by_recorder = true },
	};

	d->totals.broken++;
	memcpy(&header, data, sizeof(header));
	if (header.type != PERF_RECORD_SAMPLE || event == RECORDING_NO_EVENT)
		return NULL;
	lost.cpu = d->sensors->samples.items[ring].cpu;
	ledger_drop(&d->ledger, event, ring);
	return drain_event(d, &lost);
}

/* One record of ring number @ring. */
static struct err *take_record(struct drain *d, size_t ring, bool side, const uint8_t *data,
			       size_t len, size_t max_stack)
{
	uint64_t id = perf_record_id(data, len, false);
	uint32_t number = sensors_event(d->sensors, id);
	bool known = number != RECORDING_NO_EVENT;
	struct err *err = perf_record_parse(&d->layouts[known ? number : d->nevents], data, len,
					    false, &d->record);

	if (err) {
		err_free(err);
		return take_broken(d, ring, number, data);
	}
	if (!d->record.known)
		return NULL;
	d->newest_ns = MAX(d->newest_ns, d->record.event.time_ns);
	if (d->record.event.kind != EVENT_SAMPLE)
		return take_other(d, ring, side);
	if (!known)
		return NULL;
	d->record.event.sample.event = number;
	return take_sample(d, ring, sensors_is_lean(d->sensors, id), max_stack);
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

static struct err *drain_side_band(struct drain *d)
{
	struct err *err = NULL;

	d->side.len = 0;
	for (size_t i = 0; i < d->sensors->side.len; i++)
		gather_side_band(d, i);
	side_records_sort(&d->side);
	for (size_t i = 0; i < d->side.len && !err; i++) {
		const struct side_record *side = &d->side.items[i];

		err = take_record(d, side->ring, true, side->data, side->len, PRUNE_ALL);
	}
	for (size_t i = 0; i < d->sensors->side.len; i++)
		ring_release(&d->sensors->side.items[i]);
	arena_reset(&d->copies);
	return err;
}

/* How much of each stack to have copied from now on, and to look at, going by how full the ring is. */
static size_t stack_limit(struct drain *d, size_t number, uint64_t head)
{
	struct ring *ring = &d->sensors->samples.items[number];
	uint64_t percent = (head - ring->tail) * 100 / ring->data_len;
	bool was_lean = ring->lean;

	d->totals.fullest = MAX(d->totals.fullest, percent);
	if (percent > BEHIND_PERCENT) {
		d->behind_ns[number] = d->newest_ns;
		sensors_set_lean(d->sensors, ring, true);
	} else if (percent < CAUGHT_UP_PERCENT &&
		   d->newest_ns > d->behind_ns[number] + CAUGHT_UP_NS) {
		sensors_set_lean(d->sensors, ring, false);
	}
	return percent > FAR_BEHIND_PERCENT && was_lean ? SENSORS_LEAN_STACK_LEN : PRUNE_ALL;
}

static struct err *drain_samples(struct drain *d, size_t number)
{
	struct ring *ring = &d->sensors->samples.items[number];
	uint64_t head = d->heads.items[number];

	if (head == ring->tail)
		return NULL;
	affinity_follow(d->options.affinity, ring->cpu);
	size_t max_stack = stack_limit(d, number, head);
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

	for (size_t i = 0; i < d->nrings && !err; i++) {
		err = drain_samples(d, i);
		priority_check(d->options.priority);
	}
	if (err)
		return err;
	d->totals.passes++;
	process_table_round(&d->processes);
	attach_round(d->attach);
	uint64_t finished_ns = d->newest_before_ns;

	d->newest_before_ns = d->newest_ns;
	return journal_end_pass(d->journal, finished_ns);
}

struct recording_count *drain_counts(const struct drain *d, struct arena *arena, size_t *ret_count)
{
	return ledger_close(&d->ledger, d->sensors, d->options.by_cpu, d->family->selected, arena,
			    ret_count);
}
