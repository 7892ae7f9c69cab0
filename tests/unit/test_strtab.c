/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "formats/base/strtab.h"

#include <stdio.h>

TEST(strtab_numbers_each_string_once_and_the_empty_one_zero)
{
	CLEANUP(strtab_deinit) struct strtab tab = { 0 };
	const char *first;

	CHECK_STR(strtab_get(&tab, 0), "");
	CHECK_UINT(strtab_add(&tab, "a"), 1);
	CHECK_UINT(strtab_add(&tab, ""), 0);
	CHECK_UINT(strtab_add(&tab, "a"), 1);
	first = strtab_get(&tab, 1);
	for (unsigned i = 0; i < 10000; i++) {
		char text[16];

		snprintf(text, sizeof(text), "name%u", i);
		CHECK_UINT(strtab_add(&tab, text), i + 2);
	}
	for (unsigned i = 0; i < 10000; i++) {
		char text[16];

		snprintf(text, sizeof(text), "name%u", i);
		CHECK_UINT(strtab_add(&tab, text), i + 2);
		CHECK_STR(strtab_get(&tab, i + 2), text);
	}
	CHECK(strtab_get(&tab, 1) == first); /* strings do not move */
	CHECK_UINT(tab.len, 10002);
}
