/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_profile.c - collapsed stacks and pprof files that anyone could have sent.
 */
#include "formats/profile/folded_read.h"
#include "formats/profile/pprof_read.h"
#include "tests/fuzz/fuzz.h"

/* All numbers in it lead somewhere. */
static void check(const struct profile *p)
{
	for (size_t i = 0; i < p->samples.len; i++) {
		const struct profile_sample *row = &p->samples.items[i];

		CHECK(row->stack == 0 || row->stack < p->stacks.len);
		CHECK(row->type < p->types.len && row->thread < p->threads.len);
		CHECK(row->count > 0 && row->weight != 0);
	}
	for (size_t i = 0; i < p->locations.len; i++)
		CHECK(p->locations.items[i].nlines >= 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct pprof_facts facts;
	struct profile *folded = profile_new(), *pprof = profile_new();

	struct err *err = folded_read(data, len, folded);

	if (!err)
		check(folded);
	err_free(err);
	err = pprof_read(data, len, pprof, &facts);
	if (!err)
		check(pprof);
	err_free(err);
	profile_free(folded);
	profile_free(pprof);
	return 0;
}
