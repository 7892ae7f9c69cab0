/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folded_read.h - collapsed stacks as a profile.
 *
 * A line is "process;root;...;leaf VALUE", as folded.h, stackcollapse-perf.pl and inferno-collapse-perf write it; blank
 * lines and comments (#) are passed over. The first frame is the process unless it is the only one. What folded_write() may put
 * behind a function is understood: " [module]", "_[k]" (kernel), "_[i]" (inlined), "_[j]" (JIT). There are no addresses,
 * times, threads or CPUs.
 *
 * VALUE may count samples or sum up their weights; that is not written anywhere. If some value is below 1000, they count samples.
 * Otherwise they are weights: their greatest common divisor is taken to be that of one sample, or, if it is below 1000, each
 * line is taken to be one sample, so that nothing looks surer than it is.
 */
#ifndef FORMATS_FOLDED_READ_H
#define FORMATS_FOLDED_READ_H

#include "formats/base/err.h"
#include "formats/profile/profile.h"

/* Could this be the beginning of such a file? A trace, pprof or binary file is not. */
bool folded_is(const void *data, size_t len);

/*
 * Fill the fresh @p. ERR_CORRUPT: a line has no value, or values add up to more than 64 bits; the message has the line's number.
 */
MUST_USE struct err *folded_read(const void *data, size_t len, struct profile *p);

#endif
