/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_syscalls.c - how often system calls were made, how long they took, how they failed.
 */
#include "report/commands.h"
#include "report/load/derive/derive_kind.h"
#include "report/info/length_report.h"
#include "report/print/number.h"
#include "report/table/tables.h"

struct syscalls_args {
	struct length_args lengths; /* nothing else, so that they are one */
};

static const struct opt syscalls_opts[] = {
	OPT_PARSE(struct syscalls_args, lengths.by, "by", 'b', "LEVEL",
		  "rows: syscall (default), error, leaf, caller, thread, process, ... as in preport", view_parse_levels),
	OPT_GROUP(struct syscalls_args, lengths, length_opts),
	OPT_END,
};

static void syscalls_defaults(void *args)
{
	length_args_init(args, VIEW_SYSCALL);
}

/* One row of time is one call: those without a stack are there, too. */
static void print_head(const struct length_args *args, const struct session *s, const struct wait_lengths *lengths)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const struct wait_group *all = &lengths->all;
	double seconds = (double)session_duration_ns(s) / 1e9;

	(void)args;
	printf("%s in %s, %s a second, %s failed; %s in them, of all threads together\n",
	       number_of(&arena, all->lengths_ns.len, "system call"), number_time(&arena, session_duration_ns(s)),
	       number_count(&arena, seconds > 0 ? (uint64_t)((double)all->lengths_ns.len / seconds) : 0),
	       number_count(&arena, all->errors), number_time(&arena, all->total_ns));
	if (s->facts.lost_by_kernel || s->facts.lost_by_recorder)
		printf("%s of entries and exits are lost, and calls with them: the counts are too low\n",
		       number_of(&arena, s->facts.lost_by_kernel + s->facts.lost_by_recorder, "record"));
}

static struct err *load(struct session *s, struct length_args *args)
{
	struct tables_request naming = { .levels = args->by };

	if (!args->filter.events.len)
		vec_push(&args->filter.events, DERIVE_SYSCALLS);
	s->keep_times = true;
	args->filter.each_wait = true;
	s->names = tables_names(&naming);
	if (derive_has_syscalls(s->recording))
		return session_load(s, &args->filter);
	return err_remedy(err_new(ERR_UNSUPPORTED, "'%s' holds no system calls", s->facts.input),
			  "record with: precord --trace-syscalls");
}

static struct err *print_syscalls(struct session *s, void *args_)
{
	struct length_args *args = args_;
	struct err *err = load(s, args);
	struct length_report report = {
		.request = { .event = s->facts.first_type, .level = args->by.items[0] },
		.noun = "calls",
		.errors = true,
		.head = print_head,
	};

	return err ? err : length_report_print(&report, args, s);
}

static struct err *syscalls_run(void *args_, char **operands, int noperands, int *ret_status)
{
	struct length_args *args = args_;

	(void)ret_status;
	(void)operands;
	if (noperands)
		return err_new(ERR_USAGE, "syscalls takes no operands");
	if (args->by.len != 1 || args->by.items[0].by == VIEW_TOTAL || args->by.items[0].by == VIEW_FIELD)
		return err_new(ERR_USAGE, "--by takes one level here: syscall, error, leaf, caller, thread, process, ...");
	return session_run(&cmd_syscalls, &args->session, print_syscalls, args);
}

const struct command cmd_syscalls = {
	.name = "syscalls",
	.summary = "system calls: counts, latencies and errors",
	.operands = "",
	.details = "System calls are recorded with 'precord --trace-syscalls'. A call that is not over counts until the end.\n"
		   "'preport --event syscalls --by syscall,leaf' shows who makes them, 'preport waits' for what they wait.",
	.needs = "events",
	.examples = "  preport syscalls  calls, errors and times\n"
		    "  preport syscalls --comm nginx --by thread\n",
	.manual = "preport(1)",
	.opts = syscalls_opts,
	.args_size = sizeof(struct syscalls_args),
	.defaults = syscalls_defaults,
	.run = syscalls_run,
};
