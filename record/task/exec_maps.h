/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_maps.h - the executable mappings of one process, and names that many of them share.
 *
 * Names are counted, since a fork copies a hundred of them. Not thread-safe.
 */
#ifndef RECORD_TRACT_H
#define RECORD_TRACT_H

#include "formats/event.h"

#include <stddef.h>
#include <stdint.h>

/* Shared by all who bear it. */
struct exec_maps_name {
	uint32_t nusers;
	char text[];
};

/* Executable memory; map.path is the name's text. */
struct exec_maps {
	struct event_mmap map;
	struct exec_maps_name *path;
};

struct tracts {
	struct exec_maps *items; /* ascending and apart */
	size_t len, cap;
};

/* A name with one user. */
struct exec_maps_name *exec_maps_name_new(const char *text);
/* One user more, one less; NULL is fine. */
struct exec_maps_name *exec_maps_name_share(struct exec_maps_name *name);
void exec_maps_name_drop(struct exec_maps_name *name);

/* A zeroed list is empty. Put @map over what is there. */
void tracts_add(struct tracts *tracts, const struct event_mmap *map);
void tracts_copy(struct tracts *to, const struct tracts *from);
void tracts_clear(struct tracts *tracts);
void tracts_deinit(struct tracts *tracts);

#endif
