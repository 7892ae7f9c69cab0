/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_pprof.c - pprof's profile.proto (formats/profile/pprof.h).
 */
#include "formats/profile/pprof.h"
#include "report/export/export_format.h"

const struct export_format export_pprof = {
	.file = "precord.pb.gz",
	.with = "go tool pprof -top",
	.gzip = EXPORT_GZIP_ALWAYS,
	.carries = IMPORT_THREADS | IMPORT_LINES | IMPORT_ADDRESSES | IMPORT_LABELS | IMPORT_INLINED | IMPORT_TYPES,
	.write = pprof_write,
};
