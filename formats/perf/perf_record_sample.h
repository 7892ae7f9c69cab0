/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_record_sample.h - the body of a PERF_RECORD_SAMPLE, and what other records carry of a sample. What is missing or
 * too long fails @r.
 */
#ifndef FORMATS_PERF_RECORD_SAMPLE_H
#define FORMATS_PERF_RECORD_SAMPLE_H

#include "formats/perf/perf_record.h"

/* Read all that follows the header into @rec, whose @misc is set. */
void perf_record_sample_read(struct reader *r, const struct perf_layout *layout, struct perf_record *rec);

/* The sample id that ends other records under sample_id_all: thread, time, event and CPU, as far as @type has them. */
void perf_record_sample_read_id(struct reader *r, uint64_t type, struct perf_record *rec);

#endif
