/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes_data.c - a lane is a thread, whatever names it had; columns as in flame_data.c.
 */
#include "report/page/lanes_data.h"

#include "formats/base/json_writer.h"
#include "formats/base/map.h"
#include "formats/base/text.h"
#include "report/view/view.h"
#include "report/view/wait_frames.h"

#include <stdlib.h>

#define SPANS_MAX 100000 /* some 4 bytes each, packed */

struct lane {
	uint32_t thread; /* of the profile, under its latest name */
	uint64_t spans;
};

enum column {
	GAP,	  /* behind the span before, or behind the start of the recording, in ns */
	LENGTH,	  /* ns */
	KIND,	  /* enum wait_kind; WAIT_KINDS: several spans */
	FUNCTION, /* that waits; 0: none */
	WAKER,	  /* lane + 1; 0: not known */
	COUNT,	  /* of several; 0: not known, or one */
	RUN,	  /* the same: ns on a CPU */
	COLUMNS
};

struct cell {
	uint32_t lane;
	uint64_t from_ns;
	uint64_t columns[COLUMNS];
};

struct encoder {
	const struct profile *p;
	const struct profile_facts *facts;
	struct span_list list;
	struct arena arena;
	struct map numbers; /* tid -> lane + 1 */
	VEC(struct lane) lanes;
	VEC(struct cell) cells; /* by lane and time */
	struct strtab functions; /* number 0 is "" */
};

static uint32_t lane_of(struct encoder *e, uint32_t thread)
{
	bool fresh;
	uint64_t *number = map_put(&e->numbers, e->p->threads.items[thread].tid, &fresh);

	if (fresh) {
		vec_push(&e->lanes, ((struct lane){ .thread = thread }));
		*number = e->lanes.len;
	}
	return (uint32_t)*number - 1;
}

/* The function that waits in @row; 0 if it is not known. */
static uint32_t function_of(struct encoder *e, const struct profile_sample *row)
{
	uint32_t leaf = row->stack ? wait_frames_leaf(e->p, row) : 0;

	if (!leaf)
		return 0;

	uint32_t location = e->p->stacks.items[leaf].location;
	const struct profile_location *at = &e->p->locations.items[location];

	if (!at->nlines)
		return 0;

	uint32_t line = at->first_line + wait_frames_inlined_wrappers(e->p, location);
	const char *name = profile_text(e->p, e->p->functions.items[e->p->lines.items[line].function].name);

	return strtab_add(&e->functions, text_escape(&e->arena, name));
}

static struct cell cell_of(struct encoder *e, const struct profile_span *span)
{
	struct profile_sample row = { .stack = span->stack, .thread = span->thread, .state = span->state };
	struct cell cell = { .lane = lane_of(e, span->thread), .from_ns = span->from_ns };

	cell.columns[LENGTH] = span->len_ns;
	cell.columns[KIND] = wait_frames_span_kind(e->p, span);
	cell.columns[FUNCTION] = span->count == 1 ? function_of(e, &row) : 0;
	cell.columns[WAKER] = span->waker == PROFILE_NONE ? 0 : lane_of(e, span->waker) + 1;
	cell.columns[COUNT] = span->count == 1 ? 0 : span->count;
	cell.columns[RUN] = span->count == 1 ? 0 : span->run_ns;
	return cell;
}

static int compare_cells(const void *a, const void *b)
{
	const struct cell *x = a, *y = b;

	if (x->lane != y->lane)
		return x->lane < y->lane ? -1 : 1;
	return COMPARE(x->from_ns, y->from_ns);
}

static void make_cells(struct encoder *e)
{
	const struct span_list *list = &e->list;

	strtab_add(&e->functions, "");
	for (size_t i = 0; i < list->spans.len; i++) {
		struct cell cell = cell_of(e, &list->spans.items[i]);
		struct lane *lane = &e->lanes.items[cell.lane];

		lane->thread = MAX(lane->thread, list->spans.items[i].thread);
		lane->spans++;
		vec_push(&e->cells, cell);
	}
	if (e->cells.len)
		vec_sort(&e->cells, compare_cells);
	for (size_t i = 0; i < e->cells.len; i++) {
		struct cell *cell = &e->cells.items[i];
		bool is_first = i == 0 || cell[-1].lane != cell->lane;
		uint64_t since_ns = is_first ? e->facts->start_ns : cell[-1].from_ns + cell[-1].columns[LENGTH];

		cell->columns[GAP] = cell->from_ns - MIN(since_ns, cell->from_ns);
	}
}

static void put_lanes(struct json *json, struct encoder *e)
{
	json_open(json, "lanes", '[');
	for (size_t i = 0; i < e->lanes.len; i++) {
		const struct lane *lane = &e->lanes.items[i];
		const struct profile_thread *thread = &e->p->threads.items[lane->thread];

		json_open(json, NULL, '[');
		json_uint(json, NULL, thread->tid);
		json_string(json, NULL, text_escape(&e->arena, profile_text(e->p, thread->comm)));
		json_string(json, NULL, text_escape(&e->arena, profile_text(e->p, thread->process)));
		json_uint(json, NULL, lane->spans);
		json_close(json, ']');
	}
	json_close(json, ']');
}

static void put_head(struct json *json, void *context)
{
	struct encoder *e = context;

	json_open(json, NULL, '{');
	json_uint(json, "version", 1);
	json_uint(json, "step", e->list.step_ns);
	json_open(json, "kinds", '[');
	for (enum wait_kind kind = 0; kind < WAIT_KINDS; kind++)
		json_string(json, NULL, wait_kind_name(kind));
	json_close(json, ']');
	json_open(json, "ended", '[');
	for (enum wait_kind kind = 0; kind < WAIT_KINDS; kind++)
		if (wait_kind_is_ended_by_thread(kind))
			json_uint(json, NULL, kind);
	json_close(json, ']');
	json_open(json, "functions", '[');
	for (uint32_t i = 0; i < e->functions.len; i++)
		json_string(json, NULL, strtab_get(&e->functions, i));
	json_close(json, ']');
	put_lanes(json, e);
	json_close(json, '}');
}

struct err *lanes_data_write(const struct profile *p, const struct profile_facts *facts, struct writer *out)
{
	struct encoder e = { .p = p, .facts = facts, .list.step_ns = p->spans.step_ns };
	struct err *err;

	vec_append(&e.list.spans, p->spans.spans.items, p->spans.spans.len);
	span_list_fit(&e.list, SPANS_MAX);
	make_cells(&e);
	err = json_pack(out, put_head, &e);
	for (enum column column = 0; !err && column < COLUMNS; column++)
		for (size_t i = 0; i < e.cells.len; i++)
			writer_uleb(out, e.cells.items[i].columns[column]);
	span_list_deinit(&e.list);
	strtab_deinit(&e.functions);
	map_deinit(&e.numbers);
	vec_deinit(&e.lanes);
	vec_deinit(&e.cells);
	arena_deinit(&e.arena);
	return err;
}
