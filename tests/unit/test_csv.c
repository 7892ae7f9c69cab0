/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/base/csv.h"
#include "tests/unit/test.h"

#include <stdio.h>
#include <stdlib.h>

static void check_cell(void (*put)(FILE *out, const char *text), const char *text, const char *expected)
{
	char *written = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&written, &len);

	CHECK(out);
	put(out, text);
	fclose(out);
	CHECK_STR(written, expected);
	free(written);
}

TEST(csv_cells_are_quoted_where_they_have_to_be)
{
	check_cell(csv_put, "", "");
	check_cell(csv_put, "plain text", "plain text");
	check_cell(csv_put, "a,b", "\"a,b\"");
	check_cell(csv_put, "say \"a\"", "\"say \"\"a\"\"\"");
	check_cell(csv_put, "two\nlines", "\"two\nlines\"");
	check_cell(csv_put_quoted, "plain", "\"plain\"");
	check_cell(csv_put_quoted, "\"", "\"\"\"\"");
}
