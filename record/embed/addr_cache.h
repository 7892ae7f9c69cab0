/* SPDX-License-Identifier: Apache-2.0 */
/*
 * addr_cache.h - a lossy cache of addresses seen before: an old address may count as new again.
 *
 * A lookup reads one cache line. Not thread-safe.
 */
#ifndef RECORD_ADDR_CACHE_H
#define RECORD_ADDR_CACHE_H

#include <stdbool.h>
#include <stdint.h>

struct addr_cache_bucket;

struct addr_cache {
	struct addr_cache_bucket *buckets; /* 1 MiB, room for what a busy machine executes */
};

void addr_cache_init(struct addr_cache *seen);
void addr_cache_deinit(struct addr_cache *seen);

/* True if @ip of @who (not 0) is new, or was evicted. */
bool addr_cache_add(struct addr_cache *seen, uint64_t ip, uint64_t who);

void addr_cache_forget_all(struct addr_cache *seen);

#endif
