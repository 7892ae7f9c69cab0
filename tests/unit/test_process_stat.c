/* SPDX-License-Identifier: Apache-2.0 */
#include "record/task/process_stat.h"

#include "tests/unit/test.h"

/* A name may hold anything, its own end and blanks included. */
#define STAT "17 (a) Z 1 (b) R 4 17 17 0 -1 4194560 103 0 0 0 5 6 0 0 20 0 3 0 988 1024 9 18446744073709551615 1 2 77"

TEST(process_stat_counts_fields_behind_the_name)
{
	uint64_t value;

	CHECK(process_stat_state(STAT) == 'R');
	CHECK(!process_stat_state("1 (x"));
	CHECK(process_stat_field(STAT, PROCESS_STAT_PARENT, &value));
	CHECK_UINT(value, 4);
	CHECK(process_stat_field(STAT, PROCESS_STAT_FLAGS, &value));
	CHECK_UINT(value, 4194560);
	CHECK(process_stat_field(STAT, PROCESS_STAT_THREADS, &value));
	CHECK_UINT(value, 3);
	CHECK(process_stat_field(STAT, PROCESS_STAT_START_STACK, &value));
	CHECK_UINT(value, 77);
}

TEST(process_stat_has_nothing_where_the_text_ends)
{
	uint64_t value;

	CHECK(!process_stat_field(STAT, PROCESS_STAT_PROCESSOR, &value));
	CHECK(!process_stat_field("", PROCESS_STAT_PARENT, &value));
	CHECK(!process_stat_field("17 (sh) S", PROCESS_STAT_PARENT, &value));
	CHECK(process_stat_state("") == '\0');
	CHECK(process_stat_state("17 (sh)") == '\0');
	CHECK(process_stat_state("17 (sh) ") == '\0');
}
