/* SPDX-License-Identifier: Apache-2.0 */
/*
 * info_stacks.h - how the stacks of a recording end, where they broke and what would help, and the modules that
 * their frames are in.
 */
#ifndef REPORT_INFO_STACKS_H
#define REPORT_INFO_STACKS_H

#include "report/print/fact_sheet.h"
#include "report/load/session.h"
#include "report/load/unwind_quality.h"

void info_put_stacks(struct fact_sheet *sheet, struct session *s, const struct unwind_quality *unwind_quality);

#endif
