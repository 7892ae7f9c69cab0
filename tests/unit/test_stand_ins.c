/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_stand_ins.c - time without a stack goes to spans that have one, and no time is lost or made.
 */
#include "report/load/derive/stand_ins.h"
#include "tests/unit/test.h"

static void add_weight(void *context, const struct derived *span)
{
	uint64_t *sum = context;

	*sum += span->weight;
}

/* A span with a stack may itself be a sum of spans whose lengths nobody knows. */
TEST(stand_ins_share_out_sums_of_any_length)
{
	struct stand_ins s = { 0 };
	uint64_t sum = 0;

	stand_ins_keep(&s, 1, 1000, &(struct derived){ .stack = 1, .weight = 1000 });
	stand_ins_keep(&s, 1, STAND_INS_ANY_LENGTH, &(struct derived){ .stack = 2, .weight = 5000 });
	stand_ins_add(&s, 1, 2000, &(struct derived){ .weight = 2000 });
	stand_ins_add(&s, STAND_INS_ANY_KIND, STAND_INS_ANY_LENGTH, &(struct derived){ .weight = 700 });
	stand_ins_add(&s, 1, STAND_INS_ANY_LENGTH, &(struct derived){ .weight = 900 });
	stand_ins_share_out(&s, add_weight, &sum);
	CHECK_UINT(sum, 2000 + 700 + 900);
	stand_ins_deinit(&s);
}
