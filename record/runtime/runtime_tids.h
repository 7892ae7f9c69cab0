/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime_tids.h - maps thread numbers of a process's PID namespace to the recorder's, with the kernel's name of the thread.
 */
#ifndef RUNTIME_TIDS_H
#define RUNTIME_TIDS_H

#include "formats/base/map.h"

#include <stdbool.h>
#include <stdint.h>

#define RUNTIME_COMM_LEN 32 /* bytes, with a NUL */

/* Of one process; empty when zeroed. */
struct runtime_tids {
	struct map outer; /* by their numbers in a namespace of their own */
};

void runtime_tids_deinit(struct runtime_tids *tids);

/* The thread that process @pid knows as *@tid is *@tid here, and has the name @comm. False if it has ended. */
bool runtime_tids_find(struct runtime_tids *tids, uint32_t pid, uint32_t *tid, char comm[RUNTIME_COMM_LEN]);

#endif
