/* SPDX-License-Identifier: Apache-2.0 */
/*
 * terminal.c - the environment comes first: LINES and COLUMNS are set deliberately.
 */
#include "report/print/terminal.h"

#include "formats/base/columns.h"
#include "formats/base/text.h"
#include "report/print/pager.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static unsigned from_environment(const char *name, unsigned otherwise)
{
	const char *text = getenv(name);
	uint64_t value;

	if (!text || !text_parse_u64(text, &value) || value == 0 || value > 100000)
		return otherwise;
	return (unsigned)value;
}

static bool is_set(const char *name)
{
	const char *text = getenv(name);

	return text && *text;
}

struct terminal terminal_of(FILE *out)
{
	struct terminal term = { .utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0 };
	struct winsize size = { 0 };

	if (isatty(fileno(out))) {
		const char *name = getenv("TERM");

		if (ioctl(fileno(out), TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
			size.ws_row = 24;
		term.colour = !is_set("NO_COLOR") && name && strcmp(name, "dumb") != 0;
	}
	term.columns = columns_of(out);
	term.lines = from_environment("LINES", size.ws_row);
	return term;
}

static const char *const colors[] = { "auto", "always", "never", NULL };

const struct opt terminal_opts[] = {
	OPT_CHOICE(struct terminal_args, color, "color", 0, "WHEN",
		   "auto (default: on a terminal), always or never", colors),
	OPT_NOT(struct terminal_args, pager, "no-pager", 0,
		"do not send long output through $PREPORT_PAGER, $PAGER or less"),
	OPT_END,
};

void terminal_args_init(struct terminal_args *args)
{
	*args = (struct terminal_args){ .color = "auto", .pager = true };
}

struct terminal terminal_open(const struct terminal_args *args)
{
	struct terminal term = terminal_of(stdout);

	if (strcmp(args->color, "auto") != 0)
		term.colour = strcmp(args->color, "always") == 0;
	if (args->pager)
		term.pager = pager_start();
	if (term.pager) {
		char columns[16];

		/* For all that looks at standard output from now on. */
		snprintf(columns, sizeof(columns), "%u", term.columns);
		setenv("COLUMNS", columns, /* overwrite= */ 1);
	}
	return term;
}

struct err *terminal_close(struct terminal *term, struct err *err)
{
	struct err *pager_err = pager_finish(term->pager);

	term->pager = NULL;
	if (!err)
		return pager_err;
	err_free(pager_err);
	return err;
}
