/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_annotate.c - the hot instructions of a function.
 */
#include "formats/base/text.h"
#include "report/code/annotate.h"
#include "report/commands.h"
#include "report/perf_options.h"
#include "report/code/listing_printer.h"
#include "report/code/listing_page.h"
#include "report/code/script_lines.h"
#include "report/print/output.h"
#include "report/print/terminal.h"

#include <inttypes.h>
#include <string.h>

#define VERSIONS_MAX 8 /* that are named above the first */

struct annotate_args {
	struct session_args session;
	struct filter filter;
	struct terminal_args terminal;
	struct metrics_args metrics;
	struct listing_options print;
	const char *format, *percent, *source;
	const char *html; /* file; NULL: text */
	const char *function; /* the operand; NULL: not given */
	uint64_t hot; /* 0: not given */
	bool intel, no_source;
};

static const char *const percents[] = { "local", "global", NULL };

/* In the order of enum listing_source. */
static const char *const sources[] = { "none", "between", "beside", NULL };

static const struct opt annotate_opts[] = {
	OPT_FLAG(struct annotate_args, print.all, "all", 'a',
		 "show long stretches without samples too"),
	OPT_UINT(struct annotate_args, hot, "hot", 0, "N",
		 "the N functions with the most samples, instead of FUNCTION"),
	OPT_CHOICE(struct annotate_args, source, "source", 0, "WHERE",
		   "source lines between the instructions (default), beside them, or none", sources),
	OPT_FLAG(struct annotate_args, no_source, "no-source", 0, "the same as --source=none"),
	OPT_FLAG(struct annotate_args, print.bytes, "bytes", 0,
		 "show the bytes of each instruction"),
	OPT_FLAG(struct annotate_args, intel, "intel", 0, "Intel syntax for x86-64"),
	OPT_CHOICE(struct annotate_args, percent, "percent", 0, "OF",
		   "shares of the function (local) or of all samples (global)", percents),
	OPT_CHOICE(struct annotate_args, format, "format", 0, "FORMAT", "text, csv or json",
		   table_formats),
	OPT_STR(struct annotate_args, html, "html", 0, "FILE", "write a page instead of text"),
	OPT_GROUP(struct annotate_args, metrics, metrics_opts),
	OPT_GROUP(struct annotate_args, terminal, terminal_opts),
	OPT_GROUP(struct annotate_args, filter, filter_opts),
	OPT_GROUP(struct annotate_args, session, session_opts),
	OPT_FOREIGN(perf_annotate_options),
	OPT_END,
};

static void annotate_defaults(void *args)
{
	struct annotate_args *annotate = args;

	annotate->source = "between";
	annotate->format = "text";
	annotate->percent = "local";
}

/* Where functions go: one of both. */
struct sink {
	struct listing_printer *text;
	struct listing_page *page;
};

/* Functions whose code is not there are warnings as long as one can be shown. */
static struct err *put_functions(struct annotate *a, const struct annotate_args *args, struct sink to)
{
	enum disasm_syntax syntax = args->intel ? DISASM_INTEL : DISASM_ATT;
	struct err *missing = NULL;
	size_t shown = 0;

	for (size_t i = 0; i < a->functions.len; i++) {
		CLEANUP(annotate_listing_deinit) struct annotate_listing listing = { 0 };
		struct err *err = annotate_list(a, &a->functions.items[i], syntax, &listing);

		if (!err && to.page)
			listing_page_put(to.page, &listing);
		else if (!err)
			listing_print(to.text, &listing);
		else if (!missing)
			missing = err;
		else
			diag_err(&a->s->diag, err);
		shown += !err;
	}
	if (missing && shown) {
		diag_err(&a->s->diag, missing);
		missing = NULL;
	}
	return missing;
}

/* One name, and code in several places: each is shown. */
static void print_versions(const struct annotate *a, const struct annotate_args *args)
{
	size_t count = a->functions.len;

	if (!args->function || count < 2 || args->print.format != TABLE_TEXT)
		return;
	const char *text = arena_printf(&a->s->arena, "'%s' is %zu pieces of code, each shown below: ",
					args->function, count);

	for (size_t i = 0; i < MIN(count, VERSIONS_MAX); i++)
		text = arena_printf(&a->s->arena, "%s%s%s at 0x%" PRIx64, text, i ? ", " : "",
				    a->functions.items[i].name, code_place_address(a->functions.items[i].vaddr));
	text = arena_printf(&a->s->arena, "%s%s", text, count > VERSIONS_MAX ? ", ..." : "");
	text_put_wrapped(stdout, text_escape(&a->s->arena, text), 0,
			 args->print.term.columns ? args->print.term.columns : SIZE_MAX);
}

static struct err *print_functions(struct annotate *a, struct annotate_args *args)
{
	args->print.term = terminal_open(&args->terminal);

	print_versions(a, args);

	struct listing_printer *printer = listing_printer_new(a, &args->print, stdout);
	struct err *err = put_functions(a, args, (struct sink){ .text = printer });

	listing_printer_finish(printer);
	return terminal_close(&args->print.term, err);
}

static struct err *write_page(struct annotate *a, const struct annotate_args *args)
{
	const char *title = args->function ? arena_printf(&a->s->arena, "Code of %s", args->function)
					   : "Hottest functions";
	struct output out;
	struct err *err = output_open(&out, args->html);

	if (err)
		return err;
	title = text_escape(&a->s->arena, title);

	struct listing_page *page = listing_page_new(a, &args->print, out.stream);

	listing_page_begin(page, title);
	err = put_functions(a, args, (struct sink){ .page = page });
	if (!err)
		err = listing_page_end(page, title);
	if (!err)
		err = output_commit(&out);
	listing_page_free(page);
	output_close(&out);
	return err;
}

/* Print the lines of the interpreted functions that are meant; false if there are none. *@ret is what printing ended with. */
static bool annotate_script(struct session *s, struct annotate_args *args, struct err **ret)
{
	CLEANUP(script_functions_deinit) struct script_functions functions = { 0 };
	uint32_t type = s->facts.first_type;
	struct lookup wanted;
	struct err *err = lookup_function(s->profile, args->function, &s->arena, &wanted);

	if (err) {
		err_free(err);
		return false;
	}
	script_functions_find(&functions, s, &wanted, type);
	if (!functions.items.len)
		return false;
	struct terminal term = terminal_open(&args->terminal);
	const struct script_options options = {
		.format = args->print.format, .all = args->print.all, .term = &term
	};

	script_lines_print(&functions, s, type, &options, stdout);
	*ret = terminal_close(&term, NULL);
	return true;
}

static struct err *annotate_with(const struct metrics *metrics, struct session *s,
				 struct annotate_args *args)
{
	CLEANUP(branches_deinit) struct branches branches;
	CLEANUP(annotate_deinit) struct annotate a = { .measures = metrics->measures.items,
						       .nmeasures = (unsigned)metrics->measures.len,
						       .branches = &branches };
	struct err *err;

	branches_init(&branches, s, BRANCHES_BY_LOCATION);
	s->names = NAMER_LEAVES;
	branches_listen(&branches, s);
	err = session_load(s, &args->filter);
	if (err)
		return err;
	branches_finish(&branches);
	if (args->function && !args->html && annotate_script(s, args, &err))
		return err;
	if (args->function)
		err = annotate_find(&a, s, args->function);
	else
		annotate_find_hot(&a, s, args->hot);
	if (err)
		return err;
	return args->html ? write_page(&a, args) : print_functions(&a, args);
}

static struct err *annotate(struct session *s, void *args_)
{
	struct annotate_args *args = args_;
	struct counting counting;
	struct metrics metrics;
	struct err *err;

	counting_open(&counting, s);
	err = metrics_open(&metrics, &args->metrics,
			   &(struct metrics_source){ s->recording, s->facts.input, &counting });

	args->print.metrics = &metrics;
	if (!err)
		err = annotate_with(&metrics, s, args);
	metrics_close(&metrics);
	counting_close(&counting);
	return err;
}

/* What was asked for in words, in numbers. ERR_USAGE: it does not fit together. */
static struct err *read_args(struct annotate_args *args, int noperands)
{
	if (noperands == 0 && !args->hot)
		args->hot = 1;
	if (noperands == 2 && !args->hot)
		return err_remedy(err_new(ERR_USAGE, "annotate takes one function, 2 were given"),
				  "the recording is given with -i: preport annotate -i FILE FUNCTION");
	if (noperands > 1 || (noperands && args->hot))
		return err_new(ERR_USAGE, "annotate takes one function%s, %d were given",
			       args->hot ? " or --hot" : "", noperands);
	if (args->html && *args->format != 't')
		return err_new(ERR_USAGE, "a page is not %s", args->format);
	if (args->html && args->metrics.wanted.len)
		return err_remedy(err_new(ERR_USAGE, "a page has no room for --metric"),
				  "metrics appear beside the shares in text, CSV and JSON");
	args->print.global = strcmp(args->percent, "global") == 0;
	args->print.format = table_format_named(args->format);
	while (!args->no_source && strcmp(sources[args->print.source], args->source) != 0)
		args->print.source++;
	return NULL;
}

static struct err *annotate_run(void *args_, char **operands, int noperands, int *ret_status)
{
	struct annotate_args *args = args_;
	struct err *err;

	(void)ret_status;
	noperands = session_args_take_file(&args->session, operands, noperands);
	err = read_args(args, noperands);
	args->function = noperands ? operands[0] : NULL;
	return err ? err : session_run(&cmd_annotate, &args->session, annotate, args);
}

const struct command cmd_annotate = {
	.name = "annotate",
	.summary = "the hot instructions of a function",
	.operands = "[FUNCTION]",
	.needs = "code",
	.details = "FUNCTION is a name or glob, MODULE:NAME, FILE:LINE, or an address (0x1234, "
		   "MODULE:0x1234); without one it is the function with the most samples.",
	.examples = "  preport annotate                          the hottest function's instructions\n"
		    "  preport annotate --hot 5                  the five hottest functions\n"
		    "  preport annotate -i perf.data FILE.c:120  the function of this line\n",
	.manual = "preport-annotate(1)",
	.opts = annotate_opts,
	.args_size = sizeof(struct annotate_args),
	.defaults = annotate_defaults,
	.run = annotate_run,
};
