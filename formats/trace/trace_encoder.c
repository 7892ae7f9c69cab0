/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_encoder.c - keeps, for each thread of the block, a copy of what its last sample held,
 * since that is what the next one is coded against.
 */
#include "formats/trace/trace_encoder.h"

#include "formats/base/map.h"
#include "formats/base/memory.h"
#include "formats/base/vec.h"
#include "formats/trace/stack_codec.h"
#include "formats/trace/trace_field.h"
#include "formats/trace/trace_side_band.h"

#include <stdlib.h>
#include <string.h>

/* What tasks that wait to be used again may hold: a block of thousands of short processes must not make each of them grow. */
#define KEPT_LEN (2u << 20)

/* What a thread's last sample held. */
struct task {
	struct event_regs regs;
	struct event_stack stack; /* points into the two below */
	VEC(uint32_t) slots;
	VEC(uint64_t) words;
	VEC(uint64_t) kernel_ips, user_ips;
};

struct trace_encoder {
	const struct arch *arch;
	struct writer columns[TRACE_COLUMNS];
	struct writer scratch;  /* a payload whose length is not known yet */
	struct writer scratch2; /* and one inside that */
	struct trace_encoder_summary summary;
	struct value_encoder values;
	struct map task_numbers;  /* pid << 32 | tid -> number from 1 */
	VEC(struct task *) tasks; /* those beyond the map's length wait to be used again */
	struct string_encoder strings;
	VEC(struct trace_clock) clocks; /* by CPU */
	uint64_t time_ns, period;       /* of the last event, the last sample */
	uint32_t cpu, event, pid, tid;
	size_t task; /* index of the last event's */
};

struct trace_encoder *trace_encoder_new(const struct arch *arch)
{
	struct trace_encoder *enc = memory_zeroed(1, sizeof(*enc));

	enc->arch = arch;
	enc->values.fresh = &enc->columns[TRACE_COLUMN_FRESH];
	return enc;
}

static void task_free(struct task *task)
{
	vec_deinit(&task->slots);
	vec_deinit(&task->words);
	vec_deinit(&task->kernel_ips);
	vec_deinit(&task->user_ips);
	free(task);
}

void trace_encoder_free(struct trace_encoder *enc)
{
	if (!enc)
		return;
	for (size_t i = 0; i < TRACE_COLUMNS; i++)
		writer_deinit(&enc->columns[i]);
	writer_deinit(&enc->scratch);
	writer_deinit(&enc->scratch2);
	value_encoder_deinit(&enc->values);
	map_deinit(&enc->task_numbers);
	for (size_t i = 0; i < enc->tasks.len; i++)
		task_free(enc->tasks.items[i]);
	vec_deinit(&enc->tasks);
	vec_deinit(&enc->clocks);
	string_encoder_deinit(&enc->strings);
	free(enc);
}

static void begin_task(struct trace_encoder *enc, size_t index)
{
	if (enc->tasks.len == index)
		vec_push(&enc->tasks, memory_zeroed(1, sizeof(struct task)));

	struct task *task = enc->tasks.items[index];

	task->regs.mask = 0;
	task->stack = (struct event_stack){ 0 };
	task->kernel_ips.len = task->user_ips.len = 0;
}

static void put_task(struct trace_encoder *enc, struct writer *w, const struct event *ev)
{
	bool fresh;
	uint64_t *number = map_put(&enc->task_numbers, (uint64_t)ev->pid << 32 | ev->tid, &fresh);

	if (fresh) {
		*number = enc->task_numbers.len;
		begin_task(enc, *number - 1);
	}
	enc->task = *number - 1;
	if (!fresh) {
		writer_uleb(w, *number);
		return;
	}
	writer_uleb(w, 0);
	writer_uleb(w, (uint32_t)(ev->pid + 1));
	writer_zigzag(w, (int32_t)(ev->tid - ev->pid));
}

/*
 * Samples of a CPU are about as far apart as the last two were; other events are near the last
 * one.
 */
static void put_time(struct trace_encoder *enc, const struct event *ev)
{
	struct writer *w = &enc->columns[TRACE_COLUMN_TIMES];

	if (ev->kind == EVENT_SAMPLE && ev->cpu <= TRACE_CPU_MAX) {
		while (enc->clocks.len <= ev->cpu)
			vec_push(&enc->clocks, (struct trace_clock){ 0 });

		struct trace_clock *clock = &enc->clocks.items[ev->cpu];

		writer_zigzag(w,
			      (int64_t)(ev->time_ns - trace_clock_expected(clock, enc->time_ns)));
		trace_clock_tick(clock, ev->time_ns);
	} else {
		writer_zigzag(w, (int64_t)(ev->time_ns - enc->time_ns));
	}
	enc->time_ns = ev->time_ns;
}

static void put_head(struct trace_encoder *enc, const struct event *ev)
{
	struct writer *w = &enc->columns[TRACE_COLUMN_HEADS];
	bool first = enc->summary.count == 0;
	unsigned head = (unsigned)ev->kind + 1;

	if (!first && ev->cpu == enc->cpu)
		head |= TRACE_HEAD_SAME_CPU;
	if (!first && ev->pid == enc->pid && ev->tid == enc->tid)
		head |= TRACE_HEAD_SAME_TASK;
	writer_u8(w, (uint8_t)head);
	put_time(enc, ev);
	if (!(head & TRACE_HEAD_SAME_CPU))
		writer_uleb(w, (uint32_t)(ev->cpu + 1));
	if (!(head & TRACE_HEAD_SAME_TASK))
		put_task(enc, w, ev);
	enc->cpu = ev->cpu;
	enc->pid = ev->pid;
	enc->tid = ev->tid;
}

static void put_branches(struct writer *w, const struct event_sample *s)
{
	uint64_t last = s->ip;

	writer_uleb(w, s->nbranches);
	for (size_t i = 0; i < s->nbranches; i++) {
		const struct event_branch *b = &s->branches[i];

		writer_zigzag(w, (int64_t)(b->to - last));
		writer_zigzag(w, (int64_t)(b->from - b->to));
		writer_uleb(w, b->flags);
		last = b->from;
	}
}

static void put_counts(struct writer *w, const struct event_sample *s)
{
	writer_uleb(w, s->ncounts);
	for (size_t i = 0; i < s->ncounts; i++) {
		writer_uleb(w, s->counts[i].event);
		writer_uleb(w, s->counts[i].value);
		writer_uleb(w, s->counts[i].enabled_ns);
		writer_uleb(w, s->counts[i].running_ns);
	}
}

/* Its words from the lowest up. */
static void put_other_stack(struct writer *w, const struct event_stack *stack)
{
	uint64_t next = 0, last = 0;

	writer_uleb(w, stack->base / 8);
	writer_uleb(w, (stack->end - stack->base) / 8);
	writer_uleb(w, stack->cut ? TRACE_OTHER_STACK_CUT : 0);
	writer_uleb(w, stack->nwords);
	for (size_t i = 0; i < stack->nwords; i++) {
		writer_uleb(w, stack->slots[i] - next);
		writer_zigzag(w, (int64_t)(stack->words[i] - last));
		next = stack->slots[i] + 1ULL;
		last = stack->words[i];
	}
}

static bool has_extras(const struct event_sample *s)
{
	return s->addr || s->weight || s->data_src || s->cgroup || s->raw_len || s->nbranches ||
	       s->ncounts || s->other;
}

static void put_extra(struct writer *w, uint64_t tag, uint64_t value)
{
	if (value)
		trace_field_put_uint(w, tag, value);
}

static void put_extras(struct trace_encoder *enc, const struct event_sample *s)
{
	struct writer *out = &enc->columns[TRACE_COLUMN_EXTRAS];
	struct writer *w = &enc->scratch;
	struct writer *part = &enc->scratch2;

	writer_reset(w);
	put_extra(w, TRACE_EXTRA_ADDR, s->addr);
	put_extra(w, TRACE_EXTRA_WEIGHT, s->weight);
	put_extra(w, TRACE_EXTRA_DATA_SRC, s->data_src);
	put_extra(w, TRACE_EXTRA_CGROUP, s->cgroup);
	if (s->raw_len)
		trace_field_put_bytes(w, TRACE_EXTRA_RAW, s->raw, s->raw_len);
	if (s->nbranches) {
		writer_reset(part);
		put_branches(part, s);
		trace_field_put_bytes(w, TRACE_EXTRA_BRANCHES, part->data, part->len);
	}
	if (s->ncounts) {
		writer_reset(part);
		put_counts(part, s);
		trace_field_put_bytes(w, TRACE_EXTRA_COUNTS, part->data, part->len);
	}
	if (s->other) {
		writer_reset(part);
		put_other_stack(part, s->other);
		trace_field_put_bytes(w, TRACE_EXTRA_OTHER_STACK, part->data, part->len);
	}
	writer_uleb(out, w->len);
	writer_bytes(out, w->data, w->len);
}

static void put_stack(struct trace_encoder *enc, struct task *task, const struct event_sample *s)
{
	const struct stack_writers to = {
		.shapes = &enc->columns[TRACE_COLUMN_STACK_SHAPES],
		.pointers = &enc->columns[TRACE_COLUMN_STACK_POINTERS],
		.numbers = &enc->columns[TRACE_COLUMN_STACK_NUMBERS],
	};
	const struct event_stack *stack = &s->stack;
	uint64_t sp = 0;

	if (s->regs && s->regs->mask >> enc->arch->sp & 1)
		sp = s->regs->values[enc->arch->sp];
	stack_put(&enc->values, &to, &task->stack, stack, sp);
	task->slots.len = task->words.len = 0;
	vec_append(&task->slots, stack->slots, stack->nwords);
	vec_append(&task->words, stack->words, stack->nwords);
	task->stack = *stack;
	task->stack.slots = task->slots.items;
	task->stack.words = task->words.items;
}

/* Remember @ips in the vec at @prev after coding them against what was there. */
#define PUT_CHAIN(enc, w, prev, ips, nips)                                                 \
	do {                                                                               \
		chain_put(&(enc)->values, (w), (prev)->items, (prev)->len, (ips), (nips)); \
		(prev)->len = 0;                                                           \
		vec_append((prev), (ips), (nips));                                         \
	} while (0)

static uint64_t sample_flags(const struct trace_encoder *enc, const struct event_sample *s)
{
	uint64_t flags = (uint64_t)s->mode & TRACE_SAMPLE_MODE;

	if (s->event != enc->event)
		flags |= TRACE_SAMPLE_EVENT;
	if (s->period != enc->period)
		flags |= TRACE_SAMPLE_PERIOD;
	if (s->regs)
		flags |= TRACE_SAMPLE_REGS;
	if (s->stack.base != s->stack.end)
		flags |= TRACE_SAMPLE_STACK;
	if (s->nkernel_ips)
		flags |= TRACE_SAMPLE_KERNEL;
	if (s->nuser_ips)
		flags |= TRACE_SAMPLE_USER;
	if (has_extras(s))
		flags |= TRACE_SAMPLE_EXTRAS;
	return flags;
}

static void put_sample(struct trace_encoder *enc, const struct event_sample *s)
{
	struct writer *w = &enc->columns[TRACE_COLUMN_SAMPLES];
	struct task *task = enc->tasks.items[enc->task];
	uint64_t flags = sample_flags(enc, s);

	writer_uleb(w, flags);
	if (flags & TRACE_SAMPLE_EVENT)
		writer_uleb(w, s->event);
	if (flags & TRACE_SAMPLE_PERIOD)
		writer_zigzag(w, (int64_t)(s->period - enc->period));
	enc->event = s->event;
	enc->period = s->period;
	value_put(&enc->values, w, s->ip);
	if (flags & TRACE_SAMPLE_KERNEL)
		PUT_CHAIN(enc, w, &task->kernel_ips, s->kernel_ips, s->nkernel_ips);
	if (flags & TRACE_SAMPLE_USER)
		PUT_CHAIN(enc, w, &task->user_ips, s->user_ips, s->nuser_ips);
	if (flags & TRACE_SAMPLE_REGS) {
		regs_put(&enc->values, &enc->columns[TRACE_COLUMN_REGS], &task->regs, s->regs,
			 s->ip);
		task->regs = *s->regs;
	}
	if (flags & TRACE_SAMPLE_STACK)
		put_stack(enc, task, s);
	if (flags & TRACE_SAMPLE_EXTRAS)
		put_extras(enc, s);
}

void trace_encoder_add(struct trace_encoder *enc, const struct event *ev)
{
	struct trace_encoder_summary *sum = &enc->summary;

	put_head(enc, ev);
	if (ev->kind == EVENT_SAMPLE) {
		put_sample(enc, &ev->sample);
	} else {
		struct writer *out = &enc->columns[TRACE_COLUMN_SIDE_BAND];

		writer_reset(&enc->scratch);
		side_band_put(&enc->strings, &enc->scratch, ev);
		writer_uleb(out, enc->scratch.len);
		writer_bytes(out, enc->scratch.data, enc->scratch.len);
	}
	sum->first_ns = sum->count ? MIN(sum->first_ns, ev->time_ns) : ev->time_ns;
	sum->last_ns = MAX(sum->last_ns, ev->time_ns);
	sum->expanded_len += trace_events_expanded_len(ev);
	sum->count++;
	sum->samples += ev->kind == EVENT_SAMPLE;
}

struct trace_encoder_summary trace_encoder_summary(const struct trace_encoder *enc)
{
	struct trace_encoder_summary sum = enc->summary;

	for (size_t i = 0; i < TRACE_COLUMNS; i++)
		sum.content_len += enc->columns[i].len;
	return sum;
}

static size_t task_len(const struct task *task)
{
	return sizeof(*task) + task->slots.cap * sizeof(*task->slots.items) + task->words.cap * sizeof(*task->words.items) +
	       task->kernel_ips.cap * sizeof(*task->kernel_ips.items) + task->user_ips.cap * sizeof(*task->user_ips.items);
}

static void trim_tasks(struct trace_encoder *enc)
{
	size_t kept = 0, len = 0;

	for (size_t i = 0; i < enc->tasks.len; i++) {
		len += task_len(enc->tasks.items[i]);
		if (len <= KEPT_LEN)
			enc->tasks.items[kept++] = enc->tasks.items[i];
		else
			task_free(enc->tasks.items[i]);
	}
	enc->tasks.len = kept;
}

static void begin_anew(struct trace_encoder *enc)
{
	trim_tasks(enc);
	for (size_t i = 0; i < TRACE_COLUMNS; i++)
		writer_reset(&enc->columns[i]);
	value_encoder_reset(&enc->values);
	map_clear(&enc->task_numbers);
	string_encoder_reset(&enc->strings);
	enc->summary = (struct trace_encoder_summary){ 0 };
	enc->clocks.len = 0;
	enc->time_ns = enc->period = 0;
	enc->event = 0;
}

void trace_encoder_finish(struct trace_encoder *enc, struct writer *out,
			  size_t column_lens[TRACE_COLUMNS])
{
	size_t start = out->len;

	writer_uleb(out, enc->summary.count);
	writer_uleb(out, enc->summary.expanded_len);
	writer_uleb(out, TRACE_COLUMNS - 1);
	for (size_t i = 1; i < TRACE_COLUMNS; i++) {
		column_lens[i] = enc->columns[i].len;
		writer_uleb(out, i);
		writer_uleb(out, column_lens[i]);
	}
	column_lens[0] = out->len - start;
	for (size_t i = 1; i < TRACE_COLUMNS; i++)
		writer_bytes(out, enc->columns[i].data, enc->columns[i].len);
	begin_anew(enc);
}
