/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracepoint.h - the kernel's tracepoints, as tracefs shows them.
 */
#ifndef RECORD_TRACEPOINT_H
#define RECORD_TRACEPOINT_H

#include "formats/base/arena.h"
#include "formats/base/err.h"

#include <stddef.h>
#include <stdint.h>

struct tracepoint {
	const char *system; /* "sched" */
	const char *name;   /* "sched_switch" */
	uint64_t id;        /* attr.config; 0 until tracepoint_load() */
	const char *format; /* the whole file, NULL until tracepoint_load() */
};

struct tracepoint_list {
	struct tracepoint *items; /* by system and name */
	size_t len;
};

/*
 * Where tracefs is mounted, from /proc/self/mounts.
 * ERR_SYSTEM: it is not mounted, or we may not look into it; the remedy says what to do.
 */
MUST_USE struct err *tracepoint_find_root(struct arena *arena, const char **ret);

/*
 * The tracepoints below @root that match the globs @system and @name; none is not an error.
 * ERR_SYSTEM: @root cannot be read.
 */
MUST_USE struct err *tracepoint_match(const char *root, const char *system, const char *name,
				      struct arena *arena, struct tracepoint_list *ret);

/* Read id and format. ERR_SYSTEM: they cannot be read. ERR_CORRUPT: the id is no number. */
MUST_USE struct err *tracepoint_load(const char *root, struct arena *arena, struct tracepoint *tp);

/* Names of the fields of a format, "prev_comm, prev_pid, ...", for messages. */
const char *tracepoint_fields(struct arena *arena, const char *format);

#endif
