/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ksyms.c - binary search. Only symbols near recorded addresses are there, so a gap is a gap: a symbol
 * without a length reaches to the next one, but not further than a page.
 */
#include "symbolize/name/ksyms.h"

#include "formats/base/bisect.h"

#define UNSIZED_REACH 4096

const struct recording_ksym *ksyms_find(const struct recording *rec, uint64_t addr)
{
	size_t low = BISECT(rec->nksyms, i, rec->ksyms[i].addr <= addr);

	if (!low)
		return NULL;
	const struct recording_ksym *sym = &rec->ksyms[low - 1];
	uint64_t len = sym->len ? sym->len : UNSIZED_REACH;

	return addr - sym->addr < len ? sym : NULL;
}
