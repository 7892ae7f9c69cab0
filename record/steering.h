/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steering.h - what turns sampling on and off while a recording runs: the windows of -D, SIGUSR1, and
 * commands that come in by --control. Not thread-safe.
 */
#ifndef RECORD_STEERING_H
#define RECORD_STEERING_H

#include "record/control.h"
#include "record/delay.h"
#include "record/sensors.h"

#include <stdbool.h>
#include <stdint.h>

struct steering {
	struct sensors *sensors;
	const struct delay *delay;
	struct control control;
	uint64_t start_ns;
	uint64_t next_ns; /* when time changes something next; UINT64_MAX: never */
	bool enabled;     /* sampling is on, for some events at least */
	bool was_enabled; /* it was at some time */
};

/* What a command asks of whoever runs the recording. */
enum steering_order {
	STEERING_NOTHING,
	STEERING_SNAPSHOT, /* to be answered with steering_answer() */
	STEERING_STOP,     /* the same */
};

/* Open what @args names; the rest is set by steering_start(). Errors are those of control_open(). */
MUST_USE struct err *steering_open(struct steering *s, const struct control_args *args);
void steering_close(struct steering *s);

/*
 * The recording starts at @now_ns; @by_exec: the command's own exec turns sampling on. @sensors and @delay
 * must outlive the steering.
 */
void steering_start(struct steering *s, struct sensors *sensors, const struct delay *delay,
		    uint64_t now_ns, bool by_exec);

/* Do what time asks for. */
void steering_tick(struct steering *s, uint64_t now_ns);

/* Off if it is on, on if it is off. */
void steering_toggle(struct steering *s);

/* Read commands that have come; false if none will come any more. */
bool steering_read(struct steering *s);

/* Obey what was read, up to the first command that is somebody else's to obey. */
enum steering_order steering_obey(struct steering *s);

/* Answer the command that steering_obey() returned with: done, or why not, which is also said on standard error. */
void steering_answer(const struct steering *s, const struct err *err);

#endif
