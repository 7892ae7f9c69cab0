/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wake_filter.h - wakes readers for samples of marked processes only: a small program in the kernel (BPF) looks at each.
 *
 *	sample ─ interrupt ─► is its process marked? ─ yes ─► the bell of its ring, which its reader waits for
 *
 * A reader that is woken for each sample of a CPU costs more by waking than by what it reads, and most samples are of
 * processes that it has nothing to read of. The program reads the number of the process and nothing else, and all samples go
 * to their rings as they would without it. A bell is rung before its sample is in the ring, but the reader, which belongs to
 * that CPU, runs afterwards. Of processes in other namespaces of numbers than ours all samples ring.
 *
 * Several threads may mark, and each ring's reader answers.
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

/* One reason more, or one less, to wake for samples of process @pid. Others may share its mark, and wake as well. */
void wake_filter_mark(struct wake_filter *f, uint32_t pid);
void wake_filter_unmark(struct wake_filter *f, uint32_t pid);

/* Readable while the bell of @ring has rung and nobody has answered. */
int wake_filter_fd(const struct wake_filter *f, size_t ring);

/*
 * How far the bell of @ring has rung: taken before the ring is looked at, and afterwards handed to wake_filter_answer(), so
 * that what rings meanwhile rings on.
 */
uint64_t wake_filter_rung(const struct wake_filter *f, size_t ring);
void wake_filter_answer(struct wake_filter *f, size_t ring, uint64_t rung);

/* Has it rung for a sample that its reader has not looked at? */
bool wake_filter_waits(const struct wake_filter *f, size_t ring);

#endif
