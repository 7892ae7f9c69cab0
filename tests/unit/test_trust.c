/* SPDX-License-Identifier: Apache-2.0 */
#include "report/view/trust.h"

#include "tests/unit/synthetic.h"
#include "tests/unit/test.h"

#include <math.h>
#include <string.h>

/* A second without a stack, in this state. */
static double unnamed(enum profile_state state)
{
	struct profile *p = profile_new();
	struct profile_facts facts = { 0 };
	struct profile_thread thread = { .pid = 7, .tid = 7 };
	struct profile_sample sample = {
		.thread = profile_add_thread(p, &thread), .count = 1, .weight = 1000000000, .state = state
	};
	struct trust trust;

	profile_add_sample(p, &sample);
	trust_judge(&trust, p, &facts);
	double share = trust_unnamed(&trust);

	profile_free(p);
	return share;
}

TEST(a_wait_that_began_unseen_is_not_code_without_a_name)
{
	CHECK(unnamed(PROFILE_STATE_NONE) > 0.99);
	CHECK(unnamed(PROFILE_STATE_LOST) < 0.01);
	CHECK(unnamed(PROFILE_STATE_EARLIER) < 0.01);
}

/* Nine page faults in code with a name, and a millisecond without: no sum of both is 100 % nanoseconds. */
TEST(events_of_other_units_are_not_added_up)
{
	struct profile *p = synthetic_new();
	struct profile_facts facts = { 0 };
	struct trust trust;

	vec_push(&p->types, ((struct profile_value_type){ .name = profile_string(p, "page-faults"), .unit = 0 }));
	synthetic_add(p, &(struct synthetic_sample){ "[app+0x10]", 7, 7, 1, 1000000 });
	synthetic_add(p, &(struct synthetic_sample){ "main;touch", 7, 7, 9, 1 });
	p->samples.items[p->samples.len - 1].type = 1;
	trust_judge(&trust, p, &facts);
	CHECK(fabs(trust_unnamed(&trust) - 0.1) < 0.001);
	profile_free(p);
}

TEST(a_recording_without_stacks_has_no_broken_ones)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct profile *p = profile_new();
	struct profile_facts facts = { .leaves_only = true };
	struct trust trust;

	trust_judge(&trust, p, &facts);
	CHECK_STR(trust_line(&trust, &arena), "lost 0, throttled 0, no stacks recorded, unnamed 0.0 %");
	profile_free(p);
}
