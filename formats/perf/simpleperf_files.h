/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simpleperf_files.h - what Android's simpleperf adds to perf.data: the symbols of the files that were sampled, and names of
 * events. AOSP, system/extras/simpleperf: record_file_format.h and record_file.proto.
 *
 *	FILE	[length u32, path\0, kind u32, lowest address u64, count u32, [address u64, length u32, name\0]...,
 *		 offset of the lowest address u64 (ELF files only)]...
 *	FILE2	[length u32, a message of the same facts]...
 *	META_INFO  [key\0 value\0]...; "event_type_info" has lines "NAME,TYPE,CONFIG"
 */
#ifndef FORMATS_PERF_SIMPLEPERF_FILES_H
#define FORMATS_PERF_SIMPLEPERF_FILES_H

#include "formats/base/reader.h"
#include "formats/perf/perf_data_attrs.h"

/*
 * Add an image that has nothing but symbols for each file with some, and the kernel's symbols, to @rec: feature FILE or, if
 * @messages, FILE2. If @r is cut it has failed, and what was whole counts.
 */
void simpleperf_files_load(struct recording *rec, struct reader *r, bool messages);

/* Name the events of @attrs and the tool: META_INFO. */
void simpleperf_meta_load(struct recording *rec, struct perf_data_attrs *attrs, struct reader *r);

#endif
