/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_report.c - where nothing was counted no value is shown, but "not counted" or "not supported".
 */
#include "record/stat/stat_report.h"

#include "formats/base/csv.h"
#include "formats/base/text.h"
#include "formats/topdown_formula.h"
#include "record/event/event_group.h"
#include "record/stat/stat_metric.h"
#include "record/stat/stat_table.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

/*
 * Where the issue slots went, from counts of the events that topdown_events_add() put into the list.
 *
 * Counts of groups that were multiplexed are scaled up; each formula divides within its group.
 */

struct stat_topdown {
	const struct topdown_model *model;
	struct topdown_formula formulas[TOPDOWN_NODES_MAX];
	double values[TOPDOWN_NODES_MAX]; /* fractions; NaN: cannot be computed from these counts */
	unsigned len;                     /* 0: no model, or nothing of it was counted at this place */
};

/* Was it counted for a tree, rather than for itself? */
static bool stat_topdown_is_part(const struct event_desc *desc)
{
	return topdown_of_event(desc->name) != NULL;
}

/* The model that events of @list were chosen for; NULL for none. */
static const struct topdown_model *stat_topdown_model(const struct event_list *list)
{
	const struct topdown_model *model = NULL;

	for (size_t i = 0; i < list->len && !model; i++)
		model = topdown_of_event(list->items[i].name);
	return model;
}

/* The number of the event of @model that @name is, UINT_MAX for none. */
static unsigned number_of(const struct topdown_model *model, const char *name)
{
	size_t len = strlen(model->name);

	if (topdown_of_event(name) != model)
		return UINT_MAX;
	for (unsigned i = 0; model->events[i].label; i++)
		if (strcmp(model->events[i].label, name + len + 1) == 0)
			return i;
	return UINT_MAX;
}

/* Of the place whose first row is number @first of @t, which has one for each event. Formulas are made in @arena. */
static void stat_topdown_of(const struct stat_table *t, size_t first, struct arena *arena, struct stat_topdown *ret)
{
	struct topdown_terms terms;
	double counts[TOPDOWN_EVENTS_MAX] = { 0 };

	*ret = (struct stat_topdown){ .model = stat_topdown_model(t->list) };
	if (!ret->model)
		return;
	for (size_t i = 0; i < TOPDOWN_EVENTS_MAX; i++)
		terms.items[i] = TOPDOWN_NOT_COUNTED;
	for (size_t i = first; i < first + t->list->len; i++) {
		const struct stat_row *row = &t->rows.items[i];
		unsigned number = number_of(ret->model, t->list->items[row->event].name);

		if (number == UINT_MAX || row->state != STAT_COUNTED)
			continue;
		terms.items[number] = number;
		counts[number] = stat_row_mean(row);
	}
	ret->len = topdown_formulas(ret->model, &terms, arena, ret->formulas);
	for (unsigned i = 0; i < ret->len; i++)
		ret->values[i] = metric_expr_value(ret->formulas[i].expr, counts);
}

/* It and its parent pass the model's thresholds: worth a look. */
static bool stat_topdown_stands_out(const struct stat_topdown *td, unsigned i)
{
	while (i != UINT_MAX && td->values[i] > td->formulas[i].node->threshold)
		i = topdown_formula_parent(td->formulas, td->len, i);
	return i == UINT_MAX;
}

#define VALUE_WIDTH 18
#define NAME_WIDTH  28
#define PLACE_MIN   ((size_t)6)
#define PLACE_MAX   ((size_t)24) /* columns, of a thread's number and name */
#define FULL_SHARE  0.995 /* from here on the counter counts as not multiplexed */

static const char *const place_titles[] = { "", "CPU", "core", "socket", "thread" };

static bool is_time(const struct event_desc *desc)
{
	return strcmp(desc->unit, "ns") == 0;
}

static double scale_of(const struct event_desc *desc)
{
	return desc->scale > 0 ? desc->scale : 1;
}

static const char *unit_of(const struct event_desc *desc)
{
	return desc->scale_unit && *desc->scale_unit ? desc->scale_unit : desc->unit;
}

static const char *state_name(enum stat_state state)
{
	static const char *const names[] = { "counted", "not counted", "impossible", "not supported" };

	return names[state];
}

/* "1,234,567" */
static const char *grouped(struct arena *arena, double value)
{
	char digits[32];
	int len = snprintf(digits, sizeof(digits), "%.0f", value);
	char *text = arena_alloc(arena, sizeof(digits) * 2);
	size_t at = 0;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			text[at++] = ',';
		text[at++] = digits[i];
	}
	text[at] = 0;
	return text;
}

static const char *value_text(struct arena *arena, const struct event_desc *desc, double value)
{
	if (is_time(desc))
		return arena_printf(arena, "%.2f ms", value / 1e6);
	if (scale_of(desc) != 1)
		return arena_printf(arena, "%.2f %s", value * scale_of(desc), unit_of(desc));
	return grouped(arena, value);
}

/* "2.31 a cycle"; "" if there is nothing to compare it with. */
static const char *remark(const struct stat_report *r, const struct stat_row *row,
			  struct arena *arena)
{
	struct stat_metric metric;

	if (!stat_metric_of(r->table, row, r->elapsed_s, &metric))
		return "";
	return arena_printf(arena, "%s%.*f %s", metric.apart ? "about " : "", metric.value < 10 ? 2 : 1,
			    metric.value, metric.unit);
}

/* A part of the top-down tree at a place. */
struct part {
	const struct stat_topdown *tree;
	unsigned number;
	const char *place;
	double at_s;
};

static const struct topdown_node *node_of(const struct part *part)
{
	return part->tree->formulas[part->number].node;
}

static const char *whole_of(const struct part *part)
{
	return part->tree->model->width ? "of slots" : "of cycles";
}

/* ---- text ---- */

static void text_row(const struct stat_report *r, const struct stat_row *row, double at_s)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const struct event_desc *desc = &r->list->items[row->event];
	bool counted = row->state == STAT_COUNTED;
	const char *value = counted ? value_text(&arena, desc, stat_row_mean(row))
				    : state_name(row->state);
	const char *notes = counted ? remark(r, row, &arena) : "";

	if (at_s >= 0)
		fprintf(r->out, "%10.3f s  ", at_s);
	if (r->table->by != STAT_BY_ALL)
		fprintf(r->out, "%s %-*s ", place_titles[r->table->by], r->place_width,
			text_escape(&arena, row->place));
	if (counted && stat_row_share(row) < FULL_SHARE)
		notes = arena_printf(&arena, "%s%scounted %.0f %% of the time, scaled up", notes,
				     *notes ? ", " : "", 100 * stat_row_share(row));
	if (counted && row->runs > 1)
		notes = arena_printf(&arena, "+- %.2f %%%s%s", stat_row_spread(row),
				     *notes ? ", " : "", notes);
	fprintf(r->out, "%*s  %-*s", VALUE_WIDTH, value, *notes ? NAME_WIDTH : 0,
		text_escape(&arena, desc->name));
	fprintf(r->out, "%s%s\n", *notes ? "  " : "", notes);
}

static void text_part(const struct stat_report *r, const struct part *part)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const struct topdown_node *node = node_of(part);
	bool out = stat_topdown_stands_out(part->tree, part->number);
	const char *notes = out ? arena_printf(&arena, "more than %.0f %%", 100 * node->threshold) : "";

	if (part->at_s >= 0)
		fprintf(r->out, "%10.3f s  ", part->at_s);
	if (r->table->by != STAT_BY_ALL)
		fprintf(r->out, "%s %-*s ", place_titles[r->table->by], r->place_width,
			text_escape(&arena, part->place));
	fprintf(r->out, "%*.1f %%  %s%-*s%s%s\n", VALUE_WIDTH - 2, 100 * part->tree->values[part->number],
		node->parent ? "  " : "", out ? NAME_WIDTH - (node->parent ? 2 : 0) : 0, node->name,
		out ? "  " : "", notes);
}

/* ---- for programs ---- */

/* A row of an event, or a part of the top-down tree. */
struct line {
	const char *place, *name;
	double at_s;		    /* negative: none */
	const char *value;	    /* NULL: it was not counted */
	const char *unit;
	enum stat_state state;
	unsigned runs;
	const struct stat_row *row; /* NULL: a part of the tree, which has neither spread nor times */
};

static const char *number(struct arena *arena, const struct event_desc *desc, double value)
{
	value *= scale_of(desc);
	return arena_printf(arena, scale_of(desc) != 1 ? "%.6f" : "%.0f", value);
}

static struct line line_of_row(const struct stat_report *r, const struct stat_row *row, double at_s, struct arena *arena)
{
	const struct event_desc *desc = &r->list->items[row->event];
	bool counted = row->state == STAT_COUNTED;

	return (struct line){ .place = row->place,
			      .name = desc->name,
			      .at_s = at_s,
			      .value = counted ? number(arena, desc, stat_row_mean(row)) : NULL,
			      .unit = unit_of(desc),
			      .state = row->state,
			      .runs = row->runs,
			      .row = row };
}

static struct line line_of_part(const struct stat_report *r, const struct part *part, struct arena *arena)
{
	return (struct line){ .place = part->place,
			      .name = arena_printf(arena, "topdown.%s", node_of(part)->key),
			      .at_s = part->at_s,
			      .value = arena_printf(arena, "%.6f", part->tree->values[part->number]),
			      .unit = whole_of(part),
			      .state = STAT_COUNTED,
			      .runs = r->runs };
}

static void csv_line(const struct stat_report *r, const struct line *line, struct arena *arena)
{
	if (line->at_s >= 0)
		fprintf(r->out, "%.6f", line->at_s);
	fputc(',', r->out);
	csv_put(r->out, text_escape(arena, line->place));
	fputc(',', r->out);
	csv_put(r->out, text_escape(arena, line->name));
	fprintf(r->out, ",%s,", line->value ? line->value : "");
	csv_put(r->out, line->unit);
	fputc(',', r->out);
	if (line->row && line->value)
		fprintf(r->out, "%.4f", stat_row_spread(line->row));
	fprintf(r->out, ",%u,", line->runs);
	if (line->row)
		fprintf(r->out, "%" PRIu64 ",%" PRIu64, line->row->value.enabled_ns, line->row->value.running_ns);
	else
		fputc(',', r->out);
	fprintf(r->out, ",%s\r\n", state_name(line->state));
}

static void json_line(struct stat_report *r, const struct line *line, struct arena *arena)
{
	static const char *const keys[] = { "", "cpu", "core", "socket", "thread" };
	struct json *json = &r->json;

	json_open(json, NULL, '{');
	if (line->at_s >= 0)
		json_number(json, "time_s", arena_printf(arena, "%.6f", line->at_s));
	if (r->table->by != STAT_BY_ALL)
		json_string(json, keys[r->table->by], line->place);
	json_string(json, "event", line->name);
	if (line->value) {
		json_number(json, "value", line->value);
		json_string(json, "unit", line->unit);
	}
	if (line->row && line->value)
		json_number(json, "spread_percent", arena_printf(arena, "%.4f", stat_row_spread(line->row)));
	json_uint(json, "runs", line->runs);
	if (line->row) {
		json_uint(json, "enabled_ns", line->row->value.enabled_ns);
		json_uint(json, "running_ns", line->row->value.running_ns);
	}
	json_string(json, "state", state_name(line->state));
	json_close(json, '}');
}

static void put_line(struct stat_report *r, const struct line *line, struct arena *arena)
{
	if (r->format == STAT_CSV)
		csv_line(r, line, arena);
	else
		json_line(r, line, arena);
}

/* ---- as perf stat -x ---- */

static void put_fields_place(const struct stat_report *r, const char *place, double at_s)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	static const char *const titles[] = { "", "CPU", "S0-C", "S", "" };

	if (at_s >= 0)
		fprintf(r->out, "%.9f%s", at_s, r->separator);
	if (r->table->by != STAT_BY_ALL)
		fprintf(r->out, "%s%s%s", titles[r->table->by], text_escape(&arena, place), r->separator);
}

/*
 * As perf stat -x writes it: [TIME,][PLACE,]VALUE,UNIT,EVENT[,SPREAD],RUNNING,PERCENT,METRIC,UNIT. A thread's place is its
 * name and number, a CPU's "CPU0".
 */
static void fields_row(const struct stat_report *r, const struct stat_row *row, double at_s)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const struct event_desc *desc = &r->list->items[row->event];
	bool counted = row->state == STAT_COUNTED;
	double value = stat_row_mean(row) * scale_of(desc);
	struct stat_metric metric;
	const char *sep = r->separator;

	put_fields_place(r, row->place, at_s);
	if (!counted)
		fprintf(r->out, "<%s>", state_name(row->state));
	else if (is_time(desc))
		fprintf(r->out, "%.2f", value / 1e6);
	else
		fprintf(r->out, "%.*f", scale_of(desc) != 1 ? 2 : 0, value);
	fprintf(r->out, "%s%s%s%s", sep, is_time(desc) ? "msec" : desc->scale_unit ? desc->scale_unit : "",
		sep, text_escape(&arena, desc->name));
	if (row->runs > 1)
		fprintf(r->out, "%s%.2f%%", sep, stat_row_spread(row));
	fprintf(r->out, "%s%" PRIu64 "%s%.2f%s", sep,
		row->runs ? row->value.running_ns / row->runs : 0, sep, 100 * stat_row_share(row), sep);
	if (counted && stat_metric_of(r->table, row, r->elapsed_s, &metric))
		fprintf(r->out, "%.3f%s%s\n", metric.value, sep, metric.unit);
	else
		fprintf(r->out, "%s\n", sep);
}

static void fields_part(const struct stat_report *r, const struct part *part)
{
	const char *sep = r->separator;

	put_fields_place(r, part->place, part->at_s);
	fprintf(r->out, "%.1f%s%%%stopdown.%s%s%s%s%s\n", 100 * part->tree->values[part->number], sep, sep,
		node_of(part)->key, sep, sep, sep, sep);
}

/* ---- the whole report ---- */

static void text_head(const struct stat_report *r)
{
	const struct topdown_model *model = stat_topdown_model(r->list);

	fprintf(r->out, "counts of %s%s\n", r->subject, r->runs > 1 ? ", means of all runs" : "");
	if (model)
		fprintf(r->out, "top-down: %s, shares of %s\n", model->title,
			model->width ? "issue slots" : "cycles");
	fputc('\n', r->out);
}

void stat_report_begin(struct stat_report *r)
{
	if (r->format == STAT_CSV)
		fputs("time_s,place,event,value,unit,spread_percent,runs,enabled_ns,running_ns,"
		      "state\r\n",
		      r->out);
	if (r->format == STAT_TEXT)
		text_head(r);
	if (r->format != STAT_JSON)
		return;
	json_init(&r->json, r->out);
	r->json.lines = true;
	json_open(&r->json, NULL, '{');
	json_string(&r->json, "subject", r->subject);
	json_open(&r->json, "counts", '[');
}

/* Missing default events are listed once, at the end; events of a top-down tree are not rows of the text. */
static bool is_shown(const struct stat_report *r, const struct stat_row *row, const struct stat_topdown *tree)
{
	if (row->state == STAT_NOT_SUPPORTED && r->is_default)
		return false;
	return !tree->len || r->format != STAT_TEXT || !stat_topdown_is_part(&r->list->items[row->event]);
}

static void put_row(struct stat_report *r, const struct stat_row *row, double at_s)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct line line = line_of_row(r, row, at_s, &arena);

	if (r->format == STAT_FIELDS)
		fields_row(r, row, at_s);
	else if (r->format == STAT_TEXT)
		text_row(r, row, at_s);
	else
		put_line(r, &line, &arena);
}

static void put_part(struct stat_report *r, const struct part *part)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct line line = line_of_part(r, part, &arena);

	if (isnan(part->tree->values[part->number]))
		return;
	if (r->format == STAT_FIELDS)
		fields_part(r, part);
	else if (r->format == STAT_TEXT)
		text_part(r, part);
	else
		put_line(r, &line, &arena);
}

/* Each part of level 1 with those of level 2 below it. */
static void put_tree(struct stat_report *r, const struct stat_topdown *tree, const char *place, double at_s)
{
	struct part part = { .tree = tree, .place = place, .at_s = at_s };

	for (unsigned i = 0; i < tree->len; i++) {
		if (tree->formulas[i].node->parent)
			continue;
		part.number = i;
		put_part(r, &part);
		for (part.number = 0; part.number < tree->len; part.number++)
			if (topdown_formula_parent(tree->formulas, tree->len, part.number) == i)
				put_part(r, &part);
	}
}

/* Thousands of threads may have counted nothing. */
static bool is_idle(const struct stat_report *r, size_t first)
{
	bool idle = r->hide_idle;

	for (size_t i = first; i < first + r->list->len && idle; i++)
		idle = r->table->rows.items[i].state == STAT_NOT_COUNTED ||
		       !r->table->rows.items[i].value.value;
	return idle;
}

static void put_place(struct stat_report *r, size_t first, double at_s)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct stat_topdown tree;

	stat_topdown_of(r->table, first, &arena, &tree);
	for (size_t i = first; i < first + r->list->len; i++)
		if (is_shown(r, &r->table->rows.items[i], &tree))
			put_row(r, &r->table->rows.items[i], at_s);
	put_tree(r, &tree, r->table->rows.items[first].place, at_s);
}

static void measure_places(struct stat_report *r)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	size_t most = PLACE_MIN;

	for (size_t i = 0; i < r->table->rows.len; i += r->list->len)
		if (!is_idle(r, i))
			most = MAX(most, strlen(text_escape(&arena, r->table->rows.items[i].place)));
	r->place_width = (int)MIN(most, PLACE_MAX);
}

void stat_report_rows(struct stat_report *r, double at_s)
{
	size_t idle = 0;

	measure_places(r);
	for (size_t i = 0; i < r->table->rows.len; i += r->list->len) {
		if (is_idle(r, i) && r->format == STAT_TEXT)
			idle++;
		else
			put_place(r, i, at_s);
	}
	if (idle)
		fprintf(r->out, "%zu thread%s counted nothing\n", idle, idle == 1 ? "" : "s");
	fflush(r->out);
}

/* ": why" of event number @i; NULL if it was not refused. */
static const char *refusal_of(const struct stat_report *r, size_t i)
{
	return r->refusals[i] ? strchr(err_message(r->refusals[i]), ':') : NULL;
}

/* The names of events that were refused for the reason of number @first, if that is the first of them. */
static bool text_refused(const struct stat_report *r, size_t first)
{
	const char *why = refusal_of(r, first);

	for (size_t i = 0; why && i < first; i++) {
		const char *other = refusal_of(r, i);

		if (other && strcmp(other, why) == 0)
			return false;
	}
	for (size_t i = first; why && i < r->list->len; i++) {
		const char *other = refusal_of(r, i);

		if (other && strcmp(other, why) == 0)
			fprintf(r->out, "%s%s", i > first ? ", " : "", r->list->items[i].name);
	}
	return why;
}

static void text_refusals(const struct stat_report *r)
{
	for (size_t i = 0; r->refusals && i < r->list->len; i++) {
		if (!text_refused(r, i))
			continue;
		fprintf(r->out, "%s\n", refusal_of(r, i));
		if (err_hint(r->refusals[i]))
			fprintf(r->out, "  %s\n", err_hint(r->refusals[i]));
	}
}

/* Events of a top-down tree have no rows, so say once how much they were multiplexed. */
static void text_multiplexed(const struct stat_report *r)
{
	double least = 1;

	for (size_t i = 0; i < r->table->rows.len; i++) {
		const struct stat_row *row = &r->table->rows.items[i];

		if (row->state == STAT_COUNTED && stat_topdown_is_part(&r->list->items[row->event]))
			least = MIN(least, stat_row_share(row));
	}
	if (least < FULL_SHARE)
		fprintf(r->out, "top-down: counted %.0f %% of the time or more, scaled up\n", 100 * least);
}

static void text_never_ran(const struct stat_report *r)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };

	for (size_t i = 0; i < r->table->rows.len; i++) {
		const struct stat_row *row = &r->table->rows.items[i];

		if (row->state != STAT_NOT_COUNTED || !row->value.enabled_ns)
			continue;
		fprintf(r->out, "%s: no counter was free for it; %s\n",
			text_escape(&arena, r->list->items[row->event].name),
			event_group_cause(&arena));
		return;
	}
}

static void text_impossible(const struct stat_report *r)
{
	for (size_t i = 0; i < r->table->rows.len; i++) {
		if (r->table->rows.items[i].state != STAT_IMPOSSIBLE)
			continue;
		fprintf(r->out, "impossible: these counts exceed what any processor can do; the PMU of this (virtual) machine is at fault, count fewer events at once\n");
		return;
	}
}

static void text_end(const struct stat_report *r, const struct stat_times *times)
{
	fprintf(r->out, "\n%*.6f s  elapsed", VALUE_WIDTH - 2, times->elapsed_s);
	if (r->runs > 1)
		fprintf(r->out, "  +- %.2f %%", times->elapsed_spread);
	fputc('\n', r->out);
	if (times->has_command)
		fprintf(r->out, "%*.6f s  user\n%*.6f s  system\n", VALUE_WIDTH - 2, times->user_s,
			VALUE_WIDTH - 2, times->system_s);
	text_refusals(r);
	text_multiplexed(r);
	text_never_ran(r);
	text_impossible(r);
}

void stat_report_end(struct stat_report *r, const struct stat_times *times)
{
	if (r->format == STAT_TEXT)
		text_end(r, times);
	if (r->format != STAT_JSON)
		return;

	CLEANUP(arena_deinit) struct arena arena = { 0 };

	json_close(&r->json, ']');
	json_number(&r->json, "elapsed_s", arena_printf(&arena, "%.6f", times->elapsed_s));
	if (times->has_command) {
		json_number(&r->json, "user_s", arena_printf(&arena, "%.6f", times->user_s));
		json_number(&r->json, "system_s", arena_printf(&arena, "%.6f", times->system_s));
	}
	json_close(&r->json, '}');
}
