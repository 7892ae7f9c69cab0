/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_ids.h - numbers of a file to numbers of ours: an array while they are small, as they nearly always are.
 */
#ifndef FORMATS_IMPORT_IDS_H
#define FORMATS_IMPORT_IDS_H

#include "formats/base/map.h"
#include "formats/base/vec.h"
#include "formats/profile/profile.h"

struct import_ids {
	VEC(uint32_t) small; /* number + 1; 0: not there, so PROFILE_NONE cannot be put */
	struct map large;    /* the same */
};

#define IMPORT_IDS_SMALL ((uint64_t)1 << 22)

static inline void import_ids_put(struct import_ids *ids, uint64_t id, uint32_t number)
{
	if (id >= IMPORT_IDS_SMALL) {
		*map_put(&ids->large, id, NULL) = (uint64_t)number + 1;
		return;
	}
	while (ids->small.len <= id)
		vec_push(&ids->small, 0);
	ids->small.items[id] = number + 1;
}

/* PROFILE_NONE if it is not there. */
static inline uint32_t import_ids_get(const struct import_ids *ids, uint64_t id)
{
	const uint64_t *number;

	if (id < ids->small.len)
		return ids->small.items[id] - 1;
	number = id < IMPORT_IDS_SMALL ? NULL : map_get(&ids->large, id);
	return number ? (uint32_t)(*number - 1) : PROFILE_NONE;
}

static inline void import_ids_deinit(struct import_ids *ids)
{
	vec_deinit(&ids->small);
	map_deinit(&ids->large);
}

#endif
