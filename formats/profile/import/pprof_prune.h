/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof_prune.h - frames that a pprof file wants left out: those whose function fits drop_frames and not keep_frames, and what
 * they call. Both are expressions over whole names: "drop_frames" in profile.proto.
 */
#ifndef FORMATS_PPROF_PRUNE_H
#define FORMATS_PPROF_PRUNE_H

#include <stdbool.h>
#include <stddef.h>

struct pprof_prune;

/* NULL where one of the expressions cannot be used. @keep may be empty. */
struct pprof_prune *pprof_prune_new(const char *drop, size_t drop_len, const char *keep, size_t keep_len);

void pprof_prune_free(struct pprof_prune *prune);

/* Is a function of that name, without its parameters, to be left out? */
bool pprof_prune_drops(const struct pprof_prune *prune, const char *name);

#endif
