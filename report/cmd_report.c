/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_report.c - preport without a command: the summary, or a table when one is asked for.
 */
#include "formats/base/text.h"
#include "report/code/code_origin.h"
#include "report/code/data_types.h"
#include "report/commands.h"
#include "report/load/data_places.h"
#include "report/load/event_fields.h"
#include "report/load/session.h"
#include "report/metric/metrics.h"
#include "report/perf_options.h"
#include "report/print/number.h"
#include "report/info/summary.h"
#include "report/print/table.h"
#include "report/table/branch_table.h"
#include "report/view/process_levels.h"
#include "report/print/stats.h"
#include "report/table/tables.h"
#include "report/view/trust.h"
#include "report/view/view_needs.h"
#include "report/table/view_table.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- --by event ---- */

/* Weights of events have units of their own, so that only their samples have shares. */

struct event_row {
	const char *name, *unit;
	struct profile_sum sum;
};

static int by_count(const void *a, const void *b)
{
	const struct event_row *x = a, *y = b;

	if (x->sum.count != y->sum.count)
		return x->sum.count > y->sum.count ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void add_row(struct table *table, const struct event_row *row, uint64_t all)
{
	double share = all ? (double)row->sum.count / (double)all : 0;

	table_add_row(table, 0, TABLE_PLAIN);
	table_add_cell(table, number_share(table->arena, share), arena_printf(table->arena, "%.6f", share));
	table_add_cell(table, number_samples(table->arena, &row->sum), number_samples_data(table->arena, &row->sum));
	table_add_cell(table, number_weight(table->arena, row->sum.weight, row->unit),
		       arena_printf(table->arena, "%" PRId64, row->sum.weight));
	table_add_cell(table, row->unit, NULL);
	table_add_cell(table, row->name, NULL);
}

static size_t gather(const struct profile *p, struct event_row *rows, uint64_t *ret_all)
{
	size_t count = 0;

	for (uint32_t i = 0; i < p->types.len; i++) {
		struct event_row row = { .name = profile_text(p, p->types.items[i].name),
					 .unit = profile_text(p, p->types.items[i].unit),
					 .sum = profile_total(p, i) };

		if (!row.sum.count)
			continue;
		*ret_all += row.sum.count;
		rows[count++] = row;
	}
	qsort(rows, count, sizeof(*rows), by_count);
	return count;
}

/* Print the events of the loaded session with the most samples first, at most @limit; shares are of samples. */
static MUST_USE struct err *event_table_print(struct session *s, enum table_format format, uint64_t limit,
			      const struct terminal_args *terminal)
{
	static const struct table_column columns[] = {
		{ "share", "share", TABLE_RIGHT, TABLE_KEEP, true },
		{ "samples", "samples", TABLE_RIGHT, TABLE_KEEP, true },
		{ "weight", "weight", TABLE_RIGHT, TABLE_KEEP, true },
		{ NULL, "unit", TABLE_LEFT, TABLE_KEEP, false },
		{ "event", "event", TABLE_LEFT, TABLE_CUT_END, false },
	};
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct event_row *rows = ARENA_ARRAY(&arena, struct event_row, s->profile->types.len + 1);
	struct terminal term = terminal_open(terminal);
	struct table table;
	uint64_t all = 0;
	size_t count = gather(s->profile, rows, &all);

	table_init(&table, &arena);
	table_add_columns(&table, columns, ARRAY_LEN(columns));
	for (size_t i = 0; i < count && i < limit; i++)
		add_row(&table, &rows[i], all);
	table_print(&table, format, "events", &term, stdout);
	table_deinit(&table);
	return terminal_close(&term, NULL);
}

/* ---- the command ---- */

#define LIMIT_FLAT       50 /* rows of a text table without -n */
#define LIMIT_NESTED     10

#define TREE_FOLDED      0.005 /* share below which a text tree is folded unless --min says otherwise */

#define LOST_TOLERABLE   0.01 /* shares that need no warning below a table */
#define BROKEN_TOLERABLE 0.05

/* What --by asks for: levels, or a table of its own. */
struct report_by {
	struct view_levels levels;
	bool branches, events;
	enum branches_by branches_by;
};

/* What --sort asks for: what rows are ordered by, or perf's way to ask for levels. */
struct report_sort {
	const char *key; /* NULL: not given */
	struct view_levels levels;
};

struct report_args {
	struct session_args session;
	struct filter filter;
	struct terminal_args terminal;
	struct metrics_args metrics;
	struct report_by by;
	struct view_levels default_by; /* where @by has none */
	const char *callers_of, *callees_of;
	uint64_t limit; /* VIEW_TABLE_ALL: not given */
	double min_share; /* negative: not given */
	bool tree, children, native, idle;
	struct report_sort sort;
	const char *format;
};

/* "0.5" or "0.5%" */
static struct err *parse_percent(void *field, const char *value)
{
	char *end;
	double percent;

	percent = strtod(value, &end);
	if (end == value || !strchr("0123456789.", *value) || (*end && strcmp(end, "%") != 0) ||
	    !isfinite(percent) || percent > 100)
		return err_new(ERR_USAGE, "'%s' is not a share from 0 to 100 per cent", value);
	*(double *)field = percent / 100;
	return NULL;
}

static struct err *parse_by(void *field, const char *value)
{
	struct report_by *by = field;

	by->events = strcmp(value, "event") == 0;
	by->branches = branch_table_parse(value, &by->branches_by);
	return by->branches || by->events ? NULL : view_parse_levels(&by->levels, value);
}

static struct err *parse_sort(void *field, const char *value)
{
	static const char *const keys[] = { "weight", "samples", "self", "name" };
	struct report_sort *sort = field;

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		if (strcmp(keys[i], value) == 0) {
			sort->key = keys[i];
			return NULL;
		}
	}
	struct err *err = view_parse_levels(&sort->levels, value);

	if (!err)
		return NULL;
	err_free(err);
	return err_remedy(err_new(ERR_USAGE, "'%s' is not one of weight, samples, self, name", value),
			  "or levels as with --by: leaf (sym), module (dso), comm, process (pid), "
			  "thread (tid), line (srcline), cpu");
}

/* perf's "-g caller" and the like: which end a tree begins at. */
static bool is_tree(const char *word)
{
	static const char *const words[] = { "graph", "fractal", "flat", "folded", "caller", "callee", "none" };

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		size_t len = strlen(words[i]);

		if (strncmp(word, words[i], len) == 0 && (!word[len] || word[len] == ','))
			return true;
	}
	return false;
}

static struct err *parse_tree(void *field, const char *value)
{
	struct report_args *args = field;

	if (value && strncmp(value, "none", 4) == 0)
		return NULL;
	if (value && strncmp(value, "folded", 6) == 0)
		return err_remedy(err_new(ERR_USAGE, "collapsed stacks are no table"),
				  "type 'preport folded'");
	args->tree = true;
	return value && strstr(value, "caller") ? view_parse_levels(&args->by.levels, "total") : NULL;
}

static const struct opt report_opts[] = {
	{ OPT_FIELD_(OPT_KIND_PARSE, struct report_args, by, "by", 'b', "LEVEL,..",
		  "a table. Code: leaf, caller, total, module, line, address, depth=N, mine, script, script-line, entry, "
		  "runtime. Tasks: thread, process, program, comm, cmdline, exec, cgroup, container, pod, unit, user, cpu. "
		  "Waits: state, wait, syscall, lock, file, waker, error. Memory: data-symbol, data-address, data-line, "
		  "data-source, data-type, data-field. Alone: event, branch, branch=line, branch=address. Or a tracepoint's "
		  "field: next_comm"),
	  .parse = parse_by },
	OPT_PARSE(struct report_args, default_by, "default-by", 0, "LEVEL,..",
		  "the default for --by, for a configuration file", view_parse_levels),
	OPT_STR(struct report_args, callers_of, "callers-of", 0, "FUNCTION",
		"the callers of FUNCTION: a name, MODULE:NAME or a glob"),
	OPT_STR(struct report_args, callees_of, "callees-of", 0, "FUNCTION",
		"the callees of FUNCTION, and its self time"),
	OPT_FLAG(struct report_args, tree, "tree", 0,
		 "a tree of callees (--by total) or callers (--by leaf), folded below 0.5 %"),
	OPT_FLAG(struct report_args, idle, "idle", 0,
		 "show where idle threads wait, not [waiting for work]"),
	OPT_FLAG(struct report_args, native, "kernel-leaf", 0,
		 "keep the kernel scheduler's frames as leaves of waits"),
	{ .kind = OPT_KIND_PARSE, .short_name = 'g', .name = "call-graph", .arg = "[HOW]", .parse = parse_tree,
	  .takes = is_tree, .help = "the same as --tree; from the root with 'caller'" },
	OPT_FLAG(struct report_args, children, "children", 0,
		 "include callees: --by total instead of leaf"),
	OPT_NOT(struct report_args, children, "no-children", 0,
		"exclude callees: --by leaf (the default)"),
	OPT_PARSE(struct report_args, limit, "limit", 'n', "N",
		  "N rows of each group, 0 for all (default: 50 as text)", view_table_parse_limit),
	OPT_PARSE(struct report_args, min_share, "min", 0, "PERCENT",
		  "leave out rows below this share", parse_percent),
	OPT_PARSE(struct report_args, sort, "sort", 's', "KEY",
		  "by weight (default), samples, self (with total) or name; or levels, as --by",
		  parse_sort),
	OPT_CHOICE(struct report_args, format, "format", 0, "FORMAT", "text (default), csv or json",
		   table_formats),
	OPT_GROUP(struct report_args, metrics, metrics_opts),
	OPT_GROUP(struct report_args, terminal, terminal_opts),
	OPT_GROUP(struct report_args, filter, filter_opts),
	OPT_GROUP(struct report_args, session, session_opts),
	OPT_FOREIGN(perf_report_options),
	OPT_END,
};

static void report_defaults(void *args)
{
	struct report_args *report = args;

	report->limit = VIEW_TABLE_ALL;
	report->min_share = -1;
}

/* ---- what was asked ---- */

static bool wants_table(const struct report_args *args)
{
	return args->by.levels.len || args->callers_of || args->callees_of || args->format ||
	       args->metrics.wanted.len || args->metrics.files.len || args->sort.key || args->tree ||
	       args->min_share >= 0 || args->limit != VIEW_TABLE_ALL;
}

static enum view_sort_by sort_of(const struct report_args *args)
{
	if (!args->sort.key || strcmp(args->sort.key, "weight") == 0)
		return VIEW_SORT_WEIGHT;
	if (strcmp(args->sort.key, "samples") == 0)
		return VIEW_SORT_SAMPLES;
	return strcmp(args->sort.key, "self") == 0 ? VIEW_SORT_SELF : VIEW_SORT_NAME;
}

static uint64_t limit_of(const struct report_args *args, const struct view_levels *levels)
{
	if (args->limit != VIEW_TABLE_ALL || args->tree || table_format_named(args->format) != TABLE_TEXT)
		return args->limit;
	return levels->len > 1 ? LIMIT_NESTED : LIMIT_FLAT;
}

static double min_share_of(const struct report_args *args)
{
	if (args->min_share >= 0)
		return args->min_share;
	return args->tree && table_format_named(args->format) == TABLE_TEXT ? TREE_FOLDED : 0;
}

static bool by_callers(const struct report_args *args)
{
	if (args->by.levels.len == 0)
		return args->callers_of != NULL;
	return args->by.levels.items[0].by == VIEW_LEAF || args->by.levels.items[0].by == VIEW_CALLER;
}

/* A tree begins at one end of the stack. */
static struct err *check_tree(const struct report_args *args)
{
	const struct view_levels *levels = &args->by.levels;
	bool from_root = levels->len == 1 && levels->items[0].by == VIEW_TOTAL;
	bool from_leaf = levels->len == 1 && levels->items[0].by == VIEW_LEAF;

	if (!args->tree)
		return NULL;
	if (levels->len && !from_root && !from_leaf)
		return err_remedy(err_new(ERR_USAGE, "--tree goes with one end of the stacks only"),
				  "--by total begins at the root, --by leaf with what ran");
	if ((args->callers_of && from_root) || (args->callees_of && from_leaf))
		return err_new(ERR_USAGE, "the tree of %s begins with that function, not with --by %s",
			       args->callers_of ? "--callers-of" : "--callees-of",
			       from_root ? "total" : "leaf");
	if (args->metrics.wanted.len)
		return err_new(ERR_USAGE, "--metric goes with tables, not with --tree");
	if (args->sort.key && strcmp(args->sort.key, "weight") != 0)
		return err_new(ERR_USAGE, "a tree is sorted by weight, not by %s", args->sort.key);
	return NULL;
}

static struct view_levels levels_of(const struct report_args *args)
{
	struct view_levels levels = args->by.levels;

	if (levels.len == 0 && args->default_by.len && !args->callees_of && !args->callers_of && !args->tree)
		return args->default_by;
	if (levels.len == 0) {
		levels.len = 1;
		levels.items[0] = args->callees_of ? (struct view_level){ VIEW_DEPTH, 1 }
						   : (struct view_level){ VIEW_LEAF, 0 };
	}
	return levels;
}

/* What a table cannot show, but would mislead: said on stderr. */
static void warn_of_gaps(struct session *s)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct trust trust;

	trust_judge(&trust, s->profile, &s->facts);
	double lost = (double)trust.lost / ((double)trust.lost + (double)trust.samples);
	double broken = (double)trust.broken / (double)trust.samples;

	if (lost > LOST_TOLERABLE)
		diag_warn(&s->diag, "%s of the samples were lost; 'preport' has details",
			  number_share(&arena, lost));
	if (trust.leaves_only && s->names > NAMER_LEAVES)
		diag_warn(&s->diag, "no stacks were recorded: callers are not known; record with -g");
	if (broken > BROKEN_TOLERABLE && s->names != NAMER_NONE)
		diag_warn(&s->diag, "%s of the stacks are broken; 'preport' explains why",
			  number_share(&arena, broken));
}

/* A table of nothing but "[no address]" would look like an answer. */
static struct err *check_data(const struct data_places *data, const struct session *s)
{
	bool address = data->objects && !data->with_address;
	bool source = data->sources && !data->with_source;

	if (!address && !source)
		return NULL;
	return err_remedy(err_new(ERR_UNSUPPORTED, "no sample of '%s' %s", s->facts.input,
				  address ? "has a data address" : "tells where its data came from"),
			  "record with 'precord -d --weight', which says what this machine's PMU "
			  "knows");
}

/* How many samples the types are of; a table without any would look like an answer. */
static struct err *fill_data_types(struct session *s)
{
	struct data_types_count count;
	struct err *err = session_need(s, "code", "--by data-type");

	if (err)
		return err;
	data_types_fill(s, &count);
	if (!count.known && count.without_debug_info)
		return err_remedy(err_new(ERR_UNSUPPORTED,
					  "the files that were sampled have no debug information, "
					  "so types are not known"),
				  "build with -g, or install the debug packages");
	diag_warn(&s->diag,
		  "of %" PRIu64 " samples %" PRIu64 " are on instructions that access memory; the type is "
		  "known for %" PRIu64 ", %" PRIu64 " are the compiler's spills",
		  count.samples, count.known + count.spilled + count.unknown, count.known, count.spilled);
	return NULL;
}

static struct err *load_and_print(struct report_args *args, struct session *s,
				  struct tables_request *request)
{
	CLEANUP(data_places_deinit) struct data_places data = { 0 };
	struct event_fields fields;
	struct err *err = event_fields_listen(&fields, s, &request->levels);

	if (err)
		return err;
	if (data_places_wanted(&request->levels, &data)) {
		request->data = &data;
		data_places_listen(&data, s);
	}
	s->names = tables_names(request);
	err = session_load(s, &args->filter);
	if (!err && request->data)
		err = check_data(&data, s);
	if (!err && s->imported)
		err = event_fields_check(s->profile, &request->levels);
	if (!err && s->imported)
		err = view_needs_check(s->profile, &request->levels, s->facts.input);
	if (!err)
		err = process_levels_check(s->profile, &request->levels, s->facts.input);
	if (!err && data_types_wanted(&request->levels))
		err = fill_data_types(s);
	if (!err)
		err = tables_print(request, s->profile, &s->facts, &args->terminal);
	return err;
}

static struct err *run_table(struct session *s, void *args_)
{
	struct report_args *args = args_;
	struct view_levels levels = levels_of(args);
	struct tables_request request = {
		.levels = levels,
		.tree = args->tree,
		.native = args->native,
		.idle = args->idle,
		.from_leaf = by_callers(args),
		.callers_of = args->callers_of,
		.callees_of = args->callees_of,
		.limit = limit_of(args, &levels),
		.min_share = min_share_of(args),
		.sort = sort_of(args),
		.format = table_format_named(args->format),
		.filter = &args->filter,
	};
	struct counting counting;
	struct metrics metrics;
	struct err *err;

	counting_open(&counting, s);
	err = metrics_open(&metrics, &args->metrics,
			   &(struct metrics_source){ s->recording, s->facts.input, &counting });

	request.metrics = &metrics;
	if (!err)
		err = load_and_print(args, s, &request);
	metrics_close(&metrics);
	counting_close(&counting);
	if (!err)
		warn_of_gaps(s);
	return err;
}

/* Branches are no samples with stacks of their own. */
static struct err *check_branches(const struct report_args *args)
{
	const char *option = args->tree		       ? "--tree"
			     : args->callers_of	       ? "--callers-of"
			     : args->callees_of	       ? "--callees-of"
			     : args->metrics.wanted.len ? "--metric"
							: NULL;

	if (option)
		return err_new(ERR_USAGE, "%s is about stacks and does not go with --by branch",
			       option);
	if (sort_of(args) == VIEW_SORT_SELF)
		return err_new(ERR_USAGE, "branches have no self time to be sorted by");
	return NULL;
}

static struct err *run_branches(struct session *s, void *args_)
{
	struct report_args *args = args_;
	struct branch_table_request request = {
		.by = args->by.branches_by,
		.sort = sort_of(args) == VIEW_SORT_NAME ? BRANCHES_SORT_NAME : BRANCHES_SORT_COUNT,
		.format = table_format_named(args->format),
		.limit = args->limit,
		.min_share = min_share_of(args),
	};

	if (args->limit == VIEW_TABLE_ALL && request.format == TABLE_TEXT)
		request.limit = LIMIT_FLAT;
	return branch_table_run(&request, s, &args->filter, &args->terminal);
}

static struct err *run_events(struct session *s, void *args_)
{
	struct report_args *args = args_;
	struct err *err;

	s->names = NAMER_NONE;
	err = session_load(s, &args->filter);
	return err ? err
		   : event_table_print(s, table_format_named(args->format),
				       args->limit == VIEW_TABLE_ALL ? UINT64_MAX : args->limit, &args->terminal);
}

static size_t lines_of(const char *text)
{
	size_t lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

/* What fits a screen needs no pager, whatever that would do with it. */
static struct err *put_summary(struct session *s, const struct terminal_args *args)
{
	CLEANUP(remarks_deinit) struct remarks remarks = { 0 };
	struct summary_input summary = { s->profile, &s->facts, &remarks,
					 s->imported ? NULL : code_origin_is_there, s };
	struct terminal_args plain = *args;
	struct terminal term;
	char *text = NULL;
	size_t len = 0;
	FILE *memory = open_memstream(&text, &len);

	if (!memory)
		return err_system(errno, "cannot hold the summary");
	remarks_init(&remarks, s, &s->arena);
	plain.pager = false;
	term = terminal_open(&plain);
	summary_show(&summary, &term, memory);
	if (fclose(memory) != 0) {
		free(text);
		return err_system(errno, "cannot hold the summary");
	}
	if (term.lines && lines_of(text) >= term.lines)
		term = terminal_open(args);
	fwrite(text, 1, len, stdout);
	free(text);
	return terminal_close(&term, NULL);
}

static struct err *run_summary(struct session *s, void *args_)
{
	struct report_args *args = args_;
	struct err *err;

	s->names = NAMER_LEAVES;
	err = session_load(s, &args->filter);
	if (err)
		return err;
	return put_summary(s, &args->terminal);
}

/* --sort with levels is --by, and with --children functions count with what they call. */
static void settle_levels(struct report_args *args)
{
	struct view_levels *levels = &args->by.levels;

	if (!levels->len && !args->by.branches && !args->by.events)
		*levels = args->sort.levels;
	if (!args->children || args->by.branches)
		return;
	if (!levels->len)
		levels->items[levels->len++] = (struct view_level){ VIEW_LEAF, 0 };
	for (unsigned i = 0; i < levels->len; i++)
		if (levels->items[i].by == VIEW_LEAF)
			levels->items[i].by = VIEW_TOTAL;
}

static struct err *report_run(void *args, char **operands, int noperands, int *ret_status)
{
	struct report_args *report = args;
	struct err *err;

	(void)operands;
	(void)noperands;
	(void)ret_status;
	settle_levels(report);
	if (report->callers_of && report->callees_of)
		return err_new(ERR_USAGE, "--callers-of and --callees-of exclude each other");
	err = report->by.branches ? check_branches(report) : check_tree(report);
	if (err)
		return err;
	return session_run(&cmd_report, &report->session,
			   report->by.events     ? run_events
			   : report->by.branches ? run_branches
			   : wants_table(report) ? run_table
						 : run_summary,
			   report);
}

const struct command cmd_report = {
	.name = "",
	.alias = "report",
	.summary = "show where the time went: a summary, or a table",
	.operands = "",
	.details = "Without options it prints a one-screen summary. Shares are of the event's weight "
		   "(its periods), with 95 % confidence intervals.\n"
		   "Commands read precord.trace unless -i names another file.",
	.examples = "  preport                         the summary of precord.trace\n"
		    "  preport --by process,leaf -n 5  for each process its five hottest functions\n"
		    "  preport --by leaf --tree        who called them\n",
	.manual = "preport(1)",
	.opts = report_opts,
	.args_size = sizeof(struct report_args),
	.defaults = report_defaults,
	.run = report_run,
};
