/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_sample_claims.c - who answers for a sample, when reader and recorder meet in every order.
 */
#include "record/sample/sample_claims.h"
#include "tests/unit/test.h"

#include <pthread.h>
#include <sched.h>

static struct sample_head sample_at(uint64_t pos)
{
	return (struct sample_head){ .pos = pos, .time_ns = 1000 + pos, .pid = 7, .tid = 7, .len = 8 };
}

TEST(sample_claims_belong_to_who_comes_first)
{
	struct sample_claims c;
	struct sample_head first = sample_at(16), second = sample_at(24), third = sample_at(32);

	sample_claims_init(&c, 16);
	CHECK(!sample_claims_pass(&c, 16)); /* of before */
	CHECK(sample_claims_owe(&c, &first, 24));
	CHECK(!sample_claims_pass(&c, 24));
	CHECK(sample_claims_pass(&c, 32));
	CHECK(!sample_claims_owe(&c, &second, 32));
	CHECK(sample_claims_owe(&c, &third, 40));
	CHECK_UINT(sample_claims_end(&c), 40);
	CHECK(!sample_claims_settle(&c, second.pos));
	CHECK(sample_claims_settle(&c, third.pos));
	CHECK(!sample_claims_settle(&c, third.pos));
	CHECK(sample_claims_settle(&c, first.pos));
}

TEST(sample_claims_that_expire_are_no_longer_the_readers)
{
	struct sample_claims c;
	struct sample_head head;

	sample_claims_init(&c, 0);
	for (uint64_t pos = 0; pos < (uint64_t)SAMPLE_CLAIMS_MAX * 8; pos += 8) {
		head = sample_at(pos);
		CHECK(sample_claims_owe(&c, &head, pos + 8));
	}
	uint64_t expired = 0;

	while (sample_claims_expire(&c, 1000 + 24, &head)) {
		expired++;
		CHECK(head.pos < 24);
		CHECK(!sample_claims_settle(&c, head.pos));
	}
	CHECK_UINT(expired, 3);
	CHECK(sample_claims_settle(&c, 24));
	CHECK_UINT(c.count, SAMPLE_CLAIMS_MAX - 4);
}

#define MANY 2000

struct race {
	struct sample_claims claims;
	uint64_t owed;
};

static void *read_samples(void *context)
{
	struct race *race = context;

	for (uint64_t pos = 0; pos < MANY; pos++) {
		struct sample_head head = sample_at(pos);

		if (sample_claims_owe(&race->claims, &head, pos + 1))
			race->owed += sample_claims_settle(&race->claims, pos);
		if (pos % 16 == 0)
			sched_yield();
	}
	return NULL;
}

TEST(sample_claims_of_two_threads_give_each_sample_one_answer)
{
	struct race race = { .owed = 0 };
	uint64_t passed = 0;
	pthread_t reader;

	sample_claims_init(&race.claims, 0);
	CHECK(pthread_create(&reader, NULL, read_samples, &race) == 0);
	for (uint64_t pos = 0; pos < MANY; pos++)
		passed += sample_claims_pass(&race.claims, pos + 1);
	pthread_join(reader, NULL);
	CHECK_UINT(race.owed + passed, MANY);
	CHECK_UINT(sample_claims_end(&race.claims), MANY);
	CHECK_UINT(race.claims.count, 0);
}
