/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring_reader.c - moves samples from a ring to a stream of the trace without copying.
 */
#include "record/sample/bytecode_words.h"
#include "record/sample/deep_stack.h"
#include "record/sample/ring_reader.h"
#include "record/sample/syscall_argument.h"

#include "formats/base/clock.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * With this much of a ring in use the recorder is behind (it is woken at a quarter): it switches the kernel to short
 * snapshots on that CPU until the fill level has been normal for a while. If a ring is nearly full all the same, it also
 * prunes less of each snapshot.
 */
#define BEHIND_PERCENT     55
#define CAUGHT_UP_PERCENT  35
#define CAUGHT_UP_NS       2000000000ULL
#define FAR_BEHIND_PERCENT 92

struct ring_reader {
	const struct ring_scene *scene;
	struct attach_front *front;
	size_t number, count;
	struct drain_totals totals; /* not yet tallied */
	uint64_t newest_ns;         /* record seen */

	struct perf_record record;
	struct prune prune;
	struct bytecode_words bytecode;
	struct other_stack other; /* of the sample, before it is pruned in place */
	struct event_stack other_stack;
	struct deep_stacks *deep;
	uint64_t looked;	  /* samples checked for another stack */
	uint8_t scratch[RING_RECORD_MAX];
	uint8_t probe_raw[PROBE_RAW_MAX];
};

struct ring_reader *ring_reader_new(const struct ring_scene *scene, struct attach_front *front,
				    size_t number, size_t count)
{
	struct ring_reader *r = memory_zeroed(1, sizeof(*r));

	r->scene = scene;
	r->front = front;
	r->deep = deep_stacks_new();
	r->number = number;
	r->count = count;
	r->prune.arch = arch_native();
	r->prune.raw = scene->raw_stacks;
	r->prune.code_mask = scene->code_mask;
	r->prune.mask = arch_code_mask(r->prune.arch, scene->code_mask, 0);
	return r;
}

void ring_reader_free(struct ring_reader *r)
{
	if (r)
		deep_stacks_free(r->deep);
	free(r);
}

static struct err *tell(struct ring_reader *r, const struct event *ev)
{
	return journal_add(r->scene->journal, r->number, ev);
}

/*
 * Cut the user part of the chain at the first address that is not code, an error of the kernel's walk. A marker replaces
 * it, unless it is 0, the normal end.
 */
static void trim_chain(struct ring_reader *r, const struct process *proc,
		       struct event_sample *sample)
{
	size_t n = MIN(sample->nuser_ips, (size_t)1);

	if (r->scene->raw_stacks)
		return;
	while (n < sample->nuser_ips && process_is_code(proc, sample->user_ips[n]))
		n++;
	if (n < sample->nuser_ips && sample->user_ips[n])
		r->record.words[sample->user_ips + n - r->record.words] = EVENT_IP_ASTRAY;
	sample->nuser_ips = MIN(n + 1, sample->nuser_ips);
}

/* May the word be a code address? Pruning has checked it, unless it keeps everything. */
static void note_word(struct ring_reader *r, const struct process *proc, uint64_t word)
{
	uint64_t ip = word & r->prune.mask;

	if (process_is_code(proc, ip))
		attach_address(r->front, ip, ATTACH_CALLER);
}

static void note_stack(struct ring_reader *r, const struct process *proc)
{
	const struct event_stack *stack = &r->record.event.sample.stack;
	const struct prune *prune = &r->prune;

	for (size_t i = 0; prune->raw && i < stack->nwords; i++)
		note_word(r, proc, stack->words[i]);
	for (size_t i = 0; i < prune->ncode; i++)
		attach_address(r->front, prune->words[prune->code[i]] & prune->mask, ATTACH_CALLER);
}

/* An endpoint of a branch, in user or kernel space. */
static void note_branch(struct ring_reader *r, const struct process *proc, uint64_t ip)
{
	if (ip >> 63)
		attach_kernel_address(r->front, ip, ATTACH_CALLER);
	else
		note_word(r, proc, ip);
}

/* The user-space address at which a sample of the kernel entered it; 0 if unknown. */
static uint64_t interrupted_ip(const struct event_sample *sample)
{
	const struct event_regs *regs = sample->regs;
	unsigned ip = arch_native()->ip;

	if (regs && regs->mask >> ip & 1)
		return regs->values[ip];
	return sample->nuser_ips ? sample->user_ips[0] : 0;
}

/* Pass on every address that a report may name or unwind through. */
static void note_code(struct ring_reader *r, uint32_t pid, const struct process *proc)
{
	const struct event_sample *sample = &r->record.event.sample;
	const struct event_regs *regs = sample->regs;

	attach_begin(r->front, pid);
	if (sample->mode == EVENT_MODE_USER)
		attach_address(r->front, sample->ip, ATTACH_LEAF);
	else if (sample->mode == EVENT_MODE_KERNEL)
		attach_kernel_address(r->front, sample->ip, ATTACH_LEAF);
	if (sample->mode == EVENT_MODE_KERNEL && process_is_code(proc, interrupted_ip(sample)))
		attach_address(r->front, interrupted_ip(sample), ATTACH_INTERRUPTED);
	for (size_t i = 0; i < sample->nkernel_ips; i++)
		attach_kernel_address(r->front, sample->kernel_ips[i], ATTACH_CALLER);
	for (size_t i = 0; i < sample->nuser_ips; i++)
		attach_address(r->front, sample->user_ips[i], ATTACH_CALLER);
	for (size_t i = 0; i < sample->nbranches; i++) {
		note_branch(r, proc, sample->branches[i].from);
		note_branch(r, proc, sample->branches[i].to);
	}
	note_stack(r, proc);
	for (uint64_t left = regs ? regs->mask : 0; left; left &= left - 1)
		note_word(r, proc, regs->values[__builtin_ctzll(left)]);
}

/* The shelf with stacks read from memory; NULL: none are read. */
static struct stack_shelves *shelves_of(const struct ring_reader *r)
{
	return r->scene->managed ? managed_readers_shelves(r->scene->managed) : NULL;
}

/* Fetch the thread's other stack, or the rest of this one, if it was read. Before prune_sample(). */
static bool fetch_other_stack(struct ring_reader *r, size_t ring)
{
	const struct event *ev = &r->record.event;
	struct stack_shelves *shelves = shelves_of(r);
	bool found = shelves && stack_shelves_wants(shelves, ev->pid) &&
		     stack_shelves_take(shelves, ring, ev->tid, ev->time_ns, &r->other);
	bool other = found && !r->other.deep;

	r->prune.other_start = other ? r->other.base : 0;
	r->prune.other_end = other ? r->other.end : 0;
	return found;
}

/* Prune it like the snapshot. After prune_sample(). */
static void keep_other_stack(struct ring_reader *r, size_t ring, const struct process *proc)
{
	if (r->other.deep) {
		if (!deep_stacks_add(r->deep, proc, &r->other, &r->prune, r->front, &r->record.event.sample.stack))
			stack_shelves_lose(shelves_of(r), ring);
		return;
	}

	struct other_stack *other = &r->other;
	size_t n = 0;

	for (size_t i = 0; i < other->nwords; i++) {
		bool code;

		if (!prune_keeps_other(&r->prune, proc, other->words[i], &code))
			continue;
		if (code)
			attach_address(r->front, other->words[i] & r->prune.mask, ATTACH_CALLER);
		other->slots[n] = other->slots[i];
		other->words[n++] = other->words[i];
	}
	r->other_stack = (struct event_stack){ .base = other->base, .end = other->end, .cut = other->cut, .nwords = n,
					       .slots = other->slots, .words = other->words };
	r->record.event.sample.other = &r->other_stack;
}

static bool is_erlang(const struct process *proc, uint64_t ip)
{
	const struct process_map *map = addr_map_find(proc->maps, ip);
	const char *name = map && map->file->kind == MAPPED_FILE ? strrchr(map->file->path, '/') : NULL;

	return name && strcmp(name, "/beam.smp") == 0;
}

/* Decide whether later samples of this process need more of their stack read. Before prune_sample(). */
static void look_for_other_stack(struct ring_reader *r, const struct process *proc)
{
	struct stack_shelves *shelves = shelves_of(r);
	uint32_t pid = r->record.event.pid;
	struct other_stack_snapshot snapshot;
	struct other_stack_place place;
	uint64_t end;
	size_t slot = 0;

	if (!shelves || !other_stack_snapshot_of(&r->record, proc, &snapshot))
		return;
	if (other_stack_may_go_on(&snapshot))
		stack_shelves_learn_end(shelves, pid, r->record.event.tid, snapshot.base);
	end = stack_shelves_end(shelves, r->record.event.tid, snapshot.base);
	if (other_stack_rest(&snapshot, end, &place) ||
	    (snapshot.cut && stack_shelves_in_heap(shelves, r->record.event.tid) && other_stack_rest(&snapshot, UINT64_MAX, &place)))
		stack_shelves_short(shelves, pid, clock_now_ns(CLOCK_MONOTONIC));
	if (r->looked++ % STACK_SHELF_LOOKS)
		return;
	if (is_erlang(proc, r->record.regs.values[snapshot.arch->ip])) {
		stack_shelves_erlang(shelves, pid, clock_now_ns(CLOCK_MONOTONIC));
		return;
	}
	if (other_stack_find_linked(&snapshot, end, &place))
		stack_shelves_suspect(shelves, pid, /* goroutine= */ 0, clock_now_ns(CLOCK_MONOTONIC));
	if (other_stack_may_be_race(&snapshot) && stack_shelves_asks(shelves, pid))
		stack_shelves_suspect(shelves, pid, snapshot.goroutine, clock_now_ns(CLOCK_MONOTONIC));
	while (other_stack_find(&snapshot, &slot, &place)) {
		if (!place.goroutine || stack_shelves_asks(shelves, pid))
			stack_shelves_suspect(shelves, pid, place.goroutine, clock_now_ns(CLOCK_MONOTONIC));
	}
}

/* Keep the words that say what an interpreter executes. */
static void prune_stack(struct ring_reader *r, const struct process *proc, size_t max_stack)
{
	uint64_t reg = bytecode_words_register(proc, &r->record);

	prune_sample(&r->prune, proc, max_stack, &r->record);
	if (!proc->interpreter_len)
		return;
	bytecode_words_keep(&r->prune, proc, reg, &r->record, &r->bytecode);
	attach_begin(r->front, r->record.event.pid);
	for (size_t i = 0; i < r->bytecode.len; i++) {
		r->bytecode.items[i].code.time_ns = r->record.event.time_ns;
		attach_bytecode(r->front, r->bytecode.items[i].code);
	}
}

static void count_sample(struct ring_reader *r, uint32_t event, size_t ring)
{
	const struct event_sample *sample = &r->record.event.sample;

	loss_counts_keep(r->scene->loss_counts, event, ring, sample);
	r->totals.samples++;
	r->totals.cut += sample->stack.cut && !sample->stack.shortened;
	r->totals.shortened += sample->stack.shortened;
	r->totals.stack_bytes += r->record.stack_len;
}

/* A switch from the idle task: nothing waited. */
static bool is_idle_switch(const struct ring_reader *r, const struct event *ev)
{
	return !ev->tid && ev->sample.event == r->scene->off_cpu_event;
}

/* Samples to drop: of tasks that are not recorded, or of precord itself if it is left out. */
static bool is_foreign(const struct ring_reader *r, const struct event *ev)
{
	return is_idle_switch(r, ev) || !task_filter_has(r->scene->tasks, ev->pid, ev->tid) ||
	       (r->scene->skip_pid &&
		process_table_is_copy(r->scene->processes, ev->pid, r->scene->skip_pid));
}

/* The first argument of a wait's system call, before pruning drops it as data. */
static void take_argument(struct ring_reader *r, size_t ring, uint64_t argument)
{
	struct event *ev = &r->record.event;

	ev->sample.addr = argument;
	if (argument && argument <= DESCRIPTOR_LOOKS_MAX)
		vec_push(&r->scene->descriptors[ring], ((struct descriptor_use){ ev->pid, (uint32_t)(argument - 1) }));
}

/* Perhaps a sample of an interpreter: if its stack was not read in time, report it as late. */
static struct err *tell_interpreter(struct ring_reader *r, size_t ring, const struct event *sample)
{
	uint64_t end = r->scene->perf_fds->samples.items[ring].tail;
	struct event late;

	managed_readers_sampled(r->scene->managed, sample->pid);
	return managed_readers_missed(r->scene->managed, ring, end, sample, &late) ? tell(r, &late) : NULL;
}

/* Registers without that of the stack were only for the reader of interpreters. */
static void drop_loop_regs(struct event_sample *sample)
{
	if (sample->regs && !(sample->regs->mask >> arch_native()->sp & 1))
		sample->regs = NULL;
}

static struct err *take_sample(struct ring_reader *r, size_t ring, bool lean, size_t max_stack)
{
	struct event *ev = &r->record.event;
	bool of_user = ev->sample.regs; /* of a task that has memory of its own */

	drop_loop_regs(&ev->sample);
	for (size_t i = 0; i < ev->sample.ncounts; i++)
		r->record.counts[i].event =
			perf_fds_event(r->scene->perf_fds, r->record.count_ids[i]);
	if (ev->sample.event == r->scene->off_cpu_event)
		ev->sample.period = stack_thinning_count(&r->scene->thinning[ring], ev->time_ns);
	if (ev->sample.event == r->scene->waker_event)
		ev->sample.period = stack_thinning_count(&r->scene->waker_thinning[ring], ev->time_ns);
	if (is_foreign(r, ev)) {
		if (r->scene->by_cpu)
			group_counts_skip(r->scene->group, ring, r->record.counts,
					  ev->sample.ncounts);
		loss_counts_pass_over(r->scene->loss_counts, ev->sample.event, ring, ev->sample.period);
		return NULL;
	}
	const struct process *proc = process_table_look(r->scene->processes, ev->pid);

	r->scene->wakings[ring] += ev->sample.event == r->scene->waking_event;
	if (r->scene->by_cpu)
		group_counts_keep(r->scene->group, ring, r->record.counts, ev->sample.ncounts);
	if (ev->sample.event == r->scene->off_cpu_event) {
		vec_push(&r->scene->seen[ring], ((struct wait_probe_sight){ ev->tid, ev->time_ns }));
		take_argument(r, ring, syscall_argument(r->prune.arch, ev->sample.regs));
	}
	bool other = fetch_other_stack(r, ring);

	look_for_other_stack(r, proc);
	prune_stack(r, proc, max_stack);
	ev->sample.stack.shortened |= lean && ev->sample.stack.cut;
	trim_chain(r, proc, &ev->sample);
	note_code(r, ev->pid, proc);
	if (other)
		keep_other_stack(r, ring, proc);
	count_sample(r, ev->sample.event, ring);
	struct err *err = r->scene->managed && of_user ? tell_interpreter(r, ring, ev) : NULL;

	return err ? err : tell(r, ev);
}

struct err *ring_reader_take_sight(struct ring_reader *r, const struct ring_sight *at)
{
	const struct thread_sight *found = at->sight;
	const struct perf_layout *layout = &r->scene->layouts[at->event];
	const struct arch *arch = arch_native();
	struct perf_record *rec = &r->record;
	struct event *ev = &rec->event;
	bool with_stack = layout->sample_type & PERF_SAMPLE_STACK_USER;

	*ev = (struct event){ .kind = EVENT_SAMPLE, .time_ns = at->time_ns, .cpu = EVENT_NO_CPU,
			      .pid = found->pid, .tid = found->tid };
	ev->sample = (struct event_sample){
		.event = at->event,
		.mode = found->nkernel_ips ? EVENT_MODE_KERNEL : EVENT_MODE_USER,
		.ip = found->nkernel_ips ? found->kernel_ips[0] : found->ip,
		.period = at->period,
		.nkernel_ips = found->nkernel_ips,
		.kernel_ips = found->kernel_ips,
		.nuser_ips = found->ip && !with_stack,
		.user_ips = &found->ip,
	};
	r->prune.other_start = r->prune.other_end = 0;
	rec->stack = found->stack;
	rec->stack_len = with_stack ? found->stack_len : 0;
	rec->stack_room = sizeof(found->stack);
	rec->regs.mask = found->ip && with_stack ? 1ull << arch->sp | 1ull << arch->ip : 0;
	rec->regs.values[arch->sp] = found->sp;
	rec->regs.values[arch->ip] = found->ip;
	ev->sample.regs = rec->regs.mask ? &rec->regs : NULL;
	if (at->event == r->scene->off_cpu_event)
		take_argument(r, 0, found->argument);

	const struct process *proc = process_table_look(r->scene->processes, ev->pid);

	prune_sample(&r->prune, proc, PRUNE_ALL, rec);
	note_code(r, ev->pid, proc);
	return tell(r, ev);
}

/* Losses and pauses: the events of these rings have no other records. */
static struct err *take_other(struct ring_reader *r, size_t ring)
{
	struct event *ev = &r->record.event;
	uint32_t about = perf_fds_event(r->scene->perf_fds, r->record.about_id);

	if (ev->kind == EVENT_LOST || ev->kind == EVENT_LOST_SAMPLES) {
		ev->lost.count = loss_counts_lose(r->scene->loss_counts, ring, ev->lost.count);
		if (!ev->lost.count)
			return NULL;
		r->totals.lost += ev->lost.count;
		ev->lost.event = about;
	} else if (ev->kind == EVENT_THROTTLE) {
		ev->throttle.event = about;
		r->totals.throttled += ev->throttle.stopped;
		if (about != RECORDING_NO_EVENT && ev->throttle.stopped)
			loss_counts_throttle(r->scene->loss_counts, about, ring);
	}
	r->totals.side_band++;
	return tell(r, ev);
}

/* @count samples of a known event that are not read count as lost by the recorder. */
static struct err *tell_dropped(struct ring_reader *r, size_t ring, uint32_t event, uint64_t count)
{
	struct event lost = {
		.kind = EVENT_LOST_SAMPLES,
		.time_ns = r->newest_ns,
		.cpu = r->scene->perf_fds->samples.items[ring].cpu,
		.lost = { .event = event, .count = count, .by_recorder = true },
	};

	loss_counts_drop(r->scene->loss_counts, event, ring, count);
	r->totals.side_band++;
	return tell(r, &lost);
}

/* Count @count unparsable records of ring number @ring. */
static struct err *take_broken(struct ring_reader *r, size_t ring, uint32_t event, uint64_t count)
{
	r->totals.broken += count;
	return event == RECORDING_NO_EVENT ? NULL : tell_dropped(r, ring, event, count);
}

/* Bytes skipped since the last pass, as a number of records, estimated by the length of the last one. */
static struct err *take_skipped(struct ring_reader *r, size_t number, size_t record_len)
{
	struct ring *ring = &r->scene->perf_fds->samples.items[number];
	uint64_t count = record_len ? ring->skipped / record_len : 0;

	if (!ring->skipped)
		return NULL;
	ring->skipped = 0;
	ring_release(ring);
	return take_broken(r, number, r->scene->nevents == 1 ? 0 : RECORDING_NO_EVENT, MAX(count, (uint64_t)1));
}

static bool is_sample(const uint8_t *data)
{
	struct perf_event_header header;

	memcpy(&header, data, sizeof(header));
	return header.type == PERF_RECORD_SAMPLE;
}

/*
 * The event of a sample. If several recorders sample the same software event, the kernel (seen in 6.18) writes the first
 * one's id into all samples: an unknown id then means the only event of that sort.
 */
static uint32_t event_of(const struct ring_reader *r, uint64_t id, const uint8_t *data)
{
	uint32_t number = perf_fds_event(r->scene->perf_fds, id);

	if (number == RECORDING_NO_EVENT && is_sample(data))
		return r->scene->software_event;
	return number;
}

/* One record of ring number @ring. */
static struct err *take_record(struct ring_reader *r, size_t ring, const uint8_t *data, size_t len,
			       size_t max_stack)
{
	uint64_t id = perf_record_id(data, len, false);
	uint32_t number = event_of(r, id, data);
	bool known = number != RECORDING_NO_EVENT;
	const struct perf_layout *layout =
		&r->scene->layouts[known ? number : r->scene->nevents];
	struct err *err = perf_record_parse(layout, data, len, false, &r->record);

	if (err) {
		err_free(err);
		return take_broken(r, ring, is_sample(data) ? number : RECORDING_NO_EVENT, 1);
	}
	if (!r->record.known)
		return NULL;
	r->newest_ns = MAX(r->newest_ns, r->record.event.time_ns);
	if (r->record.event.kind != EVENT_SAMPLE)
		return take_other(r, ring);
	if (!known) /* its event is not known */
		return take_broken(r, ring, number, 1);
	r->record.event.sample.event = number;
	if (r->scene->probes[number])
		probe_args_append(r->scene->probes[number], &r->record.event.sample, r->probe_raw);
	return take_sample(r, ring, perf_fds_is_lean(r->scene->perf_fds, id), max_stack);
}

/* Choose the length of snapshots and how much of each to prune, by the ring's fill level. */
static size_t stack_limit(struct ring_reader *r, size_t number, uint64_t head)
{
	struct ring *ring = &r->scene->perf_fds->samples.items[number];
	uint64_t percent = (head - ring->tail) * 100 / ring->data_len;
	bool was_lean = ring->lean;

	r->totals.fullest = MAX(r->totals.fullest, percent);
	if (percent > BEHIND_PERCENT) {
		r->scene->behind_ns[number] = r->newest_ns;
		perf_fds_set_lean(r->scene->perf_fds, ring, true);
	} else if (percent < CAUGHT_UP_PERCENT &&
		   r->newest_ns > r->scene->behind_ns[number] + CAUGHT_UP_NS) {
		perf_fds_set_lean(r->scene->perf_fds, ring, false);
	}
	return percent > FAR_BEHIND_PERCENT && was_lean ? PERF_FDS_LEAN_STACK_LEN : PRUNE_ALL;
}

static void thin(struct ring_reader *r, size_t number, uint32_t event, struct stack_thinning *thinning)
{
	uint64_t period;

	if (event == RECORDING_NO_EVENT)
		return;
	period = stack_thinning_decide(thinning, clock_now_ns(CLOCK_MONOTONIC));
	if (period)
		perf_fds_set_period(r->scene->perf_fds, event, r->scene->perf_fds->samples.items[number].cpu, period);
}

/* Adapt the rate of stacks of waits and wakers. */
static void thin_stacks(struct ring_reader *r, size_t number)
{
	if (r->scene->perf_fds->narrow)
		return;
	thin(r, number, r->scene->off_cpu_event, &r->scene->thinning[number]);
	thin(r, number, r->scene->waker_event, &r->scene->waker_thinning[number]);
}

/* A record for which no time is left. Only what is not a sample is looked at: losses count. */
static struct err *leave_record(struct ring_reader *r, size_t number, const uint8_t *data, size_t len)
{
	if (!is_sample(data))
		return take_record(r, number, data, len, PRUNE_ALL);
	uint32_t event = event_of(r, perf_record_id(data, len, false), data);

	r->scene->stop->left[STOP_SAMPLES]++;
	return event == RECORDING_NO_EVENT ? NULL : tell_dropped(r, number, event, 1);
}

static struct err *empty_ring(struct ring_reader *r, struct ring_hand *hand, size_t number)
{
	struct ring *ring = &r->scene->perf_fds->samples.items[number];
	uint64_t head = r->scene->heads[number];

	if (head == ring->tail)
		return NULL;
	affinity_follow(&hand->affinity, ring->cpu);
	size_t max_stack = stack_limit(r, number, head);
	struct err *err = NULL;
	const uint8_t *data;
	size_t len = 0;

	while (!err && ring_next(ring, head, r->scratch, &data, &len)) {
		err = stop_time_is_over(r->scene->stop) ? leave_record(r, number, data, len) :
							  take_record(r, number, data, len, max_stack);
		/* Release the space to the kernel early. */
		ring_release(ring);
	}
	return err ? err : take_skipped(r, number, len);
}

uint64_t ring_reader_backlog(const struct ring_reader *r)
{
	const struct ring_list *rings = &r->scene->perf_fds->samples;
	uint64_t len = 0;

	for (size_t i = r->number; i < rings->len; i += r->count)
		len += r->scene->heads[i] - rings->items[i].tail;
	return len;
}

struct err *ring_reader_run(struct ring_reader *r, struct ring_hand *hand)
{
	struct err *err = NULL;

	for (size_t i = r->number; i < r->scene->perf_fds->samples.len && !err; i += r->count) {
		err = empty_ring(r, hand, i);
		thin_stacks(r, i);
		priority_check(&hand->priority);
	}
	return err;
}

void ring_reader_tally(struct ring_reader *r, struct drain_totals *totals, uint64_t *newest_ns)
{
	totals->samples += r->totals.samples;
	totals->lost += r->totals.lost;
	totals->cut += r->totals.cut;
	totals->shortened += r->totals.shortened;
	totals->throttled += r->totals.throttled;
	totals->broken += r->totals.broken;
	totals->side_band += r->totals.side_band;
	totals->stack_bytes += r->totals.stack_bytes;
	totals->fullest = MAX(totals->fullest, r->totals.fullest);
	r->totals = (struct drain_totals){ 0 };
	*newest_ns = r->newest_ns = MAX(*newest_ns, r->newest_ns);
}
