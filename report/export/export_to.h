/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_to.h - what `preport export` and `preport convert` have in common: a format that is named by --to.
 */
#ifndef REPORT_EXPORT_TO_H
#define REPORT_EXPORT_TO_H

#include "report/export/export.h"

struct export_to_args {
	struct export_args export; /* first, for export_defaults() */
	const char *to;
	const struct export_format *format; /* not an option: what @to says */
	bool gzip;			    /* not an option: what the file's name says */
};

#endif
