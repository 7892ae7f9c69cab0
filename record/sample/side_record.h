/* SPDX-License-Identifier: Apache-2.0 */
/*
 * side_record.h - records of the side-band rings of one pass, brought into order of time.
 *
 * A task that moves between CPUs writes its exec to one ring and the mappings of its new program to another:
 * followed ring by ring the exec would come last and take them away.
 */
#ifndef RECORD_SIDE_RECORD_H
#define RECORD_SIDE_RECORD_H

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
};

/* By time, and where that is equal by order. Allocates nothing. */
void side_records_sort(struct side_records *records);

#endif
