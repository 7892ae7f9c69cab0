/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_import.c - profiles of every format of the import table that anyone could have sent.
 *
 * Each importer that thinks it might be its format reads the bytes, not only the likeliest.
 */
#include "formats/profile/import/import_file.h"
#include "formats/profile/import/import_table.h"
#include "tests/fuzz/fuzz.h"

/* All numbers in it lead somewhere. */
static void check(const struct profile *p)
{
	for (size_t i = 0; i < p->samples.len; i++) {
		const struct profile_sample *row = &p->samples.items[i];

		CHECK(row->stack == 0 || row->stack < p->stacks.len);
		CHECK(row->type < p->types.len && row->thread < p->threads.len);
		CHECK(row->count > 0);
	}
	for (size_t i = 0; i < p->locations.len; i++)
		CHECK(p->locations.items[i].nlines >= 1);
}

static void try_importer(const struct importer *importer, const struct import_input *in)
{
	struct profile *p = profile_new();
	struct profile_facts facts;
	struct diag diag = { 0 };
	struct err *err;

	profile_facts_init(&facts);
	err = import_table_read(importer, in, p, &facts, &diag);
	if (!err)
		check(p);
	err_free(err);
	profile_free(p);
	profile_facts_deinit(&facts);
	diag_deinit(&diag);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct import_file file = { 0 };
	struct err *err = import_file_memory(data, len, "fuzzed", &file);
	const struct importer *best;

	if (!err) {
		for (size_t i = 0; import_table[i]; i++)
			if (import_table[i]->recognise(file.input.data, MIN(file.input.len, IMPORT_START_LEN)))
				try_importer(import_table[i], &file.input);
		err = import_table_find(&file.input, &best);
	}
	err_free(err);
	import_file_close(&file);
	return 0;
}
