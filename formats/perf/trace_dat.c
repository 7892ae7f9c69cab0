/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_dat.c - a lane for each CPU and buffer hands out its entries in order; the oldest of all lanes is next.
 *
 * A stack is an entry of its own that follows the one it belongs to, on the same CPU. So a lane looks one entry ahead.
 */
#include "formats/perf/trace_dat.h"

#include "formats/base/map.h"
#include "formats/base/memory.h"
#include "formats/base/vec.h"
#include "formats/perf/ftrace_page.h"
#include "formats/perf/kallsyms.h"
#include "formats/perf/trace_dat_head.h"
#include "formats/tracepoint_format.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHUNK_MAX     ((size_t)16 << 20) /* bytes, unpacked; trace-cmd's are ten pages */
#define HELD_MAX      ((size_t)1 << 30)	 /* of all lanes */
#define STACK_MAX     1024		 /* frames; the kernel's are at most 256 */
#define QUEUE_MAX     8
#define MODULE_TAIL   4096 /* bytes from the last function of a module on */
#define CLOCK_UNKNOWN UINT32_MAX
#define STATE_MASK    0xff /* of prev_state: the bits above say that the thread was ready to run */
#define STATE_ENDED   0x30 /* EXIT_DEAD, EXIT_ZOMBIE */

/* Where one number of a payload is. A len of 0: the event has no such field. */
struct field {
	uint32_t offset, len;
	bool is_signed;
};

/* What is looked at in the payload of one tracepoint. */
struct kind {
	uint32_t id, index; /* of recording.events; RECORDING_NO_EVENT: a stack, or it does not occur */
	bool kernel_stack, user_stack, is_switch, is_fork;
	struct field pid, caller, size, tgid;		     /* of all; of stacks */
	struct field ip, parent_ip;			     /* of ftrace's own */
	struct field prev_pid, prev_state, next_pid, prev_comm, next_comm; /* of sched_switch */
	struct field parent, child;			     /* of sched_process_fork */
};

struct lane {
	struct trace_dat_part part;
	uint64_t done;	      /* bytes of the part */
	uint32_t chunks_left; /* where they are packed */
	bool begun, ended;
	struct writer pages; /* unpacked */
	uint64_t pages_offset;
	size_t next_page; /* in @pages */
	bool has_page, has_entry;
	struct ftrace_page page;
	struct ftrace_entry entry; /* that was looked at and is next */
	uint64_t missing_ahead;	   /* in front of @entry */

	/* The one that is handed out. */
	bool ready;
	uint64_t time_ns;
	uint64_t missing; /* in front of it, by what its page says; where that does not say how many, 1 */
	const struct kind *kind;
	VEC(uint8_t) payload;
	VEC(uint64_t) kernel_ips;
	VEC(uint64_t) user_ips;
	uint32_t tgid; /* UINT32_MAX: not known */
};

/* Of the kernel: from its first function to a page behind its last. */
struct module {
	const char *path; /* "[ext4]" */
	uint64_t start, end;
};

struct trace_dat {
	struct event_source source; /* must be first */
	struct trace_file file;
	struct recording rec;
	struct trace_dat_head head;
	VEC(struct kind) kinds;
	struct map kinds_by_id; /* + 1 */
	struct lane *lanes;
	size_t nlanes;
	VEC(uint32_t) heap; /* lanes that have an entry, the oldest first */
	size_t held;	    /* bytes of pages */
	bool has_current;   /* the first lane of the heap was handed out */
	struct event queue[QUEUE_MAX];
	size_t queued, taken;
	VEC(struct module) modules;
	size_t module;	      /* those before were handed out */
	const char *commands; /* those not handed out yet */
	struct map comms;     /* by thread: hash of its name */
	struct map processes; /* by thread, + 1 */
	uint64_t done;
	struct err *failure; /* the first */
};

static struct trace_dat *of(struct event_source *source)
{
	return (struct trace_dat *)(void *)source;
}

static void lanes_free(struct trace_dat *t)
{
	for (size_t i = 0; i < t->nlanes; i++) {
		writer_deinit(&t->lanes[i].pages);
		vec_deinit(&t->lanes[i].payload);
		vec_deinit(&t->lanes[i].kernel_ips);
		vec_deinit(&t->lanes[i].user_ips);
	}
	free(t->lanes);
	t->lanes = NULL;
	t->nlanes = 0;
}

static void close_source(struct event_source *source)
{
	struct trace_dat *t = of(source);

	lanes_free(t);
	vec_deinit(&t->heap);
	vec_deinit(&t->kinds);
	vec_deinit(&t->modules);
	map_deinit(&t->kinds_by_id);
	map_deinit(&t->comms);
	map_deinit(&t->processes);
	trace_dat_head_deinit(&t->head);
	arena_deinit(&t->rec.arena);
	trace_file_close(&t->file);
	err_free(t->failure);
	free(t);
}

static void close_sourcep(struct trace_dat **t)
{
	if (*t)
		close_source(&(*t)->source);
}

/* Takes @err. The first one is reported in the end; a lane that failed has ended. */
static void fail(struct trace_dat *t, struct lane *lane, struct err *err, uint64_t offset)
{
	lane->ended = true;
	lane->has_page = lane->has_entry = false;
	t->rec.bad_records++;
	if (!t->rec.damaged_at || offset < t->rec.damaged_at)
		t->rec.damaged_at = offset;
	if (t->failure)
		err_free(err);
	else
		t->failure = err_wrap(err, "in the pages of CPU %" PRIu32, lane->part.cpu);
}

/* ---- pages ----------------------------------------------------------------------------------------- */

/* @len bytes of the part into lane->pages, which then has them alone. ERR_CORRUPT: they are not there. */
static struct err *take_bytes(struct trace_dat *t, struct lane *lane, size_t len)
{
	uint64_t offset = lane->part.offset + lane->done;

	lane->pages.len = 0;
	writer_reserve(&lane->pages, len);
	struct err *err = trace_file_read(&t->file, offset, lane->pages.data, len, &lane->pages.len);

	if (!err && lane->pages.len < len)
		err = err_new(ERR_CORRUPT, "the file ends at offset %" PRIu64 ", within them", offset + lane->pages.len);
	lane->pages_offset = offset;
	lane->done += len;
	t->done += len;
	return err;
}

static struct err *read_u32s(struct trace_dat *t, struct lane *lane, size_t count, uint32_t *ret)
{
	struct reader r;
	struct err *err = lane->part.len - lane->done < 4 * count
				  ? err_new(ERR_CORRUPT, "they are cut at offset %" PRIu64, lane->part.offset + lane->done)
				  : take_bytes(t, lane, 4 * count);

	if (err)
		return err;
	reader_init(&r, lane->pages.data, lane->pages.len, /* big_endian= */ false);
	for (size_t i = 0; i < count; i++)
		ret[i] = reader_u32(&r, "chunk");
	return reader_check(&r);
}

/* The next chunk, unpacked, into lane->pages. */
static struct err *unpack_chunk(struct trace_dat *t, struct lane *lane)
{
	CLEANUP(writer_deinit) struct writer unpacked = { 0 };
	uint64_t offset = lane->part.offset + lane->done;
	uint32_t lens[2];
	struct err *err = read_u32s(t, lane, 2, lens);

	if (err)
		return err;
	if (lens[1] > CHUNK_MAX || lens[0] > lane->part.len - lane->done)
		return err_new(ERR_CORRUPT, "the chunk at offset %" PRIu64 " is of %" PRIu32 " bytes, packed, and %" PRIu32, offset,
			       lens[0], lens[1]);
	err = take_bytes(t, lane, lens[0]);
	if (!err)
		err = trace_dat_unpack(t->head.packing, lane->pages.data, lane->pages.len, lens[1], &unpacked);
	if (err)
		return err_wrap(err, "in the chunk at offset %" PRIu64, offset);
	writer_deinit(&lane->pages);
	lane->pages = unpacked;
	lane->pages_offset = offset;
	unpacked = (struct writer){ 0 };
	return NULL;
}

static struct err *load_pages(struct trace_dat *t, struct lane *lane)
{
	struct err *err = NULL;

	if (!lane->begun && lane->part.packed)
		err = read_u32s(t, lane, 1, &lane->chunks_left);
	lane->begun = true;
	lane->next_page = lane->pages.len = 0;
	if (err)
		return err;
	lane->ended = lane->part.packed ? !lane->chunks_left : lane->done >= lane->part.len;
	if (lane->ended)
		return NULL;
	t->held -= lane->pages.cap;
	if (lane->part.packed) {
		lane->chunks_left--;
		err = unpack_chunk(t, lane);
	} else {
		err = take_bytes(t, lane, (size_t)MIN((uint64_t)lane->part.page_len, lane->part.len - lane->done));
	}
	t->held += lane->pages.cap;
	if (!err && t->held > HELD_MAX)
		err = err_new(ERR_UNSUPPORTED, "the pages of all CPUs take more than %zu bytes at once", HELD_MAX);
	return err;
}

static struct err *next_page(struct trace_dat *t, struct lane *lane)
{
	struct err *err = NULL;

	lane->has_page = false;
	if (lane->next_page >= lane->pages.len)
		err = load_pages(t, lane);
	if (err || lane->ended || !lane->pages.len)
		return err;

	size_t at = lane->next_page, len = MIN((size_t)lane->part.page_len, lane->pages.len - at);

	lane->next_page += len;
	err = ftrace_page_begin(&lane->page, &t->head.page, lane->pages.data + at, len, lane->pages_offset + at);
	lane->has_page = !err;
	if (!err && lane->page.has_missing)
		lane->missing_ahead += MAX(lane->page.missing, 1u);
	return err;
}

/* Look at the next entry: lane->has_entry, unless there is none. */
static void look_ahead(struct trace_dat *t, struct lane *lane)
{
	struct err *err = NULL;

	lane->has_entry = false;
	while (!lane->ended && !err) {
		if (lane->has_page && ftrace_page_next(&lane->page, &lane->entry)) {
			lane->has_entry = true;
			return;
		}
		if (lane->has_page)
			err = reader_check(&lane->page.entries);
		if (!err)
			err = next_page(t, lane);
	}
	if (err)
		fail(t, lane, err, lane->pages_offset);
}

/* ---- entries --------------------------------------------------------------------------------------- */

/* The number at @field; 0 if it has none, or is too short. */
static uint64_t number_at(const struct field *field, const uint8_t *data, size_t len)
{
	uint64_t value = 0;

	if (field->len > sizeof(value) || field->offset > len || field->len > len - field->offset)
		return 0;
	for (uint32_t i = 0; i < field->len; i++)
		value |= (uint64_t)data[field->offset + i] << 8 * i;
	if (field->is_signed && field->len && field->len < sizeof(value) && value >> (8 * field->len - 1))
		value |= UINT64_MAX << 8 * field->len;
	return value;
}

static const struct kind *kind_of(const struct trace_dat *t, const struct ftrace_entry *entry)
{
	static const struct field type = { .len = 2 };
	const uint64_t *number = entry->len < 2 ? NULL : map_get(&t->kinds_by_id, number_at(&type, entry->data, entry->len));

	return number ? &t->kinds.items[*number - 1] : NULL;
}

static void take_stack(struct trace_dat *t, struct lane *lane, const struct kind *kind)
{
	uint32_t long_len = t->head.page.long_len;
	struct field at = { .offset = kind->caller.offset, .len = long_len };
	size_t len = lane->entry.len, count = len > at.offset ? (len - at.offset) / long_len : 0;

	if (kind->size.len)
		count = MIN(count, (size_t)(uint32_t)number_at(&kind->size, lane->entry.data, len));
	count = MIN(count, (size_t)STACK_MAX);
	for (size_t i = 0; i < count; i++, at.offset += long_len) {
		uint64_t ip = number_at(&at, lane->entry.data, len);

		if (!ip || ip == UINT64_MAX >> (64 - 8 * long_len))
			return;
		if (kind->kernel_stack)
			vec_push(&lane->kernel_ips, ip);
		else
			vec_push(&lane->user_ips, ip);
	}
}

static void take_user_stack(struct trace_dat *t, struct lane *lane, const struct kind *kind)
{
	take_stack(t, lane, kind);
	if (kind->tgid.len)
		lane->tgid = (uint32_t)number_at(&kind->tgid, lane->entry.data, lane->entry.len);
}

/* Cycles become nanoseconds where the file says how. */
static uint64_t to_ns(const struct trace_dat *t, uint64_t time)
{
	if (!t->head.tsc_mult)
		return time;
	return (uint64_t)((unsigned __int128)time * t->head.tsc_mult >> t->head.tsc_shift) + t->head.tsc_offset;
}

static bool is_stack(const struct kind *kind)
{
	return kind && (kind->kernel_stack || kind->user_stack);
}

/* ftrace's own events tell the function, and who called it. */
static void take_place(struct lane *lane)
{
	const struct field *fields[] = { &lane->kind->ip, &lane->kind->parent_ip };

	if (lane->kernel_ips.len)
		return;
	for (size_t i = 0; i < 2 && fields[i]->len; i++)
		vec_push(&lane->kernel_ips, number_at(fields[i], lane->payload.items, lane->payload.len));
}

/* The next entry that is an event, with the stacks behind it. False at the end. */
static bool advance(struct trace_dat *t, struct lane *lane)
{
	if (!lane->begun)
		look_ahead(t, lane);
	for (; lane->has_entry; look_ahead(t, lane)) {
		lane->kind = kind_of(t, &lane->entry);
		if (lane->kind && !is_stack(lane->kind))
			break;
	}
	if (!lane->has_entry)
		return false;
	lane->time_ns = to_ns(t, lane->entry.time);
	lane->missing = lane->missing_ahead;
	lane->missing_ahead = 0;
	lane->payload.len = lane->kernel_ips.len = lane->user_ips.len = 0;
	lane->tgid = UINT32_MAX;
	vec_append(&lane->payload, lane->entry.data, lane->entry.len);
	for (look_ahead(t, lane); lane->has_entry; look_ahead(t, lane)) {
		const struct kind *kind = kind_of(t, &lane->entry);

		if (!is_stack(kind))
			break;
		if (kind->kernel_stack && !lane->kernel_ips.len)
			take_stack(t, lane, kind);
		else if (kind->user_stack && !lane->user_ips.len)
			take_user_stack(t, lane, kind);
	}
	take_place(lane);
	return true;
}

/* ---- the oldest of all lanes ----------------------------------------------------------------------- */

static bool is_before(const struct trace_dat *t, uint32_t a, uint32_t b)
{
	return t->lanes[a].time_ns != t->lanes[b].time_ns ? t->lanes[a].time_ns < t->lanes[b].time_ns : a < b;
}

/* Put @lane where the first was, or further down. */
static void sift_down(struct trace_dat *t, uint32_t lane)
{
	uint32_t *items = t->heap.items;
	size_t i = 0, child;

	while ((child = 2 * i + 1) < t->heap.len) {
		if (child + 1 < t->heap.len && is_before(t, items[child + 1], items[child]))
			child++;
		if (!is_before(t, items[child], lane))
			break;
		items[i] = items[child];
		i = child;
	}
	items[i] = lane;
}

static void heap_put(struct trace_dat *t, uint32_t lane)
{
	size_t i = t->heap.len;

	vec_push(&t->heap, lane);
	for (; i && is_before(t, lane, t->heap.items[(i - 1) / 2]); i = (i - 1) / 2)
		t->heap.items[i] = t->heap.items[(i - 1) / 2];
	t->heap.items[i] = lane;
}

static struct lane *next_lane(struct trace_dat *t)
{
	if (t->has_current) {
		uint32_t first = t->heap.items[0];

		t->has_current = false;
		if (!advance(t, &t->lanes[first]))
			first = t->heap.items[--t->heap.len];
		if (t->heap.len)
			sift_down(t, first);
	}
	if (!t->heap.len)
		return NULL;
	t->has_current = true;
	return &t->lanes[t->heap.items[0]];
}

static void lanes_begin(struct trace_dat *t)
{
	t->nlanes = t->head.parts.len;
	t->lanes = memory_zeroed(t->nlanes, sizeof(*t->lanes));
	for (size_t i = 0; i < t->nlanes; i++) {
		t->lanes[i].part = t->head.parts.items[i];
		t->lanes[i].ready = advance(t, &t->lanes[i]);
		if (t->lanes[i].ready)
			heap_put(t, (uint32_t)i);
	}
}

/* ---- events ---------------------------------------------------------------------------------------- */

static uint32_t process_of(const struct trace_dat *t, uint32_t tid)
{
	const uint64_t *process = map_get(&t->processes, tid);

	return process ? (uint32_t)(*process - 1) : tid;
}

static struct event *enqueue(struct trace_dat *t, const struct lane *lane, enum event_kind kind, uint32_t tid)
{
	struct event *ev = &t->queue[t->queued++];

	*ev = (struct event){ .kind = kind, .time_ns = lane->time_ns, .cpu = lane->part.cpu, .pid = process_of(t, tid), .tid = tid };
	return ev;
}

/* The name that the scheduler has for @tid, if it is another than before. */
static void name_thread(struct trace_dat *t, const struct lane *lane, uint32_t tid, const struct field *field)
{
	const char *comm = (const char *)lane->payload.items + field->offset;
	uint64_t hash = 0;

	if (!tid || !field->len || field->offset > lane->payload.len || field->len > lane->payload.len - field->offset)
		return;

	size_t len = strnlen(comm, field->len);

	if (len == field->len)
		return;
	for (size_t i = 0; i < len; i++)
		hash = map_hash(hash ^ (uint8_t)comm[i]);

	uint64_t *last = map_put(&t->comms, tid, NULL);

	if (*last == hash)
		return;
	*last = hash;
	enqueue(t, lane, EVENT_COMM, tid)->comm.comm = comm;
}

static void enqueue_switch(struct trace_dat *t, const struct lane *lane, uint32_t prev, uint32_t next)
{
	uint64_t state = number_at(&lane->kind->prev_state, lane->payload.items, lane->payload.len);

	enqueue(t, lane, EVENT_SWITCH, prev)->cpu_switch.preempted = !(state & STATE_MASK);
	if (state & STATE_ENDED)
		enqueue(t, lane, EVENT_EXIT, prev);
	enqueue(t, lane, EVENT_SWITCH, next)->cpu_switch.in = true;
}

static void enqueue_sample(struct trace_dat *t, struct lane *lane, uint32_t tid)
{
	struct event_sample *s = &enqueue(t, lane, EVENT_SAMPLE, tid)->sample;

	*s = (struct event_sample){
		.event = lane->kind->index,
		.mode = lane->kernel_ips.len ? EVENT_MODE_KERNEL : EVENT_MODE_UNKNOWN,
		.ip = lane->kernel_ips.len ? lane->kernel_ips.items[0] : 0,
		.period = 1,
		.nkernel_ips = lane->kernel_ips.len,
		.nuser_ips = lane->user_ips.len,
		.kernel_ips = lane->kernel_ips.items,
		.user_ips = lane->user_ips.items,
		.raw_len = lane->payload.len,
		.raw = lane->payload.items,
	};
}

/* Whether it is a thread or a process is not said. */
static void enqueue_fork(struct trace_dat *t, const struct lane *lane)
{
	uint32_t parent = (uint32_t)number_at(&lane->kind->parent, lane->payload.items, lane->payload.len);
	uint32_t child = (uint32_t)number_at(&lane->kind->child, lane->payload.items, lane->payload.len);

	enqueue(t, lane, EVENT_FORK, child)->fork = (struct event_fork){ .parent_pid = process_of(t, parent), .parent_tid = parent };
}

/* All that the entry of @lane is. */
static void enqueue_entry(struct trace_dat *t, struct lane *lane)
{
	const struct kind *kind = lane->kind;
	const uint8_t *data = lane->payload.items;
	size_t len = lane->payload.len;
	uint32_t tid = (uint32_t)number_at(&kind->pid, data, len);

	if (lane->missing) {
		struct event *ev = enqueue(t, lane, EVENT_LOST_SAMPLES, UINT32_MAX);

		ev->pid = UINT32_MAX;
		ev->lost = (struct event_lost){ .event = RECORDING_NO_EVENT, .count = lane->missing };
	}
	if (!kind->is_switch)
		enqueue_sample(t, lane, tid);
	if (kind->is_fork)
		enqueue_fork(t, lane);
	if (!kind->is_switch)
		return;

	uint32_t prev = (uint32_t)number_at(&kind->prev_pid, data, len), next = (uint32_t)number_at(&kind->next_pid, data, len);

	name_thread(t, lane, prev, &kind->prev_comm);
	name_thread(t, lane, next, &kind->next_comm);
	enqueue_sample(t, lane, tid);
	enqueue_switch(t, lane, prev, next);
}

/* The next line "1234 make" of the names that the kernel had saved; false if there is none. */
static bool next_command(struct trace_dat *t, struct event *ret)
{
	while (*t->commands) {
		const char *line = t->commands;
		size_t len = strcspn(line, "\n");
		char *end;
		unsigned long tid = strtoul(line, &end, 10);

		t->commands += len + (line[len] == '\n');
		if (end == line || *end != ' ' || !tid || tid >= UINT32_MAX || end >= line + len)
			continue;
		*ret = (struct event){ .kind = EVENT_COMM, .time_ns = t->rec.start_ns, .cpu = EVENT_NO_CPU,
				       .pid = process_of(t, (uint32_t)tid), .tid = (uint32_t)tid };
		ret->comm.comm = arena_memdup(&t->rec.arena, end + 1, (size_t)(line + len - end - 1));
		return true;
	}
	return false;
}

/* The next kernel module; false if there is none. */
static bool next_module(struct trace_dat *t, struct event *ret)
{
	if (t->module >= t->modules.len)
		return false;

	const struct module *module = &t->modules.items[t->module++];

	*ret = (struct event){ .kind = EVENT_MMAP, .time_ns = t->rec.start_ns, .cpu = EVENT_NO_CPU,
			       .pid = UINT32_MAX, .tid = UINT32_MAX };
	ret->mmap = (struct event_mmap){ .start = module->start, .end = module->end, .path = module->path,
					 .flags = EVENT_MMAP_EXEC | EVENT_MMAP_KERNEL };
	return true;
}

static bool next_event(struct event_source *source, struct event *ret)
{
	struct trace_dat *t = of(source);

	if (next_module(t, ret) || next_command(t, ret))
		return true;
	if (t->taken == t->queued) {
		struct lane *lane = next_lane(t);

		if (!lane)
			return false;
		t->taken = t->queued = 0;
		enqueue_entry(t, lane);
	}
	*ret = t->queue[t->taken++];
	return true;
}

static const struct recording *get_recording(struct event_source *source)
{
	return &of(source)->rec;
}

static struct err *finish(struct event_source *source)
{
	struct err *err = of(source)->failure;

	of(source)->failure = NULL;
	return err;
}

static void progress(struct event_source *source, uint64_t *ret_done, uint64_t *ret_len)
{
	struct trace_dat *t = of(source);

	*ret_done = t->done;
	*ret_len = 0;
	for (size_t i = 0; i < t->head.parts.len; i++)
		*ret_len += t->head.parts.items[i].len;
}

static const struct event_source_ops ops = {
	.recording = get_recording,
	.next = next_event,
	.finish = finish,
	.close = close_source,
	.progress = progress,
};

bool trace_dat_is_source(const struct event_source *source)
{
	return source->ops == &ops;
}

const char *trace_dat_kallsyms(struct event_source *source, size_t *ret_len)
{
	*ret_len = of(source)->head.kallsyms.len;
	return of(source)->head.kallsyms.data;
}

struct recording *trace_dat_recording(struct event_source *source)
{
	return &of(source)->rec;
}

/* ---- opening --------------------------------------------------------------------------------------- */

static struct field find_field(const struct tracepoint_format *format, const char *name)
{
	const struct tracepoint_field *field = tracepoint_format_find(format, name);

	if (!field || field->dynamic)
		return (struct field){ 0 };
	return (struct field){ .offset = field->offset, .len = field->len, .is_signed = field->is_signed };
}

static struct kind read_kind(const struct trace_dat_event *event)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct tracepoint_format format = tracepoint_format_read(&arena, event->format);
	struct kind kind = {
		.id = event->id,
		.index = RECORDING_NO_EVENT,
		.kernel_stack = strcmp(event->name, "ftrace:kernel_stack") == 0,
		.user_stack = strcmp(event->name, "ftrace:user_stack") == 0,
		.is_switch = strcmp(event->name, "sched:sched_switch") == 0,
		.is_fork = strcmp(event->name, "sched:sched_process_fork") == 0,
		.pid = find_field(&format, "common_pid"),
	};

	if (is_stack(&kind)) {
		kind.caller = find_field(&format, "caller");
		kind.size = find_field(&format, "size");
		kind.tgid = find_field(&format, "tgid");
	} else if (kind.is_switch) {
		kind.prev_pid = find_field(&format, "prev_pid");
		kind.next_pid = find_field(&format, "next_pid");
		kind.prev_state = find_field(&format, "prev_state");
		kind.prev_comm = find_field(&format, "prev_comm");
		kind.next_comm = find_field(&format, "next_comm");
	} else if (kind.is_fork) {
		kind.parent = find_field(&format, "parent_pid");
		kind.child = find_field(&format, "child_pid");
	} else if (strncmp(event->name, "ftrace:", strlen("ftrace:")) == 0) {
		kind.ip = find_field(&format, "ip");
		kind.parent_ip = find_field(&format, "parent_ip");
		if (!kind.ip.len)
			kind.ip = find_field(&format, "func");
	}
	return kind;
}

static void find_kinds(struct trace_dat *t)
{
	for (size_t i = 0; i < t->head.events.len; i++) {
		const struct trace_dat_event *event = &t->head.events.items[i];
		bool is_new;
		uint64_t *number = map_put(&t->kinds_by_id, event->id, &is_new);

		if (!is_new)
			continue;
		vec_push(&t->kinds, read_kind(event));
		*number = t->kinds.len;
	}
}

static void add_event(struct trace_dat *t, const struct trace_dat_event *of_file, struct kind *kind)
{
	struct recording_event *event = &t->rec.events[t->rec.nevents];

	kind->index = (uint32_t)t->rec.nevents++;
	*event = (struct recording_event){
		.name = of_file->name,
		.unit = "events",
		.type = PERF_TYPE_TRACEPOINT,
		.config = kind->id,
		.rate = 1,
		.samples = true,
		.leader = kind->index,
		.format = of_file->format,
	};
}

/* Those that occur, in the order of the file's formats. */
static void add_events(struct trace_dat *t, const struct map *occur)
{
	t->rec.events = ARENA_ARRAY(&t->rec.arena, struct recording_event, occur->len + 1);
	for (size_t i = 0; i < t->head.events.len; i++) {
		const struct trace_dat_event *event = &t->head.events.items[i];
		struct kind *kind = &t->kinds.items[*map_get(&t->kinds_by_id, event->id) - 1];

		if (kind->index == RECORDING_NO_EVENT && map_get(occur, kind->id))
			add_event(t, event, kind);
	}
}

static void begin_lanes_anew(struct trace_dat *t)
{
	lanes_free(t);
	t->heap.len = 0;
	t->held = 0;
	t->done = 0;
	t->rec.damaged_at = t->rec.bad_records = 0;
	err_free(t->failure);
	t->failure = NULL;
	lanes_begin(t);
}

/* A stack of user space tells the process, too. */
static void learn_process(struct trace_dat *t, const struct lane *lane)
{
	uint32_t tid = (uint32_t)number_at(&lane->kind->pid, lane->payload.items, lane->payload.len);

	if (lane->tgid != UINT32_MAX && lane->tgid)
		*map_put(&t->processes, tid, NULL) = (uint64_t)lane->tgid + 1;
}

/* Go through all entries once: which events there are, from when to when, with stacks or without. */
static void look_through(struct trace_dat *t)
{
	struct map occur = { 0 };

	lanes_begin(t);
	t->rec.start_ns = UINT64_MAX;
	for (size_t i = 0; i < t->nlanes; i++) {
		struct lane *lane = &t->lanes[i];

		for (; lane->ready; lane->ready = advance(t, lane)) {
			map_put(&occur, lane->kind->id, NULL);
			learn_process(t, lane);
			t->rec.start_ns = MIN(t->rec.start_ns, lane->time_ns);
			t->rec.end_ns = MAX(t->rec.end_ns, lane->time_ns);
			if (lane->kernel_ips.len || lane->user_ips.len)
				t->rec.chain = RECORDING_CHAIN_FP;
		}
	}
	if (t->rec.start_ns == UINT64_MAX)
		t->rec.start_ns = 0;
	add_events(t, &occur);
	map_deinit(&occur);
	begin_lanes_anew(t);
}

/* ERR_UNSUPPORTED: a time in it is not one in nanoseconds, and cannot become one. */
static struct err *check_clock(struct trace_dat *t)
{
	static const struct {
		const char *name;
		uint32_t clock;
	} known[] = { { "mono", CLOCK_MONOTONIC }, { "mono_raw", CLOCK_MONOTONIC_RAW }, { "boot", CLOCK_BOOTTIME }, { "tai", CLOCK_TAI } };
	const char *name = t->head.clock;

	t->rec.clock = CLOCK_UNKNOWN;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (strcmp(name, known[i].name) == 0)
			t->rec.clock = known[i].clock;
	if (strcmp(name, "counter") != 0 && strcmp(name, "uptime") != 0 &&
	    (t->head.tsc_mult || (strcmp(name, "x86-tsc") != 0 && strcmp(name, "ppc-tb") != 0)))
		return NULL;
	return err_remedy(err_new(ERR_UNSUPPORTED, "its clock, '%.32s', does not count nanoseconds", name),
			  "trace-cmd record -C mono");
}

/* "Linux host 6.1.0 #1 SMP ... x86_64": the system's words, with the machine as the last. */
static struct err *read_uname(struct trace_dat *t)
{
	char *words = arena_strdup(&t->rec.arena, t->head.uname), *rest = NULL, *last = NULL;

	for (int i = 0;; i++) {
		char *word = strtok_r(i ? NULL : words, " \n", &rest);

		if (!word)
			break;
		if (i == 1)
			t->rec.hostname = word;
		else if (i == 2)
			t->rec.os_release = word;
		last = word;
	}
	t->rec.arch = last ? arch_by_name(last) : NULL;
	if (t->rec.arch)
		return NULL;
	if (last && (strcmp(last, "i686") == 0 || t->head.page.long_len == 4))
		return err_new(ERR_UNSUPPORTED, "it is of a machine, '%.32s', that is not known here", last);
	t->rec.arch = &arch_x86_64; /* the file does not say: nothing here depends on it but the width of an address */
	return NULL;
}

static void add_to_module(struct trace_dat *t, struct map *by_hash, struct kallsyms_line *line)
{
	uint64_t hash = kallsyms_module(line);
	const char *name = kallsyms_cut(line->name);
	bool is_new;
	uint64_t *number;

	if (!*name || line->addr > UINT64_MAX - MODULE_TAIL)
		return;
	number = map_put(by_hash, hash, &is_new);
	if (is_new) {
		struct module module = { .path = arena_printf(&t->rec.arena, "[%s]", name), .start = line->addr };

		vec_push(&t->modules, module);
		*number = t->modules.len - 1;
	}

	struct module *module = &t->modules.items[*number];

	module->start = MIN(module->start, line->addr);
	module->end = MAX(module->end, line->addr + MODULE_TAIL);
}

/* Where the kernel's modules lay, from the functions in them. */
static void find_modules(struct trace_dat *t)
{
	const char *pos = t->head.kallsyms.data, *end = pos ? pos + t->head.kallsyms.len : NULL;
	struct map by_hash = { 0 };
	char text[512];

	while (pos < end) {
		const char *stop = memchr(pos, '\n', (size_t)(end - pos));
		size_t len = (size_t)((stop ? stop : end) - pos);
		struct kallsyms_line line;

		if (len < sizeof(text) && memchr(pos, '[', len)) {
			memcpy(text, pos, len);
			text[len] = 0;
			if (kallsyms_parse(text, &line) && line.addr && kallsyms_is_function(&line))
				add_to_module(t, &by_hash, &line);
		}
		pos += len + 1;
	}
	map_deinit(&by_hash);
}

static void note(struct trace_dat *t)
{
	t->rec.notes = ARENA_ARRAY(&t->rec.arena, struct recording_note, 1);
	t->rec.notes[t->rec.nnotes++] = (struct recording_note){
		.kind = RECORDING_NOTE_OTHER,
		.subject = "",
		.text = "trace.dat does not say which process a thread belongs to: each is shown as one of its own",
	};
}

static struct err *begin(struct trace_dat *t)
{
	struct recording *rec = &t->rec;
	struct err *err = trace_dat_head_read(&t->file, &t->head);

	if (!err)
		err = check_clock(t);
	rec->hostname = rec->os_release = rec->cmdline = rec->cpu_model = rec->container = "";
	if (!err)
		err = read_uname(t);
	if (err)
		return err;
	rec->tool = *t->head.tool ? arena_printf(&rec->arena, "trace-cmd %s", t->head.tool) : "trace-cmd";
	rec->exit_status = -1;
	rec->page_size = t->head.page_len;
	rec->ncpus_online = t->head.ncpus ? t->head.ncpus : (uint32_t)t->head.parts.len;
	rec->system_wide = rec->by_cpu = rec->complete = true;
	t->commands = t->head.commands.data ? t->head.commands.data : "";
	find_kinds(t);
	look_through(t);
	find_modules(t);
	if (t->head.has_wall) {
		rec->clock_ns = rec->start_ns;
		rec->wall_ns = rec->start_ns + (uint64_t)t->head.wall_ns;
	}
	note(t);
	return NULL;
}

bool trace_dat_is(const struct trace_file *file)
{
	return trace_dat_head_is(file);
}

struct err *trace_dat_open(const char *name, struct trace_file file, struct event_source **ret)
{
	CLEANUP(close_sourcep) struct trace_dat *t = memory_zeroed(1, sizeof(*t));

	t->source.ops = &ops;
	t->file = file;
	t->head.arena = &t->rec.arena;

	struct err *err = begin(t);

	if (err)
		return err_wrap(err, "'%s'", name);
	*ret = &t->source;
	t = NULL; /* now the caller's */
	return NULL;
}

struct err *trace_dat_open_memory(const void *data, size_t len, struct event_source **ret)
{
	return trace_dat_open("memory", trace_file_memory(data, len), ret);
}
