/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_ids.h - numbers of a file to numbers of ours: an array while they are dense, as they nearly always are, else a map.
 *
 * The array is never longer than some times what was put, so that one large number in a small file costs nothing.
 */
#ifndef FORMATS_IMPORT_IDS_H
#define FORMATS_IMPORT_IDS_H

#include "formats/base/map.h"
#include "formats/base/vec.h"
#include "formats/profile/profile.h"

#include <string.h>

struct import_ids {
	VEC(uint32_t) dense; /* number + 1; 0: not there, so PROFILE_NONE cannot be put */
	struct map sparse;   /* the same, of those that the array was too short for when they were put */
	size_t puts;
};

static inline void import_ids_put(struct import_ids *ids, uint64_t id, uint32_t number)
{
	size_t old = ids->dense.len;

	ids->puts++;
	if (id >= old && id >= 64 + 4 * ids->puts) {
		*map_put(&ids->sparse, id, NULL) = (uint64_t)number + 1;
		return;
	}
	if (id >= old) {
		vec_reserve(&ids->dense, id + 1 - old);
		memset(ids->dense.items + old, 0, (id + 1 - old) * sizeof(*ids->dense.items));
		ids->dense.len = id + 1;
	}
	ids->dense.items[id] = number + 1;
}

/* PROFILE_NONE if it is not there. */
static inline uint32_t import_ids_get(const struct import_ids *ids, uint64_t id)
{
	const uint64_t *number;

	if (id < ids->dense.len && ids->dense.items[id])
		return ids->dense.items[id] - 1;
	number = map_get(&ids->sparse, id);
	return number ? (uint32_t)(*number - 1) : PROFILE_NONE;
}

/* Forget all, keep the room. */
static inline void import_ids_clear(struct import_ids *ids)
{
	ids->dense.len = ids->puts = 0;
	map_clear(&ids->sparse);
}

static inline void import_ids_deinit(struct import_ids *ids)
{
	vec_deinit(&ids->dense);
	map_deinit(&ids->sparse);
}

#endif
