/* SPDX-License-Identifier: Apache-2.0 */
/*
 * info.h - prints facts and tables about a recording.
 */
#ifndef REPORT_INFO_H
#define REPORT_INFO_H

#include "report/session.h"
#include "report/table.h"
#include "report/tally.h"

void info_print(struct session *s, const struct tally *tally, enum table_format format, FILE *out);

/* Where the bytes of a trace file went; all of them. ERR_SYSTEM: it cannot be read. */
MUST_USE struct err *info_print_sizes(struct session *s, enum table_format format, FILE *out);

#endif
