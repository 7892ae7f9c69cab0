/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_import_damage.c - a small file of every row of the import table, cut short anywhere and with bytes flipped.
 *
 * What comes out is an error of one line that says where, or a profile whose numbers lead somewhere. A text of lines says of neither a cut
 * between two lines nor a changed name that it is damaged: that cannot be seen.
 */
#include "tests/unit/import_case.h"

#include <stdlib.h>
#include <string.h>

static const struct damage_case {
	const char *importer;
	const char *file; /* of tests/data/fuzz/import/ */
} cases[] = { /* importers whose file has another name than they */
	{ "folded", "collapsed" },
	{ "cpuprofile", "node.cpuprofile" },
	{ "heapprofile", "node.heapprofile" },
	{ "chrome", "node-trace.json" },
	{ "jfr", "hotspot.jfr.gz" },
};

static const char *file_of(const struct importer *importer)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		if (strcmp(cases[i].importer, importer->name) == 0)
			return cases[i].file;
	return importer->name;
}

TEST(import_of_every_format_survives_damage)
{
	for (size_t i = 0; import_table[i]; i++) {
		const char *of = file_of(import_table[i]); /* a new row needs a file of its name */
		struct import_file file = { 0 };
		struct import_case c;
		char name[128];
		size_t len;
		uint8_t *data;

		snprintf(name, sizeof(name), "../fuzz/import/%s", of);
		data = import_case_bytes(name, &len);
		CHECK_OK(import_file_memory(data, len, of, &file)); /* unpacked: damage to gzip is found by gzip */
		CHECK_OK(import_case_read(&c, file.input.data, file.input.len, of));
		CHECK_STR(c.importer->name, import_table[i]->name);
		import_case_close(&c);
		import_case_damage(file.input.data, file.input.len, of);
		import_file_close(&file);
		free(data);
	}
}

/* The end of these is known, so that an early one is an error with an offset, or a warning. */
TEST(import_says_where_a_file_ends_early)
{
	static const char *const ended[] = { "pprof", "node.cpuprofile", "node.heapprofile", "speedscope", "node-trace.json",
					     "firefox", "gecko", "stackprof" };

	for (size_t i = 0; i < ARRAY_LEN(ended); i++) {
		struct import_case c;
		struct err *err;
		char name[128];
		size_t len;
		uint8_t *data;

		snprintf(name, sizeof(name), "../fuzz/import/%s", ended[i]);
		data = import_case_bytes(name, &len);
		err = import_case_read(&c, data, len * 9 / 10, ended[i]);
		if (err)
			CHECK(strstr(err_message(err), "offset") || strstr(err_message(err), "is not in a format"));
		else
			CHECK(c.diag.entries != NULL);
		err_free(err);
		import_case_close(&c);
		free(data);
	}
}
