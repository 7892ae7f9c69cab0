/* SPDX-License-Identifier: Apache-2.0 */
/*
 * family.h - whose events are kept: everybody's, or those of some processes and all that they start.
 *
 * Clocks that follow a task begin anew with each: a process shorter than the period is never sampled, and a
 * thousand of them are invisible. So where it is allowed, events follow CPUs also for single processes,
 * and what others did is dropped here. Not thread-safe.
 */
#ifndef RECORD_FAMILY_H
#define RECORD_FAMILY_H

#include "formats/base/map.h"
#include "formats/base/vec.h"
#include "formats/event.h"
#include "record/target.h"

#include <stdbool.h>
#include <stdint.h>

/* Its last thread has ended; samples of it may still be in a ring. */
struct family_leaver {
	uint32_t pid;
	uint64_t round; /* in which it left */
};

/* Zeroed, it is everybody. */
struct family {
	bool selected;        /* only members count */
	struct map processes; /* not 0 for a member */
	struct map threads;   /* the same; if it is empty, all threads of the members count */
	VEC(struct family_leaver) leavers; /* in order */
	uint64_t round;
};

/* Select the tasks of @target, if it has any: threads that were named, or whole processes with their children. */
void family_init(struct family *f, const struct target *target);
void family_deinit(struct family *f);

/* Follow a side-band event, given in order of time. True if it is to be kept. */
bool family_event(struct family *f, const struct event *ev);

/* The last thread of @pid has ended. */
void family_leave(struct family *f, uint32_t pid);

/* All rings have been drained once more: those who left before the last time are forgotten. */
void family_round(struct family *f);

/* Is a sample of this thread to be kept? */
bool family_has(const struct family *f, uint32_t pid, uint32_t tid);

/* Does any member still run? Members that do not are asked once. */
bool family_lives(struct family *f);

#endif
