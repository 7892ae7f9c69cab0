/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counter_set.h - events that are counted, not sampled: a counter for each event on each CPU or thread.
 *
 * An event that this machine cannot count does not stop the others; .refusals says why. Counters of a group start and
 * stop together. A set owns its descriptors. Not thread-safe.
 */
#ifndef RECORD_COUNTER_SET_H
#define RECORD_COUNTER_SET_H

#include "formats/base/err.h"
#include "formats/base/vec.h"
#include "record/event/event_open.h"
#include "record/event/event_spec.h"
#include "record/task/target.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* As read(2) returns it. With running_ns < enabled_ns the counter was multiplexed. */
struct counter_value {
	uint64_t value, enabled_ns, running_ns;
};

struct counter {
	int fd;
	uint32_t event; /* number in the list */
	int cpu;        /* -1: wherever the thread runs */
	pid_t tid;      /* -1: everything on the CPU */
	struct counter_value last; /* as counter_set_delta() read it */
};

struct counter_set {
	const struct event_list *list;
	VEC(struct counter) items; /* by place, then by event */
	struct err **refusals;     /* by event: why it is not counted, or NULL */
	bool user_only;            /* some count user code only, for lack of permission */
};

struct counter_request {
	bool inherit; /* count what the tasks start, too */
	bool on_exec; /* start when the task calls exec */
};

/*
 * Open a counter for each event of @list wherever @target says, disabled.
 *
 * ERR_SYSTEM: not permitted, or no descriptors. ERR_UNSUPPORTED: a group that does not fit this PMU.
 */
MUST_USE struct err *counter_set_open(const struct event_list *list, const struct target *target,
				      const struct counter_request *request,
				      struct counter_set *ret);
void counter_set_close(struct counter_set *set);

/* Start or stop all. */
void counter_set_enable(const struct counter_set *set);
void counter_set_disable(const struct counter_set *set);

/* What counter @index counted since the last call; false if it can't be read. */
bool counter_set_delta(struct counter_set *set, size_t index, struct counter_value *ret);

/* The count scaled by enabled / running time. 0 if it never ran. */
double counter_value_scaled(const struct counter_value *value);

#endif
