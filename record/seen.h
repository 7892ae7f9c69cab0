/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seen.h - which addresses were seen before: a cache that forgets some, so that one may be new again.
 *
 * One cache line answers. Not thread-safe.
 */
#ifndef RECORD_SEEN_H
#define RECORD_SEEN_H

#include <stdbool.h>
#include <stdint.h>

struct seen_bucket;

struct seen {
	struct seen_bucket *buckets; /* 2 MiB, room for what a busy machine executes */
};

void seen_init(struct seen *seen);
void seen_deinit(struct seen *seen);

/* True if @ip was not seen at @who, which is not 0, or that was long ago. */
bool seen_add(struct seen *seen, uint64_t ip, uint64_t who);

void seen_forget_all(struct seen *seen);

#endif
