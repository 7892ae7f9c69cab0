/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_clock.h - tells whether another process's thread ran between two readings.
 *
 * The CPU clock of the process costs one system call and is enough while only one of its threads runs. Once another thread was
 * seen to move it, the thread's own scheduler account is read from /proc, through files that stay open. A perf counter would
 * do too, but opening the first one takes an RCU grace period, 20 to 70 ms on a busy machine, and each one costs kernel
 * time whenever its thread is scheduled. Thread-safe.
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
 * CPU time of thread @tid of process @pid, or if that is not available of its whole process: the first reading of two. A thread with its own
 * clock that runs on another CPU now gets a value that no other reading equals. The clock of an ended thread is closed, since its number may
 * be reused.
 */
uint64_t thread_clocks_begin(struct thread_clocks *clocks, uint32_t pid, uint32_t tid);

/* The second reading. */
uint64_t thread_clocks_read(struct thread_clocks *clocks, uint32_t pid, uint32_t tid);

/*
 * Two readings differed, perhaps because of another thread of the process: from now on read the clock of @tid alone. False if that was
 * done before, or is not possible: the kernel has no such account (CONFIG_SCHED_INFO).
 */
bool thread_clocks_refine(struct thread_clocks *clocks, uint32_t pid, uint32_t tid);

#endif
