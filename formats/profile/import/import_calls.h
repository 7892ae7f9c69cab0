/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_calls.h - files that have no stacks, only who calls whom: callgrind's, Python's pstats.
 *
 *	calls = import_calls_new(p);
 *	main = import_calls_function(calls, &(struct import_callable){ .name = …, .file = … });
 *	import_calls_cost(calls, &(struct import_cost){ .function = main, .callee = IMPORT_CALLS_SELF, .line = 3 }, values, n);
 *	import_calls_finish(calls, types, n);
 *	import_calls_free(calls);
 *
 * Stacks are estimated as gprof does: what a function costs is divided among its callers as their calls cost. Own costs and their
 * lines are exact, and so are the calls of functions with one caller. What is too little to be followed is added where most of its
 * function is. Recursion ends where a function is met again.
 */
#ifndef FORMATS_IMPORT_CALLS_H
#define FORMATS_IMPORT_CALLS_H

#include "formats/profile/import/import_build.h"

struct import_calls;

/* Numbers of strings, 0 for what is not known. */
struct import_callable {
	uint32_t name, file;
	uint32_t path;	   /* of its module */
	uint32_t declared; /* the line that it begins at */
	enum profile_frame_kind kind;
};

#define IMPORT_CALLS_SELF UINT32_MAX

struct import_cost {
	uint32_t function;
	uint32_t callee;     /* or IMPORT_CALLS_SELF: its own cost */
	uint32_t file, line; /* where that is spent, or where the call is */
};

/* Release it with import_calls_free(). */
struct import_calls *import_calls_new(struct profile *p);
void import_calls_free(struct import_calls *calls);

/* The number of a function; equal ones have one. */
uint32_t import_calls_function(struct import_calls *calls, const struct import_callable *function);

/* @ntypes values, at most 2^62 each and always as many; of a call they are of the callee and all that it calls. */
void import_calls_cost(struct import_calls *calls, const struct import_cost *cost, const uint64_t *values, uint32_t ntypes);

/* Is there any call? Without one nothing is estimated. */
bool import_calls_any(const struct import_calls *calls);

/* Add the samples to the profile; @types are numbers of its value types, of each of the values. */
void import_calls_finish(struct import_calls *calls, const uint32_t *types, uint32_t ntypes);

#endif
