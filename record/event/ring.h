/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.h - the ring buffer that the kernel fills for one CPU, mapped and read without copying.
 *
 *	       tail            head                 one control page, then 2^n pages of records
 *	 ------[ record | record )------            between tail and head: ours; the rest: the kernel's
 *
 * A ring owns its mapping, not the descriptor it was mapped from. Not thread-safe.
 */
#ifndef RECORD_RING_H
#define RECORD_RING_H

#include "formats/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_event_mmap_page;

struct ring {
	int fd; /* the event that was mapped; for poll(2) and PERF_EVENT_IOC_SET_OUTPUT */
	uint32_t cpu;
	struct perf_event_mmap_page *page;
	const uint8_t *data;
	uint64_t data_len; /* a power of two */
	uint64_t tail;     /* read up to here */
	uint64_t skipped;  /* bytes that could not be records; whoever tells of them sets it to 0 */
	bool lean;         /* its CPU takes short snapshots (perf_fds_set_lean) */
};

/* Bytes a record can have, for the copy of one that wraps around the end. */
#define RING_RECORD_MAX 65536

/*
 * Map @data_len bytes (a power of two of at least a page) for the event @fd of @cpu.
 * ERR_SYSTEM: refused; EPERM without lockable memory, ENOMEM without any.
 */
MUST_USE struct err *ring_open(struct ring *ring, int fd, uint32_t cpu, uint64_t data_len);

/* A zeroed ring is fine. */
void ring_close(struct ring *ring);

/* Up to where the kernel has written; what is before it may be read. */
uint64_t ring_head(const struct ring *ring);

/*
 * The next record before @head, header included, valid until ring_release(). One that wraps around the
 * end is copied to @scratch (RING_RECORD_MAX bytes). False when there is none; what cannot be a
 * record is skipped up to @head.
 */
bool ring_next(struct ring *ring, uint64_t head, uint8_t *scratch, const uint8_t **ret_data,
	       size_t *ret_len);

/* Give back all that was read. */
void ring_release(struct ring *ring);

#endif
