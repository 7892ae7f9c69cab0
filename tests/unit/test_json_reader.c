/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_json_reader.c - numbers of every length, in every place, read one by one and as an array.
 */
#include "formats/base/json_reader.h"
#include "tests/unit/test.h"

#include <inttypes.h>
#include <stdio.h>

/* Of each length from the lower end of the buffer to its upper one, whose next byte may not be read. */
TEST(json_whole_numbers_of_any_length_end_where_they_end)
{
	int64_t number = 0;

	for (int64_t digits = 1; digits <= 18; digits++) {
		char text[64];
		struct json_reader r;
		int64_t first = 0, second = 0, third = 0;

		number = number * 10 + digits % 10;
		int len = snprintf(text, sizeof(text), "[%" PRId64 ",%" PRId64 ",-%" PRId64 "]", number, number, number);

		json_reader_init(&r, guarded(text, (size_t)len), (size_t)len);
		CHECK(json_read_array(&r));
		CHECK(json_read_more_int(&r, &first) && json_read_more_int(&r, &second) && json_read_more_int(&r, &third));
		CHECK_INT(first, number);
		CHECK_INT(second, number);
		CHECK_INT(third, -number);
		CHECK(!json_read_more_int(&r, &third));
		CHECK_OK(json_read_check(&r));
		json_reader_deinit(&r);
	}
}

/* Bytes behind a number that are nearly digits, or that make it another one. */
TEST(json_numbers_in_arrays_end_at_what_is_no_digit)
{
	static const char text[] = "[7,8 ,12e2,345.9,99999999999999999999,0,6\n,\t5,1234567,12345678]        ";
	static const int64_t values[] = { 7, 8, 1200, 345, INT64_MAX, 0, 6, 5, 1234567, 12345678 };
	struct json_reader r;
	int64_t value;

	json_reader_init(&r, text, sizeof(text) - 1);
	CHECK(json_read_array(&r));
	for (size_t i = 0; i < ARRAY_LEN(values); i++) {
		CHECK(json_read_more_int(&r, &value));
		CHECK_INT(value, values[i]);
	}
	CHECK(!json_read_more_int(&r, &value));
	CHECK_OK(json_read_check(&r));
	json_reader_deinit(&r);
}

TEST(json_bytes_that_are_no_digits_are_refused_in_numbers)
{
	for (unsigned byte = 1; byte < 256; byte++) {
		char text[] = "[1,2\1,3333333]";
		struct json_reader r;
		int64_t value = 0;
		bool goes_on = strchr("0123456789.eE+-, \t\r\n]", (int)byte);

		text[4] = (char)byte;
		json_reader_init(&r, text, sizeof(text) - 1);
		CHECK(json_read_array(&r));
		while (json_read_more_int(&r, &value))
			;
		CHECK(goes_on || r.failed);
		json_reader_deinit(&r);
	}
}

TEST(json_numbers_may_stand_in_quotes)
{
	static const char text[] = "[\"12\",\"-3.5\",\"99999999999999999999\",7]", wrong[] = "[\"1x\"]", empty[] = "[\"\"]";
	struct json_reader r;
	int64_t value = 0;

	json_reader_init(&r, text, sizeof(text) - 1);
	CHECK(json_read_array(&r) && json_read_more_int(&r, &value));
	CHECK_INT(value, 12);
	CHECK(json_read_more(&r) && json_read_double(&r) == -3.5);
	CHECK(json_read_more(&r) && json_read_int(&r) == INT64_MAX);
	CHECK(json_read_more_int(&r, &value) && value == 7 && !json_read_more(&r));
	CHECK_OK(json_read_check(&r));
	json_reader_init(&r, wrong, sizeof(wrong) - 1);
	CHECK(json_read_array(&r) && json_read_more_int(&r, &value) && value == 0);
	CHECK_ERR(json_read_check(&r), ERR_CORRUPT, "expected a number in quotes before this at offset 5");
	json_reader_init(&r, empty, sizeof(empty) - 1);
	CHECK(json_read_array(&r) && json_read_more_int(&r, &value));
	CHECK(r.failed != NULL);
}
