/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_profile_merge.c - profiles that have nothing in common.
 */
#include "formats/profile/profile_merge.h"

#include "tests/unit/test.h"

static struct profile *with_event(const char *name)
{
	struct profile *p = profile_new();
	uint32_t type = profile_add_value_type(p, &(struct profile_value_type){ .name = profile_string(p, name),
										.unit = profile_string(p, "ns") });

	profile_add_sample(p, &(struct profile_sample){ .type = (uint16_t)type, .count = 1, .weight = 1 });
	return p;
}

TEST(profiles_without_an_event_in_common_are_not_merged)
{
	struct profile *into = with_event("wall"), *other = with_event("cpu"), *empty = profile_new();

	CHECK_ERR(profile_merge(into, other), ERR_UNSUPPORTED, "'cpu' is not 'wall'");
	CHECK_ERR(profile_merge(into, empty), ERR_UNSUPPORTED, "no event in common");
	profile_free(into);
	profile_free(other);
	profile_free(empty);
}
