/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_stat.h - a field of /proc/PID/stat by its number in proc_pid_stat(5).
 */
#ifndef RECORD_PROCESS_STAT_H
#define RECORD_PROCESS_STAT_H

#include <stdbool.h>
#include <stdint.h>

#define PROCESS_STAT_PARENT	 4
#define PROCESS_STAT_FLAGS	 9  /* PF_ of include/linux/sched.h */
#define PROCESS_STAT_THREADS	 20 /* how many the process has */
#define PROCESS_STAT_START_TIME	 22 /* ticks since the machine's start */
#define PROCESS_STAT_START_STACK 28 /* the start of the main thread's stack: all its frames lie below; 0: hidden */
#define PROCESS_STAT_PROCESSOR	 39 /* the CPU that it is on, or was on last */

/* Field number @field, from 4 on, of @text, the content of such a file. */
bool process_stat_field(const char *text, unsigned field, uint64_t *ret);

/* The same of the process with the folder @proc_fd of /proc. */
bool process_stat_u64(int proc_fd, unsigned field, uint64_t *ret);

/* The letter of field 3, 0 if there is none. */
char process_stat_state(const char *text);

/* Does the thread run, or wait for a CPU? */
bool process_stat_is_runnable(const char *text);
bool process_is_runnable(int proc_fd); /* its main thread */

#endif
