/* SPDX-License-Identifier: Apache-2.0 */
/*
 * info_sizes.h - the rows of preport info --sizes.
 */
#ifndef REPORT_INFO_SIZES_H
#define REPORT_INFO_SIZES_H

#include "formats/trace_sizes.h"
#include "report/session.h"
#include "report/table.h"

/* How many samples are in the file, by its own counts; without an end, by reading them. */
uint64_t info_sizes_samples(struct session *s);

/* Add the row of @part. @all is the length of the file, and in .len the number of samples. */
void info_sizes_add(struct table *table, struct arena *arena, enum trace_part part,
		    const struct trace_part_size *size, const struct trace_part_size *all);

#endif
