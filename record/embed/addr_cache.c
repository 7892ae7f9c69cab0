/* SPDX-License-Identifier: Apache-2.0 */
/*
 * addr_cache.c - buckets of four, the latest first.
 */
#include "record/embed/addr_cache.h"

#include "formats/base/map.h"
#include "formats/base/memory.h"

#include <stdlib.h>
#include <string.h>

#define NBUCKETS   (1U << 15)
#define BUCKET_LEN 4

struct line {
	uint64_t ip;
	uint64_t who; /* 0: empty */
};

/* One cache line. */
struct addr_cache_bucket {
	struct line lines[BUCKET_LEN];
};

void addr_cache_init(struct addr_cache *seen)
{
	seen->buckets = memory_zeroed(NBUCKETS, sizeof(*seen->buckets));
}

void addr_cache_deinit(struct addr_cache *seen)
{
	free(seen->buckets);
	seen->buckets = NULL;
}

bool addr_cache_add(struct addr_cache *seen, uint64_t ip, uint64_t who)
{
	struct line *lines = seen->buckets[map_hash(ip ^ who << 48) & (NBUCKETS - 1)].lines;

	for (size_t i = 0; i < BUCKET_LEN; i++) {
		if (lines[i].ip == ip && lines[i].who == who)
			return false;
	}
	memmove(lines + 1, lines, (BUCKET_LEN - 1) * sizeof(*lines));
	lines[0] = (struct line){ ip, who };
	return true;
}

void addr_cache_forget_all(struct addr_cache *seen)
{
	memset(seen->buckets, 0, NBUCKETS * sizeof(*seen->buckets));
}
