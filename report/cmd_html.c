/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_html.c - one file to look at: flame graph, summary, tables and code.
 */
#include "formats/base/text.h"
#include "report/commands.h"
#include "report/export/export.h"
#include "report/page/report_page.h"
#include "report/print/output.h"
#include "report/view/view_table.h"

#include <string.h>

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
	.opts = html_opts,
	.args_size = sizeof(struct html_args),
	.defaults = html_defaults,
	.run = html_run,
};
