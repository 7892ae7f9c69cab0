/* SPDX-License-Identifier: Apache-2.0 */
/*
 * managed_queue.h - processes that are to be looked at, by user: one who starts any number of them, or whose files take long,
 * delays the others by one look at most.
 *
 * Zeroed is empty. Not thread-safe.
 */
#ifndef RECORD_MANAGED_QUEUE_H
#define RECORD_MANAGED_QUEUE_H

#include "formats/base/vec.h"

#include <stdbool.h>
#include <stdint.h>

#define MANAGED_QUEUE_USERS_MAX 64 /* with processes in it at a time; further ones count as one */

/* One user's part. */
struct managed_queue_user {
	uint32_t uid;
	uint64_t spent_ns; /* on theirs; of one who comes back at least as much as of who was served last */
	VEC(uint32_t) pids;
};

struct managed_queue {
	VEC(struct managed_queue_user) users;
	size_t len;	    /* processes */
	uint64_t served_ns; /* what was spent on the user who was served last */
};

void managed_queue_deinit(struct managed_queue *q);

void managed_queue_push(struct managed_queue *q, uint32_t pid, uint32_t uid);

/* The newest process of the user on whom the least was spent; there is one. *@ret_uid: whose it is, for managed_queue_charge(). */
uint32_t managed_queue_take(struct managed_queue *q, uint32_t *ret_uid);

/* Looking at a process of user @uid took so long. */
void managed_queue_charge(struct managed_queue *q, uint32_t uid, uint64_t spent_ns);

#endif
