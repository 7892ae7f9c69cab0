/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/stack_stop.h"
#include "tests/unit/test.h"

#include <string.h>

TEST(stack_stop_names_every_reason)
{
	for (int i = 0; i < STACK_STOPS; i++)
		CHECK(stack_stop_name((enum stack_stop)i));
	CHECK_STR(stack_stop_remedy(STACK_STOP_ROOT), NULL);
	CHECK(strstr(stack_stop_remedy(STACK_STOP_NO_BINARY), "--symfs"));
}

TEST(stack_stop_only_incomplete_stacks_have_a_reason)
{
	CHECK_STR(stack_stop_reason(STACK_STOP_ROOT), NULL);
	CHECK_STR(stack_stop_reason(STACK_STOP_SPLICED), NULL);
	CHECK_STR(stack_stop_reason(STACK_STOP_NOT_WALKED), NULL);
	CHECK_STR(stack_stop_reason(STACK_STOP_SNAPSHOT_ENDED), "snapshot ended");
}
