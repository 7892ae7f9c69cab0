/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pager.c - as git does it. A reader who leaves early closes the pipe, and SIGPIPE ends the work that no one
 * looks at any more.
 */
#include "report/print/pager.h"

#include "formats/base/memory.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

struct pager *pager_start(void)
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

struct err *pager_finish(struct pager *pager)
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
