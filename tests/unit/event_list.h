/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_list.h - an event source of events that a test made: no file, no coding.
 */
#ifndef UNIT_EVENT_LIST_H
#define UNIT_EVENT_LIST_H

#include "formats/event.h"

struct event_list_source {
	struct event_source source; /* must be first */
	const struct event *events;
	size_t left;
};

/* Of one event, "cycles", on x86-64. @events must outlive the source. */
void event_list_init(struct event_list_source *list, const struct event *events, size_t count);

/* @path, mapped at @start for 64 KiB of process 7 at @time_ns, with @flags (EVENT_MMAP_*). */
struct event event_list_map(const char *path, uint64_t start, uint32_t flags, uint64_t time_ns);

/* A user-space sample of process 7 at @ip. */
struct event event_list_sample(uint64_t ip, uint64_t time_ns);

#endif
