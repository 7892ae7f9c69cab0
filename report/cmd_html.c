/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_html.c - one file to look at: flame graph, summary, tables and code.
 */
#include "formats/base/text.h"
#include "report/code/code_origin.h"
#include "report/code/listing.h"
#include "report/code/listing_page.h"
#include "report/commands.h"
#include "report/export/export.h"
#include "report/load/remarks.h"
#include "report/page/flame_page.h"
#include "report/page/markup.h"
#include "report/info/facts_text.h"
#include "report/print/number.h"
#include "report/print/output.h"
#include "report/info/summary.h"
#include "report/print/table.h"
#include "report/topdown/topdown_text.h"
#include "report/topdown/topdown_tree.h"
#include "report/load/branches.h"
#include "report/table/view_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a profile's top-down tree as a section of a page ---- */

/*
 * Bars are SVG with attributes alone, since the page's policy takes no styles of single elements. What a bar shows
 * stands beside it in figures, so it is hidden from those who hear the page.
 */

#define FUNCTIONS 15
#define PROCESSES 10

struct drawing {
	const struct topdown_tree *tree;
	const struct profile *profile;
	const struct profile_facts *facts;
	struct arena arena;
	FILE *out;
	struct topdown_value whole[TOPDOWN_NODES_MAX];
};

static void put_words(struct drawing *d, const char *text)
{
	markup_put(d->out, text_escape(&d->arena, text), SIZE_MAX);
}

static void put_paragraph(struct drawing *d, const char *text)
{
	fputs("<p>", d->out);
	put_words(d, text);
	fputs("</p>\n", d->out);
}

/* ---- the whole: a bar for each part, with its interval ---- */

static void put_bar(struct drawing *d, const struct measure_value *v)
{
	fprintf(d->out,
		"<td class=\"left\"><svg class=\"bar\" viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" "
		"aria-hidden=\"true\">");
	if (v->known)
		fprintf(d->out,
			"<rect y=\"1\" height=\"8\" width=\"%.2f\"/><path d=\"M%.2f 5H%.2f\"/>",
			100 * MIN(v->value, 1), 100 * MIN(v->low, 1), 100 * MIN(v->high, 1));
	fputs("</svg></td>", d->out);
}

static void put_part(struct drawing *d, unsigned i)
{
	const struct topdown_node *node = d->tree->nodes[i].node;
	const struct topdown_value *v = &d->whole[i];
	const char *range = v->value.known ? arena_printf(&d->arena, "%.1f-%.1f", 100 * v->value.low,
							  100 * v->value.high)
					   : arena_printf(&d->arena, "n = %" PRIu64, v->value.n);

	fprintf(d->out, "<tr class=\"%s%s\"><th scope=\"row\" class=\"left\">",
		node->parent ? "child" : "part", v->flagged ? " flagged" : "");
	put_words(d, node->name);
	fprintf(d->out, "</th><td>%s</td><td>%s</td><td>%s</td>",
		v->value.known ? arena_printf(&d->arena, "%.1f %%", 100 * v->value.value) : "-", range,
		v->flagged ? "over" : "");
	put_bar(d, &v->value);
	fputs("</tr>\n", d->out);
}

static void put_tree(struct drawing *d)
{
	const struct topdown_formula *nodes = d->tree->nodes;

	fprintf(d->out,
		"<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Top-down tree\"><table "
		"class=\"topdown\"><caption>All that was recorded</caption>\n<thead><tr><th scope=\"col\" "
		"class=\"left\">part</th><th scope=\"col\">of %s</th><th scope=\"col\">95 %% range</th><th "
		"scope=\"col\">threshold</th><th scope=\"col\" class=\"left\">as a bar</th></tr></thead>\n<tbody>\n",
		d->tree->model->width ? "slots" : "cycles");
	for (unsigned i = 0; i < d->tree->nnodes; i++) {
		if (nodes[i].node->parent)
			continue;
		put_part(d, i);
		for (unsigned k = 0; k < d->tree->nnodes; k++)
			if (nodes[k].node->parent && strcmp(nodes[k].node->parent, nodes[i].node->key) == 0)
				put_part(d, k);
	}
	fputs("</tbody></table></div>\n", d->out);
}

/* ---- processes and functions: the parts of level 1 in one bar ---- */

static void put_stacked(struct drawing *d, const struct topdown_value *values)
{
	double at = 0;
	unsigned number = 0;

	fputs("<td class=\"left\"><svg class=\"bar\" viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" "
	      "aria-hidden=\"true\">",
	      d->out);
	for (unsigned i = 0; i < d->tree->nnodes; i++) {
		double part = values[i].value.known ? values[i].value.value : 0;

		if (d->tree->nodes[i].node->parent)
			continue;
		part = MIN(part, 1 - at);
		fprintf(d->out, "<rect class=\"td%u\" x=\"%.2f\" y=\"1\" height=\"8\" width=\"%.2f\"/>",
			number++, 100 * at, 100 * part);
		at += part;
	}
	fputs("</svg></td>", d->out);
}

static void put_group(struct drawing *d, const struct view *view, const struct view_group *group)
{
	const struct view_key *key = view_key(view, group);
	struct topdown_value values[TOPDOWN_NODES_MAX];

	topdown_tree_judge_group(d->tree, view, group, values);
	fputs("<tr><th scope=\"row\" class=\"left\">", d->out);
	put_words(d, key->fields[0]);
	fprintf(d->out, "</th><td>%s</td><td>%" PRIu64 "</td>",
		number_share(&d->arena, stats_share(&group->sum, &view->whole).share), group->sum.count);
	put_stacked(d, values);
	for (unsigned i = 0; i < d->tree->nnodes; i++) {
		if (d->tree->nodes[i].node->parent)
			continue;
		if (values[i].value.known)
			fprintf(d->out, "<td%s>%.1f &plusmn;%.1f</td>", values[i].flagged ? " class=\"flagged\"" : "",
				100 * values[i].value.value, 50 * (values[i].value.high - values[i].value.low));
		else
			fputs("<td>-</td>", d->out);
	}
	fputs("<td class=\"left\">", d->out);
	put_words(d, topdown_text_bottleneck(d->tree, values, &d->arena));
	fputs("</td></tr>\n", d->out);
}

static void put_groups(struct drawing *d, enum view_by by, const char *title, uint32_t limit)
{
	struct view view;
	unsigned number = 0;

	fprintf(d->out,
		"<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\"><table "
		"class=\"topdown\"><caption>%s: parts in per cent of their %s, '-' below 30 samples</caption>\n"
		"<thead><tr><th scope=\"col\" class=\"left\">name</th><th scope=\"col\">share</th><th "
		"scope=\"col\">samples</th><th scope=\"col\" class=\"left\">as a bar</th>",
		title, title, d->tree->model->width ? "slots" : "cycles");
	for (unsigned i = 0; i < d->tree->nnodes; i++)
		if (!d->tree->nodes[i].node->parent)
			fprintf(d->out,
				"<th scope=\"col\"><svg class=\"key\" viewBox=\"0 0 10 10\" aria-hidden=\"true\"><rect "
				"class=\"td%u\" width=\"10\" height=\"10\"/></svg> %s</th>",
				number++, d->tree->nodes[i].node->name);
	fputs("<th scope=\"col\" class=\"left\">held up by</th></tr></thead>\n<tbody>\n", d->out);
	topdown_tree_view(d->tree, d->profile, d->facts->first_type, by, &view);
	for (uint32_t i = 0; i < view.ntop && i < limit; i++)
		put_group(d, &view, &view.groups.items[view.order.items[i]]);
	fputs("</tbody></table></div>\n", d->out);
	view_deinit(&view);
}

static void topdown_page_put(const struct topdown_tree *tree, const struct profile *profile,
		      const struct profile_facts *facts, FILE *out)
{
	struct drawing d = { .tree = tree, .profile = profile, .facts = facts, .out = out };

	topdown_tree_judge_all(tree, profile, d.whole);
	fputs("<section class=\"report\" id=\"topdown\"><h2>Top-down: why the processor was slow</h2>\n", out);

	const char *worst = topdown_tree_worst(tree, profile, facts->first_type, d.whole, &d.arena);

	put_paragraph(&d, topdown_text_verdict(tree, d.whole, worst, facts_text_command(facts, &d.arena),
					       &d.arena));
	put_paragraph(&d, arena_printf(&d.arena, "%s; %s", tree->model->title,
				       topdown_text_method(tree, &d.arena)));
	if (topdown_text_sum(tree, d.whole, &d.arena))
		put_paragraph(&d, topdown_text_sum(tree, d.whole, &d.arena));
	if (tree->model->lacking)
		put_paragraph(&d, tree->model->lacking);
	put_tree(&d);
	put_groups(&d, VIEW_PROCESS, "Processes", PROCESSES);
	put_groups(&d, VIEW_LEAF, "Functions", FUNCTIONS);
	fputs("</section>\n", out);
	arena_deinit(&d.arena);
}

/* ---- everything a person looks at in one file ---- */

/* The sections behind the flame graph. */

struct report_page_options {
	const struct profile *profile; /* every frame is named */
	const struct profile_facts *facts;
	const struct remarks *remarks;
	struct session *code; /* of the same input, for instructions */
	struct flame_data_view view;
	size_t hot;   /* functions with their instructions */
	size_t limit; /* rows of each table */
	enum disasm_syntax syntax;
	struct listing_options listing;
	const struct topdown_tree *topdown; /* NULL: none was recorded */
};

/* ---- a table in HTML ---- */

static void put(const struct table *table, const char *text, FILE *out)
{
	markup_put(out, text_escape(table->arena, text), SIZE_MAX);
}

static void put_titles(const struct table *table, FILE *out)
{
	fputs("<thead><tr>", out);
	for (size_t c = 0; c < table->columns.len; c++) {
		const struct table_column *column = &table->columns.items[c];

		if (!column->title)
			continue;
		fprintf(out, "<th scope=\"col\"%s>",
			column->align == TABLE_LEFT ? " class=\"left\"" : "");
		put(table, column->title, out);
		fputs("</th>", out);
	}
	fputs("</tr></thead>\n", out);
}

static void put_row(const struct table *table, size_t row, FILE *out)
{
	fputs("<tr>", out);
	for (size_t c = 0; c < table->columns.len; c++) {
		const struct table_cell *cell =
			&table->cells.items[row * table->columns.len + c];

		if (!table->columns.items[c].title)
			continue;
		fputs(table->columns.items[c].align == TABLE_LEFT ? "<td class=\"left\">" : "<td>",
		      out);
		put(table, cell->text, out);
		fputs("</td>", out);
	}
	fputs("</tr>\n", out);
}

/* What people would see in text: columns with a title. @caption is plain text. */
static void table_page_put(const struct table *table, const char *caption, FILE *out)
{
	fputs("<table><caption>", out);
	put(table, caption, out);
	fputs("</caption>\n", out);
	put_titles(table, out);
	fputs("<tbody>\n", out);
	for (size_t row = 0; row < table_rows(table); row++)
		put_row(table, row, out);
	fputs("</tbody></table>\n", out);
}

#define SUMMARY_COLUMNS 100

PAGE_ASSET_DECLARE(code_css);
PAGE_ASSET_DECLARE(report_css);
PAGE_ASSET_DECLARE(report_html);
PAGE_ASSET_DECLARE(code_js);

struct writing {
	const struct report_page_options *options;
	struct arena arena;
	FILE *out;
};

/* The same words as on a terminal. */
static void put_summary(struct writing *w)
{
	const struct report_page_options *o = w->options;
	struct summary_input summary = { o->profile, o->facts, o->remarks,
					 o->code->imported ? NULL : code_origin_is_there, o->code };
	struct terminal term = { .columns = SUMMARY_COLUMNS, .utf8 = true };
	char *text = NULL;
	size_t len = 0;
	FILE *memory = open_memstream(&text, &len);

	if (!memory)
		memory_exhausted(BUFSIZ);
	summary_show(&summary, &term, memory);
	fclose(memory);
	fputs("<section class=\"report\" id=\"summary\"><h2>Summary</h2>\n"
	      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Summary\"><pre>",
	      w->out);
	markup_put(w->out, text, len);
	fputs("</pre></div></section>\n", w->out);
	free(text);
}

static void put_table(struct writing *w, enum view_by by, uint32_t event, const char *what)
{
	const struct profile *p = w->options->profile;
	const char *name = profile_text(p, p->types.items[event].name);
	struct view_spec spec = { .levels = { .items = { { .by = by } }, .len = 1 },
				  .event = event };
	struct view_table_options options = {
		.limit = w->options->limit,
		.event = name,
		.recorder_pid = w->options->facts->recorder_pid,
	};
	const char *caption = arena_printf(&w->arena, "%s, %s", what, name);
	struct table table;
	struct view view;

	view_build(&view, p, &spec);
	view_sort(&view, VIEW_SORT_WEIGHT);
	table_init(&table, &w->arena);
	view_table_fill(&table, &view, &options);
	fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"", w->out);
	markup_put(w->out, text_escape(&w->arena, caption), SIZE_MAX);
	fputs("\">", w->out);
	table_page_put(&table, caption, w->out);
	fputs("</div>\n", w->out);
	table_deinit(&table);
	view_deinit(&view);
}

static void put_tables(struct writing *w)
{
	static const struct {
		enum view_by by;
		const char *what;
	} tables[] = {
		{ VIEW_LEAF, "Functions, by time of their own" },
		{ VIEW_TOTAL, "Functions, with what they call" },
		{ VIEW_MODULE, "Modules" },
		{ VIEW_PROCESS, "Processes" },
		{ VIEW_THREAD, "Threads" },
	};

	fputs("<section class=\"report\" id=\"tables\"><h2>Tables</h2>\n", w->out);
	for (size_t i = 0; i < ARRAY_LEN(tables); i++)
		for (uint32_t e = 0; e < w->options->profile->types.len; e++)
			if (profile_total(w->options->profile, e).count)
				put_table(w, tables[i].by, e, tables[i].what);
	fputs("</section>\n", w->out);
}

static void put_functions(struct writing *w, struct session *s, struct branches *branches)
{
	CLEANUP(annotate_deinit) struct annotate a = { .branches = branches };
	struct listing_page *page = listing_page_new(&a, &w->options->listing, w->out);

	annotate_find_hot(&a, s, w->options->hot);
	for (size_t i = 0; i < a.functions.len; i++) {
		CLEANUP(annotate_listing_deinit) struct annotate_listing listing = { 0 };
		struct err *err =
			annotate_list(&a, &a.functions.items[i], w->options->syntax, &listing);

		if (err)
			listing_page_put_missing(page, &a.functions.items[i], err);
		else
			listing_page_put(page, &listing);
	}
	listing_page_free(page);
}

/*
 * Branches are counted while samples are walked one after another, which few recordings are worth: those that have some are
 * read once more. False: they cannot be.
 */
static bool put_functions_with_branches(struct writing *w)
{
	CLEANUP(branches_deinit) struct branches branches;
	struct session s;
	struct err *err = session_open(&s, w->options->code->args);

	branches_init(&branches, &s, BRANCHES_BY_LOCATION);
	branches_listen(&branches, &s);
	s.names = NAMER_LEAVES;
	if (!err)
		err = session_load(&s, w->options->code->filter);
	if (!err) {
		branches_finish(&branches);
		put_functions(w, &s, &branches);
	}
	session_close(&s);

	bool done = !err;

	err_free(err);
	return done;
}

static void put_code(struct writing *w)
{
	if (w->options->code->imported)
		return; /* there is none */
	fputs("<section class=\"report\" id=\"code\"><h2>Hottest functions</h2>\n"
	      "<p>Those with the most samples in their own code, each with its instructions.</p></section>\n",
	      w->out);
	if (!w->options->code->stream.with_branches || !put_functions_with_branches(w))
		put_functions(w, w->options->code, NULL);
}

static struct err *write_sections(void *context, FILE *out)
{
	struct writing *w = context;

	w->out = out;
	put_summary(w);
	if (w->options->topdown)
		topdown_page_put(w->options->topdown, w->options->profile, w->options->facts, out);
	put_tables(w);
	put_code(w);
	return NULL;
}

/* Functions whose code is not there have a section that says so. ERR_SYSTEM: out of memory. */
static MUST_USE struct err *report_page_write(const struct report_page_options *options, FILE *out)
{
	static const struct page_asset styles[] = { PAGE_ASSET(report_css), PAGE_ASSET(code_css), { 0 } };
	static const struct page_asset bodies[] = { PAGE_ASSET(report_html), { 0 } };
	static const struct page_asset scripts[] = { PAGE_ASSET(code_js), { 0 } };
	struct writing w = { .options = options };
	struct flame_page_more more = { styles, bodies, scripts, write_sections, &w };
	struct err *err = flame_page_write_more(options->profile, options->facts, &options->view, &more, out);

	arena_deinit(&w.arena);
	return err;
}

/* ---- the command ---- */

#define DEFAULT_PAGE  "report.html"
#define DEFAULT_HOT   10
#define DEFAULT_LIMIT 50

struct html_args {
	struct export_args export;
	const char *title, *percent;
	uint64_t hot, limit;
	bool intel;
	struct topdown_tree topdown; /* while the page is made */
	struct counting counting;
};

static const char *const percents[] = { "local", "global", NULL };

static const struct opt html_opts[] = {
	OPT_STR(struct html_args, title, "title", 0, "TEXT", "title instead of the command"),
	OPT_UINT(struct html_args, hot, "hot", 0, "N",
		 "show the code of the N hottest functions (default 10)"),
	OPT_UINT(struct html_args, limit, "limit", 'n', "N",
		 "at most N rows in each table (default 50, 0 for all)"),
	OPT_FLAG(struct html_args, intel, "intel", 0, "Intel syntax for x86-64"),
	OPT_CHOICE(struct html_args, percent, "percent", 0, "OF",
		   "shares of the function (local) or of all samples (global)", percents),
	OPT_GROUP(struct html_args, export, export_opts),
	OPT_END,
};

static void html_defaults(void *args_)
{
	struct html_args *args = args_;

	args->hot = DEFAULT_HOT;
	args->limit = DEFAULT_LIMIT;
	args->percent = percents[0];
}

static struct err *write_report(const struct html_args *args, struct session *s, FILE *out)
{
	const char *command = *s->facts.cmdline ? s->facts.cmdline : "Report";
	CLEANUP(remarks_deinit) struct remarks remarks = { 0 };
	struct report_page_options options = {
		.profile = s->profile,
		.facts = &s->facts,
		.remarks = &remarks,
		.code = s,
		.view = { .title = text_escape(&s->arena, args->title ? args->title : command),
			  .by = "program",
			  .event = s->facts.first_type },
		.hot = args->hot,
		.limit = args->limit ? args->limit : VIEW_TABLE_ALL,
		.syntax = args->intel ? DISASM_INTEL : DISASM_ATT,
		.listing = { .source = LISTING_SOURCE_BETWEEN,
			     .global = strcmp(args->percent, "global") == 0 },
	};

	if (args->topdown.nnodes)
		options.topdown = &args->topdown;
	remarks_init(&remarks, s, &s->arena);
	return report_page_write(&options, out);
}

static struct err *load_and_write(struct session *s, struct html_args *args)
{
	CLEANUP(output_close) struct output out = { 0 };
	struct err *err = session_load(s, &args->export.filter);

	if (!err)
		err = output_open(&out, args->export.output);
	if (!err)
		err = write_report(args, s, out.stream);
	return err ? err : output_commit(&out);
}

static struct err *make_page(struct session *s, void *args_)
{
	struct html_args *args = args_;
	struct err *err;

	s->keep_times = s->keep_spans = true;
	counting_open(&args->counting, s);
	topdown_tree_open(&args->topdown, s->profile, &args->counting);
	err = load_and_write(s, args);
	topdown_tree_close(&args->topdown);
	counting_close(&args->counting);
	return err;
}

static struct err *html_run(void *args_, char **operands, int noperands, int *ret_status)
{
	static const struct export_file page = { DEFAULT_PAGE, "xdg-open" };

	(void)operands;
	(void)noperands;
	(void)ret_status;
	return export_run_code(&cmd_html, args_, make_page, &page);
}

const struct command cmd_html = {
	.name = "html",
	.summary = "a page with flame graph, summary, tables and the hottest functions' code",
	.operands = "",
	.details = "On a terminal the file is " DEFAULT_PAGE " unless -o names another.",
	.examples = "  preport html -o run.html                tables, flame graph and timeline\n"
		    "  preport html -i perf.data -o perf.html  of perf's file\n",
	.manual = "preport-html(1)",
	.opts = html_opts,
	.args_size = sizeof(struct html_args),
	.defaults = html_defaults,
	.run = html_run,
};
