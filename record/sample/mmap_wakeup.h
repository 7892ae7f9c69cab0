/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mmap_wakeup.h - rings when code is mapped somewhere, so that the recorder looks at once and takes hold of files that
 * may be gone a moment later.
 *
 * The kernel cannot be asked for files that are new to us, only for every executable mapping. So it rests after each
 * ring, the longer the more often nothing new had come, and an idle machine does not ring it at all:
 *
 *	mapped        |   | | ||    |                                |
 *	rings         |       |         |                            |
 *	rests          10 ms   20 ms     40 ms ... 100 ms at most    10 ms
 *
 * Where something new had come it rests half as long as the last time: a machine that builds and tests has new files all the time.
 *
 * A mmap wakeup owns descriptors and mappings. Not thread-safe.
 */
#ifndef RECORD_MMAP_WAKEUP_H
#define RECORD_MMAP_WAKEUP_H

#include "formats/base/err.h"
#include "formats/base/vec.h"
#include "record/event/event_plan.h"
#include "record/task/target.h"

#include <stdbool.h>
#include <stdint.h>

/* On one CPU. */
struct mmap_wakeup_wire {
	int fd;
	void *page; /* of the ring that the kernel writes to and that is never read */
};

struct mmap_wakeup {
	int fd; /* readable when it has rung: an epoll over all wires; -1: there is none */
	const struct event_plan *plan;
	const struct target *target;
	VEC(struct mmap_wakeup_wire) wires;
	uint64_t rest_ns;        /* how long it rested last */
	uint64_t rested_ns;      /* since when it may ring again, or may have been able to */
	uint64_t rests_until_ns; /* UINT64_MAX: it does not rest */
	uint64_t news;           /* how much was new when it last began to rest */
	uint64_t wakeups;        /* because it rang, or because it had rested */
};

/*
 * A wire to each CPU that @target's tasks may run on; both must outlive the mmap wakeup. ERR_SYSTEM: it cannot be had;
 * then mmap_wakeup_close() is not needed, and all else may be called and does nothing.
 */
MUST_USE struct err *mmap_wakeup_open(struct mmap_wakeup *d, const struct event_plan *plan,
				   const struct target *target);
void mmap_wakeup_close(struct mmap_wakeup *d);

/* A wire to @cpu, which was off line. ERR_SYSTEM: that cannot be. */
MUST_USE struct err *mmap_wakeup_reopen(struct mmap_wakeup *d, uint32_t cpu);

/* It has rung and was answered. @news: how many new files were seen since the recording began. */
void mmap_wakeup_rest(struct mmap_wakeup *d, uint64_t now_ns, uint64_t news);

/* It has rested enough: from now on it may ring. */
bool mmap_wakeup_rested(struct mmap_wakeup *d, uint64_t now_ns);

#endif
