/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_info.c - what is in the file and how far it can be trusted: header, counts, where stacks broke and why,
 * modules with what each gave, losses over time, and where the bytes went.
 */
#include "formats/perf/perf_data.h"
#include "report/commands.h"
#include "report/print/info.h"
#include "report/print/info_sizes.h"
#include "report/print/terminal.h"

struct info_args {
	struct session_args session;
	struct filter filter;
	struct terminal_args terminal;
	const char *format;
	bool sizes;
};

static const struct opt info_opts[] = {
	OPT_FLAG(struct info_args, sizes, "sizes", 0,
		 "show where the bytes of the file went, nothing else"),
	OPT_CHOICE(struct info_args, format, "format", 0, "FORMAT", "text, csv or json", table_formats),
	OPT_GROUP(struct info_args, terminal, terminal_opts),
	OPT_GROUP(struct info_args, filter, filter_opts),
	OPT_GROUP(struct info_args, session, session_opts),
	OPT_END,
};

static struct err *need_blocks(const struct session *s)
{
	struct err *err = session_need(s, "blocks", "--sizes");

	if (err || !perf_data_is_source(s->source))
		return err;
	return err_new(ERR_UNSUPPORTED, "'%s' is perf.data: its bytes cannot be split by part", s->args->input);
}

/* All there is to know of a profile is in it. */
static struct err *show_profile(struct session *s, struct info_args *args)
{
	struct terminal term;
	struct err *err;

	s->keep_times = true;
	err = session_load(s, &args->filter);
	if (err)
		return err;
	term = terminal_open(&args->terminal);
	info_print_profile(s->profile, &s->facts, table_format_named(args->format), stdout);
	return terminal_close(&term, NULL);
}

static struct err *show(struct session *s, void *args_)
{
	struct info_args *args = args_;

	if (s->imported && !args->sizes)
		return show_profile(s, args);

	CLEANUP(unwind_quality_deinit) struct unwind_quality unwind_quality = { 0 };

	enum table_format format = table_format_named(args->format);
	struct err *err = args->sizes ? need_blocks(s)
				      : unwind_quality_count(&unwind_quality, s, &args->filter);

	if (err)
		return err;

	struct terminal term = terminal_open(&args->terminal);

	if (args->sizes)
		err = info_sizes_print(s, format, stdout);
	else
		info_print(s, &unwind_quality, format, stdout);
	return terminal_close(&term, err);
}

static struct err *info_run(void *args_, char **operands, int noperands, int *ret_status)
{
	struct info_args *args = args_;

	(void)operands;
	(void)noperands;
	(void)ret_status;
	if (args->sizes && !filter_is_empty(&args->filter))
		return err_remedy(err_new(ERR_USAGE, "--sizes is about the whole file"),
				  "leave --comm, --time and the like out");
	return session_run(&cmd_info, &args->session, show, args);
}

const struct command cmd_info = {
	.name = "info",
	.summary = "the contents of a trace, and its data quality",
	.operands = "",
	.opts = info_opts,
	.args_size = sizeof(struct info_args),
	.run = info_run,
};
