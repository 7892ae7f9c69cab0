/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_clock.h - the CPU time of a process, of all its threads. Needs no file and no permission.
 */
#ifndef RECORD_PROCESS_CLOCK_H
#define RECORD_PROCESS_CLOCK_H

#include <stdint.h>

/* In nanoseconds; 0: it is gone. */
uint64_t process_clock_ns(uint32_t pid);

#endif
