/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_stat.h - a field of /proc/PID/stat by its number in proc_pid_stat(5), and whose process it is.
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

/* The state: 'R' runs or waits for a CPU, 'D' is blocked where no signal wakes it; 0: not known. */
char process_stat_state(const char *text);

/* The same of the process, or thread, with the folder @proc_fd of /proc. */
char process_state(int proc_fd);

/*
 * The user of process @pid, UINT32_MAX if it is gone: the owner of its folder in /proc, which is the effective user even of a process
 * that is not dumpable: the files in it then belong to root, but not the folder itself (task_dump_owner() of the kernel).
 */
uint32_t process_owner(uint32_t pid);

#endif
