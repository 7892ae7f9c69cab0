/* SPDX-License-Identifier: Apache-2.0 */
/*
 * side_record.h - sorts the side-band records of one pass by time.
 *
 * A task that moves between CPUs writes its exec to one ring and the mappings of its new program to another:
 * read ring by ring, the exec could come last and remove the mappings.
 */
#ifndef RECORD_SIDE_RECORD_H
#define RECORD_SIDE_RECORD_H

#include "formats/base/arena.h"
#include "formats/perf/perf_record.h"
#include "record/event/ring.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A record where it lies until its ring is released. */
struct side_record {
	uint64_t time_ns;
	size_t ring, order; /* @order: each has its own */
	const uint8_t *data;
	size_t len;
};

struct side_records {
	struct side_record *items;
	size_t len, cap;
	const struct perf_layout *layout; /* of them all */
	struct arena copies; /* of those that wrap around a ring's end */
	uint8_t scratch[RING_RECORD_MAX];
};

/*
 * Add the records of ring number @number up to @until_ns. Later ones stay in the ring: a fork before them may be in a ring that was read
 * already, and records of an unknown task are dropped.
 */
void side_records_gather(struct side_records *records, struct ring *ring, size_t number, uint64_t until_ns);

/* Forget them all, before or after their rings are released. */
void side_records_reset(struct side_records *records);
void side_records_deinit(struct side_records *records);

/* By time, and where that is equal by order. Allocates nothing. */
void side_records_sort(struct side_records *records);

#endif
