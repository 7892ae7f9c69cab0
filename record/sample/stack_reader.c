/* SPDX-License-Identifier: Apache-2.0 */
#include "record/sample/stack_reader.h"

#include "formats/perf/perf_record.h"
#include "formats/base/map.h"
#include "formats/base/memory.h"
#include "record/system/priority.h"

#include <pthread.h>
#include <stdlib.h>

struct stack_shapes {
	pthread_mutex_t lock;
	struct map by_id; /* event number + 1 */
	VEC(struct perf_layout) layouts;
	size_t known; /* of the recorder's descriptors */
};

struct stack_reader {
	struct stack_shapes *shapes;
	struct stack_shelves *shelves;
	size_t ring;
	struct task_memory mem;
	struct perf_record record;
	struct other_stack stack;
	struct stack_pieces *pieces;
	uint64_t lost; /* of the entries on the shelf, as of the last look */
	bool found, whole; /* the result of the last look */
	bool deep;	   /* and whether it read a deep stack, or tried to */
	uint8_t bytes[PERF_RECORD_LEN_MAX];
};

struct stack_shapes *stack_shapes_new(void)
{
	struct stack_shapes *s = memory_zeroed(1, sizeof(*s));

	priority_mutex_init(&s->lock);
	return s;
}

void stack_shapes_free(struct stack_shapes *s)
{
	if (!s)
		return;
	pthread_mutex_destroy(&s->lock);
	map_deinit(&s->by_id);
	vec_deinit(&s->layouts);
	free(s);
}

void stack_shapes_set(struct stack_shapes *s, const struct perf_layout *layouts, size_t count)
{
	pthread_mutex_lock(&s->lock);
	vec_append(&s->layouts, layouts, count);
	pthread_mutex_unlock(&s->lock);
}

void stack_shapes_learn(struct stack_shapes *s, const struct perf_fds *fds)
{
	if (s->known == fds->items.len)
		return;
	pthread_mutex_lock(&s->lock);
	for (; s->known < fds->items.len; s->known++) {
		const struct perf_fd *perf_fd = &fds->items.items[s->known];

		if (perf_fd->event != PERF_FD_SIDE_BAND)
			*map_put(&s->by_id, perf_fd->id, NULL) = perf_fd->event + 1ULL;
	}
	pthread_mutex_unlock(&s->lock);
}

static const struct perf_layout *layout_of(struct stack_shapes *s, uint64_t id)
{
	const struct perf_layout *layout = NULL;

	pthread_mutex_lock(&s->lock);
	const uint64_t *number = map_get(&s->by_id, id);

	if (number && *number <= s->layouts.len)
		layout = &s->layouts.items[*number - 1];
	pthread_mutex_unlock(&s->lock);
	return layout;
}

struct stack_reader *stack_reader_new(struct stack_shapes *shapes, struct stack_shelves *shelves, size_t ring)
{
	struct stack_reader *r = memory_zeroed(1, sizeof(*r));

	r->shapes = shapes;
	r->shelves = shelves;
	r->ring = ring;
	r->mem.pagemap_fd = -1;
	r->pieces = stack_pieces_new();
	return r;
}

void stack_reader_free(struct stack_reader *r)
{
	if (!r)
		return;
	task_memory_close(&r->mem);
	stack_pieces_free(r->pieces);
	free(r);
}

uint8_t *stack_reader_room(struct stack_reader *r)
{
	return r->bytes;
}

const struct event_regs *stack_reader_regs(struct stack_reader *r, size_t len)
{
	const struct perf_layout *layout = layout_of(r->shapes, perf_record_id(r->bytes, len, false));

	return layout ? perf_record_regs(layout, r->bytes, len, false, &r->record) : NULL;
}

#define TRIES_MAX 16 /* places in a sample that look like a goroutine's */

/* A process's memory file stays open for its next sample. After an exec it refers to the old address space, and reads fail. */
static bool open_memory(struct stack_reader *r, uint32_t pid)
{
	if (r->mem.pagemap_fd >= 0 && r->mem.pid == pid)
		return true;
	task_memory_close(&r->mem);
	return task_memory_open(&r->mem, pid);
}

/* If earlier words were lost, unchanged pieces cannot refer to them. */
static void begin_pieces(struct stack_reader *r)
{
	uint64_t lost = stack_shelves_lost(r->shelves, r->ring);
	uint32_t place;

	if (lost != r->lost)
		stack_pieces_forget(r->pieces);
	r->lost = lost;
	stack_pieces_begin(r->pieces, r->record.event.tid, &place, &r->stack.turn);
	r->stack.place = (uint32_t)r->ring * STACK_PIECES_PLACES + place;
}

/* The first place that is confirmed; *@ret_found: there was any candidate. */
static bool read_any(struct stack_reader *r, const struct other_stack_snapshot *snapshot, bool deep, bool *ret_found)
{
	struct other_stack_place place;
	uint64_t end = stack_shelves_end(r->shelves, r->record.event.tid, snapshot->base), own_end;
	size_t slot = 0;

	bool erlang = stack_shelves_is_erlang(r->shelves, r->record.event.pid);
	bool switches = !erlang && stack_shelves_switches(r->shelves, r->record.event.pid);

	if (erlang && other_stack_find_erlang(&r->mem, snapshot, &place)) {
		*ret_found = true;
		return other_stack_read(&r->mem, place, NULL, &r->stack);
	}
	for (unsigned i = 0; switches && i < TRIES_MAX && other_stack_find(snapshot, &slot, &place); i++) {
		*ret_found = true;
		if (other_stack_read(&r->mem, place, NULL, &r->stack))
			return true;
	}
	if (switches && (other_stack_find_race(&r->mem, snapshot, &place) || other_stack_find_linked(snapshot, end, &place))) {
		*ret_found = true;
		return other_stack_read(&r->mem, place, NULL, &r->stack);
	}
	/* Mappings of Go's heap, of whatever size, do not end where a stack does. */
	own_end = snapshot->cut ? other_stack_goroutine_end(&r->mem, snapshot) : 0;
	end = own_end ? own_end : end;
	if (!other_stack_rest(snapshot, end, &place))
		return false;
	place.deep = other_stack_is_deep(snapshot, &place);
	if (place.deep && !deep)
		return false;
	*ret_found = true;
	r->deep = place.deep;
	if (r->deep)
		begin_pieces(r);
	return other_stack_read(&r->mem, place, r->pieces, &r->stack);
}

void stack_reader_look(struct stack_reader *r, size_t len, bool deep)
{
	const struct perf_layout *layout = layout_of(r->shapes, perf_record_id(r->bytes, len, false));
	struct other_stack_snapshot snapshot;

	r->found = r->whole = r->deep = false;
	if (!layout)
		return;
	struct err *err = perf_record_parse(layout, r->bytes, len, false, &r->record);

	if (!err && r->record.known && r->record.event.kind == EVENT_SAMPLE &&
	    other_stack_snapshot_of(&r->record, NULL, &snapshot) && open_memory(r, r->record.event.pid)) {
		r->whole = read_any(r, &snapshot, deep, &r->found);
		if (!r->whole)
			task_memory_close(&r->mem);
	}
	err_free(err);
}

bool stack_reader_keep(struct stack_reader *r, bool unchanged)
{
	const struct event *ev = &r->record.event;
	bool good = r->whole && unchanged;
	bool kept = r->found && stack_shelves_put(r->shelves, r->ring, ev->pid, ev->tid, ev->time_ns, good ? &r->stack : NULL);

	if (kept && good && r->deep)
		stack_pieces_keep(r->pieces);
	r->found = false;
	return r->deep;
}
