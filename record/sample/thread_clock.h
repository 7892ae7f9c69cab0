/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_clock.h - did a thread of another process run between two moments?
 *
 * The CPU clock of its process tells at the cost of one system call, and as long as only one thread runs that is all it
 * takes. Once another thread was seen to move it, the scheduler's account of the thread alone is read from /proc, whose files stay open. A
 * counter of perf would tell as well, but opening the first one takes a grace period of RCU, 20 to 70 ms on a busy machine,
 * and each is work for the kernel whenever its thread comes to a CPU. Several threads may use one.
 */
#ifndef RECORD_THREAD_CLOCK_H
#define RECORD_THREAD_CLOCK_H

#include "formats/base/map.h"

#include <pthread.h>
#include <stdint.h>

struct thread_clocks {
	pthread_rwlock_t lock;
	struct map by_tid; /* struct thread_clock * */
	size_t max;
	_Atomic uint64_t reads;
};

/* To be released with thread_clocks_deinit(). */
void thread_clocks_init(struct thread_clocks *clocks);
void thread_clocks_deinit(struct thread_clocks *clocks);

/*
 * Time that thread @tid of process @pid, or failing that its whole process, has run: the first reading of two. No other reading is like
 * that of a thread with a clock of its own that runs on another CPU than the caller now. A clock whose thread has ended is closed, since another
 * one may have its number by now.
 */
uint64_t thread_clocks_begin(struct thread_clocks *clocks, uint32_t pid, uint32_t tid);

/* The same once more. */
uint64_t thread_clocks_read(struct thread_clocks *clocks, uint32_t pid, uint32_t tid);

/*
 * Two readings differed, perhaps for another thread of the process: from now on read that of @tid alone. False if that was so
 * before, or cannot be: the kernel has no such account (CONFIG_SCHED_INFO).
 */
bool thread_clocks_refine(struct thread_clocks *clocks, uint32_t pid, uint32_t tid);

#endif
