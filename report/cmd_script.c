/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_script.c - one event after another in time order, for eyes and for other programs.
 */
#include "report/commands.h"
#include "report/perf_options.h"
#include "report/print/script.h"
#include "report/load/session.h"
#include "report/print/terminal.h"

#include <string.h>

struct script_args {
	struct session_args session;
	struct filter filter;
	struct terminal_args terminal;
	struct script_options print;
	const char *format;
	bool all;
};

static const char *const formats[] = { "text", "json", NULL };

static const struct opt script_opts[] = {
	OPT_FLAG(struct script_args, all, "all", 'a',
		 "show all records: mappings, forks, losses, ..., not only samples"),
	OPT_FLAG(struct script_args, print.relative, "relative", 0,
		 "count time from the start of the recording"),
	OPT_FLAG(struct script_args, print.no_chain, "no-chain", 0,
		 "show the leaf of each stack only"),
	OPT_CHOICE(struct script_args, format, "format", 0, "FORMAT",
		   "text, or json: one object a line", formats),
	OPT_GROUP(struct script_args, terminal, terminal_opts),
	OPT_GROUP(struct script_args, filter, filter_opts),
	OPT_GROUP(struct script_args, session, session_opts),
	OPT_FOREIGN(perf_script_options),
	OPT_END,
};

struct walk {
	const struct script_args *args;
	struct script *script;
};

static struct err *visit(void *context, const struct walked_event *event)
{
	const struct walk *walk = context;

	if (event->ev->kind == EVENT_SAMPLE || walk->args->all)
		script_print(walk->script, event);
	return NULL;
}

static struct err *print(struct session *s, void *args_)
{
	struct script_args *args = args_;
	struct terminal term = terminal_open(&args->terminal);
	struct walk walk = { args, script_new(s, &args->print, stdout) };
	struct loader_listener listener = { .event = visit, .context = &walk, .prints = true };
	struct err *err = session_each(s, &args->filter, &listener);

	script_free(walk.script);
	return terminal_close(&term, err);
}

static struct err *script_run(void *args, char **operands, int noperands, int *ret_status)
{
	struct script_args *script = args;

	(void)operands;
	(void)noperands;
	(void)ret_status;
	script->print.json = script->format && strcmp(script->format, "json") == 0;
	return session_run(&cmd_script, &script->session, print, script);
}

const struct command cmd_script = {
	.name = "script",
	.summary = "print every event, as text or JSON lines",
	.operands = "",
	.needs = "events",
	.opts = script_opts,
	.args_size = sizeof(struct script_args),
	.run = script_run,
};
