/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_stat.h - a number of a process's file stat (proc_pid_stat(5)), by the number that its field has there.
 */
#ifndef RECORD_PROCESS_STAT_H
#define RECORD_PROCESS_STAT_H

#include <stdbool.h>
#include <stdint.h>

#define PROCESS_STAT_START_TIME	 22 /* ticks since the machine's start */
#define PROCESS_STAT_START_STACK 28 /* where the main thread's stack began: all its frames lie below; 0: not told */

/* Field number @field, from 4 on, of the process with the folder @proc_fd of /proc. */
bool process_stat_u64(int proc_fd, unsigned field, uint64_t *ret);

#endif
