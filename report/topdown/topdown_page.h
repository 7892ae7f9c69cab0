/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topdown_page.h - a profile's top-down tree as a section of a page: bars with their intervals.
 */
#ifndef REPORT_TOPDOWN_PAGE_H
#define REPORT_TOPDOWN_PAGE_H

#include "report/topdown/topdown_tree.h"

#include <stdio.h>

void topdown_page_put(const struct topdown_tree *tree, const struct profile *profile,
		      const struct profile_facts *facts, FILE *out);

#endif
