/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_data_side.h - records that perf writes beside the kernel's, and what the recording is in the end.
 */
#ifndef FORMATS_PERF_DATA_SIDE_H
#define FORMATS_PERF_DATA_SIDE_H

#include "formats/event.h"
#include "formats/perf/perf_data_features.h"
#include "formats/perf/perf_data_stream.h"

/* All texts empty, nothing known. */
void perf_data_side_init(struct recording *rec);

/*
 * Take in @record, one of perf's own. Those that are of no use here do nothing. ERR_CORRUPT: it is cut.
 * ERR_UNSUPPORTED: see perf_data_feature_load().
 */
MUST_USE struct err *perf_data_side_take(const struct perf_data_facts *facts,
					 const struct perf_data_record *record);

/* If @map is that of the kernel itself: remember where it was, and its build ID. */
void perf_data_side_kernel(struct recording *rec, const struct event_mmap *map);

/* Attributes and features are all there: what was recorded, how, and what is not known. */
void perf_data_side_describe(const struct perf_data_facts *facts);

#endif
