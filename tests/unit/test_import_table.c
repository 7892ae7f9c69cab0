/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_import_table.c - which importer reads a file that could be of two formats.
 */
#include "tests/unit/import_case.h"

#include <string.h>

/* As much one as the other. */
static const char chrome_or_firefox[] = "{\"traceEvents\":[{\"ph\":\"X\"}],\"stackTable\":{},\"frameTable\":{}}";

static struct err *find(const char *name, const struct importer **ret)
{
	const struct import_input in = { .data = (const uint8_t *)chrome_or_firefox, .len = strlen(chrome_or_firefox), .name = name };

	return import_table_find(&in, ret);
}

static void check_refused(const char *name, const char *message)
{
	const struct importer *found = NULL;
	struct err *err = find(name, &found);

	CHECK(!found);
	CHECK_STR(err_message(err), message);
	CHECK_STR(err_hint(err), "give it a name that ends in '.trace' or '.profile.json'");
	err_free(err);
}

static void check_is(const char *name, const char *format)
{
	const struct importer *found = NULL;

	CHECK_OK(find(name, &found));
	CHECK_STR(found->name, format);
}

TEST(formats_that_are_equally_likely_are_named)
{
	check_refused("x", "'x' could be chrome or firefox");
	check_refused("x.json", "'x.json' could be chrome or firefox");
}

TEST(the_longer_extension_decides_between_equally_likely_formats)
{
	check_is("x.trace", "chrome");
	check_is("x.trace.gz", "chrome");
	check_is("x.profile.json", "firefox");
	check_is("x.profile.json.gz", "firefox");
}
