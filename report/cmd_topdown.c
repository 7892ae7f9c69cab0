/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_topdown.c - where issue slots went: the tree for all that was recorded, a row for each process and function, and
 * in words what holds it up and what to look at.
 */
#include "report/commands.h"
#include "report/metric/metrics.h"
#include "report/table/tables.h"
#include "report/topdown/topdown_text.h"


#define LIMIT_DEFAULT 10

struct cmd_topdown_args {
	struct session_args session;
	struct filter filter;
	struct terminal_args terminal;
	uint64_t limit;
	const char *format;
};

static const struct opt topdown_opts[] = {
	OPT_UINT(struct cmd_topdown_args, limit, "limit", 'n', "N",
		 "N processes and N functions (default 10)"),
	OPT_CHOICE(struct cmd_topdown_args, format, "format", 0, "FORMAT", "text, csv or json",
		   table_formats),
	OPT_GROUP(struct cmd_topdown_args, terminal, terminal_opts),
	OPT_GROUP(struct cmd_topdown_args, filter, filter_opts),
	OPT_GROUP(struct cmd_topdown_args, session, session_opts),
	OPT_END,
};

static void topdown_defaults(void *args)
{
	struct cmd_topdown_args *topdown = args;

	topdown->limit = LIMIT_DEFAULT;
}

static struct err *no_counts(const struct session *s)
{
	return err_remedy(err_new(ERR_UNSUPPORTED, "'%s' has no top-down events",
				  s->facts.input),
			  "record with 'precord --topdown -- COMMAND' where there is a PMU; "
			  "'preport' alone shows where the time went");
}

/* What comes nearest: ratios of what was counted. */
static struct err *print_nearest(struct cmd_topdown_args *args, struct session *s)
{
	static const char *const names[] = { "ipc",		"branch-mpki",	 "frontend-stalls",
					     "backend-stalls",	"cache-mpki",	 "branch-miss-rate",
					     "cache-miss-rate", NULL };
	struct tables_request request = {
		.levels = { .items = { { VIEW_LEAF, 0 } }, .len = 1 },
		.limit = args->limit,
		.format = table_format_named(args->format),
		.filter = &args->filter,
	};
	struct counting counting;
	struct metrics metrics;
	struct err *err;

	counting_open(&counting, s);
	err = metrics_open_available(&metrics, names,
				     &(struct metrics_source){ s->recording, s->facts.input, &counting });

	s->names = NAMER_LEAVES;
	if (!err && !metrics.items.len)
		err = no_counts(s);
	if (!err)
		err = session_load(s, &args->filter);
	if (!err) {
		diag_warn(&s->diag, "no issue slots were counted, so there are no top-down levels; "
				    "'preport info' has the recorder's reason");
		request.metrics = &metrics;
		err = tables_print(&request, s->profile, &s->facts, &args->terminal);
	}
	metrics_close(&metrics);
	counting_close(&counting);
	return err;
}

static struct err *print_levels(struct cmd_topdown_args *args, struct session *s,
				struct topdown_tree *tree)
{
	struct err *err;
	struct terminal term;

	s->names = NAMER_LEAVES;
	err = session_load(s, &args->filter);
	if (err)
		return err;
	term = terminal_open(&args->terminal);
	topdown_text_print(tree, s->profile, &s->facts, table_format_named(args->format), args->limit,
			   &term);
	return terminal_close(&term, NULL);
}

static struct err *topdown(struct session *s, void *args_)
{
	struct cmd_topdown_args *args = args_;
	struct counting counting;
	struct topdown_tree tree;
	struct err *err;

	counting_open(&counting, s);
	topdown_tree_open(&tree, s->profile, &counting);
	if (!tree.model)
		err = print_nearest(args, s);
	else
		err = tree.nnodes ? print_levels(args, s, &tree) : no_counts(s);
	topdown_tree_close(&tree);
	counting_close(&counting);
	return err;
}

static struct err *topdown_run(void *args_, char **operands, int noperands, int *ret_status)
{
	struct cmd_topdown_args *args = args_;

	(void)operands;
	(void)noperands;
	(void)ret_status;
	if (!args->limit)
		args->limit = UINT64_MAX;
	return session_run(&cmd_topdown, &args->session, topdown, args);
}

const struct command cmd_topdown = {
	.name = "topdown",
	.summary = "top-down analysis: why the processor stalled",
	.operands = "",
	.needs = "events",
	.details = "Record with precord --topdown. A slot is room for one operation in one cycle; the "
		   "parts are\nof all slots, with the range that holds the true part with 95 % certainty.",
	.examples = "  preport topdown               what the processor's slots went to\n"
		    "  preport topdown --comm nginx  of one program\n",
	.manual = "preport-topdown(1)",
	.opts = topdown_opts,
	.args_size = sizeof(struct cmd_topdown_args),
	.defaults = topdown_defaults,
	.run = topdown_run,
};
