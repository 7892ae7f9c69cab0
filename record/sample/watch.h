/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.h - sleeps until a ring reaches its watermark, a signal comes, or a timeout.
 *
 * On an idle machine nothing wakes it. Signals are blocked while a watch exists and read from a descriptor. Not
 * thread-safe.
 */
#ifndef RECORD_WATCH_H
#define RECORD_WATCH_H

#include "formats/base/err.h"
#include "record/sample/perf_fds.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct watch {
	int epoll_fd, signal_fd;
	sigset_t old_mask; /* from before, for the command */
	uint64_t wakeups;  /* times it returned */
	size_t live_rings; /* sample rings with live events */
};

/* What has happened, several at once perhaps. */
struct watch_result {
	bool child;        /* a child has ended */
	int signal;        /* SIGINT, SIGTERM, SIGHUP or 0 */
	unsigned toggles;  /* times that SIGUSR1 came */
	bool snapshot;     /* SIGUSR2 came */
	bool control;      /* commands can be read */
	bool bell;         /* the mmap wakeup rang; it is not watched any more */
	bool timed_out;    /* none of these, and no ring */
	bool from_process; /* the signal was sent by a process, not by the terminal */
};

/* Block the signals and make them readable. ERR_SYSTEM: no descriptors. */
MUST_USE struct err *watch_open(struct watch *ret);
void watch_close(struct watch *w);

/* Wait for the rings of @s too. ERR_SYSTEM: no descriptors. */
MUST_USE struct err *watch_rings(struct watch *w, const struct perf_fds *s);

/* Wait for those from number @first on too, that were opened since. ERR_SYSTEM: no descriptors. */
MUST_USE struct err *watch_more(struct watch *w, const struct perf_fds *s, size_t first);

/* Wait for commands on @fd too. ERR_SYSTEM: it cannot be waited for. */
MUST_USE struct err *watch_control(struct watch *w, int fd);

/* Stop watching sample rings, which others wait for, or watch them again. */
void watch_leave_samples(struct watch *w, const struct perf_fds *s, bool leave);

/* Return whenever @fd, an eventfd, is written to. ERR_SYSTEM: it cannot be waited for. */
MUST_USE struct err *watch_eventfd(struct watch *w, int fd);

/* Wait for the mmap wakeup's @fd, too, once; call it again when it may ring again. ERR_SYSTEM: it cannot be waited for. */
MUST_USE struct err *watch_bell(struct watch *w, int fd);

/* Wait for commands no longer. */
void watch_forget_control(struct watch *w, int fd);

/* Sleep for @timeout_ms at most. Rings whose tasks have all ended are forgotten, see live_rings. */
struct watch_result watch_wait(struct watch *w, const struct perf_fds *s, int timeout_ms);

#endif
