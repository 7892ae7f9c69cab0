/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_data.c - the event source: records come out of the stream, wait in the order, and are parsed when it is their turn.
 *
 * Records of perf itself take effect when they are read, for they have no time; those of the kernel when they are due.
 */
#include "formats/perf/perf_data.h"

#include "formats/base/memory.h"
#include "formats/base/vec.h"
#include "formats/base/writer.h"
#include "formats/perf/perf_data_head.h"
#include "formats/perf/perf_data_loaded.h"
#include "formats/perf/perf_data_parts.h"
#include "formats/perf/perf_data_side.h"
#include "formats/perf/perf_data_tracing.h"
#include "formats/perf/perf_record.h"
#include "formats/perf/perf_record_place.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TRACING_MAX (64u << 20) /* bytes of tracepoint formats in a pipe */

/* ---- stacks ---- */

/* Room for the words of one snapshot. Large: allocate one and use it again. */
struct perf_data_stack {
	uint32_t slots[PERF_RECORD_WORDS_MAX];
	uint64_t words[PERF_RECORD_WORDS_MAX];
};

/*
 * Every word that is not zero is kept: only the recorder could have known what matters to unwinding, and perf does not.
 * Files of machines of the other byte order are refused, so the words are in this one's.
 *
 * Fill rec->event.sample.stack from the bytes that @rec points to; it lasts until the next call. It stays empty where there
 * is no snapshot or the stack pointer is not known.
 */
static void perf_data_stack_take(struct perf_data_stack *room, const struct arch *arch, struct perf_record *rec)
{
	struct event_stack *stack = &rec->event.sample.stack;
	uint64_t sp = rec->regs.values[arch->sp];
	size_t skip = (size_t)(-sp & 7); /* up to the first aligned word */
	size_t count = rec->stack_len > skip ? (rec->stack_len - skip) / 8 : 0;

	*stack = (struct event_stack){ 0 };
	if (!rec->event.sample.regs || !(rec->regs.mask >> arch->sp & 1) || !count ||
	    sp > UINT64_MAX - PERF_RECORD_LEN_MAX)
		return;
	*stack = (struct event_stack){
		.base = sp + skip,
		.end = sp + skip + 8 * count,
		.slots = room->slots,
		.words = room->words,
		.cut = rec->stack_len == rec->stack_room,
	};
	for (size_t i = 0; i < count; i++) {
		uint64_t word;

		memcpy(&word, rec->stack + skip + 8 * i, sizeof(word));
		room->slots[stack->nwords] = (uint32_t)i;
		room->words[stack->nwords] = word;
		stack->nwords += word != 0;
	}
}

/* ---- records in order of time ---- */

/*
 * perf empties the ring of one CPU after the other and then says that a round is finished; no record behind that is older
 * than the youngest that was there when the round before was finished. So what is older than that may go. A file without
 * such promises, or with larger rounds than fit in memory, gives its records in order as far as memory reaches.
 *
 * They wait in a binary heap by time; records of the same time stay as they are in the file.
 */

/* A record that waits. */
struct perf_data_waiting {
	uint64_t time_ns;
	uint64_t number; /* in the file, among those that wait */
	uint32_t attr;	 /* whose it is, see perf_data_attrs.h; the caller's */
	struct perf_data_record record;
};

/* A zeroed one is ready. The caller holds the records. */
struct perf_data_order {
	VEC(struct perf_data_waiting) heap; /* the oldest first, children of i at 2i + 1 and 2i + 2 */
	uint64_t number;
	uint64_t youngest_ns;	   /* of all that were put */
	uint64_t round_youngest_ns; /* when the last round was finished */
	uint64_t final_ns;	   /* nothing as old as this is to come */
	uint64_t taken_ns;	   /* of the youngest that was taken */
	uint64_t nlate;		   /* taken after a younger one */
};

static bool is_before(const struct perf_data_waiting *a, const struct perf_data_waiting *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->number < b->number;
}

static void perf_data_order_put(struct perf_data_order *order, const struct perf_data_waiting *waiting)
{
	struct perf_data_waiting item = *waiting;
	size_t i = order->heap.len;

	item.number = order->number++;
	vec_push(&order->heap, item);
	while (i && is_before(&item, &order->heap.items[(i - 1) / 2])) {
		order->heap.items[i] = order->heap.items[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	order->heap.items[i] = item;
	order->youngest_ns = MAX(order->youngest_ns, item.time_ns);
}

/* A round is finished. */
static void perf_data_order_round(struct perf_data_order *order)
{
	order->final_ns = order->round_youngest_ns;
	order->round_youngest_ns = order->youngest_ns;
}

/* Nothing is to come. */
static void perf_data_order_end(struct perf_data_order *order)
{
	order->final_ns = UINT64_MAX;
}

/* Put @item where the first was, or further down. */
static void sift_down(struct perf_data_order *order, struct perf_data_waiting item)
{
	struct perf_data_waiting *items = order->heap.items;
	size_t len = order->heap.len, i = 0, child;

	while ((child = 2 * i + 1) < len) {
		if (child + 1 < len && is_before(&items[child + 1], &items[child]))
			child++;
		if (!is_before(&items[child], &item))
			break;
		items[i] = items[child];
		i = child;
	}
	items[i] = item;
}

/* Take the oldest if no older one can come, or in any case if @pressed. False: there is none. */
static bool perf_data_order_take(struct perf_data_order *order, bool pressed, struct perf_data_waiting *ret)
{
	if (!order->heap.len || (!pressed && order->heap.items[0].time_ns > order->final_ns))
		return false;
	*ret = order->heap.items[0];
	order->heap.len--;
	if (order->heap.len)
		sift_down(order, order->heap.items[order->heap.len]);
	order->nlate += ret->time_ns && ret->time_ns < order->taken_ns;
	order->taken_ns = MAX(order->taken_ns, ret->time_ns);
	return true;
}

static void perf_data_order_deinit(struct perf_data_order *order)
{
	vec_deinit(&order->heap);
}

#define HELD_MAX ((size_t)256 << 20) /* of records that wait, in bytes */

struct perf_data {
	struct event_source source; /* must be first */
	struct trace_file file;
	struct recording rec;
	struct perf_data_head head;
	struct perf_data_attrs attrs;
	struct perf_data_build_ids build_ids;
	struct perf_data_loaded loaded;
	struct perf_data_gaps gaps;
	struct perf_data_parts *parts;
	const char *folder; /* of the parts; NULL: the file is all */
	struct perf_data_order order;
	struct perf_data_waiting current; /* what the last event points into */
	bool has_current;
	bool begun;	    /* the recording is complete and stays as it is */
	bool ended;	    /* nothing is left to read */
	bool sampled;	    /* a sample was read */
	uint64_t lost_told; /* by LOST, and not yet by counts at the end */
	struct err *failure; /* the first */
	struct perf_record *parsed;
	struct perf_data_stack *stack;
};

static struct perf_data *of(struct event_source *source)
{
	return (struct perf_data *)(void *)source;
}

static void let_go(struct perf_data *p)
{
	if (p->has_current)
		perf_data_stream_let_go(&p->current.record);
	p->has_current = false;
}

static void close_source(struct event_source *source)
{
	struct perf_data *p = of(source);

	let_go(p);
	for (size_t i = 0; i < p->order.heap.len; i++)
		perf_data_stream_let_go(&p->order.heap.items[i].record);
	perf_data_order_deinit(&p->order);
	perf_data_parts_free(p->parts);
	perf_data_build_ids_deinit(&p->build_ids);
	perf_data_loaded_deinit(&p->loaded);
	perf_data_attrs_deinit(&p->attrs);
	arena_deinit(&p->rec.arena);
	trace_file_close(&p->file);
	err_free(p->failure);
	free(p->parsed);
	free(p->stack);
	free(p);
}

static void close_sourcep(struct perf_data **p)
{
	if (*p)
		close_source(&(*p)->source);
}

/* Takes @err. The first one is reported in the end. */
static void fail(struct perf_data *p, struct err *err, uint64_t offset)
{
	if (!p->rec.damaged_at || offset < p->rec.damaged_at)
		p->rec.damaged_at = offset;
	if (p->failure)
		err_free(err);
	else
		p->failure = err;
}

/* ---- reading --------------------------------------------------------------------------------------- */

static void put(struct perf_data *p, const struct perf_data_record *record)
{
	struct perf_data_waiting waiting = { .record = *record };
	uint32_t owner = perf_data_attrs_owner(&p->attrs, record->data, record->len);
	uint32_t attr = owner == PERF_DATA_NO_ATTR ? 0 : owner;

	if (attr >= p->attrs.items.len)
		return;
	waiting.attr = owner;
	waiting.time_ns = perf_record_place_time(&p->attrs.items.items[attr].layout, record->data,
						 record->len);
	if (record->type == PERF_RECORD_LOST_SAMPLES && !waiting.time_ns)
		waiting.time_ns = p->order.youngest_ns; /* see complete_lost() */
	p->sampled |= record->type == PERF_RECORD_SAMPLE;
	perf_data_parts_at(p->parts, waiting.time_ns);
	perf_data_stream_hold(record);
	perf_data_order_put(&p->order, &waiting);
}

/* The formats of tracepoints lie behind the record, or in it. */
static struct err *take_tracing(struct perf_data *p, const struct perf_data_record *record)
{
	CLEANUP(writer_deinit) struct writer behind = { 0 };
	size_t len = (size_t)MIN(record->payload_len, TRACING_MAX);
	struct reader r;

	writer_reserve(&behind, len);
	struct err *err = trace_file_read(&p->file, record->offset + record->len, behind.data, len, &behind.len);

	if (err)
		return err;
	if (record->payload_len) {
		reader_init(&r, behind.data, behind.len, /* big_endian= */ false);
	} else {
		reader_init(&r, record->data, record->len, /* big_endian= */ false);
		reader_skip(&r, PERF_DATA_HEADER_LEN + sizeof(uint32_t), "size of tracing data");
	}
	r.offset = record->offset;
	perf_data_tracing_load(&p->attrs, &r);
	return reader_check(&r);
}

static bool is_tracing(const struct perf_data_record *record)
{
	return record->type == PERF_DATA_TRACING_DATA || record->type == PERF_DATA_SIMPLEPERF_TRACING;
}

static void take_side(struct perf_data *p, const struct perf_data_record *record)
{
	const struct perf_data_facts facts = { &p->rec, &p->attrs, &p->build_ids, &p->gaps };
	struct err *err = NULL;

	if (record->type == PERF_DATA_FINISHED_ROUND) {
		if (!perf_data_parts_added(p->parts)) /* of one file it says nothing about the others */
			perf_data_order_round(&p->order);
	} else if (is_tracing(record) && !p->begun) {
		err = take_tracing(p, record);
	} else if (record->type == PERF_DATA_BUILD_ID || !p->begun) {
		err = perf_data_side_take(&facts, record);
	}
	if (err)
		fail(p, err, record->offset);
}

static void end(struct perf_data *p)
{
	p->ended = true;
	perf_data_order_end(&p->order);
}

/* One record more, or the end. */
static void read_one(struct perf_data *p)
{
	struct perf_data_record record;
	bool more;
	struct err *err = perf_data_parts_next(p->parts, &record, &more);

	/* What a killed recorder wrote last may be cut anywhere. */
	if (err && p->head.complete)
		fail(p, err, perf_data_parts_offset(p->parts));
	else
		err_free(err);
	if (err)
		return;
	if (!more)
		end(p);
	else if (record.type >= PERF_DATA_TYPES_BEGIN)
		take_side(p, &record);
	else
		put(p, &record);
}

/* ---- handing out ----------------------------------------------------------------------------------- */

static uint32_t event_by_id(const struct perf_data *p, uint64_t id, uint32_t otherwise)
{
	uint32_t number = id ? perf_data_attrs_by_id(&p->attrs, id) : otherwise;

	return number == PERF_DATA_NO_ATTR ? RECORDING_NO_EVENT : number;
}

/*
 * Branch records of calls that did not return yet: each was made by the frame's caller, and ends where the call instruction
 * begins. Return addresses are behind it, and one byte is enough for a look-up one byte before.
 */
static void use_branches_as_chain(struct perf_record *rec)
{
	struct event_sample *s = &rec->event.sample;
	size_t count = s->nbranches;
	uint64_t *ips = rec->words + rec->nwords;

	s->nbranches = 0;
	if (!s->nuser_ips && s->mode != EVENT_MODE_USER)
		return;
	if (!count || count + 1 > PERF_RECORD_WORDS_MAX - rec->nwords)
		return;
	ips[0] = s->nuser_ips ? s->user_ips[0] : s->ip;
	for (size_t i = 0; i < count; i++)
		ips[i + 1] = s->branches[i].from + 1;
	s->user_ips = ips;
	s->nuser_ips = count + 1;
}

static void complete_sample(struct perf_data *p, const struct perf_data_attr *attr)
{
	struct event_sample *s = &p->parsed->event.sample;

	s->event = p->current.attr;
	if (!(attr->layout.sample_type & PERF_SAMPLE_CPU))
		p->parsed->event.cpu = perf_data_attrs_cpu(&p->attrs, p->parsed->id);
	for (size_t i = 0; i < s->ncounts; i++)
		p->parsed->counts[i].event = event_by_id(p, p->parsed->count_ids[i], s->event);
	if (attr->is_off_cpu)
		s->period = 1; /* here, too, the switches say how long */
	perf_data_stack_take(p->stack, attr->layout.arch, p->parsed);
	if (attr->chain_in_branches)
		use_branches_as_chain(p->parsed);
}

/*
 * perf asks the kernel in the end how much was lost of each event, and writes it as LOST_SAMPLES without a time; LOST has told
 * most of it already.
 */
static bool complete_lost(struct perf_data *p, const struct perf_data_attr *attr)
{
	struct event *ev = &p->parsed->event;
	uint64_t told;

	if (ev->kind == EVENT_LOST) {
		ev->lost.event = event_by_id(p, p->parsed->about_id, 0);
		p->lost_told += ev->lost.count;
		return ev->lost.count;
	}
	ev->lost.event = p->current.attr;
	if (p->parsed->misc & PERF_DATA_MISC_LOST_BY_FILTER)
		return false;
	if (!attr->tells_losses || ev->time_ns)
		return ev->lost.count;
	ev->time_ns = p->current.time_ns;
	told = MIN(p->lost_told, ev->lost.count);
	p->lost_told -= told;
	ev->lost.count -= told;
	return ev->lost.count;
}

/* What the record alone does not say. False: it is no event after all. */
static bool complete(struct perf_data *p, const struct perf_data_attr *attr)
{
	struct event *ev = &p->parsed->event;

	switch (ev->kind) {
	case EVENT_SAMPLE:
		complete_sample(p, attr);
		return true;
	case EVENT_MMAP:
		perf_data_build_ids_complete(&p->build_ids, &ev->mmap);
		return true;
	case EVENT_KSYMBOL:
		perf_data_loaded_add(&p->loaded, &p->rec, &ev->ksymbol);
		return true;
	case EVENT_THROTTLE:
		ev->throttle.event = event_by_id(p, p->parsed->about_id, p->current.attr);
		return true;
	case EVENT_LOST:
	case EVENT_LOST_SAMPLES:
		return complete_lost(p, attr);
	default:
		return true;
	}
}

/* The record whose turn it is as an event; false if it is none. */
static bool hand_out(struct perf_data *p, struct event *ret)
{
	const struct perf_data_record *record = &p->current.record;
	bool nobodys = p->current.attr == PERF_DATA_NO_ATTR;
	const struct perf_data_attr *attr;

	if (nobodys && record->type == PERF_RECORD_SAMPLE)
		return false;
	if (nobodys)
		p->current.attr = 0;
	attr = &p->attrs.items.items[p->current.attr];

	struct err *err = perf_record_parse(&attr->layout, record->data, record->len,
					    /* big_endian= */ false, p->parsed);

	if (err) {
		const char *file = perf_data_stream_name(record);

		p->rec.bad_records++;
		fail(p,
		     err_wrap(err, "in the record of type %" PRIu32 " at offset %" PRIu64 "%s%s", record->type,
			      record->offset, *file ? " of " : "", file),
		     record->offset);
		return false;
	}
	if (!p->parsed->known || !complete(p, attr))
		return false;
	*ret = p->parsed->event;
	return true;
}

static bool next_event(struct event_source *source, struct event *ret)
{
	struct perf_data *p = of(source);

	for (;;) {
		bool pressed = perf_data_parts_held(p->parts) > HELD_MAX;

		let_go(p);
		p->has_current = perf_data_order_take(&p->order, pressed, &p->current);
		p->rec.late_events = p->order.nlate;
		if (p->has_current && hand_out(p, ret))
			return true;
		if (!p->has_current && p->ended)
			return false;
		if (!p->has_current)
			read_one(p);
	}
}

static const struct recording *get_recording(struct event_source *source)
{
	return &of(source)->rec;
}

static struct err *finish(struct event_source *source)
{
	struct perf_data *p = of(source);
	struct err *err = p->failure;

	p->failure = NULL;
	return err;
}

static void progress(struct event_source *source, uint64_t *ret_done, uint64_t *ret_len)
{
	perf_data_parts_progress(of(source)->parts, ret_done, ret_len);
}

static const struct event_source_ops ops = {
	.recording = get_recording,
	.next = next_event,
	.finish = finish,
	.close = close_source,
	.progress = progress,
};

bool perf_data_is_source(const struct event_source *source)
{
	return source->ops == &ops;
}

struct recording *perf_data_recording(struct event_source *source)
{
	return &of(source)->rec;
}

/* ---- opening --------------------------------------------------------------------------------------- */

static struct err *load_tables(struct perf_data *p)
{
	const struct perf_data_facts facts = { &p->rec, &p->attrs, &p->build_ids, &p->gaps };
	struct err *err = perf_data_head_read(&p->file, &p->head);

	if (err || p->head.pipe)
		return err;
	err = perf_data_head_load_attrs(&p->head, &p->file, &p->attrs);
	if (!err)
		err = perf_data_attrs_check(&p->attrs);
	if (!err)
		err = perf_data_head_load_features(&p->head, &p->file, &facts, &p->rec.damaged_at);
	return err;
}

/* With --threads the file itself has no samples: they are in the others of the folder. */
static struct err *add_parts(struct perf_data *p)
{
	struct err *err = p->folder ? perf_data_parts_add(p->parts, p->folder, &p->rec.arena, &p->gaps.files) : NULL;

	if (err || !p->head.has_parts || perf_data_parts_added(p->parts))
		return err;
	err = err_new(ERR_CORRUPT, "perf record --threads has written the samples to files beside it, data.0 and so on");
	return p->folder ? err_remedy(err, "copy them, too") : err_remedy(err, "name the folder that it is in");
}

/* The records before the first sample are about what was there when it began. */
static struct err *read_beginning(struct perf_data *p)
{
	struct err *err;

	p->parts = perf_data_parts_new(&p->file, p->head.data, p->head.data_end);
	err = add_parts(p);
	if (err)
		return err;
	while (!p->ended && !p->sampled && perf_data_parts_held(p->parts) <= HELD_MAX)
		read_one(p);
	if (p->head.pipe)
		err = p->failure && !p->attrs.items.len ? finish(&p->source)
							 : perf_data_attrs_check(&p->attrs);
	return err;
}

/* Where the kernel was, and when the first event happened, from the records that wait. */
static void look_at_waiting(struct perf_data *p)
{
	uint64_t first_ns = UINT64_MAX;

	for (size_t i = 0; i < p->order.heap.len; i++) {
		const struct perf_data_waiting *w = &p->order.heap.items[i];
		uint32_t attr = w->attr == PERF_DATA_NO_ATTR ? 0 : w->attr;

		if (w->time_ns)
			first_ns = MIN(first_ns, w->time_ns);
		if (w->record.type != PERF_RECORD_MMAP && w->record.type != PERF_RECORD_MMAP2)
			continue;
		struct err *err = perf_record_parse(&p->attrs.items.items[attr].layout, w->record.data,
						    w->record.len, /* big_endian= */ false, p->parsed);

		if (!err)
			perf_data_side_kernel(&p->rec, &p->parsed->event.mmap);
		err_free(err);
	}
	if (!p->rec.start_ns && first_ns != UINT64_MAX)
		p->rec.start_ns = first_ns;
}

static struct err *begin(struct perf_data *p)
{
	const struct perf_data_facts facts = { &p->rec, &p->attrs, &p->build_ids, &p->gaps };
	struct err *err = load_tables(p);

	if (!err)
		err = read_beginning(p);
	if (err)
		return err;
	p->begun = true;
	perf_data_side_describe(&facts);
	look_at_waiting(p);
	p->rec.complete = p->head.complete && !p->gaps.files;
	return NULL;
}

bool perf_data_is(const struct trace_file *file)
{
	return perf_data_head_is(file);
}

struct err *perf_data_open(const char *name, const char *folder, struct trace_file file, struct event_source **ret)
{
	CLEANUP(close_sourcep) struct perf_data *p = memory_zeroed(1, sizeof(*p));

	p->source.ops = &ops;
	p->folder = folder;
	p->file = file;
	p->attrs.arena = &p->rec.arena;
	p->parsed = memory_zeroed(1, sizeof(*p->parsed));
	p->stack = memory_zeroed(1, sizeof(*p->stack));
	perf_data_side_init(&p->rec);

	struct err *err = begin(p);

	if (err)
		return err_wrap(err, "'%s'", name);
	*ret = &p->source;
	p = NULL; /* now the caller's */
	return NULL;
}

struct err *perf_data_open_memory(const void *data, size_t len, struct event_source **ret)
{
	return perf_data_open("memory", NULL, trace_file_memory(data, len), ret);
}
