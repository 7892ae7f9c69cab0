/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_filter.h - keep the samples of a finished profile that pass a filter.
 */
#ifndef REPORT_PROFILE_FILTER_H
#define REPORT_PROFILE_FILTER_H

#include "formats/profile/profile.h"
#include "report/view/filter.h"

/*
 * Keep the samples of @p that pass @filter, which this binds; *@matched is their sum.
 *
 * ERR_USAGE: see filter_bind().  ERR_UNSUPPORTED: the filter asks for what the profile does not hold, such as times.
 */
MUST_USE struct err *profile_filter_apply(struct profile *p, struct filter *filter, const struct profile_facts *facts,
					  struct profile_sum *matched);

/*
 * Keep the rows of @p, a recording's, that fulfil the conditions on labels of waits, if @filter has any; *@matched is their sum.
 * ERR_USAGE: no row has such a label.
 */
MUST_USE struct err *profile_filter_by_labels(struct profile *p, struct filter *filter, struct profile_sum *matched);

#endif
