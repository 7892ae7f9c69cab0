/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name_ahead.h - what names come from, read by other threads than the one that asks for them.
 *
 *	name_ahead_read(a, mod)		as soon as it is known that a module's names will be asked for
 *	name_ahead_look_up(a, mod, ...)	when it is known which
 *	name_ahead_wait(a)		before the first is asked for
 *
 * To unpack and index the debug information of a C library takes as long as to walk 10,000 stacks. Modules share nothing,
 * so each is a task. The answers are those that symbolizer_find() would find by itself.
 */
#ifndef SYMBOLIZE_NAME_AHEAD_H
#define SYMBOLIZE_NAME_AHEAD_H

#include "formats/base/pool.h"
#include "symbolize/symbolizer.h"

struct name_ahead;

/* Both must outlive it; the caller is the owner of @pool. */
struct name_ahead *name_ahead_new(struct symbolizer *symbolizer, struct pool *pool);

/* Waits. */
void name_ahead_free(struct name_ahead *a);

/* Open the files of @mod, and have their tables read; once, however often it is asked for. */
void name_ahead_read(struct name_ahead *a, struct module *mod);

/* Once for a module: have @vaddrs, ascending, looked up. They must stay until name_ahead_wait(). */
void name_ahead_look_up(struct name_ahead *a, struct module *mod, const uint64_t *vaddrs,
			size_t count);

/* Until that is done, @symbolizer must not be asked about modules that were named here. */
void name_ahead_wait(struct name_ahead *a);

#endif
