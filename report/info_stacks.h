/* SPDX-License-Identifier: Apache-2.0 */
/*
 * info_stacks.h - how the stacks of a recording end, where they broke and what would help, and the modules that
 * their frames are in.
 */
#ifndef REPORT_INFO_STACKS_H
#define REPORT_INFO_STACKS_H

#include "report/fact_sheet.h"
#include "report/session.h"
#include "report/tally.h"

void info_put_stacks(struct fact_sheet *sheet, struct session *s, const struct tally *tally);

#endif
