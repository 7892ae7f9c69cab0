/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loss_counts.h - samples kept and lost for every event on every CPU.
 *
 * Kept and lost samples add up to those that the kernel took: a report is only as good as this sum.
 * If events follow CPUs but only some tasks are recorded, losses include other tasks' samples. Our part is estimated as
 * our part of the samples since the previous loss. Not thread-safe.
 */
#ifndef RECORD_LOSS_COUNTS_H
#define RECORD_LOSS_COUNTS_H

#include "formats/event.h"
#include "formats/recording.h"
#include "record/sample/perf_fds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loss_counts_row;
struct loss_counts_ring;

/* A zeroed one may be deinitialised. */
struct loss_counts {
	struct loss_counts_row *rows;   /* [event][sample ring] */
	struct loss_counts_ring *rings; /* sample rings */
	size_t nevents, nrings;
};

void loss_counts_init(struct loss_counts *l, const struct perf_fds *perf_fds);
void loss_counts_deinit(struct loss_counts *l);

/* A sample of @event from sample ring number @ring was written. */
void loss_counts_keep(struct loss_counts *l, uint32_t event, size_t ring, const struct event_sample *sample);

/* The same, with @period, of a task that is not recorded. */
void loss_counts_pass_over(struct loss_counts *l, uint32_t event, size_t ring, uint64_t period);

/* The same, but it cannot be parsed. */
void loss_counts_drop(struct loss_counts *l, uint32_t event, size_t ring, uint64_t count);

/* The kernel throttled @event. */
void loss_counts_throttle(struct loss_counts *l, uint32_t event, size_t ring);

/* The kernel lost @count records of sample ring number @ring; returns the estimated number of ours. */
uint64_t loss_counts_lose(struct loss_counts *l, size_t ring, uint64_t count);

/*
 * Counts for each event and CPU, including the counters' values of now; in @arena. @selected: only some of the tasks on
 * these CPUs were recorded.
 */
struct recording_count *loss_counts_close(const struct loss_counts *l, const struct perf_fds *perf_fds,
				     bool by_cpu, bool selected, struct arena *arena,
				     size_t *ret_count);

#endif
