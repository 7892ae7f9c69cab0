/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doorbell.h - rings when code is mapped somewhere, so that the recorder looks at once and takes hold of files that
 * may be gone a moment later.
 *
 * The kernel cannot be asked for files that are new to us, only for every executable mapping. So it rests after each
 * ring, the longer the more often nothing new had come, and an idle machine does not ring it at all:
 *
 *	mapped        |   | | ||    |                                |
 *	rings         |       |         |                            |
 *	rests          10 ms   20 ms     40 ms ... 100 ms at most    10 ms
 *
 * A doorbell owns descriptors and mappings. Not thread-safe.
 */
#ifndef RECORD_DOORBELL_H
#define RECORD_DOORBELL_H

#include "formats/base/err.h"
#include "formats/base/vec.h"
#include "record/event_plan.h"
#include "record/target.h"

#include <stdbool.h>
#include <stdint.h>

/* On one CPU. */
struct doorbell_wire {
	int fd;
	void *page; /* of the ring that the kernel writes to and nobody reads */
};

struct doorbell {
	int fd; /* readable when it has rung: an epoll over all wires; -1: there is none */
	const struct event_plan *plan;
	const struct target *target;
	VEC(struct doorbell_wire) wires;
	uint64_t rest_ns;        /* how long it rested last */
	uint64_t rested_ns;      /* since when it may ring again, or may have been able to */
	uint64_t rests_until_ns; /* UINT64_MAX: it does not rest */
	uint64_t news;           /* how much was new when it last began to rest */
	uint64_t wakeups;        /* because it rang, or because it had rested */
};

/*
 * A wire to each CPU that @target's tasks may run on; both must outlive the doorbell. ERR_SYSTEM: it cannot be had;
 * then doorbell_close() is not needed, and all else may be called and does nothing.
 */
MUST_USE struct err *doorbell_open(struct doorbell *d, const struct event_plan *plan,
				   const struct target *target);
void doorbell_close(struct doorbell *d);

/* A wire to @cpu, which was off line. ERR_SYSTEM: that cannot be. */
MUST_USE struct err *doorbell_reopen(struct doorbell *d, uint32_t cpu);

/* It has rung and was answered. @news: how many new files were seen since the recording began. */
void doorbell_rest(struct doorbell *d, uint64_t now_ns, uint64_t news);

/* It has rested enough: from now on it may ring. */
bool doorbell_rested(struct doorbell *d, uint64_t now_ns);

#endif
