/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_export.c - every writer, given profiles that importers made of any bytes: what it writes, its importer takes for whole.
 */
#include "formats/profile/import/import_file.h"
#include "formats/profile/import/import_table.h"
#include "report/export/export_format.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

#define INPUT_MAX 4096 /* a few bytes may stand for much more in nine formats */

/* A profile that was read from bytes. */
struct read {
	const struct importer *importer; /* NULL: it is of no format */
	struct profile *p;
	struct profile_facts facts;
	struct diag diag;
};

static struct err *read_open(struct read *r, const uint8_t *data, size_t len, const char *name)
{
	struct import_file file = { 0 };
	struct err *err = import_file_memory(data, len, name, &file);

	*r = (struct read){ .p = profile_new() };
	profile_facts_init(&r->facts);
	if (!err)
		err = import_table_find(&file.input, &r->importer);
	if (!err)
		err = import_table_read(r->importer, &file.input, r->p, &r->facts, &r->diag);
	import_file_close(&file);
	return err;
}

static void read_close(struct read *r)
{
	profile_free(r->p);
	profile_facts_deinit(&r->facts);
	diag_deinit(&r->diag);
}

/* Names of functions may be such that collapsed stacks look like Austin's: what that makes of them is not the writer's fault. */
static bool is_of(const struct read *r, const char *format)
{
	return r->importer && strncmp(format, r->importer->name, strlen(r->importer->name)) == 0; /* otlp reads otlp-json */
}

static void check_written(const char *name, const uint8_t *data, size_t len)
{
	struct read again;
	struct err *err = read_open(&again, data, len, name);

	if (err && is_of(&again, name) && err_kind(err) == ERR_CORRUPT && !strstr(err_message(err), "no samples")) {
		fprintf(stderr, "%s: %s\n%.*s\n", name, err_message(err), (int)MIN(len, 4096), data);
		CHECK(!"what was written is called damaged");
	}
	err_free(err);
	read_close(&again);
}

static void write_all(const struct read *from)
{
	for (const struct export_row *row = export_table; row->name; row++) {
		char *data = NULL;
		size_t len = 0;
		FILE *out = open_memstream(&data, &len);
		struct err *err = row->format->write(from->p, &from->facts, out);

		fclose(out);
		if (!err)
			check_written(row->name, (const uint8_t *)data, len);
		err_free(err);
		free(data);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct read from;
	struct err *err = read_open(&from, data, MIN(len, (size_t)INPUT_MAX), "fuzzed");

	if (!err)
		write_all(&from);
	err_free(err);
	read_close(&from);
	return 0;
}
