/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_data_build_ids.h - the build IDs that a perf.data file lists apart from the mappings, by path.
 */
#ifndef FORMATS_PERF_DATA_BUILD_IDS_H
#define FORMATS_PERF_DATA_BUILD_IDS_H

#include "formats/base/reader.h"
#include "formats/base/strtab.h"
#include "formats/base/vec.h"
#include "formats/event.h"

#include <stdint.h>

struct perf_data_build_id {
	uint8_t len; /* 0: there are several for this path */
	uint8_t id[20];
};

/* A zeroed one is empty. */
struct perf_data_build_ids {
	struct strtab paths;
	VEC(struct perf_data_build_id) items; /* by number of the path */
};

/* Take in the record of the BUILD_ID feature that @r has, from its header on. ERR_CORRUPT. */
MUST_USE struct err *perf_data_build_ids_add(struct perf_data_build_ids *ids, struct reader *r);

/* Of @path; NULL if none or more than one is known. Valid until the next call here. */
const struct perf_data_build_id *perf_data_build_ids_find(struct perf_data_build_ids *ids,
							  const char *path);

/* Give @map its build ID, if it has none and one is known. */
void perf_data_build_ids_complete(struct perf_data_build_ids *ids, struct event_mmap *map);

void perf_data_build_ids_deinit(struct perf_data_build_ids *ids);

#endif
