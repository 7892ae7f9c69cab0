/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_processes.c - which processes ran, who started them, when and as what, and what each and its descendants cost.
 */
#include "report/commands.h"
#include "report/load/session.h"
#include "report/print/number.h"
#include "report/print/table.h"
#include "report/view/process_tree.h"
#include "report/view/stats.h"

#include <inttypes.h>
#include <sys/wait.h>

struct processes_args {
	struct session_args session;
	struct filter filter;
	struct terminal_args terminal;
	uint64_t limit;
	const char *format;
	bool all, no_cmdline;
};

static const struct opt processes_opts[] = {
	OPT_FLAG(struct processes_args, all, "all", 'a',
		 "processes that did nothing in the recording, too"),
	OPT_UINT(struct processes_args, limit, "limit", 'n', "N", "only the first N rows (default: all)"),
	OPT_FLAG(struct processes_args, no_cmdline, "no-cmdline", 0, "leave command lines out"),
	OPT_CHOICE(struct processes_args, format, "format", 0, "FORMAT", "text, csv or json",
		   table_formats),
	OPT_GROUP(struct processes_args, terminal, terminal_opts),
	OPT_GROUP(struct processes_args, filter, filter_opts),
	OPT_GROUP(struct processes_args, session, session_opts),
	OPT_END,
};

static void processes_defaults(void *args)
{
	struct processes_args *processes = args;

	session_args_init(&processes->session);
	terminal_args_init(&processes->terminal);
	processes->format = "text";
}

static void processes_release(void *args)
{
	struct processes_args *processes = args;

	filter_deinit(&processes->filter);
	session_args_deinit(&processes->session);
}

struct printer {
	const struct session *s;
	const struct process_tree *tree;
	const char *unit;
	struct arena arena;
	struct table table;
	bool cmdline;
};

static const struct table_column columns[] = {
	{ "process", "process", TABLE_LEFT, TABLE_CUT_END, false },
	{ "pid", "pid", TABLE_RIGHT, TABLE_KEEP, true },
	{ NULL, "parent_pid", TABLE_RIGHT, TABLE_KEEP, true },
	{ "started", "start_s", TABLE_RIGHT, TABLE_DROP, true },
	{ "ended", "end_s", TABLE_RIGHT, TABLE_DROP, true },
	{ "exit", "exit", TABLE_RIGHT, TABLE_DROP, false },
	{ "samples", "samples", TABLE_RIGHT, TABLE_DROP, true },
	{ "own", "own", TABLE_RIGHT, TABLE_DROP, true },
	{ "with children", "whole", TABLE_RIGHT, TABLE_KEEP, true },
	{ "share", "share", TABLE_RIGHT, TABLE_KEEP, true },
	{ NULL, "exec", TABLE_LEFT, TABLE_CUT_START, false },
	{ NULL, "cgroup", TABLE_LEFT, TABLE_CUT_START, false },
	{ NULL, "user", TABLE_LEFT, TABLE_CUT_END, false },
};

static const struct table_column cmdline_column = { "command line", "cmdline", TABLE_LEFT,
						    TABLE_CUT_END, false };

/* "sh > make": as what it began, and what it became. */
static const char *names_of(struct printer *o, const struct profile_process *process)
{
	const struct profile *p = o->tree->profile;
	const char *text = "", *last = "";

	for (uint32_t i = process->first_name; i; i = p->process_names.items[i].next) {
		const char *name = profile_text(p, p->process_names.items[i].name);

		if (strcmp(name, last) != 0)
			text = arena_printf(&o->arena, "%s%s%s", text, *text ? " > " : "", name);
		last = name;
	}
	return *text ? text : arena_printf(&o->arena, "%" PRIu32, process->pid);
}

static void add_time(struct printer *o, bool known, uint64_t time_ns)
{
	double seconds = (double)((int64_t)(time_ns - o->s->facts.start_ns)) / 1e9;

	if (known)
		table_add_cell(&o->table, arena_printf(&o->arena, "%.3f s", seconds),
			       arena_printf(&o->arena, "%.6f", seconds));
	else
		table_add_cell(&o->table, "", "");
}

/* Kernels do not put it into their records; the recorder knows that of the command it ran. */
static const char *exit_of(struct printer *o, const struct profile_process *process)
{
	const struct profile_facts *facts = &o->s->facts;
	const struct profile_process *parent = &o->tree->profile->processes.items[process->parent];
	int status = facts->exit_status;

	if (status < 0 || !facts->recorder_pid || parent->pid != facts->recorder_pid ||
	    !process->has_exec || !process->has_exit)
		return "";
	if (WIFSIGNALED(status))
		return arena_printf(&o->arena, "signal %d", WTERMSIG(status));
	return arena_printf(&o->arena, "%d", WEXITSTATUS(status));
}

static void add_weight(struct printer *o, const struct profile_sum *sum)
{
	table_add_cell(&o->table,
		       sum->count ? number_weight(&o->arena, sum->weight, o->unit) : "",
		       arena_printf(&o->arena, "%" PRId64, sum->weight));
}

static void add_row(struct printer *o, const struct process_row *row)
{
	const struct profile *p = o->tree->profile;
	const struct profile_process *process = &p->processes.items[row->process];
	const struct profile_process *parent = &p->processes.items[process->parent];
	const struct process_node *node = &o->tree->nodes[row->process];
	double share = stats_share(&node->whole, &o->tree->all).share;

	table_add_row(&o->table, row->depth, TABLE_PLAIN);
	table_add_cell(&o->table, names_of(o, process), NULL);
	table_add_format(&o->table, "%" PRIu32, process->pid);
	if (process->parent)
		table_add_format(&o->table, "%" PRIu32, parent->pid);
	else
		table_add_cell(&o->table, "", "");
	add_time(o, process->has_start, process->start_ns);
	add_time(o, process->has_exit, process->exit_ns);
	table_add_cell(&o->table, exit_of(o, process), NULL);
	table_add_cell(&o->table, node->own.count ? number_count(&o->arena, node->own.count) : "",
		       arena_printf(&o->arena, "%" PRIu64, node->own.count));
	add_weight(o, &node->own);
	add_weight(o, &node->whole);
	table_add_cell(&o->table, node->whole.count ? number_share(&o->arena, share) : "",
		       arena_printf(&o->arena, "%.6f", share));
	table_add_cell(&o->table, profile_text(p, process->program), NULL);
	table_add_cell(&o->table, profile_text(p, process->cgroup), NULL);
	table_add_cell(&o->table, profile_text(p, process->user), NULL);
	if (o->cmdline)
		table_add_cell(&o->table, profile_text(p, process->cmdline), NULL);
}

static void print(struct printer *o, const struct processes_args *args, const struct terminal *term)
{
	enum table_format format = table_format_named(args->format);
	size_t count = args->limit ? MIN(args->limit, o->tree->rows.len) : o->tree->rows.len;
	struct json json;

	table_init(&o->table, &o->arena);
	table_add_columns(&o->table, columns, ARRAY_LEN(columns));
	if (o->cmdline)
		table_add_column(&o->table, &cmdline_column);
	for (size_t i = 0; i < count; i++)
		add_row(o, &o->tree->rows.items[i]);
	if (format == TABLE_CSV) {
		table_print_csv(&o->table, stdout, /* with_header= */ true);
	} else if (format == TABLE_JSON) {
		json_init(&json, stdout);
		json_open(&json, NULL, '{');
		table_print_json(&o->table, "processes", &json);
		json_close(&json, '}');
	} else {
		table_print_text(&o->table, term, stdout);
		if (count < o->tree->rows.len)
			printf("... and %s\n", number_of(&o->arena, o->tree->rows.len - count,
							 "more process"));
	}
	table_deinit(&o->table);
}

static struct err *show(struct session *s, void *args_)
{
	struct processes_args *args = args_;
	struct err *err;

	s->names = SESSION_NAME_NONE;
	err = session_load(s, &args->filter);
	if (err)
		return err;

	uint32_t event = session_default_event(s);
	struct process_tree tree;
	struct terminal term = terminal_open(&args->terminal);

	process_tree_build(&tree, s->profile, event, args->all);
	struct printer printer = {
		.s = s,
		.tree = &tree,
		.unit = profile_text(s->profile, s->profile->types.items[event].unit),
		.cmdline = !args->no_cmdline,
	};

	print(&printer, args, &term);
	arena_deinit(&printer.arena);
	process_tree_deinit(&tree);
	return terminal_close(&term, NULL);
}

static struct err *processes_run(void *args_, char **operands, int noperands, int *ret_status)
{
	struct processes_args *args = args_;

	(void)operands;
	(void)noperands;
	(void)ret_status;
	return session_run(&cmd_processes, &args->session, show, args);
}

const struct command cmd_processes = {
	.name = "processes",
	.summary = "which processes ran, who started them, and what each cost",
	.operands = "",
	.needs = "events",
	.details = "A tree: children stand below the process that started them. Only processes that began, "
		   "executed\na program, ended or were sampled in the recording are shown.",
	.opts = processes_opts,
	.args_size = sizeof(struct processes_args),
	.defaults = processes_defaults,
	.run = processes_run,
	.release = processes_release,
};
