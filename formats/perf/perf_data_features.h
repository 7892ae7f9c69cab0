/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_data_features.h - what perf.data holds besides the events: machine, command line, names, groups, build IDs,
 * formats of tracepoints.
 *
 * Files have the features in a table behind the data, pipes as records in front of it. Those that nothing here asks for are
 * skipped.
 */
#ifndef FORMATS_PERF_DATA_FEATURES_H
#define FORMATS_PERF_DATA_FEATURES_H

#include "formats/perf/perf_data_attrs.h"
#include "formats/perf/perf_data_build_ids.h"
#include "formats/perf/perf_data_types.h"
#include "formats/recording.h"

/* What is missing or not read, and reported. */
struct perf_data_gaps {
	const char *files;	/* of a folder that are missing; NULL if none is */
	const char *hardware;	/* name of the hardware trace whose data is skipped; NULL if there is none */
};

/* Where features go to. */
struct perf_data_facts {
	struct recording *rec;
	struct perf_data_attrs *attrs;
	struct perf_data_build_ids *build_ids;
	struct perf_data_gaps *gaps;
};

/* Does perf_data_feature_load() take anything from this one? */
bool perf_data_feature_is_used(unsigned number);

/*
 * Take in feature @number, which @r has. ERR_CORRUPT: it is cut, or contradicts itself; what was understood stays.
 * ERR_UNSUPPORTED: an architecture that is not known here.
 */
MUST_USE struct err *perf_data_feature_load(const struct perf_data_facts *facts, unsigned number,
					    struct reader *r);

#endif
