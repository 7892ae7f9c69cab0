/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_waits.h - which waits are those of threads that have nothing to do: event loops, worker queues, accept.
 *
 * The rule: a thread spends at least IDLE_SHARE of the recording's length in one function, and there it
 *	- polls, accepts connections, waits for a signal or a terminal, or is an idle kernel thread; or
 *	- waits on a condition variable or semaphore for IDLE_MEAN_NS at a time on average.
 * A thread that waits for a mutex is never idle, however long it waits; nor is one that waits for a thread (join) or a
 * process (wait4) to end: its question is what that one does.
 */
#ifndef REPORT_IDLE_WAITS_H
#define REPORT_IDLE_WAITS_H

#include "formats/profile/profile.h"

#define IDLE_SHARE   0.95
#define IDLE_MEAN_NS 100000000

/* By row of @p, which must be named: is it such a wait? @len_ns is how long was recorded. The caller frees it. */
bool *idle_waits_find(const struct profile *p, uint64_t len_ns);

#endif
