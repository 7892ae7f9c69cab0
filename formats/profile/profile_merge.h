/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_merge.h - several profiles as one: what is equal in them is added up.
 *
 * Threads, processes' numbers, labels, addresses and lines stay. Functions of one name that one of them tells apart (same_names.h)
 * have their plain names afterwards. Times and lives of processes are left out: each profile has a clock of its own.
 */
#ifndef FORMATS_PROFILE_MERGE_H
#define FORMATS_PROFILE_MERGE_H

#include "formats/base/err.h"
#include "formats/profile/profile.h"

/*
 * Add the samples of @from, whose locations are all named, to @into. Value types of one name and unit are the same.
 * ERR_UNSUPPORTED: @into has samples, but none of the value types; or the sums do not fit.
 */
MUST_USE struct err *profile_merge(struct profile *into, const struct profile *from);

#endif
