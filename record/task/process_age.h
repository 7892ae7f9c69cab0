/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_age.h - the start time of a process. Together with its number it identifies the process, as numbers are reused.
 */
#ifndef RECORD_PROCESS_AGE_H
#define RECORD_PROCESS_AGE_H

#include <stdint.h>

/* How old the process with the folder @proc_fd of /proc is, in nanoseconds, in steps of a tick; UINT64_MAX: not known. */
uint64_t process_age_ns(int proc_fd);

/* Its start in nanoseconds since boot, likewise. */
uint64_t process_begin_ns(int proc_fd);

#endif
