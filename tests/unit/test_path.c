/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "formats/base/path.h"

TEST(path_without_dots_is_the_file_that_is_meant)
{
	static const char *const cases[][2] = {
		{ "/a/b/../c", "/a/c" },  { "/a/./b/./c", "/a/b/c" },	      { "/a/b/../../c", "/c" },
		{ "a/../../b", "../b" },  { "../b", "../b" },		      { "/a/..b/.c", "/a/..b/.c" },
		{ "", "" },		  { "/srv/web/../env/bin/x", "/srv/env/bin/x" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(arena_deinit) struct arena arena = { 0 };

		CHECK_STR(path_without_dots(&arena, cases[i][0]), cases[i][1]);
	}
}
