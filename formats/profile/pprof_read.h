/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof_read.h - pprof's profile.proto, gzip-compressed or not, as a profile.
 *
 * Of sample types, a "samples" or count that stands in front of another one counts the samples of that one (as pprof_write()
 * and Go write them); each of the others is an event, the default one first. Without a count each sample of the file is taken to be
 * one, so that nothing looks surer than it is. The labels of pprof.h are understood, others are left out; so are times.
 */
#ifndef FORMATS_PPROF_READ_H
#define FORMATS_PPROF_READ_H

#include "formats/base/arena.h"
#include "formats/base/err.h"
#include "formats/profile/profile.h"

/* What the file says besides. */
struct pprof_facts {
	uint64_t wall_ns, duration_ns; /* 0 if not known */
};

/* Could this be the beginning of such a file? */
bool pprof_is(const void *data, size_t len);

/*
 * Fill the fresh @p. ERR_CORRUPT: what is compressed, coded or referred to cannot be.  ERR_UNSUPPORTED: more than 1 GiB.
 */
MUST_USE struct err *pprof_read(const void *data, size_t len, struct profile *p,
				struct pprof_facts *ret);

#endif
