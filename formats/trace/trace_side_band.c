/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_side_band.c - each kind of event to bytes, then each kind back.
 *
 * A payload may grow at its end in a newer minor version; so may nothing that takes a string
 * number.
 */
#include "formats/trace/trace_side_band.h"

#include "formats/base/memory.h"
#include "formats/trace/trace_events.h"

#include <stdlib.h>
#include <string.h>

void string_encoder_reset(struct string_encoder *strings)
{
	for (size_t i = 0; i < strings->strings.len; i++)
		free(strings->strings.items[i]);
	strings->strings.len = 0;
	map_clear(&strings->numbers);
}

void string_encoder_deinit(struct string_encoder *strings)
{
	string_encoder_reset(strings);
	vec_deinit(&strings->strings);
	map_deinit(&strings->numbers);
}

/* 0 and a new string, or the number of one seen before. Two that collide are both written out. */
static void put_string(struct string_encoder *strings, struct writer *w, const char *text)
{
	uint64_t hash = strlen(text);
	bool fresh;

	for (const char *c = text; *c; c++)
		hash = (hash ^ (uint8_t)*c) * 0x100000001b3ull;

	uint64_t *number = map_put(&strings->numbers, map_hash(hash), &fresh);

	if (!fresh && strcmp(strings->strings.items[*number - 1], text) == 0) {
		writer_uleb(w, *number);
		return;
	}
	writer_uleb(w, 0);
	writer_string(w, text);
	vec_push(&strings->strings, memory_strdup(text));
	*number = strings->strings.len;
}

static void put_mmap(struct string_encoder *strings, struct writer *w, const struct event_mmap *m)
{
	size_t id_len = MIN(m->build_id_len, sizeof(m->build_id));

	writer_uleb(w, m->start);
	writer_uleb(w, m->end - m->start);
	writer_uleb(w, m->file_offset);
	writer_uleb(w, m->device);
	writer_uleb(w, m->inode);
	writer_uleb(w, m->generation);
	writer_uleb(w, m->flags);
	writer_u8(w, (uint8_t)id_len);
	writer_bytes(w, m->build_id, id_len);
	put_string(strings, w, m->path);
}

static void put_ksymbol(struct string_encoder *strings, struct writer *w,
			const struct event_ksymbol *k)
{
	writer_uleb(w, k->addr);
	writer_uleb(w, k->len);
	writer_uleb(w, k->type);
	writer_u8(w, k->removed);
	put_string(strings, w, k->name);
}

static void put_text_poke(struct writer *w, const struct event_text_poke *poke)
{
	writer_uleb(w, poke->addr);
	writer_uleb(w, poke->old_len);
	writer_bytes(w, poke->old_code, poke->old_len);
	writer_uleb(w, poke->new_len);
	writer_bytes(w, poke->new_code, poke->new_len);
}

static void put_lost(struct writer *w, const struct event_lost *lost)
{
	writer_uleb(w, (uint32_t)(lost->event + 1)); /* RECORDING_NO_EVENT is 0 */
	writer_uleb(w, lost->count);
	writer_u8(w, lost->by_recorder);
}

static void put_labels(struct string_encoder *strings, struct writer *w, const struct event_managed *m)
{
	writer_uleb(w, m->nlabels);
	for (size_t i = 0; i < m->nlabels; i++) {
		const struct event_managed_label *label = &m->labels[i];

		put_string(strings, w, label->key);
		writer_u8(w, label->text == NULL);
		if (label->text)
			put_string(strings, w, label->text);
		else
			writer_uleb(w, label->number);
	}
}

static void put_managed(struct string_encoder *strings, struct writer *w,
			const struct event_managed *m)
{
	bool locals = event_managed_has_locals(m);

	writer_u8(w, (uint8_t)m->runtime);
	writer_u8(w, (uint8_t)((unsigned)m->state | (locals ? TRACE_MANAGED_LOCALS : 0) |
			       (m->nlabels ? TRACE_MANAGED_LABELS : 0)));
	put_string(strings, w, m->module);
	writer_uleb(w, m->nloops);
	for (size_t i = 0; i < m->nloops; i++) {
		writer_uleb(w, m->loops[i].vaddr);
		writer_uleb(w, m->loops[i].len);
	}
	writer_uleb(w, m->nframes);
	for (size_t i = 0; i < m->nframes; i++) {
		const struct event_managed_frame *frame = &m->frames[i];

		put_string(strings, w, frame->name);
		put_string(strings, w, frame->file);
		writer_uleb(w, (uint64_t)frame->first_line << 1 | frame->entry);
		writer_zigzag(w, (int64_t)frame->line - frame->first_line);
		if (locals)
			put_string(strings, w, frame->locals ? frame->locals : "");
	}
	if (m->nlabels)
		put_labels(strings, w, m);
}

void side_band_put(struct string_encoder *strings, struct writer *w, const struct event *ev)
{
	switch (ev->kind) {
	case EVENT_MMAP:
		put_mmap(strings, w, &ev->mmap);
		break;
	case EVENT_COMM:
		writer_u8(w, ev->comm.exec);
		put_string(strings, w, ev->comm.comm);
		break;
	case EVENT_FORK:
		writer_uleb(w, (uint32_t)(ev->fork.parent_pid + 1));
		writer_uleb(w, (uint32_t)(ev->fork.parent_tid + 1));
		break;
	case EVENT_SWITCH:
		writer_u8(w, (ev->cpu_switch.in ? TRACE_SWITCH_IN : 0) |
				     (ev->cpu_switch.preempted ? TRACE_SWITCH_PREEMPTED : 0));
		break;
	case EVENT_LOST:
	case EVENT_LOST_SAMPLES:
		put_lost(w, &ev->lost);
		break;
	case EVENT_THROTTLE:
		writer_uleb(w, (uint32_t)(ev->throttle.event + 1));
		writer_u8(w, (ev->throttle.stopped ? TRACE_THROTTLE_STOPPED : 0) |
				     (ev->throttle.by_recorder ? TRACE_THROTTLE_BY_RECORDER : 0));
		break;
	case EVENT_KSYMBOL:
		put_ksymbol(strings, w, &ev->ksymbol);
		break;
	case EVENT_BPF:
		writer_uleb(w, ev->bpf.id);
		writer_uleb(w, ev->bpf.type);
		writer_bytes(w, ev->bpf.tag, sizeof(ev->bpf.tag));
		break;
	case EVENT_CGROUP:
		writer_uleb(w, ev->cgroup.id);
		put_string(strings, w, ev->cgroup.path);
		break;
	case EVENT_TEXT_POKE:
		put_text_poke(w, &ev->text_poke);
		break;
	case EVENT_MANAGED:
		put_managed(strings, w, &ev->managed);
		break;
	case EVENT_PROCESS:
		writer_uleb(w, (uint32_t)(ev->process.uid + 1));
		put_string(strings, w, ev->process.cmdline);
		put_string(strings, w, ev->process.cgroup);
		break;
	case EVENT_TASK_TIMES:
		writer_uleb(w, ev->task_times.run_ns);
		writer_uleb(w, ev->task_times.wait_ns);
		writer_uleb(w, ev->task_times.turns);
		break;
	case EVENT_DESCRIPTOR:
		writer_uleb(w, ev->descriptor.number);
		put_string(strings, w, ev->descriptor.name);
		break;
	case EVENT_SAMPLE: /* in columns of its own */
	case EVENT_EXIT:
	case EVENT_KINDS:
		break;
	}
}

void side_band_decoder_deinit(struct side_band_decoder *d)
{
	vec_deinit(&d->strings);
}

static const char *get_string(struct side_band_decoder *d, struct reader *r)
{
	uint64_t number = reader_uleb(r, "string number");

	if (number > d->strings.len)
		reader_fail(r, "string number");
	if (r->failed)
		return "";
	if (number)
		return d->strings.items[number - 1];

	const char *text = reader_string(r, "string");

	if (!text)
		return "";
	vec_push(&d->strings, text);
	return text;
}

static void get_mmap(struct side_band_decoder *d, struct reader *r, struct event_mmap *m)
{
	const void *id;

	m->start = reader_uleb(r, "mapping");
	m->end = m->start + reader_uleb(r, "mapping length");
	m->file_offset = reader_uleb(r, "file offset");
	m->device = reader_uleb(r, "device");
	m->inode = reader_uleb(r, "inode");
	m->generation = reader_uleb(r, "inode generation");
	m->flags = reader_uleb_u32(r, "mapping flags");
	m->build_id_len = reader_u8(r, "build ID length");
	if (m->build_id_len > sizeof(m->build_id) || m->end < m->start)
		reader_fail(r, "mapping");
	id = reader_bytes(r, m->build_id_len, "build ID");
	if (id)
		memcpy(m->build_id, id, m->build_id_len);
	m->path = get_string(d, r);
}

static void get_lost(struct side_band_decoder *d, struct reader *r, struct event_lost *lost)
{
	lost->event = reader_uleb_u32(r, "event number") - 1;
	lost->count = reader_uleb(r, "lost count");
	lost->by_recorder = reader_u8(r, "lost by");
	if (lost->event >= d->nevents && lost->event != RECORDING_NO_EVENT)
		reader_fail(r, "event number");
}

static void get_throttle(struct side_band_decoder *d, struct reader *r,
			 struct event_throttle *throttle)
{
	throttle->event = reader_uleb_u32(r, "event number") - 1;
	uint8_t flags = reader_u8(r, "throttle state");

	throttle->stopped = flags & TRACE_THROTTLE_STOPPED;
	throttle->by_recorder = flags & TRACE_THROTTLE_BY_RECORDER;
	if (throttle->event >= d->nevents && throttle->event != RECORDING_NO_EVENT)
		reader_fail(r, "event number");
}

static void get_ksymbol(struct side_band_decoder *d, struct reader *r, struct event_ksymbol *k)
{
	k->addr = reader_uleb(r, "kernel symbol");
	k->len = reader_uleb(r, "kernel symbol length");
	k->type = reader_uleb_u32(r, "kernel symbol type");
	k->removed = reader_u8(r, "kernel symbol state");
	k->name = get_string(d, r);
}

static void get_bpf(struct reader *r, struct event_bpf *bpf)
{
	bpf->id = reader_uleb_u32(r, "BPF program");
	bpf->type = reader_uleb_u32(r, "BPF event");

	const void *tag = reader_bytes(r, sizeof(bpf->tag), "BPF tag");

	if (tag)
		memcpy(bpf->tag, tag, sizeof(bpf->tag));
}

static void get_text_poke(struct reader *r, struct event_text_poke *poke)
{
	poke->addr = reader_uleb(r, "poked address");
	poke->old_len = reader_uleb(r, "poked length");
	poke->old_code = reader_bytes(r, poke->old_len, "poked code");
	poke->new_len = reader_uleb(r, "poked length");
	poke->new_code = reader_bytes(r, poke->new_len, "poked code");
}

static void get_managed_frame(struct side_band_decoder *d, struct reader *r, bool locals,
			      struct event_managed_frame *frame)
{
	frame->name = get_string(d, r);
	frame->file = get_string(d, r);
	uint64_t first = reader_uleb(r, "first line");
	int64_t distance = reader_zigzag(r, "line");

	frame->entry = first & 1;
	frame->first_line = (uint32_t)(first >> 1);
	frame->line = (uint32_t)(frame->first_line + (uint64_t)distance);
	frame->locals = locals ? get_string(d, r) : "";
}

static void get_labels(struct side_band_decoder *d, struct reader *r, struct event_managed *m)
{
	uint64_t count = reader_uleb(r, "number of labels");

	if (count > EVENT_MANAGED_LABELS)
		reader_fail(r, "number of labels");

	struct event_managed_label *labels = d->room(d->context, r, count * sizeof(*labels));

	for (uint64_t i = 0; i < count && labels && !r->failed; i++) {
		labels[i] = (struct event_managed_label){ .key = get_string(d, r) };
		uint8_t is_number = reader_u8(r, "kind of a label");

		if (is_number)
			labels[i].number = reader_uleb(r, "label");
		else
			labels[i].text = get_string(d, r);
	}
	m->labels = labels;
	m->nlabels = r->failed ? 0 : count;
}

static void get_managed(struct side_band_decoder *d, struct reader *r, struct event_managed *m)
{
	m->runtime = reader_u8(r, "runtime");
	unsigned state = reader_u8(r, "state of a stack");

	m->state = state & ~(TRACE_MANAGED_LABELS | TRACE_MANAGED_LOCALS);
	m->module = get_string(d, r);
	m->nloops = reader_uleb(r, "number of loops");
	if (m->nloops > EVENT_MANAGED_LOOPS || m->state >= EVENT_MANAGED_STATES) {
		m->nloops = 0;
		reader_fail(r, "interpreter's stack");
	}
	for (size_t i = 0; i < m->nloops; i++) {
		m->loops[i].vaddr = reader_uleb(r, "loop");
		m->loops[i].len = reader_uleb(r, "length of a loop");
	}
	uint64_t count = reader_uleb(r, "number of frames");

	/* A frame takes four bytes at least. */
	if (count > EVENT_MANAGED_FRAMES_MAX || count > reader_left(r) / 4)
		reader_fail(r, "number of frames");
	struct event_managed_frame *frames =
		d->room(d->context, r, count * sizeof(*frames));

	for (uint64_t i = 0; i < count && frames && !r->failed; i++)
		get_managed_frame(d, r, state & TRACE_MANAGED_LOCALS, &frames[i]);
	m->frames = frames;
	m->nframes = r->failed ? 0 : count;
	m->nlabels = 0;
	m->labels = NULL;
	if (state & TRACE_MANAGED_LABELS && !r->failed)
		get_labels(d, r, m);
}

void side_band_get(struct side_band_decoder *d, struct reader *r, struct event *ev)
{
	unsigned bits;

	switch (ev->kind) {
	case EVENT_MMAP:
		get_mmap(d, r, &ev->mmap);
		break;
	case EVENT_COMM:
		ev->comm.exec = reader_u8(r, "exec");
		ev->comm.comm = get_string(d, r);
		break;
	case EVENT_FORK:
		ev->fork.parent_pid = reader_uleb_u32(r, "parent process") - 1;
		ev->fork.parent_tid = reader_uleb_u32(r, "parent thread") - 1;
		break;
	case EVENT_SWITCH:
		bits = reader_u8(r, "switch");
		ev->cpu_switch.in = bits & TRACE_SWITCH_IN;
		ev->cpu_switch.preempted = bits & TRACE_SWITCH_PREEMPTED;
		break;
	case EVENT_LOST:
	case EVENT_LOST_SAMPLES:
		get_lost(d, r, &ev->lost);
		break;
	case EVENT_THROTTLE:
		get_throttle(d, r, &ev->throttle);
		break;
	case EVENT_KSYMBOL:
		get_ksymbol(d, r, &ev->ksymbol);
		break;
	case EVENT_BPF:
		get_bpf(r, &ev->bpf);
		break;
	case EVENT_CGROUP:
		ev->cgroup.id = reader_uleb(r, "cgroup");
		ev->cgroup.path = get_string(d, r);
		break;
	case EVENT_TEXT_POKE:
		get_text_poke(r, &ev->text_poke);
		break;
	case EVENT_MANAGED:
		get_managed(d, r, &ev->managed);
		break;
	case EVENT_PROCESS:
		ev->process.uid = reader_uleb_u32(r, "user") - 1;
		ev->process.cmdline = get_string(d, r);
		ev->process.cgroup = get_string(d, r);
		break;
	case EVENT_TASK_TIMES:
		ev->task_times.run_ns = reader_uleb(r, "time on a CPU");
		ev->task_times.wait_ns = reader_uleb(r, "time waiting for a CPU");
		ev->task_times.turns = reader_uleb(r, "turns on a CPU");
		break;
	case EVENT_DESCRIPTOR:
		ev->descriptor.number = reader_uleb_u32(r, "descriptor");
		ev->descriptor.name = get_string(d, r);
		break;
	case EVENT_SAMPLE:
	case EVENT_EXIT:
	case EVENT_KINDS:
		break;
	}
}
