/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_age.h - since when a process has been there.
 *
 * With its number that tells it from one that has the number later.
 */
#ifndef RECORD_PROCESS_AGE_H
#define RECORD_PROCESS_AGE_H

#include <stdint.h>

/* How old the process with the folder @proc_fd of /proc is, in nanoseconds, in steps of a tick; UINT64_MAX: not known. */
uint64_t process_age_ns(int proc_fd);

/* When it began, since the machine did, likewise. */
uint64_t process_begin_ns(int proc_fd);

#endif
