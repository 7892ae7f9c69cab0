/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_tui.c - look around in a recording on the terminal.
 */
#include "report/commands.h"
#include "report/load/session.h"
#include "report/tui/tui.h"
#include "report/tui/tui_listing.h"

#include <string.h>

struct tui_args {
	struct session_args session;
	struct filter filter;
};

static const struct opt tui_opts[] = {
	OPT_GROUP(struct tui_args, filter, filter_opts),
	OPT_GROUP(struct tui_args, session, session_opts),
	OPT_END,
};

static void tui_defaults(void *args)
{
	struct tui_args *tui = args;

	session_args_init(&tui->session);
}

static void tui_release(void *args)
{
	struct tui_args *tui = args;

	filter_deinit(&tui->filter);
	session_args_deinit(&tui->session);
}

static struct err *list(void *context, struct screen *screen, const char *wanted, bool *ret_closed)
{
	return tui_listing_show(screen, context, wanted, ret_closed);
}

/* Reading comes first, so that what goes wrong there is said on the terminal as it was. */
static struct err *look_around(struct session *s, void *args_)
{
	struct tui_args *args = args_;
	struct screen *screen;
	struct err *err;

	args->filter.with_wall = true;
	s->keep_times = true; /* for the flame graph that f writes */
	err = session_load(s, &args->filter);
	if (!err)
		err = screen_new(&screen);
	if (err)
		return err;
	err = tui_run(&(struct tui_input){ s->profile, &s->facts, list, s }, screen);
	screen_free(screen);
	return err;
}

static struct err *tui_main(void *args, char **operands, int noperands, int *ret_status)
{
	struct tui_args *tui = args;

	(void)operands;
	(void)noperands;
	(void)ret_status;
	if (strcmp(tui->session.input, "-") == 0)
		return err_remedy(err_new(ERR_USAGE, "standard input is where keys come from"),
				  "write the recording to a file first");
	return session_run(&cmd_tui, &tui->session, look_around, tui);
}

const struct command cmd_tui = {
	.name = "tui",
	.summary = "look around in a recording on the terminal",
	.operands = "",
	.details = "Enter unfolds a row into its callers, a shows its instructions, t, p and d choose a "
		   "thread, process or module, / searches, ? shows all keys.",
	.opts = tui_opts,
	.args_size = sizeof(struct tui_args),
	.defaults = tui_defaults,
	.run = tui_main,
	.release = tui_release,
};
