/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_attr.h - a request as the kernel's struct perf_event_attr. Part of event_plan.
 *
 * Pure: nothing here asks the kernel anything.
 */
#ifndef RECORD_EVENT_ATTR_H
#define RECORD_EVENT_ATTR_H

#include "record/event/event_request.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

/* Multiples of 8 below this fit into a record, whose length has 16 bits. */
#define EVENT_ATTR_STACK_MAX 65528

/* What is known of the machine. */
struct event_machine {
	uint32_t features;   /* bit 1 << enum event_feature */
	uint32_t stack_max;  /* largest snapshot that the kernel takes, 0 for none */
	uint64_t rate_limit; /* samples a second */
};

/* The attributes for @desc; @is_leader: it stands alone or leads its group. */
void event_attr_build(const struct event_desc *desc, bool is_leader,
		      const struct event_request *request, const struct event_machine *machine,
		      struct perf_event_attr *ret);

/* The attributes for @desc when it is only counted; @inherit: in children too, @on_exec: from exec on. */
void event_attr_count(const struct event_desc *desc, bool is_leader, bool inherit, bool on_exec,
		      struct perf_event_attr *ret);

/* Make @attr the clock that stands in for an event that the machine lacks. */
void event_attr_to_clock(struct perf_event_attr *attr, const struct event_target *target);

/* Is it cpu-clock or task-clock? */
bool event_attr_is_clock(const struct perf_event_attr *attr);

/* Do events of @type (PERF_TYPE_* or a PMU's) need a counter of the hardware? */
bool event_attr_needs_counter(uint32_t type);

/* A disabled dummy without any optional bit: what features are tried on. */
void event_attr_dummy(struct perf_event_attr *ret);

/* The side-band event. */
void event_attr_side_band(const struct event_request *request, const struct event_machine *machine,
			  struct perf_event_attr *ret);

/* Records of switches alone, in the shape of those of @side_band. */
void event_attr_switches(const struct perf_event_attr *side_band, struct perf_event_attr *ret);

/* Wakes its waiter at each executable mapping, and follows children where @side_band does. */
void event_attr_doorbell(const struct perf_event_attr *side_band, struct perf_event_attr *ret);

/* Set the bits of @feature in @attr, a dummy, to see whether the kernel knows them. */
void event_attr_try_feature(struct perf_event_attr *attr, enum event_feature feature);

#endif
