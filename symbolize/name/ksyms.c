/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ksyms.c - binary search. Only symbols near recorded addresses are there, so a gap is a gap: a symbol
 * without a length reaches to the next one, but not further than a page.
 *
 * What was loaded comes first: the other symbols may be those of another time, when something else was there.
 */
#include "symbolize/name/ksyms.h"

#include "formats/base/bisect.h"

#define UNSIZED_REACH 4096

static const struct recording_ksym *find(const struct recording_ksym *syms, size_t count, uint64_t addr)
{
	size_t low = BISECT(count, i, syms[i].addr <= addr);

	if (!low)
		return NULL;
	const struct recording_ksym *sym = &syms[low - 1];
	uint64_t len = sym->len ? sym->len : UNSIZED_REACH;

	return addr - sym->addr < len ? sym : NULL;
}

const struct recording_ksym *ksyms_find(const struct recording *rec, uint64_t addr)
{
	const struct recording_ksym *loaded = find(rec->loaded, rec->nloaded, addr);

	return loaded ? loaded : find(rec->ksyms, rec->nksyms, addr);
}
