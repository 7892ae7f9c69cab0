/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_report.c - preport without a command: the summary, or a table when one is asked for.
 */
#include "formats/base/text.h"
#include "report/commands.h"
#include "report/json.h"
#include "report/lookup.h"
#include "report/number.h"
#include "report/session.h"
#include "report/summary.h"
#include "report/terminal.h"
#include "report/trust.h"
#include "report/view_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT_FLAT       50 /* rows of a text table that nobody limited */
#define LIMIT_NESTED     10

#define LOST_TOLERABLE   0.01 /* shares that need no warning below a table */
#define BROKEN_TOLERABLE 0.05

struct report_args {
	struct session_args session;
	struct filter filter;
	struct view_levels levels;
	const char *callers_of, *callees_of;
	uint64_t limit; /* VIEW_TABLE_ALL: not given */
	double min_share;
	const char *sort, *format;
};

static const char *const sorts[] = { "weight", "samples", "self", "name", NULL };
static const char *const formats[] = { "text", "csv", "json", NULL };

/* "0.5" or "0.5%" */
static struct err *parse_percent(void *field, const char *value)
{
	char *end;
	double percent;

	percent = strtod(value, &end);
	if (end == value || !strchr("0123456789.", *value) || (*end && strcmp(end, "%") != 0) ||
	    !isfinite(percent) || percent > 100)
		return err_new(ERR_USAGE, "'%s' is no share from 0 to 100 per cent", value);
	*(double *)field = percent / 100;
	return NULL;
}

static struct err *parse_limit(void *field, const char *value)
{
	uint64_t limit;

	if (!text_parse_u64(value, &limit))
		return err_new(ERR_USAGE, "'%s' is no whole number", value);
	*(uint64_t *)field = limit ? limit : VIEW_TABLE_ALL - 1;
	return NULL;
}

static const struct opt report_opts[] = {
	OPT_PARSE(struct report_args, levels, "by", 'b', "LEVEL,..",
		  "a table: leaf, caller, total, module, line, address, thread, process, program, "
		  "comm, cpu, depth=N",
		  view_parse_levels),
	OPT_STR(struct report_args, callers_of, "callers-of", 0, "FUNCTION",
		"what calls FUNCTION: a name, MODULE:NAME or a glob"),
	OPT_STR(struct report_args, callees_of, "callees-of", 0, "FUNCTION",
		"what FUNCTION calls, and its own share"),
	OPT_PARSE(struct report_args, limit, "limit", 'n', "N",
		  "N rows of each group, 0 for all (default: 50 as text)", parse_limit),
	OPT_PARSE(struct report_args, min_share, "min", 0, "PERCENT",
		  "leave out rows below this share", parse_percent),
	OPT_CHOICE(struct report_args, sort, "sort", 's', "KEY",
		   "by weight (default), samples, self (with total) or name", sorts),
	OPT_CHOICE(struct report_args, format, "format", 0, "FORMAT", "text (default), csv or json",
		   formats),
	OPT_GROUP(struct report_args, filter, filter_opts),
	OPT_GROUP(struct report_args, session, session_opts),
	OPT_END,
};

static void report_defaults(void *args)
{
	struct report_args *report = args;

	session_args_init(&report->session);
	report->limit = VIEW_TABLE_ALL;
}

static void report_release(void *args)
{
	struct report_args *report = args;

	filter_deinit(&report->filter);
	session_args_deinit(&report->session);
}

/* ---- what was asked ---- */

static bool wants_table(const struct report_args *args)
{
	return args->levels.len || args->callers_of || args->callees_of || args->format ||
	       args->sort || args->min_share > 0 || args->limit != VIEW_TABLE_ALL;
}

static enum table_format format_of(const struct report_args *args)
{
	if (!args->format || strcmp(args->format, "text") == 0)
		return TABLE_TEXT;
	return strcmp(args->format, "csv") == 0 ? TABLE_CSV : TABLE_JSON;
}

static enum view_sort_by sort_of(const struct report_args *args)
{
	if (!args->sort || strcmp(args->sort, "weight") == 0)
		return VIEW_SORT_WEIGHT;
	if (strcmp(args->sort, "samples") == 0)
		return VIEW_SORT_SAMPLES;
	return strcmp(args->sort, "self") == 0 ? VIEW_SORT_SELF : VIEW_SORT_NAME;
}

static uint64_t limit_of(const struct report_args *args, const struct view_levels *levels)
{
	if (args->limit != VIEW_TABLE_ALL || format_of(args) != TABLE_TEXT)
		return args->limit;
	return levels->len > 1 ? LIMIT_NESTED : LIMIT_FLAT;
}

static struct view_levels levels_of(const struct report_args *args)
{
	struct view_levels levels = args->levels;

	if (levels.len == 0) {
		levels.len = 1;
		levels.items[0] = args->callees_of ? (struct view_level){ VIEW_DEPTH, 1 }
						   : (struct view_level){ VIEW_LEAF, 0 };
	}
	return levels;
}

/* The fewer names the levels need, the sooner the table is there. */
static enum session_names names_of(const struct report_args *args, const struct view_levels *levels)
{
	enum session_names names = SESSION_NAME_NONE;

	if (args->callers_of || args->callees_of)
		return SESSION_NAME_ALL;
	for (unsigned i = 0; i < levels->len; i++) {
		switch (levels->items[i].by) {
		case VIEW_TOTAL:
		case VIEW_DEPTH:
			return SESSION_NAME_ALL;
		case VIEW_CALLER:
			names = SESSION_NAME_CALLERS;
			break;
		case VIEW_LEAF:
		case VIEW_LINE:
		case VIEW_ADDRESS:
			names = names == SESSION_NAME_NONE ? SESSION_NAME_LEAVES : names;
			break;
		default:
			break;
		}
	}
	return names;
}

/* ---- tables ---- */

struct output {
	struct report_args *args;
	struct session *s;
	struct arena arena;
	struct view_spec spec; /* all but the event */
	const char *cut_name;  /* the function that --callers-of or --callees-of means */
	struct terminal term;
	struct json json;
	bool begun;
};

static struct err *find_cut(struct output *o)
{
	const char *wanted = o->args->callers_of ? o->args->callers_of : o->args->callees_of;
	struct lookup found;
	struct err *err;

	if (!wanted)
		return NULL;
	err = lookup_function(o->s->profile, wanted, &o->arena, &found);
	if (err)
		return err;
	o->spec.cut = o->args->callers_of ? VIEW_CALLERS : VIEW_CALLEES;
	o->spec.cut_at = found.matches;
	o->cut_name = found.name;
	return NULL;
}

static const char *by_text(struct output *o)
{
	const char *text = "";

	for (unsigned i = 0; i < o->spec.levels.len; i++) {
		const struct view_level *level = &o->spec.levels.items[i];

		text = arena_printf(&o->arena, "%s%s%s", text, i ? "," : "",
				    view_by_name(level->by));
		if (level->by == VIEW_DEPTH)
			text = arena_printf(&o->arena, "%s=%u", text, level->depth);
	}
	return text;
}

static void put_line(const char *text)
{
	text_put_escaped(stdout, text);
	putchar('\n');
}

static void print_heading(struct output *o, const struct view *view)
{
	const struct profile *p = o->s->profile;
	const struct profile_event *event = &p->events.items[view->spec.event];
	const char *unit = profile_text(p, event->unit);
	struct arena *arena = &o->arena;

	put_line(arena_printf(arena, "%s: %s, %s %s, by %s", profile_text(p, event->name),
			      number_of(arena, view->all.count, "sample"),
			      number_weight(arena, view->all.weight, unit),
			      strcmp(unit, "ns") == 0 ? "of CPU time" : unit, by_text(o)));
	if (!filter_is_empty(o->s->filter))
		put_line(arena_printf(arena, "of %s, only %s",
				      number_of(arena, o->s->stream.samples, "sample"),
				      filter_describe(o->s->filter, arena)));
	if (o->cut_name) {
		struct stats_share share = stats_share(&view->whole, &view->all);

		put_line(arena_printf(arena, "%s of '%s', which is on %s of them (%s)",
				      view->spec.cut == VIEW_CALLERS ? "callers" : "callees",
				      o->cut_name, number_count(arena, view->whole.count),
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

static void print_text(struct output *o, const struct view *view, const struct table *table)
{
	if (o->begun)
		putchar('\n');
	print_heading(o, view);
	table_print_text(table, &o->term, stdout);
	if (has_passed_through(view))
		put_line(
			"~ on nearly every stack (90 %) of its processes, with no time of its own");
}

static void print_json(struct output *o, const struct view *view, const struct table *table)
{
	const struct profile *p = o->s->profile;
	const struct profile_event *event = &p->events.items[view->spec.event];
	struct json *json = &o->json;

	json_open(json, NULL, '{');
	json_string(json, "event", profile_text(p, event->name));
	json_string(json, "unit", profile_text(p, event->unit));
	json_string(json, "by", by_text(o));
	json_string(json, "filter", filter_describe(o->s->filter, &o->arena));
	if (o->cut_name)
		json_string(json, view->spec.cut == VIEW_CALLERS ? "callers_of" : "callees_of",
			    o->cut_name);
	json_uint(json, "samples", view->whole.count);
	json_uint(json, "weight", view->whole.weight);
	json_uint(json, "all_samples", view->all.count);
	json_uint(json, "all_weight", view->all.weight);
	table_print_json(table, "rows", json);
	json_close(json, '}');
}

static void print_event(struct output *o, uint32_t event)
{
	enum table_format format = format_of(o->args);
	struct view_table_options options = {
		.data = format != TABLE_TEXT,
		.limit = limit_of(o->args, &o->spec.levels),
		.min_share = o->args->min_share,
		.event = profile_text(o->s->profile, o->s->profile->events.items[event].name),
	};
	struct view_spec spec = o->spec;
	struct table table;
	struct view view;

	spec.event = event;
	view_build(&view, o->s->profile, &spec);
	view_sort(&view, sort_of(o->args));
	table_init(&table, &o->arena);
	view_table_fill(&table, &view, &options);
	if (format == TABLE_TEXT)
		print_text(o, &view, &table);
	else if (format == TABLE_CSV)
		table_print_csv(&table, stdout, /* with_header= */ !o->begun);
	else
		print_json(o, &view, &table);
	o->begun = true;
	table_deinit(&table);
	view_deinit(&view);
}

/* The events that --event names, or the first one. */
static void print_events(struct output *o)
{
	bool json = format_of(o->args) == TABLE_JSON;

	if (json) {
		json_init(&o->json, stdout);
		o->json.lines = true;
		json_open(&o->json, NULL, '{');
		json_open(&o->json, "tables", '[');
	}
	for (uint32_t i = 0; i < o->s->profile->events.len; i++) {
		bool wanted = o->args->filter.events.len ? filter_passes_kind(&o->args->filter, i)
							 : i == session_default_event(o->s);

		if (wanted)
			print_event(o, i);
	}
	if (json) {
		json_close(&o->json, ']');
		json_close(&o->json, '}');
	}
}

/* What a table cannot show, but would mislead: said on stderr. */
static void warn_of_gaps(struct session *s)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct trust trust;

	trust_judge(&trust, s);
	double lost = (double)trust.lost / ((double)trust.lost + (double)trust.samples);
	double broken = (double)trust.broken / (double)trust.samples;

	if (lost > LOST_TOLERABLE)
		diag_warn(&s->diag, "%s of the samples were lost; 'preport' alone says more",
			  number_share(&arena, lost));
	if (broken > BROKEN_TOLERABLE && s->names != SESSION_NAME_NONE)
		diag_warn(&s->diag, "%s of the stacks are broken; 'preport' alone says why",
			  number_share(&arena, broken));
}

static struct err *run_table(struct report_args *args, struct session *s)
{
	struct output o = { .args = args, .s = s, .term = terminal_of(stdout) };
	struct err *err;

	o.spec.levels = levels_of(args);
	s->names = names_of(args, &o.spec.levels);
	err = session_load(s, &args->filter);
	if (!err)
		err = find_cut(&o);
	if (!err) {
		print_events(&o);
		warn_of_gaps(s);
	}
	arena_deinit(&o.arena);
	return err;
}

static struct err *run_summary(struct report_args *args, struct session *s)
{
	struct terminal term = terminal_of(stdout);
	struct err *err;

	s->names = SESSION_NAME_LEAVES;
	err = session_load(s, &args->filter);
	if (!err)
		summary_print(s, &term, stdout);
	return err;
}

static struct err *report_run(void *args, char **operands, int noperands, int *ret_status)
{
	struct report_args *report = args;
	struct session s;
	struct err *err;

	(void)ret_status;
	if (noperands)
		return err_new(ERR_USAGE, "unexpected '%s'", operands[0]);
	if (report->callers_of && report->callees_of)
		return err_new(ERR_USAGE, "--callers-of and --callees-of exclude each other");
	err = session_open(&s, &report->session);
	if (!err)
		err = wants_table(report) ? run_table(report, &s) : run_summary(report, &s);
	session_warn(&s);
	session_close(&s);
	return err;
}

const struct command cmd_report = {
	.name = "",
	.summary = "what was recorded and where the time went: a summary, or a table",
	.operands = "",
	.details = "Without options it prints a summary of one screen. Shares are of the event's "
		   "weight\n"
		   "(its periods), with the range that holds the true share with 95 % certainty.\n"
		   "Commands read precord.trace unless -i names another file.",
	.opts = report_opts,
	.args_size = sizeof(struct report_args),
	.defaults = report_defaults,
	.run = report_run,
	.release = report_release,
};
