/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_syscalls.c - how often system calls were made, how long they took, how they failed.
 */
#include "report/commands.h"
#include "report/load/derive/derive_kind.h"
#include "report/load/session.h"
#include "report/print/json.h"
#include "report/print/length_table.h"
#include "report/print/number.h"
#include "report/print/table.h"
#include "report/view/tables.h"
#include "report/view/wait_lengths.h"

#define ROWS_MAX 20 /* unless -n says otherwise */

struct syscalls_args {
	struct session_args session;
	struct filter filter;
	struct terminal_args terminal;
	struct view_levels by;
	uint64_t limit; /* 0: all */
	const char *format;
};

static const struct opt syscalls_opts[] = {
	OPT_PARSE(struct syscalls_args, by, "by", 'b', "LEVEL",
		  "rows: syscall (default), error, leaf, caller, thread, process, ... as in preport", view_parse_levels),
	OPT_UINT(struct syscalls_args, limit, "limit", 'n', "N", "N rows, 0 for all (default: 20)"),
	OPT_CHOICE(struct syscalls_args, format, "format", 0, "FORMAT", "text (default), csv or json", table_formats),
	OPT_GROUP(struct syscalls_args, terminal, terminal_opts),
	OPT_GROUP(struct syscalls_args, filter, filter_opts),
	OPT_GROUP(struct syscalls_args, session, session_opts),
	OPT_END,
};

static void syscalls_defaults(void *args)
{
	struct syscalls_args *syscalls = args;

	session_args_init(&syscalls->session);
	terminal_args_init(&syscalls->terminal);
	syscalls->by = (struct view_levels){ .items = { { VIEW_SYSCALL, 0 } }, .len = 1 };
	syscalls->limit = ROWS_MAX;
}

static void syscalls_release(void *args)
{
	struct syscalls_args *syscalls = args;

	filter_deinit(&syscalls->filter);
	session_args_deinit(&syscalls->session);
}

/* One row of time is one call: those without a stack are there, too. */
static void print_text(const struct session *s, const struct length_table *lengths, const struct table *table,
		       const struct terminal *term)
{
	const struct wait_group *all = &lengths->lengths->all;
	struct arena *arena = table->arena;
	double seconds = (double)session_duration_ns(s) / 1e9;

	printf("%s in %s, %s a second, %s failed; %s in them, of all threads together\n",
	       number_of(arena, all->lengths_ns.len, "system call"), number_time(arena, session_duration_ns(s)),
	       number_count(arena, seconds > 0 ? (uint64_t)((double)all->lengths_ns.len / seconds) : 0),
	       number_count(arena, all->errors), number_time(arena, all->total_ns));
	if (s->facts.lost_by_kernel || s->facts.lost_by_recorder)
		printf("%s of entries and exits are lost, and calls with them: the counts are too low\n",
		       number_of(arena, s->facts.lost_by_kernel + s->facts.lost_by_recorder, "record"));
	table_print_text(table, term, stdout);
	if (lengths->limit && lengths->lengths->groups.len > lengths->limit)
		printf("(%s more, see -n)\n", number_count(arena, lengths->lengths->groups.len - lengths->limit));
	length_table_histogram(lengths, arena);
}

static struct err *load(struct session *s, struct syscalls_args *args)
{
	struct tables_request naming = { .levels = args->by };

	if (!args->filter.events.len)
		vec_push(&args->filter.events, DERIVE_SYSCALLS);
	s->keep_times = true;
	args->filter.each_wait = true;
	s->names = tables_names(&naming);
	if (derive_has_syscalls(s->recording))
		return session_load(s, &args->filter);
	return err_remedy(err_new(ERR_UNSUPPORTED, "'%s' holds no system calls", s->args->input),
			  "record with: precord --trace-syscalls");
}

static struct err *print_syscalls(struct session *s, void *args_)
{
	struct syscalls_args *args = args_;
	struct wait_lengths w = { 0 };
	struct length_table lengths = {
		.lengths = &w, .by = args->by.items[0].by, .limit = args->limit, .noun = "calls", .errors = true
	};
	struct err *err = load(s, args);
	struct terminal term;
	struct table table;
	struct json json;

	if (err)
		return err;
	wait_lengths_collect(&w, s->profile, &s->facts,
			     &(struct wait_lengths_request){ .event = s->facts.first_type, .level = args->by.items[0] });
	term = terminal_open(&args->terminal);
	table_init(&table, &w.arena);
	length_table_fill(&lengths, &table);
	switch (table_format_named(args->format)) {
	case TABLE_CSV:
		table_print_csv(&table, stdout, /* with_header= */ true);
		break;
	case TABLE_JSON:
		json_init(&json, stdout);
		json.lines = true;
		length_table_json(&lengths, &json);
		break;
	default:
		print_text(s, &lengths, &table, &term);
	}
	table_deinit(&table);
	wait_lengths_deinit(&w);
	return terminal_close(&term, NULL);
}

static struct err *syscalls_run(void *args, char **operands, int noperands, int *ret_status)
{
	struct syscalls_args *syscalls = args;

	(void)ret_status;
	(void)operands;
	if (noperands)
		return err_new(ERR_USAGE, "syscalls takes no operands");
	if (syscalls->by.len != 1 || syscalls->by.items[0].by == VIEW_TOTAL || syscalls->by.items[0].by == VIEW_FIELD)
		return err_new(ERR_USAGE, "--by takes one level here: syscall, error, leaf, caller, thread, process, ...");
	return session_run(&cmd_syscalls, &syscalls->session, print_syscalls, syscalls);
}

const struct command cmd_syscalls = {
	.name = "syscalls",
	.summary = "how often system calls were made, how long they took, how they failed",
	.operands = "",
	.details = "System calls are recorded with 'precord --trace-syscalls'. A call that is not over counts until the end.\n"
		   "'preport --event syscalls --by syscall,leaf' shows who makes them, 'preport waits' for what they wait.",
	.needs = "events",
	.opts = syscalls_opts,
	.args_size = sizeof(struct syscalls_args),
	.defaults = syscalls_defaults,
	.run = syscalls_run,
	.release = syscalls_release,
};
