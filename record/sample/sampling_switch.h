/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampling_switch.h - turns sampling on and off while a recording runs: windows of -D, SIGUSR1, and commands of
 * --control. Not thread-safe.
 */
#ifndef RECORD_SAMPLING_SWITCH_H
#define RECORD_SAMPLING_SWITCH_H

#include "record/sample/control.h"
#include "record/sample/delay.h"
#include "record/sample/perf_fds.h"

#include <stdbool.h>
#include <stdint.h>

struct sampling_switch {
	struct perf_fds *perf_fds;
	const struct delay *delay;
	struct control control;
	uint64_t start_ns;
	uint64_t next_ns; /* when the next window begins or ends; UINT64_MAX: never */
	bool enabled;     /* sampling is on, for some events at least */
	bool was_enabled; /* it was at some time */
};

/* A command for the recorder. */
enum sampling_switch_order {
	SAMPLING_SWITCH_NOTHING,
	SAMPLING_SWITCH_SNAPSHOT, /* to be answered with sampling_switch_answer() */
	SAMPLING_SWITCH_STOP,     /* the same */
};

/* Open what @args names; the rest is set by sampling_switch_start(). Errors are those of control_open(). */
MUST_USE struct err *sampling_switch_open(struct sampling_switch *s, const struct control_args *args);
void sampling_switch_close(struct sampling_switch *s);

/*
 * The recording starts at @now_ns; @by_exec: the command's own exec turns sampling on. @perf fds and @delay
 * must outlive the sampling switch.
 */
void sampling_switch_start(struct sampling_switch *s, struct perf_fds *perf_fds, const struct delay *delay,
		    uint64_t now_ns, bool by_exec);

/* Apply the windows of -D. */
void sampling_switch_tick(struct sampling_switch *s, uint64_t now_ns);

/* Off if it is on, on if it is off. */
void sampling_switch_toggle(struct sampling_switch *s);

/* Read pending commands; false at end of file. */
bool sampling_switch_read(struct sampling_switch *s);

/* Execute commands, up to the first one that is for the recorder. */
enum sampling_switch_order sampling_switch_obey(struct sampling_switch *s);

/* Answer the command that sampling_switch_obey() returned: done, or an error, which also goes to standard error. */
void sampling_switch_answer(const struct sampling_switch *s, const struct err *err);

#endif
