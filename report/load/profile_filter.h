/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_filter.h - keep the samples of a finished profile that pass a filter.
 */
#ifndef REPORT_PROFILE_FILTER_H
#define REPORT_PROFILE_FILTER_H

#include "formats/profile/profile.h"
#include "report/view/filter.h"

/*
 * Keep the samples of @p, which was read from @input, that pass @filter, which is bound; *@matched is their sum.
 * ERR_UNSUPPORTED: a window of time where the profile has no times.
 */
MUST_USE struct err *profile_filter_apply(struct profile *p, const struct filter *filter,
					  const char *input, struct profile_sum *matched);

#endif
