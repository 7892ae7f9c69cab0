/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workload.h - the command that is recorded: forked early so that its events can be opened, started late.
 *
 * The child waits between the two on a pipe. A workload that is never started goes away with its end of
 * the pipe. Not thread-safe.
 */
#ifndef RECORD_WORKLOAD_H
#define RECORD_WORKLOAD_H

#include "formats/base/err.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct workload {
	pid_t pid;      /* 0: none */
	int go_fd;      /* a byte here starts it */
	int failed_fd;  /* its errno comes from here if it could not be started */
	int exec_errno; /* not 0: it could not be started */
	bool started;   /* let run by workload_start() */
	bool ended;
	int status; /* as from wait(2), once it has ended */
};

/*
 * Fork the child that will run @argv, with the signal mask @mask; if the trace goes to standard output
 * (@stdout_taken), what it prints there goes to standard error. ERR_SYSTEM: no process to be had.
 */
MUST_USE struct err *workload_fork(char **argv, const sigset_t *mask, bool stdout_taken,
				   struct workload *ret);

/*
 * Let it run. ERR_SYSTEM: the command cannot be started; workload_exit_status() then is 127 if there is no
 * such program, otherwise 126, as for a shell.
 */
MUST_USE struct err *workload_start(struct workload *w);

/* Has it ended? Never blocks. */
bool workload_ended(struct workload *w);

/* Pass @signal on to it. */
void workload_signal(const struct workload *w, int signal);

/* Exit status that stands for how it ended; *@ret_signal is the signal it died by, or 0. */
int workload_exit_status(const struct workload *w, int *ret_signal);

/* Die by @signal as the command did, so that our parent sees the same; without a core of our own. */
void workload_die_by(int signal);

/* Close the descriptors; a child that was never started ends. */
void workload_deinit(struct workload *w);

/* Is there a program @name in a folder of PATH? */
bool workload_in_path(const char *name);

#endif
