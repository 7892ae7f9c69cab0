/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_log.h - fills the profile's table of processes from the events of a recording: when each began and ended, what it
 * executed, under which names, and who started it.
 *
 * Feed it every event in order of time. A number that is used again begins a new life.
 */
#ifndef REPORT_PROCESS_LOG_H
#define REPORT_PROCESS_LOG_H

#include "formats/base/map.h"
#include "formats/base/vec.h"
#include "formats/event.h"
#include "formats/profile/profile.h"

/* Zeroed, with @profile set, is ready. */
struct process_log {
	struct profile *profile;
	struct map lives;        /* pid -> number of its latest life in the profile */
	struct map cgroups;      /* id -> path, as a string of the profile */
	bool has_details;        /* processes' cgroups are in events, and need not be taken from samples */
	VEC(uint32_t) nthreads;  /* by life */
	VEC(uint8_t) wants_program; /* by life: its next mapping of code is what it executes */
};

void process_log_event(struct process_log *log, const struct event *ev);

/* The life of @pid now, which begins if nothing was heard of it; 0 for the idle task and tasks without a number. */
uint32_t process_log_life(struct process_log *log, uint32_t pid);

void process_log_deinit(struct process_log *log);

#endif
