/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_options.h - every option of perf record, stat and list, and its meaning here.
 *
 * An option is the same here (OPT_SAME), an alias of our options (OPT_LIKE), the default behaviour (OPT_ANYWAY),
 * or an error that names our option (OPT_INSTEAD). The tables stand at the end of a command's own one, so that
 * a letter of ours wins over the same letter of perf. tests/e2e/perf_options.sh compares them with perf's man pages.
 */
#ifndef RECORD_PERF_OPTIONS_H
#define RECORD_PERF_OPTIONS_H

#include "formats/base/opt.h"

extern const struct opt perf_record_options[];
extern const struct opt perf_stat_options[];
extern const struct opt perf_list_options[];

#endif
