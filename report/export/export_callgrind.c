/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_callgrind.c - the file of valgrind's callgrind, for callgrind_annotate and KCachegrind:
 *
 *	ob=(3) /usr/bin/clang		module, source file and function; a name is written once, then its number
 *	fl=(8) parse.c
 *	fn=(9) parse
 *	17 4000000			line, and the weight of each event in the function itself there
 *	cob=(3)
 *	cfi=(8)
 *	cfn=(12) scan
 *	calls=5 30			how many samples (1 where that is not known), and the line where the callee begins
 *	17 5000000			from which line, and the weight in the callee and all that it calls
 *
 * Weights of a call are counted once a sample, however often the call is on the stack; calls of a function by
 * itself are left out, so that readers, which add a function's own weight and that of its calls, get them right.
 */
#include "formats/base/map.h"
#include "formats/base/text.h"
#include "formats/stack_stop.h"
#include "report/export/export_format.h"
#include "report/view/frame_list.h"

#include <ctype.h>
#include <inttypes.h>

#define NO_STACK  STACK_STOPS /* as the reason why a stack ends: there is none */
#define NO_CALLEE UINT32_MAX
#define NO_COLUMN UINT32_MAX

/* What a function spent at a line, itself or in a callee. */
struct cost {
	uint32_t function, line, callee; /* functions as frame_function() numbers them */
	uint64_t samples;
	size_t weights; /* where its weights begin in writer_state.weights, one a column */
};

struct writer_state {
	const struct profile *p;
	const struct profile_facts *facts;
	FILE *out;
	struct arena arena;
	struct frame_list list;
	VEC(uint32_t) columns;	/* events that have samples, none negative */
	uint32_t *column_of;	/* by event; NO_COLUMN: it has none */
	bool counted;		/* it is known of how many samples each column is */
	VEC(struct cost) costs;
	VEC(int64_t) weights;
	struct map places;	/* (function, line) -> number + 1 */
	struct map by_place;	/* (place, callee) -> index in costs + 1 */
	struct map seen;	/* (caller, callee) on the current stack */
	bool *named[3];		/* by kind of name: was string N written? */
};

enum { NAME_OBJECT, NAME_FILE, NAME_FUNCTION };

/* ---- adding up ---- */

static const struct profile_function *real_function(const struct writer_state *w, uint32_t function)
{
	return function < w->p->functions.len ? &w->p->functions.items[function] : NULL;
}

/* Lines count in the function's own file only; code from a header has none. */
static uint32_t line_of(const struct writer_state *w, const struct frame *frame)
{
	if (frame->line == FRAME_REASON)
		return 0;

	const struct profile_line *line = &w->p->lines.items[frame->line];

	return line->file == w->p->functions.items[line->function].file ? line->line : 0;
}

static struct cost *cost_at(struct writer_state *w, const struct frame *frame, uint32_t callee)
{
	uint32_t function = frame_function(&w->list, frame, w->p), line = line_of(w, frame);
	uint64_t *place = map_put(&w->places, (uint64_t)function << 32 | line, NULL);

	if (!*place)
		*place = w->places.len;

	uint64_t *index = map_put(&w->by_place, *place << 32 | callee, NULL);

	if (!*index) {
		struct cost cost = { function, line, callee, 0, w->weights.len };

		vec_push(&w->costs, cost);
		for (size_t i = 0; i < w->columns.len; i++)
			vec_push(&w->weights, 0);
		*index = w->costs.len;
	}
	return &w->costs.items[*index - 1];
}

static void add(struct writer_state *w, const struct frame *frame, uint32_t callee,
		const struct profile_sample *row)
{
	struct cost *cost = cost_at(w, frame, callee);

	cost->samples = w->counted ? cost->samples + row->count : 1;
	w->weights.items[cost->weights + w->column_of[row->type]] += row->weight;
}

static void add_row(struct writer_state *w, const struct profile_sample *row)
{
	frame_list_fill(&w->list, w->p, row);
	if (!w->list.frames.len) {
		w->list.stop = NO_STACK;
		add(w, &(struct frame){ row->stack, FRAME_REASON, 0 }, NO_CALLEE, row);
	}
	map_clear(&w->seen);
	for (size_t i = 0; i < w->list.frames.len; i++) {
		const struct frame *frame = &w->list.frames.items[i];

		if (i + 1 == w->list.frames.len) {
			add(w, frame, NO_CALLEE, row);
			break;
		}

		uint32_t caller = frame_function(&w->list, frame, w->p), callee = frame_function(&w->list, frame + 1, w->p);
		bool is_new;

		map_put(&w->seen, (uint64_t)caller << 32 | callee, &is_new);
		if (is_new && caller != callee)
			add(w, frame, callee, row);
	}
}

/* A cost is never negative, as sizes of memory that was freed are. */
static bool has_negative(const struct profile *p, uint32_t type)
{
	for (size_t i = 0; i < p->samples.len; i++)
		if (p->samples.items[i].type == type && p->samples.items[i].weight < 0)
			return true;
	return false;
}

static void choose_columns(struct writer_state *w)
{
	w->column_of = ARENA_ARRAY(&w->arena, uint32_t, w->p->types.len + 1);
	w->counted = true;
	for (uint32_t i = 0; i < w->p->types.len; i++) {
		struct profile_sum sum = profile_total(w->p, i);

		w->column_of[i] = NO_COLUMN;
		if (!sum.count || has_negative(w->p, i))
			continue;
		w->counted = w->counted && profile_is_counted(&sum);
		w->column_of[i] = (uint32_t)w->columns.len;
		vec_push(&w->columns, i);
	}
}

/* ---- writing ---- */

/* A word for the "events:" line: letters, digits, '_'; no two are equal, for each ends in its own number if need be. */
static const char *column_name(struct writer_state *w, uint32_t event, bool numbered)
{
	const char *name = profile_text(w->p, w->p->types.items[event].name);
	char *word = arena_strdup(&w->arena, *name ? name : "event");

	for (char *at = word; *at; at++)
		if (!isalnum((unsigned char)*at))
			*at = '_';
	return numbered ? arena_printf(&w->arena, "%s_%" PRIu32, word, event) : word;
}

static bool names_are_distinct(struct writer_state *w)
{
	for (size_t i = 0; i < w->columns.len; i++)
		for (size_t j = 0; j < i; j++)
			if (strcmp(column_name(w, w->columns.items[i], /* numbered= */ false),
				   column_name(w, w->columns.items[j], false)) == 0)
				return false;
	return true;
}

static void put_head(struct writer_state *w)
{
	bool numbered = !names_are_distinct(w);

	fputs("# callgrind format\nversion: 1\ncreator: preport " VERSION "\n", w->out);
	fprintf(w->out, "cmd: %s\n", text_escape(&w->arena, w->facts->cmdline));
	fprintf(w->out, "desc: %s\npositions: line\n",
		w->counted ? "sampled: 'calls' counts samples" : "how many samples there were is not known: 'calls' is always 1");
	for (size_t i = 0; i < w->columns.len; i++) {
		const struct profile_value_type *event = &w->p->types.items[w->columns.items[i]];

		fprintf(w->out, "event: %s : %s, in %s\n",
			column_name(w, w->columns.items[i], numbered),
			text_escape(&w->arena, profile_text(w->p, event->name)),
			text_escape(&w->arena, profile_text(w->p, event->unit)));
	}
	fputs("events:", w->out);
	for (size_t i = 0; i < w->columns.len; i++)
		fprintf(w->out, " %s", column_name(w, w->columns.items[i], numbered));
	fputc('\n', w->out);
}

/* "KEY=(NUMBER) TEXT", the text only the first time; @number stands for the text. */
static void put_name(struct writer_state *w, const char *key, int kind, uint32_t number,
		     const char *text)
{
	fprintf(w->out, "%s=(%" PRIu32 ")", key, number + 1);
	if (!w->named[kind][number])
		fprintf(w->out, " %s", *text ? text_escape(&w->arena, text) : "???");
	w->named[kind][number] = true;
	fputc('\n', w->out);
}

static void put_function(struct writer_state *w, uint32_t function, const char *const keys[3])
{
	const struct profile_function *real = real_function(w, function);
	uint32_t module = real ? profile_module(w->p, real->module)->path : 0;
	uint32_t file = real ? real->file : 0;
	uint32_t stop = function - (uint32_t)w->p->functions.len;

	put_name(w, keys[0], NAME_OBJECT, module, profile_text(w->p, module));
	put_name(w, keys[1], NAME_FILE, file, profile_text(w->p, file));
	if (real)
		put_name(w, keys[2], NAME_FUNCTION, real->name, profile_text(w->p, real->name));
	else
		put_name(w, keys[2], NAME_FUNCTION, w->p->strings.len + stop,
			 stop == NO_STACK ? "[no stack]" : frame_reason((uint8_t)stop, &w->arena));
}

static void put_weights(struct writer_state *w, const struct cost *cost)
{
	fprintf(w->out, "%" PRIu32, cost->line);
	for (size_t i = 0; i < w->columns.len; i++)
		fprintf(w->out, " %" PRId64, w->weights.items[cost->weights + i]);
	fputc('\n', w->out);
}

/* Readers expect of every function a line of its own, as all have that callgrind saw. */
static void put_no_weights(struct writer_state *w, const struct cost *cost)
{
	fprintf(w->out, "%" PRIu32, cost->line);
	for (size_t i = 0; i < w->columns.len; i++)
		fputs(" 0", w->out);
	fputc('\n', w->out);
}

static void put_cost(struct writer_state *w, const struct cost *cost)
{
	static const char *const keys[3] = { "cob", "cfi", "cfn" };

	if (cost->callee != NO_CALLEE) {
		const struct profile_function *real = real_function(w, cost->callee);

		put_function(w, cost->callee, keys);
		fprintf(w->out, "calls=%" PRIu64 " %" PRIu32 "\n", cost->samples,
			real ? real->line : 0);
	}
	put_weights(w, cost);
}

/* A function's own costs before its calls. */
static int compare_costs(const void *a, const void *b)
{
	const struct cost *x = a, *y = b;
	int order = COMPARE(x->function, y->function);

	if (!order)
		order = COMPARE(x->callee + 1, y->callee + 1); /* none becomes 0 */
	return order ? order : COMPARE(x->line, y->line);
}

static void put_body(struct writer_state *w)
{
	static const char *const keys[3] = { "ob", "fl", "fn" };

	vec_sort(&w->costs, compare_costs);
	for (size_t i = 0; i < w->costs.len; i++) {
		const struct cost *cost = &w->costs.items[i];

		if (i == 0 || cost->function != cost[-1].function) {
			fputc('\n', w->out);
			put_function(w, cost->function, keys);
			if (cost->callee != NO_CALLEE)
				put_no_weights(w, cost);
		}
		put_cost(w, cost);
	}
	fputs("\ntotals:", w->out);
	for (size_t i = 0; i < w->columns.len; i++)
		fprintf(w->out, " %" PRId64, profile_total(w->p, w->columns.items[i]).weight);
	fputc('\n', w->out);
}

static struct err *write_callgrind(const struct profile *p, const struct profile_facts *facts, FILE *out)
{
	struct writer_state w = { .p = p, .facts = facts, .out = out };
	struct err *err = NULL;

	for (int i = 0; i < 3; i++)
		w.named[i] = ARENA_ARRAY(&w.arena, bool, w.p->strings.len + STACK_STOPS + 1);
	choose_columns(&w);
	for (size_t i = 0; i < w.p->samples.len; i++)
		if (w.column_of[w.p->samples.items[i].type] != NO_COLUMN)
			add_row(&w, &w.p->samples.items[i]);
	if (w.columns.len) {
		put_head(&w);
		put_body(&w);
	} else {
		err = err_new(ERR_UNSUPPORTED, "a callgrind file holds no negative values, and there are no others");
	}
	vec_deinit(&w.columns);
	vec_deinit(&w.costs);
	vec_deinit(&w.weights);
	map_deinit(&w.places);
	map_deinit(&w.by_place);
	map_deinit(&w.seen);
	frame_list_deinit(&w.list);
	arena_deinit(&w.arena);
	return err;
}

const struct export_format export_callgrind = {
	.file = "callgrind.out.precord",
	.with = "kcachegrind",
	.missing = "holds no processes, threads, CPUs, times, counts of samples or negative values, and of recursion "
		   "through other functions only sums that count it more than once",
	.carries = IMPORT_LINES | IMPORT_TYPES,
	.write = write_callgrind,
};
