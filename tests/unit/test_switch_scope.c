/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_switch_scope.c - when others' switches are not recorded any more, and that none counts twice.
 */
#include "record/sample/switch_scope.h"
#include "tests/unit/test.h"

#define MS 1000000ull

static void count(struct switch_scope *scope, uint64_t own, uint64_t foreign)
{
	for (uint64_t i = 0; i < own + foreign; i++) {
		const struct event ev = { .kind = EVENT_SWITCH, .tid = 7, .time_ns = i + 1 };

		CHECK(switch_scope_count(scope, &ev, i < own) == (i < own));
	}
}

TEST(switch_scope_narrows_where_others_switch_much_more_often)
{
	static const struct {
		uint64_t own, foreign;
		bool narrow;
	} cases[] = { { 10, 90, false }, { 10, 1000, true }, { 600, 1000, false }, { 0, 0, false } };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct switch_scope scope;

		switch_scope_begin(&scope, true, true, 1000 * MS);
		count(&scope, cases[i].own, cases[i].foreign);
		CHECK(!switch_scope_wants_narrow(&scope, 1010 * MS)); /* so soon nobody knows */
		CHECK(switch_scope_wants_narrow(&scope, 1100 * MS) == cases[i].narrow);
		count(&scope, 0, 5000);
		scope.settled = true;
		CHECK(!switch_scope_wants_narrow(&scope, 1300 * MS)); /* it was tried */
		switch_scope_deinit(&scope);
	}
}

TEST(switch_scope_that_is_not_wanted_stays_wide)
{
	struct switch_scope scope;

	switch_scope_begin(&scope, false, true, 1000 * MS);
	count(&scope, 0, 5000);
	CHECK(!switch_scope_wants_narrow(&scope, 1100 * MS));
	switch_scope_deinit(&scope);
}

TEST(switch_scope_drops_what_two_events_of_a_thread_recorded)
{
	struct switch_scope scope;
	struct event ev = { .kind = EVENT_SWITCH, .tid = 7, .time_ns = 5 };

	switch_scope_begin(&scope, true, true, 1000 * MS);
	*map_put(&scope.tids, 7, NULL) = 1;
	CHECK(switch_scope_count(&scope, &ev, true) && !switch_scope_count(&scope, &ev, true));
	ev.cpu_switch.in = true; /* at the same time, but the other way */
	CHECK(switch_scope_count(&scope, &ev, true));
	ev.tid = 8;
	CHECK(switch_scope_count(&scope, &ev, true) && !switch_scope_count(&scope, &ev, false));
	switch_scope_deinit(&scope);
}
