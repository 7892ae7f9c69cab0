/* SPDX-License-Identifier: Apache-2.0 */
/*
 * space_maps.h - the mappings of one address space: sorted, apart, shared after fork until one side changes.
 *
 * For space.c only. Newer mappings replace what they overlap, of which the rest stays.
 */
#ifndef SYMBOLIZE_SPACE_MAPS_H
#define SYMBOLIZE_SPACE_MAPS_H

#include "symbolize/module/space_map.h"

#include <stddef.h>

struct space_maps {
	struct space_map *items; /* ascending, without overlap */
	size_t len, cap;
	size_t last; /* found at the last lookup */
	uint32_t nrefs;
};

struct space_maps *space_maps_new(void);
struct space_maps *space_maps_ref(struct space_maps *maps);
void space_maps_unref(struct space_maps *maps);

/*
 * Twice the kernel's default vm.max_map_count. Each that comes between others moves those behind it, so that without
 * a limit a trace made for it would take hours.
 */
#define SPACE_MAPS_MAX (1U << 17)

enum space_maps_change {
	SPACE_MAPS_SAME, /* the same mapping is there already, or it is empty; nothing lies where it was to be removed */
	SPACE_MAPS_CHANGED,
	SPACE_MAPS_FULL, /* there are SPACE_MAPS_MAX: nothing was done */
};

/* Put @map over what is there. *@maps is replaced by a copy first if others share it. */
enum space_maps_change space_maps_insert(struct space_maps **maps, const struct space_map *map);

/* Take [@start, @end) out. */
enum space_maps_change space_maps_remove(struct space_maps **maps, uint64_t start, uint64_t end);

/* The mapping that holds @ip, NULL if none does; valid until the next change. */
struct space_map *space_maps_find(struct space_maps *maps, uint64_t ip);

#endif
