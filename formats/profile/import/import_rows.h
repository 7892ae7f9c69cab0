/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_rows.h - the formats that are read as a profile: X(name) is import_<name>, of the file import_<name>.c.
 */
#ifndef FORMATS_IMPORT_ROWS_H
#define FORMATS_IMPORT_ROWS_H

#include "formats/profile/import/importer.h"

/* In the order that 'preport formats' lists them. */
#define IMPORT_ROWS(X)    \
	X(pprof)          \
	X(pprof_legacy)   \
	X(otlp)           \
	X(folded)         \
	X(cpuprofile)     \
	X(heapprofile)    \
	X(v8_ticks)       \
	X(speedscope)     \
	X(chrome)         \
	X(jfr)            \
	X(perf_script)    \
	X(austin)         \
	X(mojo)           \
	X(gecko)          \
	X(goroutines)     \
	X(pstats)         \
	X(pyinstrument)   \
	X(phpspy)         \
	X(stackprof)      \
	X(stackprof_dump) \
	X(callgrind)      \
	X(rbspy)          \
	X(simpleperf)     \
	X(nettrace)       \
	X(perfetto)       \
	X(vtune)          \
	X(xctrace)        \
	X(instruments)

#define IMPORT_DECLARE(name) extern const struct importer import_##name;
IMPORT_ROWS(IMPORT_DECLARE)
#undef IMPORT_DECLARE

#endif
