/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_processes.c - which processes ran, who started them, when and as what, and what each and its descendants cost.
 */
#include "formats/base/vec.h"
#include "formats/profile/profile.h"
#include "report/commands.h"
#include "report/load/session.h"
#include "report/print/number.h"
#include "report/print/table.h"
#include "report/print/stats.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>

/* ---- processes as a tree ---- */

/*
 * Parents may have larger numbers than their children, and in a damaged recording parents may form a ring: a process that
 * cannot be reached from the top is put there.
 */

/* One process; its number is that in profile.processes. */
struct process_node {
	struct profile_sum own;   /* its samples of the event */
	struct profile_sum whole; /* and those of its descendants */
	bool shown;               /* it began, ended or was sampled in the recording, or has a descendant that did */
};

struct process_row {
	uint32_t process;
	uint32_t depth; /* from 0 */
};

struct process_tree {
	const struct profile *profile;
	struct process_node *nodes;   /* by process */
	VEC(struct process_row) rows; /* depth first; children in order of their beginnings */
	struct profile_sum all;       /* of the event */
};

#define DEPTH_MAX 1000 /* deeper ones are drawn at this depth */

struct walk {
	const struct profile *p;
	uint32_t *by_parent; /* processes from 1 on, those of one parent together, in order */
	uint32_t *first;     /* by process: where its children begin in @by_parent */
	bool *visited;
	VEC(struct process_row) todo;
	VEC(struct process_row) order; /* all of them, depth first */
};

static uint64_t begin_of(const struct profile_process *process)
{
	return process->has_start ? process->start_ns : 0;
}

static int by_parent_and_begin(const void *a, const void *b, void *profile)
{
	const struct profile *p = profile;
	uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
	const struct profile_process *x = &p->processes.items[one], *y = &p->processes.items[other];

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (begin_of(x) != begin_of(y))
		return begin_of(x) < begin_of(y) ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return COMPARE(one, other);
}

static void sort_children(struct walk *walk)
{
	const struct profile *p = walk->p;
	size_t count = p->processes.len;

	for (uint32_t i = 1; i < count; i++)
		walk->by_parent[i - 1] = i;
	qsort_r(walk->by_parent, count - 1, sizeof(uint32_t), by_parent_and_begin, (void *)p);
	for (size_t i = count - 1; i-- > 0;)
		walk->first[p->processes.items[walk->by_parent[i]].parent] = (uint32_t)i;
}

static void push_children(struct walk *walk, uint32_t parent, uint32_t depth)
{
	size_t from = walk->first[parent], to = from;
	const struct profile *p = walk->p;

	while (to < p->processes.len - 1 && p->processes.items[walk->by_parent[to]].parent == parent)
		to++;
	/* The first one is taken first. */
	while (to-- > from)
		vec_push(&walk->todo, ((struct process_row){ walk->by_parent[to], depth }));
}

static void visit_all(struct walk *walk)
{
	while (walk->todo.len) {
		struct process_row row = walk->todo.items[--walk->todo.len];

		if (walk->visited[row.process])
			continue;
		walk->visited[row.process] = true;
		vec_push(&walk->order, row);
		push_children(walk, row.process, MIN(row.depth + 1, (uint32_t)DEPTH_MAX));
	}
}

static void walk_tree(struct walk *walk)
{
	sort_children(walk);
	push_children(walk, 0, 0);
	visit_all(walk);
	for (uint32_t i = 1; i < walk->p->processes.len; i++) {
		vec_push(&walk->todo, ((struct process_row){ i, 0 }));
		visit_all(walk);
	}
}

static void add_samples(struct process_tree *tree, uint32_t event)
{
	const struct profile *p = tree->profile;

	for (size_t i = 0; i < p->samples.len; i++) {
		const struct profile_sample *row = &p->samples.items[i];

		if (row->type != event)
			continue;
		stats_add(&tree->nodes[p->threads.items[row->thread].life].own, row);
		stats_add(&tree->all, row);
	}
}

/* From the leaves up. Parents come before their children, but for rings, whose sums stay below. */
static void add_up(struct process_tree *tree, const struct walk *walk, bool all)
{
	for (size_t i = walk->order.len; i-- > 0;) {
		uint32_t number = walk->order.items[i].process;
		const struct profile_process *process = &tree->profile->processes.items[number];
		struct process_node *node = &tree->nodes[number];
		struct process_node *parent = &tree->nodes[process->parent];

		stats_add_sum(&node->whole, &node->own);
		node->shown |= all || process->has_start || process->has_exec ||
			       process->has_exit || node->whole.count;
		if (!walk->order.items[i].depth)
			continue;
		stats_add_sum(&parent->whole, &node->whole);
		parent->shown |= node->shown;
	}
}

/* @event: whose samples count. @all: processes that did nothing in the recording are rows, too. */
static void process_tree_build(struct process_tree *tree, const struct profile *p, uint32_t event, bool all)
{
	struct walk walk = { .p = p };
	size_t count = p->processes.len;

	*tree = (struct process_tree){ .profile = p };
	tree->nodes = memory_zeroed(count + 1, sizeof(*tree->nodes));
	walk.by_parent = memory_zeroed(count + 1, sizeof(*walk.by_parent));
	walk.first = memory_zeroed(count + 1, sizeof(*walk.first));
	walk.visited = memory_zeroed(count + 1, sizeof(*walk.visited));
	for (size_t i = 0; i < count; i++)
		walk.first[i] = (uint32_t)count; /* no children */
	walk_tree(&walk);
	add_samples(tree, event);
	add_up(tree, &walk, all);
	for (size_t i = 0; i < walk.order.len; i++) {
		if (tree->nodes[walk.order.items[i].process].shown)
			vec_push(&tree->rows, walk.order.items[i]);
	}
	free(walk.by_parent);
	free(walk.first);
	free(walk.visited);
	vec_deinit(&walk.todo);
	vec_deinit(&walk.order);
}

static void process_tree_deinit(struct process_tree *tree)
{
	free(tree->nodes);
	vec_deinit(&tree->rows);
}

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
	table_add_cell(&o->table, node->own.count ? number_samples(&o->arena, &node->own) : "",
		       number_samples_data(&o->arena, &node->own));
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

	table_init(&o->table, &o->arena);
	table_add_columns(&o->table, columns, ARRAY_LEN(columns));
	if (o->cmdline)
		table_add_column(&o->table, &cmdline_column);
	for (size_t i = 0; i < count; i++)
		add_row(o, &o->tree->rows.items[i]);
	table_print(&o->table, format, "processes", term, stdout);
	if (format == TABLE_TEXT && count < o->tree->rows.len)
		printf("... and %s\n", number_of(&o->arena, o->tree->rows.len - count, "more process"));
	table_deinit(&o->table);
}

static struct err *show(struct session *s, void *args_)
{
	struct processes_args *args = args_;
	struct err *err;

	s->names = NAMER_NONE;
	err = session_load(s, &args->filter);
	if (err)
		return err;

	uint32_t event = s->facts.first_type;
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
	.summary = "the process tree, with the cost of each process",
	.operands = "",
	.needs = "events",
	.details = "A tree: children stand below the process that started them. Only processes that began, "
		   "executed\na program, ended or were sampled in the recording are shown.",
	.examples = "  preport processes  who started whom, and what it cost\n"
		    "  preport processes --all --format csv\n",
	.manual = "preport(1)",
	.opts = processes_opts,
	.args_size = sizeof(struct processes_args),
	.run = processes_run,
};
