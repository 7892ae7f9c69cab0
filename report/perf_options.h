/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_options.h - every option of perf report, annotate, script and diff, and what it is here.
 *
 * See record/perf_options.h: the same here, a synonym, done anyway, or what to type instead.
 */
#ifndef REPORT_PERF_OPTIONS_H
#define REPORT_PERF_OPTIONS_H

#include "formats/base/opt.h"

extern const struct opt perf_report_options[];
extern const struct opt perf_annotate_options[];
extern const struct opt perf_script_options[];
extern const struct opt perf_diff_options[];

#endif
