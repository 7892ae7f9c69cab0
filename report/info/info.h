/* SPDX-License-Identifier: Apache-2.0 */
/*
 * info.h - prints facts and tables about a recording or a profile.
 */
#ifndef REPORT_INFO_H
#define REPORT_INFO_H

#include "report/info/fact_sheet.h"
#include "report/load/session.h"
#include "report/load/unwind_quality.h"

void info_print(struct session *s, const struct unwind_quality *unwind_quality, enum table_format format, FILE *out);

/* The same of a profile of another tool, with what it has and what it lacks. */
void info_print_profile(const struct profile *p, const struct profile_facts *facts, enum table_format format,
			FILE *out);

/* Of the running kernel: how much code @rec has, and in what time it was read; or why there is none. */
void info_put_kernel_code(struct fact_sheet *sheet, const struct recording *rec);

#endif
