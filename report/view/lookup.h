/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lookup.h - which function somebody means: "malloc", "libc.so.6:malloc", "std::vector*", "foo(int)".
 *
 * A name stands for itself, with or without its arguments, and for the copies that the compiler made of it
 * ("step.isra.0"); if no function has it, for the one whose last part it is ("sum" for "Store::sum() const"); and then it
 * is taken as a glob. One that is no glob and fits several functions is ambiguous.
 */
#ifndef REPORT_LOOKUP_H
#define REPORT_LOOKUP_H

#include "formats/base/err.h"
#include "formats/profile/profile.h"

struct lookup {
	bool *matches;    /* for each function of the profile; in the arena */
	uint32_t first;   /* the matching function that comes first by name and module */
	const char *name; /* of that one; of a glob, the glob */
};

/*
 * The functions of the stacks of @p that @wanted means.
 *
 * ERR_USAGE: there is none, or several; the remedy lists near names or the choices.
 */
MUST_USE struct err *lookup_function(const struct profile *p, const char *wanted,
				     struct arena *arena, struct lookup *ret);

/* Length of @name without the argument list: "a::f(int) const" -> 4; "(anonymous namespace)" is no list. */
size_t lookup_base_len(const char *name);

/* Is the module's path or the last part of it what the glob says? */
bool lookup_matches_module(const struct profile *p, uint32_t module, const char *glob, size_t len);

#endif
