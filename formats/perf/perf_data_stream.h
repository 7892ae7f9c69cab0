/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_data_stream.h - the records of a perf.data file in the order of the file, unpacked.
 *
 * Records lie in chunks that several may hold at a time; a chunk whose last record was let go is used again. What a
 * record is about is not looked at, except for what decides where the next one begins: payloads that follow a record
 * without being counted in its size (AUXTRACE, TRACING_DATA), which are skipped, and COMPRESSED, whose content takes its place.
 */
#ifndef FORMATS_PERF_DATA_STREAM_H
#define FORMATS_PERF_DATA_STREAM_H

#include "formats/base/err.h"
#include "formats/trace/trace_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PERF_DATA_HEADER_LEN 8 /* type, misc, size: less is no record */

struct perf_data_chunk;

struct perf_data_record {
	const uint8_t *data; /* header included */
	size_t len;
	uint32_t type;	     /* PERF_RECORD_*, or one of perf's own from 64 on */
	uint64_t offset;     /* in the file; of the COMPRESSED record that it was in */
	uint64_t payload_len; /* bytes behind it in the file that are its own, see above */
	struct perf_data_chunk *chunk;
};

struct perf_data_stream;

/* Bytes @start to @end of @file, which must outlive the stream, as must its @name. */
struct perf_data_stream *perf_data_stream_new(const struct trace_file *file, uint64_t start, uint64_t end,
					      const char *name);

/* All records must have been let go. */
void perf_data_stream_free(struct perf_data_stream *stream);

/*
 * The next record, which lasts until the next call, or longer if it is held. *@ret_more is false at the end.
 *
 * ERR_CORRUPT: no record begins here, or it does not end.  ERR_SYSTEM.  There is no next after either.
 */
MUST_USE struct err *perf_data_stream_next(struct perf_data_stream *stream,
					   struct perf_data_record *ret, bool *ret_more);

void perf_data_stream_hold(const struct perf_data_record *record);
void perf_data_stream_let_go(const struct perf_data_record *record);

/* The name of the stream that @record came from. */
const char *perf_data_stream_name(const struct perf_data_record *record);

/* Memory of chunks that are read and held, and how far in the file the stream is, in bytes. */
size_t perf_data_stream_held(const struct perf_data_stream *stream);
uint64_t perf_data_stream_offset(const struct perf_data_stream *stream);

#endif
