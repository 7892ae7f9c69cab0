/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_format.h - the formats of other tools that are written, one file each: a row of the table makes one a choice of
 * preport export and preport convert.
 */
#ifndef REPORT_EXPORT_FORMAT_H
#define REPORT_EXPORT_FORMAT_H

#include "formats/base/err.h"
#include "formats/profile/facts.h"
#include "formats/profile/import/importer.h"
#include "formats/profile/profile.h"

#include <stdio.h>

/* May the name of a file end in ".gz"? */
enum export_gzip {
	EXPORT_GZIP_NEVER,  /* its tool opens no compressed files */
	EXPORT_GZIP_ASKED,  /* its tool opens them: it is compressed then */
	EXPORT_GZIP_ALWAYS, /* .write() compresses, whatever the name is */
};

struct export_format {
	const char *file;    /* where a terminal's user finds it; NULL: a terminal can show it */
	const char *with;    /* what looks at it, in front of the file's name */
	const char *missing; /* what the format cannot hold: "holds no ..."; NULL: nothing worth a line */
	unsigned carries;    /* enum import_carries: what of a profile comes back when it is read again */
	bool times;          /* it wants every sample's time (profile.times) */
	bool spans;          /* it wants what threads did when (profile.spans) */
	bool branches;       /* it wants their branches too (profile.branches) */
	enum export_gzip gzip;
	/* Every frame of @p is named. NULL also if it could not be written: that is seen in @out. */
	struct err *(*write)(const struct profile *p, const struct profile_facts *facts, FILE *out);
};

/*
 * Each is export_<id> of the file export_<id>.c (otlp_json of that of otlp), and called by its name with --to; help and
 * messages list them from here.
 */
#define EXPORT_FORMATS(X)           \
	X(pprof, "pprof")           \
	X(folded, "folded")         \
	X(firefox, "firefox")       \
	X(speedscope, "speedscope") \
	X(chrome, "chrome")         \
	X(callgrind, "callgrind")   \
	X(perf_script, "perf-script") \
	X(otlp, "otlp")             \
	X(otlp_json, "otlp-json")   \
	X(perfetto, "perfetto")

#define EXPORT_DECLARE(id, name) extern const struct export_format export_##id;
EXPORT_FORMATS(EXPORT_DECLARE)
#undef EXPORT_DECLARE

/* All of them; the last one's name is NULL. */
extern const struct export_row {
	const char *name;
	const struct export_format *format;
} export_table[];

#endif
