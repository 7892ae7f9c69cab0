/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_clock.h - did a thread of another process run between two moments?
 *
 * The CPU clock of its process tells at the cost of one system call, and as long as only one thread runs that is all it
 * takes. Once another thread was seen to move it, the thread gets a counter of its own. Not thread-safe.
 */
#ifndef RECORD_THREAD_CLOCK_H
#define RECORD_THREAD_CLOCK_H

#include "formats/base/map.h"

#include <stdint.h>

/* Empty when zeroed. */
struct thread_clocks {
	struct map by_tid; /* to descriptor + 1 */
	uint64_t reads;
};

/* Time that thread @tid of process @pid, or failing that its whole process, has run. */
uint64_t thread_clocks_read(struct thread_clocks *clocks, uint32_t pid, uint32_t tid);

/* Two readings differed, perhaps for another thread of the process: from now on read that of @tid alone, if that can be. */
void thread_clocks_refine(struct thread_clocks *clocks, uint32_t tid);

void thread_clocks_deinit(struct thread_clocks *clocks);

#endif
