/* SPDX-License-Identifier: Apache-2.0 */
/*
 * managed_root.h - searches for an interpreter's root variable if its file has no symbol for it.
 *
 * Stripped builds have no such symbols. The structure that the variable points to can be recognised, so pointers in .bss are
 * tried, some in each view, until one is accepted. The interpreter's check should be specific, for example require the
 * number of the sampled thread.
 */
#ifndef RECORD_MANAGED_ROOT_H
#define RECORD_MANAGED_ROOT_H

#include "record/managed/managed.h"

/* Set up with managed_root_init(); holds nothing that has to be released. */
struct managed_root {
	uint64_t begin, end; /* addresses in the process */
	uint64_t next;	     /* to be looked at */
	unsigned rounds;     /* complete rounds without success */
};

/* Search what @host's binary has. */
void managed_root_init(struct managed_root *root, const struct managed_host *host);

/* Does @value, which lies at @addr, point to the interpreter's state? It should read with managed_view_try(). */
typedef bool managed_root_fn(void *context, struct managed_view *view, uint64_t addr, uint64_t value);

/*
 * Try the next pointers; the address of one that @accept accepts, 0 if there was none among them. After some rounds
 * nothing is tried any more.
 */
uint64_t managed_root_search(struct managed_root *root, struct managed_view *view, managed_root_fn *accept,
			     void *context);

#endif
