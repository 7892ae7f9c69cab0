/* SPDX-License-Identifier: Apache-2.0 */
/*
 * landscape.h - what a file must be told at its beginning to be read by itself: the processes, threads, names and
 * mappings that are there, kernel code and cgroups.
 *
 * It follows the side-band one pass behind. Side-band rings are drained ahead of the samples, so a sample still to
 * come may be older than an exec that has been seen; it finds the landscape of before, and the exec behind it:
 *
 *	pass n-1 | side-band  samples | pass n | side-band  samples |   a new file begins here:
 *	 ... all of this is landscape |        | told as it came    |   landscape, side-band of pass n, samples
 *
 * Memory grows with what lives. Not thread-safe.
 */
#ifndef RECORD_LANDSCAPE_H
#define RECORD_LANDSCAPE_H

#include "formats/base/err.h"
#include "formats/event.h"

struct landscape;

struct landscape *landscape_new(void);
void landscape_free(struct landscape *l);

/* A side-band event was written; others are ignored. */
void landscape_event(struct landscape *l, const struct event *ev);

/* A pass begins. */
void landscape_round(struct landscape *l);

/* Tell it all to @tell: what is there at time 0, as if read from /proc, then the last pass as it came. */
MUST_USE struct err *landscape_tell(const struct landscape *l,
				    struct err *(*tell)(void *context, const struct event *ev),
				    void *context);

#endif
