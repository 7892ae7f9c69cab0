/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_claims.c - one position, which only moves forward, decides between two threads without a lock.
 */
#include "record/sample/sample_claims.h"

#include <assert.h>
#include <stdatomic.h>

void sample_claims_init(struct sample_claims *c, uint64_t end)
{
	*c = (struct sample_claims){ .end = end };
}

uint64_t sample_claims_end(const struct sample_claims *c)
{
	return c->end;
}

bool sample_claims_pass(struct sample_claims *c, uint64_t end)
{
	uint64_t claimed = c->end;

	while (claimed < end)
		if (atomic_compare_exchange_weak(&c->end, &claimed, end))
			return true;
	return false;
}

bool sample_claims_owe(struct sample_claims *c, const struct sample_head *sample, uint64_t end)
{
	assert(c->count < SAMPLE_CLAIMS_MAX);
	if (!sample_claims_pass(c, end))
		return false;
	c->owed[c->count++] = *sample;
	return true;
}

static void drop(struct sample_claims *c, size_t i)
{
	c->owed[i] = c->owed[--c->count];
}

bool sample_claims_settle(struct sample_claims *c, uint64_t pos)
{
	for (size_t i = 0; i < c->count; i++) {
		if (c->owed[i].pos == pos) {
			drop(c, i);
			return true;
		}
	}
	return false;
}

bool sample_claims_expire(struct sample_claims *c, uint64_t before_ns, struct sample_head *ret)
{
	for (size_t i = 0; i < c->count; i++) {
		if (c->owed[i].time_ns < before_ns) {
			*ret = c->owed[i];
			drop(c, i);
			return true;
		}
	}
	return false;
}
