/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switch_guard.h - whether switches of threads are recorded right now: always, until there are too many of them.
 *
 *	on  ████      ████      ████████████████
 *	off     ──────    ──────
 *	        ▲ more than SWITCH_GUARD_RATE records a second on some CPU
 *
 * A record of a switch costs the thread that leaves some 0.2 us and the recorder a microsecond, so that two threads that
 * hand a byte to and fro would run at half their speed. Above the rate, switches and their stacks are recorded for a
 * part of the time only, on all CPUs, so that on average it is not exceeded. What threads did meanwhile in all, the
 * scheduler's account says (task_times.h), which is read whenever this turns; of what it consisted, the rest of the
 * time tells. Lengths vary, so that a program with a rhythm is not always seen at the same point.
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
	uint64_t on_ns;	       /* to stay on for, at least */
	uint64_t next_ns;      /* when to decide; UINT64_MAX: whenever something comes */
	double share;	       /* of the time that suits the rate */
	uint64_t turn_cost_ns; /* what reading the scheduler's account takes */
	uint64_t off_ns;       /* so far */
	uint64_t random;
};

void switch_guard_begin(struct switch_guard *g, bool wanted, uint64_t now_ns);
void switch_guard_deinit(struct switch_guard *g);

/* So many records of switches, or of who woke whom, came out of ring number @ring. */
void switch_guard_count(struct switch_guard *g, size_t ring, uint64_t count);

/* It is @now_ns: does it turn now? */
bool switch_guard_decide(struct switch_guard *g, uint64_t now_ns);

/* The recording ends at @now_ns. */
void switch_guard_end(struct switch_guard *g, uint64_t now_ns);

/* It turned, which took @cost_ns, and is done at @now_ns. */
void switch_guard_turned(struct switch_guard *g, uint64_t now_ns, uint64_t cost_ns);

#endif
