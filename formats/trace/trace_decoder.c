/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_decoder.c - decodes a block in one go, into one piece of memory whose length the block
 * states.
 *
 * The stated length is a promise that is checked with every allocation, so a small block that
 * copies itself over and over runs out of it instead of running this machine out of memory.
 */
#include "formats/trace/trace_decoder.h"

#include "formats/base/memory.h"
#include "formats/base/reader.h"
#include "formats/base/vec.h"
#include "formats/trace/stack_codec.h"
#include "formats/trace/trace_field.h"
#include "formats/trace/trace_side_band.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* What a thread's last sample held; points to where that was decoded. */
struct task {
	uint32_t pid, tid;
	const struct event_regs *regs;
	const struct event_stack *stack; /* NULL: none yet */
	const uint64_t *kernel_ips, *user_ips;
	size_t nkernel_ips, nuser_ips;
};

struct decoder {
	const struct recording *rec;
	struct reader columns[TRACE_COLUMNS];
	struct value_decoder values;
	VEC(struct task) tasks;
	struct side_band_decoder side_band;
	VEC(struct trace_clock) clocks; /* by CPU */
	char *pos, *end;                /* of the memory that is left */
	uint64_t time_ns, period;
	uint32_t cpu, event;
	size_t task;
	uint64_t number; /* of the last snapshot */
};

/* @len bytes, 8-byte aligned; NULL and a failure of @r when the block promised less. */
static void *room(struct decoder *d, struct reader *r, size_t len)
{
	size_t need = (len + 7) & ~(size_t)7;
	char *p = d->pos;

	if (r->failed)
		return NULL;
	if (need > (size_t)(d->end - d->pos)) {
		reader_fail(r, "decoded block");
		return NULL;
	}
	d->pos += need;
	return p;
}

static void *side_band_room(void *context, struct reader *r, size_t len)
{
	return room(context, r, len);
}

static void get_task(struct decoder *d, struct reader *r)
{
	uint64_t number = reader_uleb(r, "thread number");

	if (number > d->tasks.len)
		reader_fail(r, "thread number");
	if (r->failed)
		return;
	if (number) {
		d->task = number - 1;
		return;
	}
	struct task task = { .pid = reader_uleb_u32(r, "process") - 1 };

	task.tid = task.pid + (uint32_t)reader_zigzag(r, "thread");
	d->task = d->tasks.len;
	vec_push(&d->tasks, task);
}

static unsigned get_head(struct decoder *d, struct event *ev)
{
	struct reader *r = &d->columns[TRACE_COLUMN_HEADS];
	unsigned head = reader_u8(r, "event head");

	if (!(head & TRACE_HEAD_SAME_CPU))
		d->cpu = reader_uleb_u32(r, "CPU") - 1;
	if (!(head & TRACE_HEAD_SAME_TASK))
		get_task(d, r);
	if (head & TRACE_HEAD_RESERVED || !(head & TRACE_HEAD_KIND) || d->tasks.len == 0)
		reader_fail(r, "event head");
	if (d->cpu > TRACE_CPU_MAX && d->cpu != EVENT_NO_CPU)
		reader_fail(r, "CPU");
	if (r->failed)
		return 0;
	ev->cpu = d->cpu;
	ev->pid = d->tasks.items[d->task].pid;
	ev->tid = d->tasks.items[d->task].tid;
	return head & TRACE_HEAD_KIND;
}

static void get_time(struct decoder *d, struct event *ev)
{
	uint64_t distance = (uint64_t)reader_zigzag(&d->columns[TRACE_COLUMN_TIMES], "event time");

	if (ev->kind == EVENT_SAMPLE && ev->cpu <= TRACE_CPU_MAX) {
		while (d->clocks.len <= ev->cpu)
			vec_push(&d->clocks, (struct trace_clock){ 0 });

		struct trace_clock *clock = &d->clocks.items[ev->cpu];

		d->time_ns = trace_clock_expected(clock, d->time_ns) + distance;
		trace_clock_tick(clock, d->time_ns);
	} else {
		d->time_ns += distance;
	}
	ev->time_ns = d->time_ns;
}

static const uint64_t *get_chain(struct decoder *d, struct reader *r, const uint64_t *prev,
				 size_t nprev, size_t *ret_count)
{
	struct chain_shape shape = chain_get_shape(r, nprev);
	uint64_t *ips = room(d, r, shape.nips * sizeof(*ips));

	*ret_count = 0;
	if (!ips)
		return NULL;
	chain_get(&d->values, r, prev, nprev, shape, ips);
	*ret_count = shape.nips;
	return ips;
}

static void get_regs(struct decoder *d, struct task *task, struct event_sample *s)
{
	static const struct event_regs none;
	struct reader *r = &d->columns[TRACE_COLUMN_REGS];
	struct event_regs *regs = room(d, r, TRACE_EXPANDED_REGS);

	if (!regs)
		return;
	regs_get(&d->values, r, task->regs ? task->regs : &none, s->ip, regs);
	if (regs->mask >> d->rec->arch->nregs)
		reader_fail(r, "register mask");
	s->regs = task->regs = regs;
}

static void get_stack(struct decoder *d, struct task *task, struct event_sample *s)
{
	const struct stack_readers from = {
		.shapes = &d->columns[TRACE_COLUMN_STACK_SHAPES],
		.pointers = &d->columns[TRACE_COLUMN_STACK_POINTERS],
		.numbers = &d->columns[TRACE_COLUMN_STACK_NUMBERS],
	};
	static const struct event_stack none;
	const struct event_stack *prev = task->stack ? task->stack : &none;
	struct stack_room place;
	uint64_t sp = 0;

	if (s->regs && s->regs->mask >> d->rec->arch->sp & 1)
		sp = s->regs->values[d->rec->arch->sp];
	stack_get_shape(from.shapes, prev, sp, &s->stack);
	place.words = room(d, from.shapes, s->stack.nwords * sizeof(*place.words));
	place.slots = room(d, from.shapes, s->stack.nwords * sizeof(*place.slots));
	if (!place.slots)
		return;
	stack_get(&d->values, &from, prev, &s->stack, place);
	s->stack.number = ++d->number;
	task->stack = &s->stack;
}

/* Room for the array that @r begins with the length of, each element at least @min bytes. */
static void *get_array(struct decoder *d, struct reader *r, size_t min, size_t size,
		       size_t *ret_count)
{
	uint64_t count = reader_uleb(r, "array length");

	*ret_count = 0;
	if (count > reader_left(r) / min)
		reader_fail(r, "array");
	else
		*ret_count = count;
	return room(d, r, *ret_count * size);
}

static void get_branches(struct decoder *d, struct reader *r, struct event_sample *s)
{
	struct event_branch *branches = get_array(d, r, 3, sizeof(*branches), &s->nbranches);
	uint64_t last = s->ip;

	s->branches = branches;
	for (size_t i = 0; branches && i < s->nbranches; i++) {
		struct event_branch *b = &branches[i];

		b->to = last + (uint64_t)reader_zigzag(r, "branch target");
		b->from = b->to + (uint64_t)reader_zigzag(r, "branch source");
		b->flags = reader_uleb(r, "branch flags");
		last = b->from;
	}
}

static void get_counts(struct decoder *d, struct reader *r, struct event_sample *s)
{
	struct event_count *counts = get_array(d, r, 4, sizeof(*counts), &s->ncounts);

	s->counts = counts;
	for (size_t i = 0; counts && i < s->ncounts; i++) {
		struct event_count *c = &counts[i];

		c->event = reader_uleb_u32(r, "event of a count");
		c->value = reader_uleb(r, "count");
		c->enabled_ns = reader_uleb(r, "time enabled");
		c->running_ns = reader_uleb(r, "time running");
		if (c->event >= d->rec->nevents)
			reader_fail(r, "event of a count");
	}
}

static void get_other_words(struct reader *r, uint64_t len, size_t nwords, uint32_t *slots, uint64_t *words)
{
	uint64_t next = 0, word = 0;

	for (size_t i = 0; i < nwords && !r->failed; i++) {
		uint64_t gap = reader_uleb(r, "word of another stack");

		word += (uint64_t)reader_zigzag(r, "word of another stack");
		if (next >= len || gap >= len - next) {
			reader_fail(r, "word of another stack");
			return;
		}
		slots[i] = (uint32_t)(next + gap);
		words[i] = word;
		next += gap + 1;
	}
}

static void get_other_stack(struct decoder *d, struct reader *r, struct event_sample *s)
{
	uint64_t base = reader_uleb(r, "another stack"), len = reader_uleb(r, "another stack");
	uint64_t flags = reader_uleb(r, "another stack"), nwords = reader_uleb(r, "another stack");

	if (base > UINT64_MAX / 8 || len > EVENT_STACK_MAX / 8 || len > UINT64_MAX / 8 - base || nwords > len)
		reader_fail(r, "another stack");
	struct event_stack *stack = room(d, r, sizeof(*stack));
	uint64_t *words = room(d, r, nwords * sizeof(*words));
	uint32_t *slots = room(d, r, nwords * sizeof(*slots));

	if (!slots)
		return;
	*stack = (struct event_stack){ .base = 8 * base, .end = 8 * (base + len), .nwords = nwords, .slots = slots,
				       .words = words, .cut = flags & TRACE_OTHER_STACK_CUT };
	get_other_words(r, len, nwords, slots, words);
	s->other = stack;
}

static void get_extra(struct decoder *d, uint64_t tag, struct reader *r, struct event_sample *s)
{
	switch (tag) {
	case TRACE_EXTRA_ADDR:
		s->addr = reader_uleb(r, "data address");
		break;
	case TRACE_EXTRA_WEIGHT:
		s->weight = reader_uleb(r, "weight");
		break;
	case TRACE_EXTRA_DATA_SRC:
		s->data_src = reader_uleb(r, "data source");
		break;
	case TRACE_EXTRA_CGROUP:
		s->cgroup = reader_uleb(r, "cgroup");
		break;
	case TRACE_EXTRA_RAW:
		s->raw_len = reader_left(r);
		s->raw = reader_bytes(r, s->raw_len, "payload");
		break;
	case TRACE_EXTRA_BRANCHES:
		get_branches(d, r, s);
		break;
	case TRACE_EXTRA_COUNTS:
		get_counts(d, r, s);
		break;
	case TRACE_EXTRA_OTHER_STACK:
		get_other_stack(d, r, s);
		break;
	}
}

static void get_extras(struct decoder *d, struct event_sample *s)
{
	struct reader *r = &d->columns[TRACE_COLUMN_EXTRAS];
	uint64_t len = reader_uleb(r, "extras length");
	struct reader extras = reader_slice(r, len, "extras");
	struct reader value;
	uint64_t tag;

	while (trace_field_next(&extras, &tag, &value)) {
		get_extra(d, tag, &value, s);
		if (value.failed)
			reader_fail(&extras, value.failed);
	}
	if (extras.failed)
		reader_fail(r, extras.failed);
}

static void get_sample_head(struct decoder *d, struct reader *r, uint64_t flags,
			    struct event_sample *s)
{
	unsigned mode = flags & TRACE_SAMPLE_MODE;

	if (flags & TRACE_SAMPLE_EVENT)
		d->event = reader_uleb_u32(r, "event number");
	if (flags & TRACE_SAMPLE_PERIOD)
		d->period += (uint64_t)reader_zigzag(r, "period");
	if (flags & TRACE_SAMPLE_RESERVED || mode > EVENT_MODE_GUEST_USER)
		reader_fail(r, "sample flags");
	if (d->event >= d->rec->nevents)
		reader_fail(r, "event number");
	s->mode = mode;
	s->event = d->event;
	s->period = d->period;
	s->ip = value_get(&d->values, r);
}

static void get_sample(struct decoder *d, struct event_sample *s)
{
	struct reader *r = &d->columns[TRACE_COLUMN_SAMPLES];
	struct task *task = &d->tasks.items[d->task];
	uint64_t flags = reader_uleb(r, "sample flags");

	get_sample_head(d, r, flags, s);
	if (flags & TRACE_SAMPLE_KERNEL) {
		s->kernel_ips =
			get_chain(d, r, task->kernel_ips, task->nkernel_ips, &s->nkernel_ips);
		task->kernel_ips = s->kernel_ips;
		task->nkernel_ips = s->nkernel_ips;
	}
	if (flags & TRACE_SAMPLE_USER) {
		s->user_ips = get_chain(d, r, task->user_ips, task->nuser_ips, &s->nuser_ips);
		task->user_ips = s->user_ips;
		task->nuser_ips = s->nuser_ips;
	}
	if (flags & TRACE_SAMPLE_REGS)
		get_regs(d, task, s);
	if (flags & TRACE_SAMPLE_STACK)
		get_stack(d, task, s);
	if (flags & TRACE_SAMPLE_EXTRAS)
		get_extras(d, s);
}

static void get_side_band(struct decoder *d, struct event *ev)
{
	struct reader *r = &d->columns[TRACE_COLUMN_SIDE_BAND];
	uint64_t len = reader_uleb(r, "event length");
	struct reader payload = reader_slice(r, len, "event");

	side_band_get(&d->side_band, &payload, ev);
	if (payload.failed)
		reader_fail(r, payload.failed);
}

/* NULL, or what the first column to fail says. */
static struct err *columns_check(const struct decoder *d)
{
	for (size_t i = 1; i < TRACE_COLUMNS; i++) {
		struct err *err = reader_check(&d->columns[i]);

		if (err)
			return err;
	}
	return NULL;
}

/* Decode the next event into @ev; false if it is of a kind that is not known here. */
static bool get_event(struct decoder *d, struct event *ev)
{
	unsigned kind = get_head(d, ev);

	ev->kind = kind ? (enum event_kind)(kind - 1) : EVENT_KINDS;
	get_time(d, ev);
	if (ev->kind == EVENT_SAMPLE)
		get_sample(d, &ev->sample);
	else if (kind)
		get_side_band(d, ev);
	return ev->kind < EVENT_KINDS;
}

static bool any_failed(const struct decoder *d)
{
	for (size_t i = 1; i < TRACE_COLUMNS; i++) {
		if (d->columns[i].failed)
			return true;
	}
	return false;
}

static struct err *get_events(struct decoder *d, uint64_t count, struct trace_events *ret)
{
	ret->count = 0;
	for (uint64_t i = 0; i < count && !any_failed(d); i++) {
		struct event *ev = &ret->events[ret->count];

		*ev = (struct event){ 0 };
		if (get_event(d, ev))
			ret->count++;
	}
	struct err *err = columns_check(d);

	if (err)
		ret->count = 0;
	return err;
}

/* The columns' places; those of a newer version are passed. */
static void get_columns(struct decoder *d, struct reader *r)
{
	uint64_t count = reader_uleb(r, "column count");
	struct reader directory = *r;

	for (size_t i = 0; i < TRACE_COLUMNS; i++) {
		d->columns[i] = *r;
		d->columns[i].end = r->pos;
	}
	for (uint64_t i = 0; i < count && !r->failed; i++) {
		reader_uleb(r, "column");
		reader_uleb(r, "column length");
	}
	for (uint64_t i = 0; i < count && !r->failed; i++) {
		uint64_t column = reader_uleb(&directory, "column");
		uint64_t len = reader_uleb(&directory, "column length");

		if (len > reader_left(r))
			reader_fail(r, "column");

		struct reader place = reader_slice(r, len, "column");

		if (column && column < TRACE_COLUMNS)
			d->columns[column] = place;
	}
}

#define LARGE_PAGE (2u << 20)

/* Large blocks are written once and read once: most of the time would go into page faults. */
static void make_memory(struct trace_events *events, size_t len)
{
	free(events->memory);
	events->memory_len = len;
	if (len < LARGE_PAGE) {
		events->memory = memory_alloc(len);
		return;
	}
	events->memory_len = (len + LARGE_PAGE - 1) & ~(size_t)(LARGE_PAGE - 1);
	events->memory = aligned_alloc(LARGE_PAGE, events->memory_len);
	if (!events->memory)
		memory_exhausted(events->memory_len);
	madvise(events->memory, events->memory_len, MADV_HUGEPAGE); /* no harm if it is refused */
}

static struct err *prepare(struct decoder *d, struct reader *r, struct trace_events *ret,
			   uint64_t *ret_count)
{
	uint64_t count = reader_uleb(r, "event count");
	uint64_t expanded_len = reader_uleb(r, "decoded length");

	get_columns(d, r);
	if (expanded_len > TRACE_EXPANDED_MAX || count > expanded_len / TRACE_EXPANDED_EVENT ||
	    count > reader_left(&d->columns[TRACE_COLUMN_HEADS]))
		reader_fail(r, "decoded block");
	struct err *err = reader_check(r);

	if (err)
		return err;
	if (!ret->memory || ret->memory_len < expanded_len)
		make_memory(ret, MAX(expanded_len, 1));
	ret->events = (struct event *)(void *)ret->memory;
	ret->used_len = expanded_len;
	d->pos = ret->memory + count * TRACE_EXPANDED_EVENT;
	d->end = ret->memory + expanded_len;
	*ret_count = count;
	return NULL;
}

struct err *trace_events_decode(const void *content, size_t len, const struct recording *rec,
				uint64_t number, struct trace_events *ret)
{
	struct decoder d = { .rec = rec, .side_band.nevents = rec->nevents, .number = number };
	struct reader r;
	uint64_t count = 0;

	ret->count = 0;
	d.side_band.room = side_band_room;
	d.side_band.context = &d;
	d.values.fresh = &d.columns[TRACE_COLUMN_FRESH];
	reader_init(&r, content, len, /* big_endian= */ false);

	struct err *err = prepare(&d, &r, ret, &count);

	if (!err)
		err = get_events(&d, count, ret);
	value_decoder_deinit(&d.values);
	vec_deinit(&d.tasks);
	side_band_decoder_deinit(&d.side_band);
	vec_deinit(&d.clocks);
	return err;
}

void trace_events_deinit(struct trace_events *events)
{
	free(events->memory);
	*events = (struct trace_events){ 0 };
}
