/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stop_time.h - one end for all that is done after SIGINT, SIGTERM or SIGHUP, whatever the recorder is at when it comes.
 *
 *	signal  ─►  8 s: nothing more is read of others  ─►  9 s: nothing more is written  (containers are killed after 10 s)
 *
 * A second SIGINT or SIGTERM is the end at once. What may take long asks again and again, and counts what it leaves out.
 */
#ifndef RECORD_STOP_TIME_H
#define RECORD_STOP_TIME_H

#include "formats/base/diag.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define STOP_TIME_READ_NS  8000000000ULL
#define STOP_TIME_WRITE_NS 9000000000ULL

/* What is left out when the time is over. */
enum stop_kind {
	STOP_PROCESSES,	  /* mappings of what ran before, or of what the side-band lost */
	STOP_ACCOUNTS,	  /* of threads, by the scheduler */
	STOP_DESCRIPTORS, /* that threads waited for */
	STOP_SAMPLES,	  /* in the rings */
	STOP_KINDS,
};

/* Zeroed: no signal came. */
struct stop_time {
	_Atomic uint64_t read_ns; /* nothing more is read from here on (CLOCK_MONOTONIC); 0: no signal came */
	_Atomic int signal;	  /* it was taken here, and the recorder has not heard of it; else 0 */
	bool from_process;	  /* that one was sent by a process, not by the terminal */
	_Atomic uint64_t left[STOP_KINDS];
};

/* A signal was taken. */
void stop_time_begin(struct stop_time *t);

/* Is the time to read over? Looks for a second signal only, so it is cheap while none came. NULL is fine, here and below: there is no end. */
bool stop_time_is_over(const struct stop_time *t);

/* The same, but the first signal is taken if it is pending, which it can only be when blocked; if the time is over, one of @kind is left out. */
bool stop_time_leaves(struct stop_time *t, enum stop_kind kind);

/* Say what was left out, if anything was. */
void stop_time_note(const struct stop_time *t, struct diag *notes);

/* Is the time to write over, too? */
bool stop_time_ends_writing(struct stop_time *t);

#endif
