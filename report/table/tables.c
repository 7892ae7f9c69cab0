/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.c - what stands around the rows: headings as text, members of one object as JSON.
 */
#include "report/table/tables.h"

#include "formats/base/text.h"
#include "formats/base/json_writer.h"
#include "report/view/lookup.h"
#include "report/print/number.h"
#include "report/view/idle_waits.h"
#include "report/table/tree_table.h"
#include "report/table/view_table.h"
#include "report/load/derive/derive_kind.h"

#include <stdlib.h>
#include <string.h>

unsigned tables_names(const struct tables_request *r)
{
	unsigned names = NAMER_NONE;

	if (r->callers_of || r->callees_of || r->tree)
		return NAMER_ALL;
	for (unsigned i = 0; i < r->levels.len; i++) {
		switch (r->levels.items[i].by) {
		case VIEW_TOTAL:
		case VIEW_DEPTH:
		case VIEW_MINE:
		case VIEW_RUNTIME:
			return NAMER_ALL;
		case VIEW_CALLER:
			names = MAX(names, NAMER_CALLERS);
			break;
		case VIEW_LEAF:
		case VIEW_LINE:
		case VIEW_ADDRESS:
		case VIEW_WAIT:
		case VIEW_LOCK:
		case VIEW_FILE:
		case VIEW_SYSCALL:
		case VIEW_ENTRY:
			names = MAX(names, NAMER_LEAVES);
			break;
		case VIEW_FIELD:
			if (strcmp(view_level_name(&r->levels, i), DERIVE_WAKER_FUNCTION) == 0)
				names = MAX(names, NAMER_LEAVES);
			break;
		default:
			break;
		}
	}
	return names;
}

struct output {
	const struct tables_request *request;
	const struct profile *p;
	const struct profile_facts *facts;
	struct arena arena;
	struct view_spec spec; /* all but the event */
	const char *cut_name;  /* the function that --callers-of or --callees-of means */
	struct terminal term;
	struct json json;
	bool begun;
};

/* What is printed around the rows. */
struct result {
	uint32_t event;
	struct profile_sum whole, all; /* that shares are of; of the event */
	int64_t lost_weight;	       /* of @whole, see struct view */
	bool passed_through;           /* some row is marked so */
};

static struct err *find_cut(struct output *o)
{
	const char *wanted = o->request->callers_of ? o->request->callers_of : o->request->callees_of;
	struct lookup found;
	struct err *err;

	if (!wanted)
		return NULL;
	err = lookup_function(o->p, wanted, &o->arena, &found);
	if (err)
		return err;
	o->spec.cut = o->request->callers_of ? VIEW_CALLERS : VIEW_CALLEES;
	o->spec.cut_at = found.matches;
	o->cut_name = found.name;
	return NULL;
}

static const char *by_text(struct output *o)
{
	const char *text = "";

	if (o->request->tree)
		return o->request->from_leaf ? "caller tree" : "call tree";

	for (unsigned i = 0; i < o->spec.levels.len; i++) {
		const struct view_level *level = &o->spec.levels.items[i];

		text = arena_printf(&o->arena, "%s%s%s", text, i ? "," : "",
				    view_level_name(&o->spec.levels, i));
		if (level->by == VIEW_DEPTH)
			text = arena_printf(&o->arena, "%s=%u", text, level->depth);
	}
	return text;
}

/* As wide as the table may be. */
static void put_line(struct output *o, const char *text)
{
	text_put_wrapped(stdout, text_escape(&o->arena, text), 0, o->term.columns ? o->term.columns : SIZE_MAX);
}

/* Which part of waits is not known but estimated. */
static void print_estimated(struct output *o, const char *event)
{
	const struct profile_lives *lives = &o->facts->lives;
	uint64_t waits_ns = lives->by_state[PROFILE_STATE_BLOCKED] + lives->by_state[PROFILE_STATE_RUNNABLE];

	const char *estimated = number_share(&o->arena, (double)lives->estimated_ns / (double)MAX(waits_ns, 1));

	if (strcmp(event, DERIVE_OFF_CPU) != 0 && strcmp(event, DERIVE_WALL) != 0)
		return;
	if (lives->unwatched_ns)
		put_line(o, arena_printf(&o->arena,
				      "threads switched so often that switches were recorded for %s of the time: sums are from the "
				      "scheduler's account; where %s of the waiting was is estimated",
				      number_share(&o->arena, 1 - (double)lives->unwatched_ns / (double)lives->window_ns), estimated));
	else if (lives->estimated_ns && !lives->thinned)
		put_line(o, arena_printf(&o->arena, "samples were lost: where %s of the waiting was is estimated", estimated));
	else if (lives->estimated_ns)
		put_line(o, arena_printf(&o->arena,
				      "threads switched so often that one switch in up to %s has its stack: where %s of the "
				      "waiting was is estimated",
				      number_count(&o->arena, lives->thinned), estimated));
}

#define LOST_SHARE 0.0005 /* less changes no share that is printed: microseconds in which recording was switched */

/* Which part of the time of threads may be anything. */
static void print_lost(struct output *o, const struct result *r)
{
	bool left_out = o->facts->lives.by_state[PROFILE_STATE_LEFT_OUT] != 0;

	if ((double)r->lost_weight >= LOST_SHARE * (double)r->whole.weight && r->lost_weight > 0)
		put_line(o, arena_printf(&o->arena, "records of switches were lost%s: what threads did for %s of this time is not known, and "
				      "intervals reach as far up", left_out ? " or left out" : "",
				      number_share(&o->arena, (double)r->lost_weight / (double)r->whole.weight)));
}

static void print_heading(struct output *o, const struct result *r)
{
	const struct profile *p = o->p;
	const struct profile_value_type *event = &p->types.items[r->event];
	const char *name = profile_text(p, event->name);
	struct arena *arena = &o->arena;

	put_line(o, arena_printf(arena, "%s: %s, by %s", name,
			      number_sum(arena, &r->all, "", name, profile_text(p, event->unit)),
			      by_text(o)));
	/* Waits and spans are made, of other records than samples. */
	if (*o->facts->filter && strcmp(number_counted(name), "sample") != 0)
		put_line(o, arena_printf(arena, "only %s", o->facts->filter));
	else if (*o->facts->filter)
		put_line(o, arena_printf(arena, "of %s, only %s",
				      number_of(arena, o->facts->samples, "sample"),
				      o->facts->filter));
	print_estimated(o, name);
	print_lost(o, r);
	if (o->cut_name) {
		struct stats_share share = stats_share(&r->whole, &r->all);

		put_line(o, arena_printf(arena, "%s of '%s', which is on %s of them (%s)",
				      o->spec.cut == VIEW_CALLERS ? "callers" : "callees",
				      o->cut_name, number_count(arena, r->whole.count),
				      number_share(arena, share.share)));
	}
}

static bool has_passed_through(const struct view *view)
{
	for (size_t i = 0; i < view->groups.len; i++) {
		if (view_is_passed_through(view, &view->groups.items[i]))
			return true;
	}
	return false;
}

static void print_notes(struct output *o)
{
	const struct metrics *metrics = o->request->metrics;
	const char *note;

	for (unsigned i = 0; metrics && (note = metrics_note(metrics, i, &o->arena)) != NULL; i++)
		put_line(o, note);
}

/* How the columns came about. */
static void print_json_metrics(struct output *o)
{
	const struct metrics *metrics = o->request->metrics;

	if (!metrics || !metrics->items.len)
		return;
	json_open(&o->json, "metrics", '[');
	for (size_t i = 0; i < metrics->items.len; i++) {
		const struct metric *metric = &metrics->items.items[i];
		bool apart = metric->measures.method == MEASURES_APART;

		json_open(&o->json, NULL, '{');
		json_string(&o->json, "name", metric->name);
		json_string(&o->json, "formula", metric->def->formula);
		json_string(&o->json, "counted", apart ? "apart" : "together");
		json_close(&o->json, '}');
	}
	json_close(&o->json, ']');
}

static void print_text(struct output *o, const struct result *r, const struct table *table)
{
	if (o->begun)
		putchar('\n');
	print_heading(o, r);
	table_print_text(table, &o->term, stdout);
	if (r->passed_through)
		put_line(o, "~ on nearly every stack (90 %) of its processes, with no time of its own");
	print_notes(o);
}

static void put_json_count(struct json *json, const char *key, const struct profile_sum *sum)
{
	if (profile_is_counted(sum))
		json_uint(json, key, sum->count);
	else
		json_number(json, key, "null");
}

static void print_json(struct output *o, const struct result *r, const struct table *table)
{
	const struct profile *p = o->p;
	const struct profile_value_type *event = &p->types.items[r->event];
	struct json *json = &o->json;

	json_open(json, NULL, '{');
	json_string(json, "event", profile_text(p, event->name));
	json_string(json, "unit", profile_text(p, event->unit));
	json_string(json, "by", by_text(o));
	json_string(json, "filter", o->facts->filter);
	if (o->cut_name)
		json_string(json, o->spec.cut == VIEW_CALLERS ? "callers_of" : "callees_of",
			    o->cut_name);
	put_json_count(json, "samples", &r->whole);
	json_int(json, "weight", r->whole.weight);
	if (r->lost_weight)
		json_int(json, "lost_weight", r->lost_weight);
	put_json_count(json, "all_samples", &r->all);
	json_int(json, "all_weight", r->all.weight);
	print_json_metrics(o);
	table_print_json(table, "rows", json);
	json_close(json, '}');
}

static void print_result(struct output *o, const struct result *r, const struct table *table)
{
	if (o->request->format == TABLE_TEXT)
		print_text(o, r, table);
	else if (o->request->format == TABLE_CSV)
		table_print_csv(table, stdout, /* with_header= */ !o->begun);
	else
		print_json(o, r, table);
	o->begun = true;
}

static const char *event_name(const struct output *o, uint32_t event)
{
	return profile_text(o->p, o->p->types.items[event].name);
}

static void print_view(struct output *o, const struct view_spec *spec, struct table *table)
{
	struct view_table_options options = {
		.data = o->request->format != TABLE_TEXT,
		.limit = o->request->limit,
		.min_share = o->request->min_share,
		.event = event_name(o, spec->event),
		.metrics = o->request->metrics,
		.recorder_pid = o->facts->recorder_pid,
		.bars = o->term.utf8 && o->term.columns,
	};
	struct view view;

	view_build(&view, o->p, spec);
	view_sort(&view, o->request->sort);
	view_table_fill(table, &view, &options);
	print_result(o,
		     &(struct result){ spec->event, view.whole, view.all, view.lost_weight, has_passed_through(&view) },
		     table);
	view_deinit(&view);
}

static void print_tree(struct output *o, const struct view_spec *spec, struct table *table)
{
	struct tree_table_options options = {
		.data = o->request->format != TABLE_TEXT,
		.limit = o->request->limit,
		.min_share = o->request->min_share,
		.event = event_name(o, spec->event),
		.unit = profile_text(o->p, o->p->types.items[spec->event].unit),
		.utf8 = o->term.utf8,
	};
	struct call_tree tree;

	call_tree_build(&tree, o->p, spec,
			o->request->from_leaf ? CALL_TREE_CALLERS : CALL_TREE_CALLEES);
	tree_table_fill(table, &tree, &options);
	print_result(o, &(struct result){ spec->event, tree.nodes.items[0].sum, tree.all, 0, false },
		     table);
	call_tree_deinit(&tree);
}

static void print_event(struct output *o, uint32_t event)
{
	struct view_spec spec = o->spec;
	struct table table;

	spec.event = event;
	table_init(&table, &o->arena);
	if (o->request->tree)
		print_tree(o, &spec, &table);
	else
		print_view(o, &spec, &table);
	table_deinit(&table);
}

/* The events that --event names, or the first one. */
static void print_events(struct output *o)
{
	const struct filter *filter = o->request->filter;
	bool json = o->request->format == TABLE_JSON;

	if (json) {
		json_init(&o->json, stdout);
		o->json.lines = true;
		json_open(&o->json, NULL, '{');
		json_open(&o->json, "tables", '[');
	}
	for (uint32_t i = 0; i < o->p->types.len; i++) {
		bool wanted = filter->events.len ? filter_passes_kind(filter, i)
						 : i == o->facts->first_type;

		if (wanted)
			print_event(o, i);
	}
	if (json) {
		json_close(&o->json, ']');
		json_close(&o->json, '}');
	}
}

struct err *tables_print(const struct tables_request *request, const struct profile *p,
			 const struct profile_facts *facts, const struct terminal_args *terminal)
{
	struct output o = { .request = request, .p = p, .facts = facts };
	struct err *err;

	o.spec.levels = request->levels;
	o.spec.native = request->native;
	if (request->metrics) {
		o.spec.measures = request->metrics->measures.items;
		o.spec.nmeasures = (unsigned)request->metrics->measures.len;
	}
	if (request->data && request->data->with_latency) {
		o.spec.latencies = request->data->latencies.items;
		o.spec.nlatencies = request->data->latencies.len;
	}
	bool *idle = request->idle || !facts->lives.switches ? NULL
							     : idle_waits_find(p, facts->lives.window_ns);

	o.spec.idle = idle;
	err = find_cut(&o);
	if (!err) {
		o.term = terminal_open(terminal);
		print_events(&o);
		err = terminal_close(&o.term, NULL);
	}
	free(idle);
	arena_deinit(&o.arena);
	return err;
}
