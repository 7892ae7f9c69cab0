/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_data_tracing.h - what perf.data keeps of tracefs: the format of each tracepoint that was recorded.
 *
 * The bytes are in tracing_data.h; kallsyms, printk formats and command names behind them are not looked at. They are a feature
 * of files and stand behind a record of pipes.
 */
#ifndef FORMATS_PERF_DATA_TRACING_H
#define FORMATS_PERF_DATA_TRACING_H

#include "formats/base/reader.h"
#include "formats/perf/perf_data_attrs.h"

/* Give each tracepoint of @attrs the format that @r has for it. If @r is cut it has failed, and what was whole counts. */
void perf_data_tracing_load(struct perf_data_attrs *attrs, struct reader *r);

#endif
