/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_data_parts.h - the records of one perf.data, or of the folder that perf record --threads writes.
 *
 *	DIR/data	header, attributes, features, and what perf says of what ran already
 *	DIR/data.0	records only: what one thread of perf took from the rings of its CPUs
 *	DIR/data.1	...
 *
 * Nothing in them says what comes first. The file that got least far in time is read next, so that a record waits only for as
 * long as the threads of perf were apart.
 */
#ifndef FORMATS_PERF_DATA_PARTS_H
#define FORMATS_PERF_DATA_PARTS_H

#include "formats/base/arena.h"
#include "formats/perf/perf_data_stream.h"

struct perf_data_parts;

/* Of bytes @start to @end of @first, which must outlive the parts. */
struct perf_data_parts *perf_data_parts_new(const struct trace_file *first, uint64_t start, uint64_t end);

/* All records must have been let go. */
void perf_data_parts_free(struct perf_data_parts *parts);

/*
 * Read the files data.0, data.1 and so on of @folder, too. *@ret_missing says which numbers below the highest there is no file
 * of ("data.2, data.3", of @arena), NULL if there is none. ERR_SYSTEM: one cannot be read, or the folder cannot.
 */
MUST_USE struct err *perf_data_parts_add(struct perf_data_parts *parts, const char *folder, struct arena *arena,
					 const char **ret_missing);

/* How many files there are beside the first. */
size_t perf_data_parts_added(const struct perf_data_parts *parts);

/*
 * The next record, see perf_data_stream_next(). An error ends only the file that it is in, which it names unless that is the
 * first. *@ret_more is false after the last record of the last file.
 */
MUST_USE struct err *perf_data_parts_next(struct perf_data_parts *parts, struct perf_data_record *ret, bool *ret_more);

/* The record that came last is of @time_ns; 0 if it has no time. */
void perf_data_parts_at(struct perf_data_parts *parts, uint64_t time_ns);

/* How far the file is read that the last record, or error, came from. */
uint64_t perf_data_parts_offset(const struct perf_data_parts *parts);

/* Memory that waiting records hold, and how many of how many bytes were read. */
size_t perf_data_parts_held(const struct perf_data_parts *parts);
void perf_data_parts_progress(const struct perf_data_parts *parts, uint64_t *ret_done, uint64_t *ret_len);

#endif
