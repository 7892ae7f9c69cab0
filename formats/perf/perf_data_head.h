/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_data_head.h - the header of a perf.data file, and what it points to: attributes with their ids, data, features.
 *
 *	0   "PERFILE2"	8 bytes; in the other byte order on machines that have it
 *	8   size	104, or 16: what perf writes to a pipe, where all else comes as records
 *	16  attr size	bytes of one entry of the table of attributes
 *	24  attributes	offset and length in bytes; so are the two that follow
 *	40  data	length 0: perf record was killed, and what lies behind the data is missing
 *	56  -
 *	72  features	256 bits; for each that is set, its offset and length stand behind the data
 */
#ifndef FORMATS_PERF_DATA_HEAD_H
#define FORMATS_PERF_DATA_HEAD_H

#include "formats/perf/perf_data_features.h"
#include "formats/trace/trace_file.h"

struct perf_data_head {
	bool pipe;	     /* no attributes, no features here */
	bool complete;	     /* the file has all that the header announces */
	bool has_parts;	     /* samples are in other files of the folder: perf record --threads */
	uint64_t attr_len;
	uint64_t attrs, attrs_len;
	uint64_t data, data_end;
	uint64_t features[PERF_DATA_FEATURES_MAX / 64]; /* 0 unless @complete */
};

/* Does @file begin as perf.data does, in any byte order? */
bool perf_data_head_is(const struct trace_file *file);

/* ERR_CORRUPT, ERR_SYSTEM.  ERR_UNSUPPORTED: another byte order, or the format of before 2010. */
MUST_USE struct err *perf_data_head_read(const struct trace_file *file, struct perf_data_head *ret);

/* ERR_CORRUPT, ERR_SYSTEM. */
MUST_USE struct err *perf_data_head_load_attrs(const struct perf_data_head *head,
					       const struct trace_file *file,
					       struct perf_data_attrs *attrs);

/*
 * Load all features. What is damaged is left out, and *@ret_damaged_at is where; it is untouched if nothing is. ERR_SYSTEM.
 * ERR_UNSUPPORTED: see perf_data_feature_load().
 */
MUST_USE struct err *perf_data_head_load_features(const struct perf_data_head *head,
						  const struct trace_file *file,
						  const struct perf_data_facts *facts,
						  uint64_t *ret_damaged_at);

#endif
