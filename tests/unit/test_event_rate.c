/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "record/event/event_rate.h"

#include <inttypes.h>

TEST(event_rate_takes_frequencies_up_to_the_limit)
{
	struct event_rate rate = { 0 };
	uint64_t limit = event_rate_limit();
	char text[32];

	if (limit == UINT64_MAX)
		SKIP("this kernel has no performance events");
	if (limit < 1000)
		SKIP("the kernel has lowered its limit to less than 1000 samples a second");
	CHECK_OK(event_rate_parse_freq(&rate, "99"));
	CHECK_UINT(rate.kind, EVENT_RATE_FREQ);
	CHECK_UINT(rate.value, 99);
	CHECK_OK(event_rate_parse_freq(&rate, "1k"));
	CHECK_UINT(rate.value, 1000);
	CHECK_OK(event_rate_parse_freq(&rate, "max"));
	CHECK(rate.value == limit || limit != event_rate_limit()); /* the kernel may just have lowered it */
	snprintf(text, sizeof(text), "%" PRIu64, limit + 1);
	rate.value = 7;
	struct err *err = event_rate_parse_freq(&rate, text);

	CHECK(err_hint(err)); /* names the file */
	CHECK_ERR(err, ERR_USAGE, "the kernel's limit is");
	CHECK_UINT(rate.value, 7);
}

TEST(event_rate_takes_periods_with_decimal_units)
{
	struct event_rate rate = { 0 };

	CHECK_OK(event_rate_parse_period(&rate, "1"));
	CHECK_UINT(rate.kind, EVENT_RATE_PERIOD);
	CHECK_UINT(rate.value, 1);
	CHECK_OK(event_rate_parse_period(&rate, "2M"));
	CHECK_UINT(rate.value, 2000000);
	CHECK_OK(event_rate_parse_period(&rate, "3G"));
	CHECK_UINT(rate.value, 3000000000u);
	CHECK_OK(event_rate_parse_period(&rate, "9223372036854775807"));
}

TEST(event_rate_refuses_what_is_no_rate)
{
	static const char *const wrong[] = { "",
					     "0",
					     "-1",
					     "1.5",
					     "k",
					     "1kk",
					     "0x10",
					     "fast",
					     "9223372036854775808",
					     "18446744073709551615G" };
	struct event_rate rate = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		CHECK_ERR(event_rate_parse_period(&rate, wrong[i]), ERR_USAGE, "number of events");
		CHECK_UINT(rate.kind, EVENT_RATE_UNSET);
	}
	CHECK_ERR(event_rate_parse_freq(&rate, "0"), ERR_USAGE, "samples a second");
	CHECK_ERR(event_rate_parse_freq(&rate, "many"), ERR_USAGE, "samples a second, or max");
}
