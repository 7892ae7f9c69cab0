/* SPDX-License-Identifier: Apache-2.0 */
/*
 * managed_queue.c - fair queueing by time spent.
 */
#include "record/managed/managed_queue.h"

#include "formats/base/compiler.h"

void managed_queue_deinit(struct managed_queue *q)
{
	for (size_t i = 0; i < q->users.len; i++)
		vec_deinit(&q->users.items[i].pids);
	vec_deinit(&q->users);
}

/* NULL: not known. */
static struct managed_queue_user *find(struct managed_queue *q, uint32_t uid)
{
	for (size_t i = 0; i < q->users.len; i++)
		if (q->users.items[i].uid == uid)
			return &q->users.items[i];
	return NULL;
}

/* A place for one more; of too many users the last one's, or that of one who waits for nothing. */
static struct managed_queue_user *add(struct managed_queue *q, uint32_t uid)
{
	size_t i = 0;

	if (q->users.len < MANAGED_QUEUE_USERS_MAX) {
		vec_push(&q->users, ((struct managed_queue_user){ .uid = uid }));
		return &q->users.items[q->users.len - 1];
	}
	while (i < q->users.len - 1 && q->users.items[i].pids.len)
		i++;
	struct managed_queue_user *user = &q->users.items[i];

	if (!user->pids.len) {
		user->uid = uid;
		user->spent_ns = 0;
	}
	return user;
}

void managed_queue_push(struct managed_queue *q, uint32_t pid, uint32_t uid)
{
	struct managed_queue_user *user = find(q, uid);

	if (!user)
		user = add(q, uid);
	if (!user->pids.len)
		user->spent_ns = MAX(user->spent_ns, q->served_ns);
	vec_push(&user->pids, pid);
	q->len++;
}

uint32_t managed_queue_take(struct managed_queue *q, uint32_t *ret_uid)
{
	struct managed_queue_user *best = NULL;

	for (size_t i = 0; i < q->users.len; i++) {
		struct managed_queue_user *user = &q->users.items[i];

		if (user->pids.len && (!best || user->spent_ns < best->spent_ns))
			best = user;
	}
	q->len--;
	q->served_ns = best->spent_ns;
	*ret_uid = best->uid;
	return best->pids.items[--best->pids.len];
}

void managed_queue_charge(struct managed_queue *q, uint32_t uid, uint64_t spent_ns)
{
	struct managed_queue_user *user = find(q, uid);

	if (user)
		user->spent_ns += spent_ns;
}
