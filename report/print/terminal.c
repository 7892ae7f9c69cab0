/* SPDX-License-Identifier: Apache-2.0 */
/*
 * terminal.c - the environment comes first: LINES and COLUMNS are set deliberately.
 */
#include "report/print/terminal.h"

#include "formats/base/columns.h"
#include "formats/base/err.h"
#include "formats/base/memory.h"
#include "formats/base/text.h"

#include <errno.h>
#include <langinfo.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the pager ---- */

/*
 * As git does it: long output on a terminal goes through a program that scrolls. A reader who leaves early closes the pipe,
 * and SIGPIPE ends the work that no one looks at any more.
 */

#define NOT_FOUND 127 /* what sh exits with */

struct pager {
	const char *program; /* of the environment */
	pid_t pid;
	int saved_stdout;
};

static bool is_in_path(const char *program)
{
	const char *path = getenv("PATH");

	while (path && *path) {
		char file[4096];
		int len = (int)strcspn(path, ":");

		if (snprintf(file, sizeof(file), "%.*s/%s", len, path, program) <
			    (int)sizeof(file) &&
		    access(file, X_OK) == 0)
			return true;
		path += len + (path[len] == ':');
	}
	return false;
}

/* NULL: none is wanted. */
static const char *choose(void)
{
	const char *program = getenv("PREPORT_PAGER");

	if (!program)
		program = getenv("PAGER");
	if (!program)
		return is_in_path("less") ? "less" : NULL;
	return *program && strcmp(program, "cat") != 0 ? program : NULL;
}

static void run(const char *program, const int fds[2])
{
	dup2(fds[0], STDIN_FILENO);
	close(fds[0]);
	close(fds[1]);
	setenv("LESS", "FRX", /* overwrite= */ 0);
	setenv("LV", "-c", /* overwrite= */ 0);
	execl("/bin/sh", "sh", "-c", program, (char *)NULL);
	_exit(NOT_FOUND);
}

/*
 * From now on standard output goes to $PREPORT_PAGER, $PAGER or less(1), the first that is set; with LESS=FRX unless
 * LESS is set, so that what fits on the screen stays there. NULL, and nothing happens, if standard output is no terminal or
 * the pager is empty or "cat", or if none is named and less is not there.
 */
static struct pager *pager_start(void)
{
	const char *program = isatty(STDOUT_FILENO) ? choose() : NULL;
	struct pager *pager;
	int fds[2];

	if (!program || pipe(fds) < 0)
		return NULL;
	fflush(stdout);
	pager = memory_zeroed(1, sizeof(*pager));
	pager->program = program;
	pager->pid = fork();
	if (pager->pid == 0)
		run(program, fds);
	close(fds[0]);
	if (pager->pid < 0) {
		close(fds[1]);
		free(pager);
		return NULL;
	}
	pager->saved_stdout = dup(STDOUT_FILENO);
	dup2(fds[1], STDOUT_FILENO);
	close(fds[1]);
	return pager;
}

/*
 * Wait until the reader is through, and give standard output back. @pager may be NULL. ERR_SYSTEM: the pager could not be run.
 */
static struct err *pager_finish(struct pager *pager)
{
	struct err *err = NULL;
	int status = 0;

	if (!pager)
		return NULL;
	if (fflush(stdout) != 0)
		err = err_system(errno, "cannot write to '%s'", pager->program);
	clearerr(stdout);
	dup2(pager->saved_stdout, STDOUT_FILENO); /* closes the pipe: the reader's end of file */
	close(pager->saved_stdout);
	while (waitpid(pager->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!err && WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND)
		err = err_remedy(err_new(ERR_SYSTEM, "the pager '%s' could not be run",
					 pager->program),
				 "set PREPORT_PAGER to another one, or use --no-pager");
	free(pager);
	return err;
}

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

static void init(void *args)
{
	*(struct terminal_args *)args = (struct terminal_args){ .color = "auto", .pager = true };
}

const struct opt terminal_opts[] = {
	OPT_LIFE(init, NULL),
	OPT_CHOICE(struct terminal_args, color, "color", 0, "WHEN",
		   "auto (default: on a terminal), always or never", colors),
	OPT_NOT(struct terminal_args, pager, "no-pager", 0,
		"do not send long output through $PREPORT_PAGER, $PAGER or less"),
	OPT_END,
};

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
