/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_format.h - the formats of other tools that preport export writes, one file each.
 */
#ifndef REPORT_EXPORT_FORMAT_H
#define REPORT_EXPORT_FORMAT_H

#include "report/load/session.h"

#include <stdio.h>

struct export_format {
	const char *name;    /* as --to has it */
	const char *file;    /* where a terminal's user finds it; NULL: a terminal can show it */
	const char *with;    /* what looks at it, in front of the file's name */
	const char *missing; /* what the format cannot hold: "holds no ..." */
	bool times;          /* it wants every sample's time (session.times) */
	bool branches;       /* it wants their branches too (session.kept_branches) */
	bool gzip;           /* its tool opens compressed files */
	/* Write the profile of @s, which is loaded and named; a failed write is seen in @out. */
	void (*write)(struct session *s, FILE *out);
};

extern const struct export_format export_firefox, export_speedscope, export_chrome,
	export_callgrind, export_perf_script;

#endif
