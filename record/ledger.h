/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger.h - what every event gave on every CPU, and what was lost of it.
 *
 * Samples kept and lost together are what the kernel made: that is what makes the shares in a report believable.
 * Where events follow CPUs but only some tasks are recorded, the losses are everybody's, and the ledger
 * estimates the part that is ours: that of the samples since the loss before. Not thread-safe.
 */
#ifndef RECORD_LEDGER_H
#define RECORD_LEDGER_H

#include "formats/event.h"
#include "formats/recording.h"
#include "record/sensors.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ledger_row;
struct ledger_ring;

/* A zeroed one may be deinitialised. */
struct ledger {
	struct ledger_row *rows;   /* [event][sample ring] */
	struct ledger_ring *rings; /* sample rings */
	size_t nevents, nrings;
};

void ledger_init(struct ledger *l, const struct sensors *sensors);
void ledger_deinit(struct ledger *l);

/* A sample of @event came out of sample ring number @ring, and is written. */
void ledger_keep(struct ledger *l, uint32_t event, size_t ring, const struct event_sample *sample);

/* The same, with @period, of a task that is not recorded. */
void ledger_pass_over(struct ledger *l, uint32_t event, size_t ring, uint64_t period);

/* The same, but it cannot be understood. */
void ledger_drop(struct ledger *l, uint32_t event, size_t ring);

/* The kernel stopped @event for a moment. */
void ledger_throttle(struct ledger *l, uint32_t event, size_t ring);

/* The kernel lost @count records of sample ring number @ring: how many of them were ours. */
uint64_t ledger_lose(struct ledger *l, size_t ring, uint64_t count);

/*
 * Counts for each event and CPU, with what the counters of @sensors say now; they live in @arena. @selected: only
 * some of the tasks on these CPUs were recorded.
 */
struct recording_count *ledger_close(const struct ledger *l, const struct sensors *sensors,
				     bool by_cpu, bool selected, struct arena *arena,
				     size_t *ret_count);

#endif
