/* SPDX-License-Identifier: Apache-2.0 */
/*
 * addr_cache.c - buckets of eight, the latest first. An address and its process are kept as one number, so that half of the memory does.
 */
#include "record/embed/addr_cache.h"

#include "formats/base/map.h"
#include "formats/base/memory.h"

#include <stdlib.h>
#include <string.h>

#define NBUCKETS   (1U << 14)
#define BUCKET_LEN 8

/* One cache line. */
struct addr_cache_bucket {
	uint64_t marks[BUCKET_LEN]; /* 0: empty */
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

/* Two that differ have one mark once in 10^14 looks. */
static uint64_t mark_of(uint64_t ip, uint64_t who)
{
	uint64_t mark = map_hash(map_hash(who) + ip);

	return mark ? mark : 1;
}

bool addr_cache_add(struct addr_cache *seen, uint64_t ip, uint64_t who)
{
	uint64_t mark = mark_of(ip, who);
	uint64_t *marks = seen->buckets[mark & (NBUCKETS - 1)].marks;

	for (size_t i = 0; i < BUCKET_LEN; i++) {
		if (marks[i] == mark)
			return false;
	}
	memmove(marks + 1, marks, (BUCKET_LEN - 1) * sizeof(*marks));
	marks[0] = mark;
	return true;
}

void addr_cache_forget_all(struct addr_cache *seen)
{
	memset(seen->buckets, 0, NBUCKETS * sizeof(*seen->buckets));
}
