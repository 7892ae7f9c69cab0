/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_names.h - the events that the kernel itself names: hardware, software and cache events, with
 * descriptions, from event_names.in.
 */
#ifndef RECORD_EVENT_NAMES_H
#define RECORD_EVENT_NAMES_H

#include "formats/base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_name {
	const char *name;
	const char *alias; /* another spelling, or NULL */
	uint32_t type;     /* PERF_TYPE_HARDWARE or PERF_TYPE_SOFTWARE */
	uint64_t config;
	const char *unit; /* "ns" for clocks, otherwise "events" */
	const char *description;
};

/* All hardware and software events, in the kernel's order. */
extern const struct event_name event_names[];
extern const size_t event_names_len;

/* By name or alias (case matters); NULL if there is none. */
const struct event_name *event_name_find(const char *name);

/*
 * The attr.config of a cache event: CACHE[-OPERATION][-RESULT] in perf's many spellings
 * ("L1-dcache-load-misses", "LLC-stores", "dTLB-prefetch-misses"); case does not matter.
 * False if it is none, or one that no hardware counts ("iTLB-stores").
 */
bool event_cache_parse(const char *name, uint64_t *ret_config);

/* Visit every cache event by its usual name. */
void event_cache_each(void (*visit)(const char *name, uint64_t config, const char *description,
				    void *context),
		      void *context);

#endif
