/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sched_account.h - the scheduler's account of a thread: /proc/PID/task/TID/schedstat, and /proc/PID/schedstat of the main thread.
 *
 * It is as of the thread's last switch or scheduler tick, and only grows. Source: the kernel's Documentation/scheduler/sched-stats.rst;
 * kernels without CONFIG_SCHED_INFO have none.
 */
#ifndef RECORD_SCHED_ACCOUNT_H
#define RECORD_SCHED_ACCOUNT_H

#include "formats/event.h"

#include <stdbool.h>

/* Read @fd from its start. False: the thread has ended, or there is no such account. */
bool sched_account_read(int fd, struct event_task_times *ret);

#endif
