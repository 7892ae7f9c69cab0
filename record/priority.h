/* SPDX-License-Identifier: Apache-2.0 */
/*
 * priority.h - the recorder's place in line for a CPU.
 *
 * It needs very little of one, but in time: a reader that waits behind a crowd of busy threads loses samples.
 */
#ifndef RECORD_PRIORITY_H
#define RECORD_PRIORITY_H

#include <stdbool.h>

/*
 * Run this thread before all ordinary ones, at real-time priority @level (1 is the lowest), whatever nice(1) says.
 * False if that is not allowed. Processes and threads started from now on do not inherit it.
 */
bool priority_raise(int level);

/* Back to an ordinary thread. */
void priority_lower(void);

#endif
