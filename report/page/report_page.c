/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_page.c - the sections behind the flame graph.
 */
#include "report/page/report_page.h"

#include "formats/base/text.h"
#include "report/code/code_origin.h"
#include "report/code/listing_page.h"
#include "report/page/markup.h"
#include "report/print/summary.h"
#include "report/print/table.h"
#include "report/topdown/topdown_page.h"
#include "report/view/branches.h"
#include "report/view/view_table.h"

#include <inttypes.h>
#include <stdlib.h>

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

struct err *report_page_write(const struct report_page_options *options, FILE *out)
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
