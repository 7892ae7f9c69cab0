/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_waits.c - how long waits take: quantiles by what is waited for, and a histogram.
 */
#include "formats/base/text.h"
#include "report/commands.h"
#include "report/load/derive/derive_kind.h"
#include "formats/base/json_writer.h"
#include "report/info/length_report.h"
#include "report/print/number.h"
#include "report/print/table.h"
#include "report/table/tables.h"
#include "report/view/wait_chain.h"

#include <inttypes.h>

struct waits_args {
	struct length_args lengths; /* first, for length_args_init() */
	bool native, idle;
	const char *who; /* whose chains; NULL: lengths */
};

static const struct opt waits_opts[] = {
	OPT_PARSE(struct waits_args, lengths.by, "by", 'b', "LEVEL",
		  "rows: wait (default), state, syscall, leaf, caller, thread, process, ... as in preport",
		  view_parse_levels),
	OPT_FLAG(struct waits_args, native, "kernel-leaf", 0,
		 "keep the kernel scheduler's frames as leaves of waits"),
	OPT_FLAG(struct waits_args, idle, "idle", 0,
		 "show where idle threads wait, not [waiting for work]"),
	OPT_GROUP(struct waits_args, lengths, length_opts),
	OPT_END,
};

static void waits_defaults(void *args)
{
	length_args_init(args, VIEW_WAIT);
}

/* ---- lengths ---- */

/* What the scheduler says of the same threads: times from two sources. */
static void print_account(struct arena *arena, const struct profile_lives *lives)
{
	const struct profile_account *account = &lives->account;

	if (!account->threads)
		return;
	printf("the scheduler's own account of %s, over %s of their time:\n"
	       "  %s on a CPU (%s by switches), %s waiting for one\n",
	       number_of(arena, account->threads, "thread"),
	       number_share(arena, MIN((double)account->ns / (double)MAX(lives->life_ns, 1), 1)),
	       number_time(arena, account->run_ns), number_time(arena, account->own_run_ns),
	       number_time(arena, account->wait_ns));
}

static void print_head(const struct length_args *args, const struct session *s, const struct wait_lengths *lengths)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };

	printf("%s, %s in all, by %s\n", number_of(&arena, lengths->all.lengths_ns.len, "wait"),
	       number_time(&arena, lengths->all.total_ns), view_by_name(args->by.items[0].by));
	if (s->facts.lives.unwatched_ns)
		printf("switches were recorded for %s of the time, since there were too many: single waits of the rest are not known\n",
		       number_share(&arena, 1 - (double)s->facts.lives.unwatched_ns / (double)s->facts.lives.window_ns));
	if (s->facts.lives.thinned)
		printf("stacks were thinned to one in up to %s switches: all waits are here with their lengths; "
		       "those without a stack are a row\n", number_count(&arena, s->facts.lives.thinned));
	else if (s->facts.lives.stacks_lost)
		printf("samples were lost: all waits are here with their lengths; those without a stack are a row\n");
	print_account(&arena, &s->facts.lives);
}

static struct err *print_lengths(const struct waits_args *args, const struct session *s)
{
	const struct length_report report = {
		.request = { .event = s->facts.first_type,
			     .level = args->lengths.by.items[0],
			     .native = args->native,
			     .idle = args->idle },
		.noun = "waits",
		.head = print_head,
	};

	return length_report_print(&report, &args->lengths, s);
}

/* ---- chains ---- */

static void add_number(struct table *table, const char *title, const char *key)
{
	table_add_column(table, &(struct table_column){ title, key, TABLE_RIGHT, TABLE_KEEP, true });
}

static void fill_chain(struct table *table, const struct waits_args *args, const struct wait_chain *chain)
{
	struct arena *arena = table->arena;

	add_number(table, NULL, "depth");
	add_number(table, "share", "share");
	add_number(table, "time", "total_ns");
	add_number(table, "longest", "max");
	add_number(table, "times", "waits");
	table->indent_column = (unsigned)table->columns.len;
	table_add_column(table, &(struct table_column){ "thread", "thread", TABLE_LEFT, TABLE_CUT_END, false });
	table_add_column(table, &(struct table_column){ "where it is meanwhile", "function", TABLE_LEFT, TABLE_CUT_NAME, false });
	table_add_column(table, &(struct table_column){ "waits for", "wait", TABLE_LEFT, TABLE_KEEP, false });
	for (size_t i = 0; i < chain->rows.len && (!args->lengths.limit || i < args->lengths.limit); i++) {
		const struct wait_chain_row *row = &chain->rows.items[i];
		double share = (double)row->ns / (double)MAX(chain->ns, 1);

		table_add_row(table, row->depth * 2, TABLE_PLAIN);
		table_add_format(table, "%u", row->depth);
		table_add_cell(table, number_share(arena, share), arena_printf(arena, "%.6f", share));
		table_add_cell(table, number_time(arena, row->ns), arena_printf(arena, "%" PRIu64, row->ns));
		table_add_cell(table, number_time(arena, row->longest_ns),
			       arena_printf(arena, "%" PRIu64, row->longest_ns));
		table_add_cell(table, number_count(arena, row->waits), arena_printf(arena, "%" PRIu64, row->waits));
		table_add_cell(table, row->thread, NULL);
		table_add_cell(table, row->function ? row->function : "(on a CPU)", row->function ? NULL : "");
		table_add_cell(table, row->kind, NULL);
	}
}

static void print_chain_text(const struct waits_args *args, const struct wait_chain *chain, struct table *table,
			     const struct terminal *term)
{
	struct arena *arena = table->arena;

	text_put_escaped(stdout, arena_printf(arena, "%s of %s, %s in all; below each what the thread that ended it did meanwhile",
					      number_of(arena, chain->waits, "wait"), args->who,
					      number_time(arena, chain->ns)));
	putchar('\n');
	if (!chain->with_wakers)
		puts("who ended waits was not recorded: precord --wakers");
	if (chain->cut)
		puts("too many to follow: only the first ones are shown");
	table_print_text(table, term, stdout);
	if (args->lengths.limit && chain->rows.len > args->lengths.limit)
		printf("(%s more, see -n)\n", number_count(arena, chain->rows.len - args->lengths.limit));
}

static struct err *print_chains(const struct waits_args *args, const struct session *s)
{
	struct wait_chain chain = { 0 };
	struct terminal term;
	struct table table;
	struct json json;

	wait_chain_collect(&chain, s->profile, s->facts.first_type, args->who);
	if (!chain.waits) {
		wait_chain_deinit(&chain);
		return err_remedy(err_new(ERR_USAGE, "no thread and no function '%s' waited", args->who),
				  "'preport waits --by thread' and '--by leaf' list them");
	}
	term = terminal_open(&args->lengths.terminal);
	table_init(&table, &chain.arena);
	fill_chain(&table, args, &chain);
	switch (table_format_named(args->lengths.format)) {
	case TABLE_CSV:
		table_print_csv(&table, stdout, /* with_header= */ true);
		break;
	case TABLE_JSON:
		json_init(&json, stdout);
		json.lines = true;
		json_open(&json, NULL, '{');
		json_string(&json, "of", args->who);
		json_uint(&json, "waits", chain.waits);
		json_uint(&json, "total_ns", chain.ns);
		table_print_json(&table, "rows", &json);
		json_close(&json, '}');
		break;
	default:
		print_chain_text(args, &chain, &table, &term);
	}
	table_deinit(&table);
	wait_chain_deinit(&chain);
	return terminal_close(&term, NULL);
}

static struct err *no_waits(const struct session *s)
{
	const struct recording *rec = s->recording;

	for (uint32_t i = 0; rec && i < rec->nevents; i++)
		if (derive_is_tracepoint(rec, i, DERIVE_SCHED_SWITCH))
			return err_remedy(err_new(ERR_UNSUPPORTED, "'%s' holds no waits: of single tasks, " DERIVE_SCHED_SWITCH
								   " does not tell when they come back to a CPU", s->facts.input),
					  "record with: perf record --switch-events or -a, or precord --off-cpu");
	return err_remedy(err_new(ERR_UNSUPPORTED, "'%s' holds no waits: switches were not recorded", s->facts.input),
			  "record with: precord --off-cpu");
}

static struct err *print_waits(struct session *s, void *args_)
{
	struct waits_args *args = args_;
	struct tables_request naming = { .levels = args->lengths.by };
	struct err *err;

	if (!args->lengths.filter.events.len)
		vec_push(&args->lengths.filter.events, DERIVE_OFF_CPU);
	s->keep_times = true;
	args->lengths.filter.each_wait = true;
	if (!args->who)
		s->names = tables_names(&naming);
	err = session_load(s, &args->lengths.filter);
	if (err && !s->facts.lives.switches) {
		err_free(err);
		return no_waits(s);
	}
	if (err)
		return err;
	return args->who ? print_chains(args, s) : print_lengths(args, s);
}

static struct err *waits_run(void *args, char **operands, int noperands, int *ret_status)
{
	struct waits_args *waits = args;

	(void)ret_status;
	noperands = session_args_take_file(&waits->lengths.session, operands, noperands);
	if (noperands > 1)
		return err_new(ERR_USAGE, "waits takes one thread or function");
	waits->who = noperands ? operands[0] : NULL;
	if (waits->lengths.by.len != 1 || waits->lengths.by.items[0].by == VIEW_TOTAL)
		return err_new(ERR_USAGE, "--by takes one level here, and not 'total', in which a wait would count several times");
	if (waits->lengths.by.items[0].by == VIEW_FIELD)
		return err_remedy(err_new(ERR_USAGE, "a wait has no field '%s'", view_level_name(&waits->lengths.by, 0)),
				  "--by takes a level here: wait, state, syscall, leaf, caller, thread, process, ...");
	return session_run(&cmd_waits, &waits->lengths.session, print_waits, waits);
}

const struct command cmd_waits = {
	.name = "waits",
	.summary = "how long threads waited: quantiles and a histogram",
	.operands = "[THREAD|FUNCTION]",
	.details = "With a thread's number or name (a glob), or a function: what those who ended its waits did meanwhile,\n"
		   "and those who ended their waits, and so on ('precord --wakers').\n"
		   "Each wait is one of a thread, from leaving a CPU until it came back or the recording ended.\n"
		   "Waits are recorded with 'precord --off-cpu'; 'preport --event off-cpu' shows where they are.",
	.examples = "  preport waits                  what threads waited for\n"
		    "  preport waits --min-wait 10ms  long waits only\n"
		    "  preport waits 'worker*'        who kept these threads waiting\n",
	.manual = "preport(1)",
	.opts = waits_opts,
	.args_size = sizeof(struct waits_args),
	.defaults = waits_defaults,
	.run = waits_run,
};
