/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_managed_queue.c - a user with many processes and slow files, and others.
 */
#include "record/managed/managed_queue.h"

#include "tests/unit/test.h"

#define SLOW  1000
#define OTHER 1001

/* Take one, which takes @spent_ns; returns whose it was. */
static uint32_t serve(struct managed_queue *q, uint64_t spent_ns, uint32_t *ret_pid)
{
	uint32_t uid;

	*ret_pid = managed_queue_take(q, &uid);
	managed_queue_charge(q, uid, spent_ns);
	return uid;
}

TEST(managed_queue_serves_the_user_who_had_least)
{
	struct managed_queue q = { 0 };
	uint32_t pid;

	for (uint32_t i = 0; i < 1000; i++)
		managed_queue_push(&q, i, SLOW);
	CHECK_UINT(serve(&q, 2000, &pid), SLOW);
	CHECK_UINT(pid, 999);
	for (uint32_t i = 2000; i < 2004; i++) {
		managed_queue_push(&q, i, OTHER);
		managed_queue_push(&q, i + 100, SLOW);
	}
	for (uint32_t i = 0; i < 4; i++) /* ten times as fast */
		CHECK_UINT(serve(&q, 200, &pid), OTHER);
	CHECK_UINT(serve(&q, 2000, &pid), SLOW);
	CHECK_UINT(q.len, 1002);
	managed_queue_deinit(&q);
}

TEST(managed_queue_saves_up_nothing_for_who_was_away)
{
	struct managed_queue q = { 0 };
	uint32_t pid;

	managed_queue_push(&q, 1, OTHER);
	CHECK_UINT(serve(&q, 10, &pid), OTHER);
	for (uint32_t i = 0; i < 100; i++)
		managed_queue_push(&q, i, SLOW);
	for (uint32_t i = 0; i < 50; i++)
		CHECK_UINT(serve(&q, 1000, &pid), SLOW);
	for (uint32_t i = 0; i < 100; i++)
		managed_queue_push(&q, i, OTHER);
	unsigned others = 0;

	for (uint32_t i = 0; i < 20; i++)
		others += serve(&q, 1000, &pid) == OTHER;
	CHECK(others >= 9 && others <= 12); /* half of the time, not the next fifty */
	managed_queue_deinit(&q);
}

TEST(managed_queue_of_too_many_users_serves_all)
{
	struct managed_queue q = { 0 };
	uint32_t pid, uid;

	for (uint32_t i = 0; i < 2 * MANAGED_QUEUE_USERS_MAX; i++)
		managed_queue_push(&q, i, i);
	CHECK_UINT(q.len, 2 * MANAGED_QUEUE_USERS_MAX);
	CHECK_UINT(q.users.len, MANAGED_QUEUE_USERS_MAX);
	while (q.len)
		managed_queue_take(&q, &uid);
	managed_queue_push(&q, 7, 7777); /* in the place of one who waits for nothing */
	pid = managed_queue_take(&q, &uid);
	CHECK_UINT(pid, 7);
	CHECK_UINT(uid, 7777);
	managed_queue_deinit(&q);
}
