/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_needs.h - does a profile tell apart what a table groups by? One of nothing but "[no line]" would look like an answer.
 */
#ifndef REPORT_VIEW_NEEDS_H
#define REPORT_VIEW_NEEDS_H

#include "report/view/view_levels.h"

/* ERR_UNSUPPORTED: @p, which was imported from @input, has nothing that distinguishes the groups of @levels. */
MUST_USE struct err *view_needs_check(const struct profile *p, const struct view_levels *levels,
				      const char *input);

/* Does @p tell apart what @by groups by? True for levels that every profile has. */
bool view_needs_are_met(const struct profile *p, enum view_by by);

#endif
