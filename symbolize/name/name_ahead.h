/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name_ahead.h - names, looked up by other threads than the one that will ask for them.
 *
 *	name_ahead_ask(a, mod, vaddr)	as soon as it is known that an address will be asked for
 *	name_ahead_begin(a)		when that was all
 *	name_ahead_wait(a, mod)		before the first of a module is asked for
 *
 * To unpack and index the debug information of a C library takes as long as to walk 10,000 stacks, and to look up its
 * addresses as long again. Modules share nothing, so that each has a task at a time, with the addresses that came since
 * the last. The answers are those that symbolizer_find() would find by itself.
 */
#ifndef SYMBOLIZE_NAME_AHEAD_H
#define SYMBOLIZE_NAME_AHEAD_H

#include "formats/base/pool.h"
#include "symbolize/name/symbolizer.h"

struct name_ahead;

/* Both must outlive it; the caller is the owner of @pool. */
struct name_ahead *name_ahead_new(struct symbolizer *symbolizer, struct pool *pool);

/* Waits. */
void name_ahead_free(struct name_ahead *a);

/* Have @vaddr of @mod looked up. */
void name_ahead_ask(struct name_ahead *a, struct module *mod, uint64_t vaddr);

/* No more addresses will come for now. */
void name_ahead_begin(struct name_ahead *a);

/* Until that is done for a module that was named here, @symbolizer must not be asked about it. */
void name_ahead_wait(struct name_ahead *a, const struct module *mod);

#endif
