/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mmap_wakeup.h - wakes the recorder when code is mapped, so that it opens files at once that may be deleted a moment
 * later.
 *
 * The kernel reports every executable mapping, not only new files. So wake-ups pause after each one, longer if it brought
 * no new file; an idle machine has none at all:
 *
 *	mapped        |   | | ||    |                                |
 *	wakes         |       |         |                            |
 *	pauses         10 ms   20 ms     40 ms ... 100 ms at most    10 ms
 *
 * After a new file the pause is half the last one, not the shortest: a machine that builds and tests makes new files all the time.
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
	void *page;    /* of the ring, whose records are never read */
	uint64_t head; /* of the ring, when a pass last began */
};

struct mmap_wakeup {
	int fd; /* an epoll over all CPUs' events, readable on a wake-up; -1: none */
	const struct event_plan *plan;
	const struct target *target;
	VEC(struct mmap_wakeup_wire) wires;
	uint64_t rest_ns;        /* the last pause */
	uint64_t rested_ns;      /* the end of the last pause */
	uint64_t rests_until_ns; /* end of this pause; UINT64_MAX: there is none */
	uint64_t news;           /* new files so far when the last pause began */
	uint64_t wakeups;        /* by mappings, and by ends of pauses alone */
};

/*
 * Open an event on each CPU that @target's tasks may run on; the arguments must outlive it. ERR_SYSTEM: not possible; then
 * mmap_wakeup_close() is not needed and the other functions do nothing.
 */
MUST_USE struct err *mmap_wakeup_open(struct mmap_wakeup *d, const struct event_plan *plan,
				   const struct target *target);
void mmap_wakeup_close(struct mmap_wakeup *d);

/* Open the event on @cpu, which came online. */
MUST_USE struct err *mmap_wakeup_reopen(struct mmap_wakeup *d, uint32_t cpu);

/* A pass over all rings begins: it sees the mappings so far. */
void mmap_wakeup_look(struct mmap_wakeup *d);

/*
 * Was something mapped since? The descriptors do not tell after a pause: that one of them is readable is forgotten as it is asked, and
 * epoll asks when it is told to wait for it again, and then once more (perf_poll() in kernel/events/core.c).
 */
bool mmap_wakeup_missed(const struct mmap_wakeup *d);

/* A wake-up was handled: begin a pause. @news: new files seen since the recording began. */
void mmap_wakeup_rest(struct mmap_wakeup *d, uint64_t now_ns, uint64_t news);

/* End the pause; false: it goes on. @woke: nothing but its end woke the recorder. */
bool mmap_wakeup_rested(struct mmap_wakeup *d, uint64_t now_ns, bool woke);

#endif
