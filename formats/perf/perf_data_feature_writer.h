/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_data_feature_writer.h - what stands behind the records of a perf.data file: machine, command line, names of events, build IDs,
 * formats of tracepoints.
 */
#ifndef FORMATS_PERF_DATA_FEATURE_WRITER_H
#define FORMATS_PERF_DATA_FEATURE_WRITER_H

#include "formats/base/map.h"
#include "formats/base/strtab.h"
#include "formats/base/vec.h"
#include "formats/base/writer.h"
#include "formats/perf/perf_data_attr_writer.h"

struct perf_data_file_id {
	uint32_t path; /* in paths */
	bool kernel;
	uint8_t len, id[20];
};

/* Build IDs by path, each once. Zeroed it is empty. */
struct perf_data_ids {
	struct strtab paths;
	struct map seen; /* path -> index in list + 1 */
	VEC(struct perf_data_file_id) list;
};

/* The first one of a path counts. */
void perf_data_ids_add(struct perf_data_ids *ids, const char *path, bool kernel, const uint8_t *id, size_t len);
void perf_data_ids_deinit(struct perf_data_ids *ids);

struct perf_data_features {
	const struct perf_data_plan *plan;
	const struct perf_data_ids *ids;
	uint64_t first_ns, last_ns; /* of samples */
};

/* The places of the features, then the features, which begin at @at in the file. Which there are, as bits of the header. */
uint64_t perf_data_features_write(const struct perf_data_features *features, uint64_t at, struct writer *to);

#endif
