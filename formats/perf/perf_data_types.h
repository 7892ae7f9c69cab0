/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_data_types.h - numbers of perf.data(5) that no header of the kernel has: records of perf itself, and features.
 *
 * tools/lib/perf/include/perf/event.h and tools/perf/Documentation/perf.data-file-format.txt list them.
 */
#ifndef FORMATS_PERF_DATA_TYPES_H
#define FORMATS_PERF_DATA_TYPES_H

enum perf_data_type {
	PERF_DATA_TYPES_BEGIN = 64, /* below are the kernel's */
	PERF_DATA_ATTR = 64,	    /* pipes: attributes of an event, its ids */
	PERF_DATA_TRACING_DATA = 66,
	PERF_DATA_BUILD_ID = 67,
	PERF_DATA_FINISHED_ROUND = 68,
	PERF_DATA_ID_INDEX = 69,
	PERF_DATA_AUXTRACE_INFO = 70,
	PERF_DATA_AUXTRACE = 71,
	PERF_DATA_EVENT_UPDATE = 78,
	PERF_DATA_FEATURE = 80, /* pipes */
	PERF_DATA_COMPRESSED = 81,
	PERF_DATA_COMPRESSED2 = 83, /* with its own size, and padded */
};

/* Records of simpleperf; the 16 bits of misc are the upper half of their size. */
#define PERF_DATA_SIMPLEPERF_BEGIN   32768U
#define PERF_DATA_SIMPLEPERF_TRACING 32777U /* TRACING_DATA again, within the record */

/* Of LOST_SAMPLES: a filter in BPF threw them away, as it was asked to. */
#define PERF_DATA_MISC_LOST_BY_FILTER (1U << 15)

enum perf_data_feature {
	PERF_DATA_FEATURE_TRACING_DATA = 1,
	PERF_DATA_FEATURE_BUILD_ID = 2,
	PERF_DATA_FEATURE_HOSTNAME = 3,
	PERF_DATA_FEATURE_OSRELEASE = 4,
	PERF_DATA_FEATURE_VERSION = 5,
	PERF_DATA_FEATURE_ARCH = 6,
	PERF_DATA_FEATURE_NRCPUS = 7,
	PERF_DATA_FEATURE_CPUDESC = 8,
	PERF_DATA_FEATURE_TOTAL_MEM = 10,
	PERF_DATA_FEATURE_CMDLINE = 11,
	PERF_DATA_FEATURE_EVENT_DESC = 12,
	PERF_DATA_FEATURE_GROUP_DESC = 17,
	PERF_DATA_FEATURE_SAMPLE_TIME = 21,
	PERF_DATA_FEATURE_DIR_FORMAT = 24, /* perf record --threads */
	PERF_DATA_FEATURE_CLOCK_DATA = 29,
	PERF_DATA_FEATURE_SIMPLEPERF_FILE = 128,
	PERF_DATA_FEATURE_SIMPLEPERF_META_INFO = 129,
	PERF_DATA_FEATURE_SIMPLEPERF_FILE2 = 132,
	PERF_DATA_FEATURES_MAX = 256,
};

#endif
