/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_guard.h - files that are mapped may be cut short by others while they are read; that is no reason to die.
 *
 *	struct page_guard guard;
 *
 *	page_guard_begin(&guard);
 *	... parse what is mapped, which is all bounded and may hold anything ...
 *	if (page_guard_count(&guard))        pages that were gone: they read as zeros
 *		...
 *	page_guard_end(&guard);
 *
 * While a guard is on, a page of a mapping beyond the end of its file becomes a page of zeros for this process instead
 * of SIGBUS. Guards do not nest; one thread at a time.
 */
#ifndef FORMATS_BASE_PAGE_GUARD_H
#define FORMATS_BASE_PAGE_GUARD_H

#include <signal.h>
#include <stdint.h>

struct page_guard {
	struct sigaction before;
	uint64_t start; /* pages patched until it began */
};

void page_guard_begin(struct page_guard *guard);
void page_guard_end(struct page_guard *guard);

/* The same for all threads, until the program ends. Guards that begin later stay within it. */
void page_guard_stay(void);

/* Pages that were gone since the guard began. */
uint64_t page_guard_count(const struct page_guard *guard);

#endif
