/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wake_filter.h - wakes readers only for samples of marked processes: a small BPF program checks each sample.
 *
 *	sample ─ interrupt ─► is its process marked? ─ yes ─► the bell of its ring, which its reader waits for
 *
 * Waking a reader costs more than its reading, and most samples are of processes without anything to read. The program reads
 * only the process number, and all samples go to their rings as without it. A bell rings before its sample is in the ring,
 * but the reader, pinned to that CPU, runs afterwards. All samples of processes in other PID namespaces ring.
 *
 * Marking is thread-safe; only a ring's reader answers its bell.
 */
#ifndef RECORD_WAKE_FILTER_H
#define RECORD_WAKE_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wake_filter;

/* Bells for @nrings rings; NULL: this kernel has no such programs (Linux 5.8), or not for us (CAP_BPF, CAP_SYS_ADMIN). */
struct wake_filter *wake_filter_new(size_t nrings);
void wake_filter_free(struct wake_filter *f);

/* From now on samples of the event @fd ring the bell of ring number @ring. False: events of this kind cannot. */
bool wake_filter_attach(const struct wake_filter *f, size_t ring, int fd);

/* Add or remove a reason to wake for samples of process @pid. Other processes may share its mark and then wake, too. */
void wake_filter_mark(struct wake_filter *f, uint32_t pid);
void wake_filter_unmark(struct wake_filter *f, uint32_t pid);

/* Readable from the ring of the bell of @ring until it is answered. */
int wake_filter_fd(const struct wake_filter *f, size_t ring);

/*
 * The position of the bell of @ring: get it before looking at the ring and pass it to wake_filter_answer() afterwards, so
 * that a ring in between is not lost.
 */
uint64_t wake_filter_rung(const struct wake_filter *f, size_t ring);
void wake_filter_answer(struct wake_filter *f, size_t ring, uint64_t rung);

/* Has it rung for a sample that its reader has not seen? */
bool wake_filter_waits(const struct wake_filter *f, size_t ring);

#endif
