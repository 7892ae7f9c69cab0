/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_rows.h - the rows of import_table.h, each of which is the file import_<name>.c.
 */
#ifndef FORMATS_IMPORT_ROWS_H
#define FORMATS_IMPORT_ROWS_H

#include "formats/profile/import/importer.h"

extern const struct importer import_pprof, import_pprof_legacy, import_otlp, import_folded, import_cpuprofile, import_heapprofile,
	import_speedscope, import_chrome, import_jfr, import_perf_script, import_austin, import_mojo, import_gecko, import_phpspy,
	import_stackprof, import_callgrind, import_rbspy, import_simpleperf, import_nettrace, import_perfetto;

#endif
