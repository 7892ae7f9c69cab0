/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switch_guard.h - duty-cycles the recording of switches when there are too many of them.
 *
 *	on  ████      ████      ████████████████
 *	off     ──────    ──────
 *	        ▲ more than SWITCH_GUARD_RATE records a second on some CPU
 *
 * A record of a switch costs the switching thread some 0.2 us and the recorder a microsecond, so two threads that pass a byte
 * back and forth would run at half their speed. Above the rate, switches and their stacks are recorded for only a part
 * of the time, on all CPUs, so that the average stays at the rate. The scheduler's accounts (task_times.h), read at each
 * change, give the totals of the time in between; the recorded time is their sample. Lengths vary at random, so that
 * periodic programs are not always recorded at the same phase.
 *
 * Pure policy: the drain counts, the recorder turns.
 */
#ifndef RECORD_SWITCH_GUARD_H
#define RECORD_SWITCH_GUARD_H

#include "formats/base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SWITCH_GUARD_RATE 5000 /* records a second on each CPU */

/* Zeroed, it never turns. */
struct switch_guard {
	bool wanted;
	bool off;
	VEC(uint64_t) counts;  /* records since @since_ns, by ring: those of one CPU have the same number */
	uint64_t since_ns;
	uint64_t on_ns;	       /* minimum time on */
	uint64_t next_ns;      /* next decision; UINT64_MAX: with the next record */
	double share;	       /* of time on that meets the rate */
	uint64_t turn_cost_ns; /* what reading the scheduler's account takes */
	uint64_t off_ns;       /* so far */
	uint64_t random;
};

void switch_guard_begin(struct switch_guard *g, bool wanted, uint64_t now_ns);
void switch_guard_deinit(struct switch_guard *g);

/* Count records of switches and wake-ups from ring number @ring. */
void switch_guard_count(struct switch_guard *g, size_t ring, uint64_t count);

/* At @now_ns: turn on or off now? */
bool switch_guard_decide(struct switch_guard *g, uint64_t now_ns);

/* The recording ends at @now_ns. */
void switch_guard_end(struct switch_guard *g, uint64_t now_ns);

/* Turning took @cost_ns and was done at @now_ns. */
void switch_guard_turned(struct switch_guard *g, uint64_t now_ns, uint64_t cost_ns);

#endif
