/* SPDX-License-Identifier: Apache-2.0 */
/*
 * info_sizes.h - where the bytes of a trace file went; all of them.
 */
#ifndef REPORT_INFO_SIZES_H
#define REPORT_INFO_SIZES_H

#include "report/load/session.h"
#include "report/print/table.h"

/* ERR_SYSTEM: it cannot be read. */
MUST_USE struct err *info_sizes_print(struct session *s, enum table_format format, FILE *out);

#endif
