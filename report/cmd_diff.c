/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_diff.c - what changed between recordings, or between two windows of one.
 */
#include "formats/base/text.h"
#include "formats/event_multiplexing.h"
#include "report/commands.h"
#include "report/diff/diff.h"
#include "report/diff/diff_head.h"
#include "report/diff/diff_head.h"
#include "report/diff/diff_table.h"
#include "report/page/flame_page.h"
#include "report/perf_options.h"
#include "report/print/number.h"
#include "report/print/output.h"
#include "report/table/tables.h"
#include "report/view/view_needs.h"
#include "report/table/view_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- both profiles as one flame graph ---- */

/* The page says what was lost: that of both. Machine and duration are those of A; times would be those of two clocks. */
static struct profile_facts facts_of_both(const struct profile_facts *a, const struct profile_facts *b)
{
	struct profile_facts both = *a;

	both.complete &= b->complete;
	both.samples += b->samples;
	both.lost_by_kernel += b->lost_by_kernel;
	both.lost_by_recorder += b->lost_by_recorder;
	both.lost_side_band += b->lost_side_band;
	both.throttled += b->throttled;
	both.cut += b->cut;
	both.shortened += b->shortened;
	return both;
}

/*
 * @diff is of two recordings by total, with every frame named; @inputs and @files are theirs. ERR_SYSTEM: out of memory.
 */
static struct err *diff_page_write(const struct diff *diff, const struct diff_input *inputs, const char *const *files,
				   FILE *out)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const struct profile *p = diff->merge->profile;
	double *effects = ARENA_ARRAY(&arena, double, p->functions.len + 1);
	const char *names[2];

	for (uint32_t i = 0; i < p->functions.len; i++)
		effects[i] = diff_function_effect(diff, i, 1);

	for (uint32_t side = 0; side < 2; side++)
		names[side] = arena_printf(&arena, "%c: %s, %s", 'A' + (int)side,
					   profile_text(p, p->types.items[side].name),
					   text_escape(&arena, files[side]));

	struct flame_data_view view = {
		.title = arena_printf(&arena, "%s against %s", text_escape(&arena, files[1]),
				      text_escape(&arena, files[0])),
		.by = "program",
		.event = 0,
		.compare = true,
		.other = 1,
		.names = names,
		.run_noise = diff->options.run_noise,
		.effects = effects,
	};
	struct profile_facts both = facts_of_both(inputs[0].facts, inputs[1].facts);

	return flame_page_write(p, &both, &view, out);
}

#define FILES_MAX	16
#define LIMIT_DEFAULT	50    /* rows as text without -n */
#define STATUS_GREW	3     /* exit status of --fail-above */

static const char default_input[] = "precord.trace";

struct diff_args {
	struct session_args session;
	struct filter filter;
	struct terminal_args terminal;
	struct filter window_a, window_b; /* only .window, .wanted and .nwindows are used */
	struct opt_list same_modules;
	const char *by, *scale, *format;
	uint64_t limit;    /* VIEW_TABLE_ALL: not given */
	double fail_above; /* per cent; negative: not given */
	double run_noise;
	bool all, flamegraph;
	const char *output;
};

static const char *const scales[] = { "share", "time", "typical", "none", NULL }; /* enum diff_scale */
static const char *const bys[] = { "leaf", "caller", "total", "module", "line", "process", "comm", NULL };
static const enum view_by bys_are[] = { VIEW_LEAF, VIEW_CALLER,	 VIEW_TOTAL, VIEW_MODULE,
					VIEW_LINE, VIEW_PROGRAM, VIEW_COMM };

/* "5" or "5%", up to @most. */
static struct err *parse_percent(const char *value, double most, double *ret)
{
	char *end;
	double percent = strtod(value, &end);

	if (end == value || !strchr("0123456789.", *value) || (*end && strcmp(end, "%") != 0) ||
	    !isfinite(percent) || percent > most)
		return err_new(ERR_USAGE, "'%s' is not a number from 0 to %.0f per cent", value, most);
	*ret = percent / 100;
	return NULL;
}

static struct err *parse_fail_above(void *field, const char *value)
{
	return parse_percent(value, 1e6, (double *)field);
}

static struct err *parse_run_noise(void *field, const char *value)
{
	return parse_percent(value, 100, (double *)field);
}

static const struct opt diff_opts[] = {
	OPT_CHOICE(struct diff_args, by, "by", 'b', "LEVEL",
		   "compare leaf functions (default), caller, total, module, line, process, comm",
		   bys),
	OPT_CHOICE(struct diff_args, scale, "scale", 0, "WHAT",
		   "compare shares (share, default), weight per second (time), weight scaled to the typical function (typical), or raw weight (none)",
		   scales),
	OPT_PARSE(struct diff_args, window_a.window, "time-a", 0, "FROM,TO",
		  "of the first file only this window (see --time)", filter_parse_window),
	OPT_PARSE(struct diff_args, window_b.window, "time-b", 0, "FROM,TO",
		  "of the others only this window; with one file, of the same file",
		  filter_parse_window),
	OPT_LIST(struct diff_args, same_modules, "same-module", 0, "OLD=NEW",
		 "module NEW is what OLD was, under another name"),
	OPT_FLAG(struct diff_args, all, "all", 'a', "also show rows that are within noise"),
	OPT_PARSE(struct diff_args, limit, "limit", 'n', "N", "N rows, 0 for all (default: 50 as text)",
		  view_table_parse_limit),
	OPT_PARSE(struct diff_args, fail_above, "fail-above", 0, "PERCENT",
		  "exit with 3 if a row grew significantly by more than PERCENT of the total",
		  parse_fail_above),
	OPT_PARSE(struct diff_args, run_noise, "run-noise", 0, "PERCENT",
		  "run-to-run noise in per cent (default 3)", parse_run_noise),
	OPT_CHOICE(struct diff_args, format, "format", 0, "FORMAT", "text (default), csv or json",
		   table_formats),
	OPT_FLAG(struct diff_args, flamegraph, "flamegraph", 0,
		 "write a page with both as one flame graph instead"),
	OPT_STR(struct diff_args, output, "output", 'o', "FILE", "write the page to FILE"),
	OPT_GROUP(struct diff_args, terminal, terminal_opts),
	OPT_GROUP(struct diff_args, filter, filter_opts),
	OPT_GROUP(struct diff_args, session, session_opts),
	OPT_FOREIGN(perf_diff_options),
	OPT_END,
};

static void diff_defaults(void *args)
{
	struct diff_args *diff = args;

	diff->session.input = default_input;
	diff->by = bys[0];
	diff->scale = scales[0];
	diff->format = table_formats[TABLE_TEXT];
	diff->limit = VIEW_TABLE_ALL;
	diff->fail_above = -1;
	diff->run_noise = DIFF_RUN_NOISE;
}

/* ---- inputs ---- */

/* One recording on its way in. */
struct input {
	struct session_args args;
	struct filter filter; /* shares its lists with the command's */
	struct session session;
};

struct comparison {
	const struct diff_args *args;
	struct input inputs[FILES_MAX];
	struct diff_input loaded[FILES_MAX]; /* the sides */
	const char *labels[FILES_MAX], *files[FILES_MAX];
	uint32_t count;
	struct diff_merge merge;
	struct diff diff;
	struct arena arena;
};

static enum view_by by_of(const struct diff_args *args)
{
	size_t i = 0;

	while (strcmp(bys[i], args->by) != 0)
		i++;
	return bys_are[i];
}

static enum diff_scale scale_of(const struct diff_args *args)
{
	int scale = 0;

	while (strcmp(scales[scale], args->scale) != 0)
		scale++;
	return (enum diff_scale)scale;
}

static struct err *add_input(struct comparison *c, const char *file)
{
	struct input *input = &c->inputs[c->count];
	const struct filter *window = c->count ? &c->args->window_b : &c->args->window_a;

	if (c->count == FILES_MAX)
		return err_new(ERR_USAGE, "more than %d files", FILES_MAX);
	input->args = c->args->session;
	input->args.input = file;
	input->filter = c->args->filter;
	if (window->window) {
		input->filter.window = window->window;
		memcpy(input->filter.wanted, window->wanted, sizeof(window->wanted));
		input->filter.nwindows = window->nwindows;
	}
	c->files[c->count] = file;
	c->labels[c->count] = arena_printf(&c->arena, "%c", 'A' + (int)c->count);
	c->count++;
	return NULL;
}

/* The files that are compared: -i, the operands, or twice the same one. */
static struct err *list_inputs(struct comparison *c, char **operands, int noperands)
{
	const struct diff_args *args = c->args;
	bool two_windows = args->window_a.window || args->window_b.window;
	struct err *err = NULL;

	if (args->filter.window && two_windows)
		return err_new(ERR_USAGE, "--time is for all files; --time-a and --time-b exclude it");
	if (args->session.input != default_input || noperands == 0)
		err = add_input(c, args->session.input);
	for (int i = 0; i < noperands && !err; i++)
		err = add_input(c, operands[i]);
	if (!err && c->count == 1 && two_windows)
		err = add_input(c, c->files[0]);
	if (err || c->count > 1)
		return err;
	return err_remedy(err_new(ERR_USAGE, "there is nothing to compare '%s' with", c->files[0]),
			  "name a second file, or two windows with --time-a and --time-b");
}

static struct err *check_units(const struct comparison *c)
{
	const struct profile *p = c->merge.profile;

	for (uint32_t i = 1; i < c->count && scale_of(c->args) != DIFF_SHARE; i++) {
		const char *a = profile_text(p, p->types.items[0].unit);
		const char *b = profile_text(p, p->types.items[i].unit);

		if (strcmp(a, b) != 0)
			return err_remedy(err_new(ERR_UNSUPPORTED,
						  "'%s' counts in %s, '%s' in %s", c->files[0], a,
						  c->files[i], b),
					  "only --scale=share compares them, if at all");
	}
	return NULL;
}

/* How much of the time the first event had a counter; 1 where nothing says that it had none. */
static double counted_share(const struct session *s)
{
	struct event_multiplexing multiplexing;

	if (!s->recording)
		return 1;
	multiplexing = event_multiplexing_of(s->recording, s->facts.first_type);
	return event_multiplexing_share(&multiplexing);
}

static struct err *load_input(struct comparison *c, struct input *input)
{
	const struct tables_request request = {
		.levels = { .items = { { by_of(c->args), 0 } }, .len = 1 }
	};
	struct err *err = session_open(&input->session, &input->args);

	if (err)
		return err;
	input->session.keep_times = true;
	input->session.names = tables_names(&request);
	if (c->args->flamegraph)
		input->session.names = NAMER_ALL;
	if (scale_of(c->args) == DIFF_TYPICAL && input->session.names == NAMER_NONE)
		input->session.names = NAMER_LEAVES;
	err = session_load(&input->session, &input->filter);
	if (!err && input->session.imported)
		err = view_needs_check(input->session.profile, &request.levels,
				       input->session.facts.input);
	if (err)
		return err;

	const struct profile_facts *facts = &input->session.facts;

	c->loaded[input - c->inputs] = (struct diff_input){ input->session.profile, facts,
							    counted_share(&input->session) };
	diff_merge_look(&c->merge, input->session.profile);
	return NULL;
}

static void close_inputs(struct comparison *c)
{
	for (uint32_t i = 0; i < c->count; i++) {
		session_warn(&c->inputs[i].session);
		session_close(&c->inputs[i].session);
		filter_unbind(&c->inputs[i].filter);
	}
}

/* ---- output ---- */

static void print_text(struct comparison *c, const struct diff_head *head,
		       const struct terminal *term)
{
	const struct diff_table_options options = {
		.labels = c->labels,
		.files = c->files,
		.limit = c->args->limit == VIEW_TABLE_ALL ? LIMIT_DEFAULT : c->args->limit,
		.all = c->args->all,
	};
	const struct diff_power power = { &c->diff, &c->arena };
	struct table table;
	size_t nsure = 0;

	while (nsure < c->diff.rows.len && c->diff.rows.items[nsure].sure)
		nsure++;
	diff_head_print(head, term, stdout);
	diff_power_print(&power, term, stdout);
	putchar('\n');
	table_init(&table, &c->arena);

	size_t left_out = diff_table_text(&table, &c->diff, &options);

	if (table_rows(&table)) {
		printf("by %s, changes in %s\n", c->args->by, diff_table_unit(&c->arena, &c->diff));
		table_print_text(&table, term, stdout);
		if (left_out)
			printf("(%s more)\n", number_count(&c->arena, left_out));
		putchar('\n');
	}
	table_deinit(&table);
	diff_power_conclude(&power, nsure, stdout);
}

static void print_json(struct comparison *c, const struct diff_head *head, struct table *table)
{
	const struct diff_power power = { &c->diff, &c->arena };
	struct diff_noise noise;
	struct json json;

	json_init(&json, stdout);
	json.lines = true;
	json_open(&json, NULL, '{');
	json_string(&json, "by", c->args->by);
	json_string(&json, "scale", c->args->scale);
	json_string(&json, "unit", diff_table_unit(&c->arena, &c->diff));
	json_uint(&json, "tested", c->diff.tested);
	json_number(&json, "run_noise", arena_printf(&c->arena, "%g", c->args->run_noise));
	if (c->count == 2 && diff_run_noise(&c->diff, 1, &noise)) {
		json_number(&json, "run_noise_seen", arena_printf(&c->arena, "%.4f", noise.likely));
		json_number(&json, "run_noise_at_most", arena_printf(&c->arena, "%.4f", noise.at_most));
	}
	diff_power_json(&power, &json);
	diff_head_json(head, &json);
	table_print_json(table, "rows", &json);
	json_close(&json, '}');
}

static void print_data(struct comparison *c, const struct diff_head *head)
{
	const struct diff_table_options options = { .labels = c->labels, .files = c->files };
	struct table table;

	table_init(&table, &c->arena);
	diff_table_data(&table, &c->diff, &options);
	if (strcmp(c->args->format, "json") == 0) {
		print_json(c, head, &table);
	} else {
		table_print_csv(&table, stdout, /* with_header= */ true);
		for (size_t i = 0; i < head->warnings.len; i++)
			diag_warn(&c->inputs[0].session.diag, "%s", head->warnings.items[i]);
	}
	table_deinit(&table);
}

static struct err *print(struct comparison *c)
{
	struct terminal term = terminal_open(&c->args->terminal);
	struct diff_head head;

	diff_head_init(&head, &c->diff, c->loaded, c->labels, &c->arena);
	if (strcmp(c->args->format, "text") == 0)
		print_text(c, &head, &term);
	else
		print_data(c, &head);
	diff_head_deinit(&head);
	return terminal_close(&term, NULL);
}

/* Did any row surely grow by more than --fail-above? */
static bool grew_too_much(const struct comparison *c)
{
	const struct diff *d = &c->diff;
	double whole = (double)d->sides[0].whole.weight * d->sides[0].scale;

	for (size_t i = 0; c->args->fail_above >= 0 && i < d->rows.len; i++)
		for (uint32_t side = 1; side < d->nsides; side++) {
			const struct diff_compared *change = &d->rows.items[i].changes[side];

			if (change->sure && change->change > c->args->fail_above * whole)
				return true;
		}
	return false;
}

static struct err *write_page(struct comparison *c)
{
	CLEANUP(output_close) struct output out = { 0 };
	struct err *err = output_open(&out, c->args->output);

	if (!err)
		err = diff_page_write(&c->diff, c->loaded, c->files, out.stream);
	if (!err)
		err = output_commit(&out);
	if (!err && c->args->output)
		fprintf(stderr, "preport: wrote '%s'; look at it with: xdg-open %s\n",
			c->args->output, c->args->output);
	return err;
}

static struct err *check_page(const struct comparison *c)
{
	if (c->args->output && !c->args->flamegraph)
		return err_new(ERR_USAGE, "-o is for --flamegraph; tables go to standard output");
	if (c->args->flamegraph && c->count > 2)
		return err_new(ERR_USAGE, "a page shows two files, not %u", c->count);
	if (c->args->flamegraph && c->args->fail_above >= 0)
		return err_new(ERR_USAGE, "--fail-above goes with tables, not with --flamegraph");
	return NULL;
}

static struct err *compare(struct comparison *c, int *ret_status)
{
	bool page = c->args->flamegraph; /* of shares, with everything that is on stacks */
	const struct diff_options options = { .by = page ? VIEW_TOTAL : by_of(c->args),
					      .scale = page ? DIFF_SHARE : scale_of(c->args),
					      .run_noise = c->args->run_noise };
	struct err *err = NULL;

	for (uint32_t i = 0; i < c->count && !err; i++)
		err = load_input(c, &c->inputs[i]);
	for (uint32_t i = 0; i < c->count && !err; i++)
		diff_merge_add(&c->merge, c->loaded[i].profile, c->loaded[i].facts->first_type);
	if (!err)
		err = check_units(c);
	if (err)
		return err;
	err = diff_init(&c->diff, &c->merge, c->loaded, &options);
	if (!err)
		err = page ? write_page(c) : print(c);
	if (!err && grew_too_much(c))
		*ret_status = STATUS_GREW;
	return err;
}

static struct err *check_same_modules(const struct opt_list *pairs)
{
	for (size_t i = 0; i < pairs->len; i++) {
		const char *equals = strchr(pairs->items[i], '=');

		if (!equals || equals == pairs->items[i] || !equals[1])
			return err_new(ERR_USAGE, "'%s' is no OLD=NEW", pairs->items[i]);
	}
	return NULL;
}

static struct err *diff_run(void *args, char **operands, int noperands, int *ret_status)
{
	struct comparison *c = memory_zeroed(1, sizeof(*c));
	struct err *err;

	c->args = args;
	diff_merge_init(&c->merge, &c->args->same_modules);
	err = check_same_modules(&c->args->same_modules);
	if (!err)
		err = list_inputs(c, operands, noperands);
	if (!err)
		err = check_page(c);
	if (!err)
		err = compare(c, ret_status);
	diff_deinit(&c->diff);
	close_inputs(c);
	diff_merge_deinit(&c->merge);
	arena_deinit(&c->arena);
	free(c);
	return err;
}

const struct command cmd_diff = {
	.name = "diff",
	.summary = "what changed between recordings, or windows of one",
	.operands = "A B...",
	.details = "Only rows that differ by more than noise are shown, unless --all asks for more.",
	.examples = "  preport diff before.trace after.trace  functions that changed\n"
		    "  preport diff --by module --all before.trace after.trace\n"
		    "  preport diff --time-a 0,50% --time-b 50%,100% run.trace\n",
	.manual = "preport-diff(1)",
	.opts = diff_opts,
	.args_size = sizeof(struct diff_args),
	.defaults = diff_defaults,
	.run = diff_run,
};
