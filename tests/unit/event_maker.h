/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_maker.h - events of every kind for tests, the same ones for the same seed.
 *
 * Threads keep a stack that changes a little from sample to sample, as real ones do.
 */
#ifndef UNIT_EVENT_MAKER_H
#define UNIT_EVENT_MAKER_H

#include "formats/base/arena.h"
#include "formats/event.h"
#include "formats/recording.h"

#define MAKER_TASKS 8

struct event_maker {
	struct arena arena; /* of all events made */
	uint64_t state;     /* of the random numbers: the seed at first */
	uint64_t time_ns;
	struct event_stack stacks[MAKER_TASKS]; /* each thread's last */
	struct event_regs regs[MAKER_TASKS];
};

uint64_t maker_random(struct event_maker *m, uint64_t below);

/* An event of a random kind, or of @kind; times rise by at most 999 and never fall. */
void maker_any(struct event_maker *m, struct event *ret);
void maker_kind(struct event_maker *m, enum event_kind kind, struct event *ret);

void maker_deinit(struct event_maker *m);

/* A recording with something in every field; its arena is the caller's to release. */
void maker_recording(struct recording *rec);

#endif
