/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inner_pid.h - the number of a process or thread in its own PID namespace, for example a container's.
 *
 * The kernel's records have the numbers of the recorder's namespace; a program's memory and file names have its own.
 */
#ifndef RECORD_INNER_PID_H
#define RECORD_INNER_PID_H

#include <stdint.h>

/* By @status, the text of a file "status" of /proc; @pid, the number outside, if that does not say. */
uint32_t inner_pid_in(const char *status, uint32_t pid);

/* Of thread @tid of process @pid; @tid if it is gone. */
uint32_t inner_tid(uint32_t pid, uint32_t tid);

#endif
