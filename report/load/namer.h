/* SPDX-License-Identifier: Apache-2.0 */
/*
 * namer.h - names for the addresses of a profile, each distinct one once.
 *
 * With several threads they are looked up (name_ahead.h) as soon as a sample needs them, while stacks are still being
 * walked.
 */
#ifndef REPORT_NAMER_H
#define REPORT_NAMER_H

#include "formats/base/arena.h"
#include "formats/base/vec.h"
#include "formats/profile/profile.h"
#include "report/print/progress.h"
#include "symbolize/name/name_ahead.h"
#include "symbolize/name/symbolizer.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/* How many frames of each stack are named, from the leaf on; fewer are faster. */
enum {
	NAMER_NONE,
	NAMER_LEAVES,
	NAMER_CALLERS, /* the leaf's location and the one above */
	NAMER_ALL = INT_MAX,
};

/* Which of some numbers have come up. */
struct namer_marks {
	VEC(bool) of;
};

/* Empty when zeroed; the first three are the caller's. */
struct namer {
	struct profile *profile;
	struct symbolizer *symbolizer;
	struct name_ahead *ahead; /* NULL: names are looked up when they are asked for */
	unsigned depth;		  /* NAMER_LEAVES and the like */
	VEC(struct module *) modules; /* number in the profile -> module */
	struct arena arena;	      /* private, as all below */
	VEC(bool) runtimes;	      /* number in the profile -> it is the file of a runtime; may be shorter */
	struct namer_marks stacks, callers, locations; /* stacks with all their frames, or those of runtimes; locations that are wanted */
	VEC(uint32_t) order; /* the locations that are wanted, as they came up */
};

void namer_deinit(struct namer *namer);

/* Module number @number of the profile is @mod. */
void namer_set_module(struct namer *namer, uint32_t number, struct module *mod);

/* Name @location, which has an address, if it is not yet: it has at least 1 line afterwards. */
void namer_name(struct namer *namer, uint32_t location);

/*
 * A sample with @stack was added to the profile: look its names up ahead, if the namer has .ahead. Beside the frames that .depth asks for
 * these are the kernel's (which way it was entered), those of runtimes (which work they do), and all frames of @waits.
 */
void namer_want(struct namer *namer, uint32_t stack, bool waits);

/* Name what the stacks of the profile's samples need. */
void namer_name_samples(struct namer *namer, struct progress *progress);

#endif
