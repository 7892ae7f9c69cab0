/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_catalog.h - every event that has a name on this machine, and whether it can be sampled.
 */
#ifndef RECORD_EVENT_CATALOG_H
#define RECORD_EVENT_CATALOG_H

#include "formats/base/arena.h"
#include "formats/base/err.h"
#include "record/event/event_open.h"

#include <stddef.h>

enum event_catalog_kind {
	EVENT_CATALOG_HARDWARE,
	EVENT_CATALOG_CACHE,
	EVENT_CATALOG_SOFTWARE,
	EVENT_CATALOG_PMU, /* named in sysfs */
	EVENT_CATALOG_VENDOR, /* as the maker of the processor calls it, see vendor_event.h */
	EVENT_CATALOG_TRACEPOINT,
	EVENT_CATALOG_KINDS
};

enum event_catalog_use {
	EVENT_CATALOG_SAMPLES,   /* can be sampled */
	EVENT_CATALOG_USER_ONLY, /* can be sampled in user code */
	EVENT_CATALOG_COUNTS,    /* can only be counted, so read with a group */
	EVENT_CATALOG_ABSENT,    /* this machine or kernel does not have it */
	EVENT_CATALOG_DENIED,    /* we have no right to it */
	EVENT_CATALOG_BUSY,      /* its counter is taken */
};

struct event_catalog_entry {
	enum event_catalog_kind kind;
	enum event_catalog_use use;
	const char *name;        /* as -e takes it */
	const char *alias;       /* or "" */
	const char *description; /* "" if there is none */
	const char *pmu;         /* that counts it; "" where several kinds of cores do */
};

struct event_catalog_pmu {
	const char *name;
	const char *about; /* "type 4; fields event, umask; CPUs 0-3" */
};

struct event_catalog {
	struct arena arena;
	struct event_catalog_entry *entries; /* by kind, then in the kernel's order or by name */
	size_t len;
	struct event_catalog_pmu *pmus; /* by name */
	size_t npmus;
	struct err *tracefs; /* why there are no tracepoints, or NULL */
};

/* "hardware", "cache", "software", "pmu", "vendor", "tracepoint" */
const char *event_catalog_kind_name(enum event_catalog_kind kind);

/* "yes", "user", "count", "no", "denied", "busy" */
const char *event_catalog_use_name(enum event_catalog_use use);

/*
 * Try every event but the tracepoints on @kernel, which takes some milliseconds; of those the first one
 * stands for all. What the machine does not have is an entry too, if the kernel has a name for it.
 */
void event_catalog_make(const struct event_kernel *kernel, struct event_catalog *ret);

void event_catalog_deinit(struct event_catalog *catalog);

#endif
