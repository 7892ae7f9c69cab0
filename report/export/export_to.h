/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_to.h - what `preport export` and `preport convert` have in common: a format that is named by --to.
 *
 * A command's arguments are a struct export_to_args, its options export_to_opts.
 */
#ifndef REPORT_EXPORT_TO_H
#define REPORT_EXPORT_TO_H

#include "report/export/export.h"
#include "report/export/export_format.h"

struct export_to_args {
	struct export_args export;
	const char *to;
	const struct export_format *format; /* not an option: what @to says */
	bool gzip;			    /* not an option: what the file's name says */
};

extern const struct opt export_to_opts[];

/* ERR_USAGE: no format is named, or its files are not compressed. Else as export_run_file(). */
MUST_USE struct err *export_to(const struct command *command, struct export_to_args *args);

/* The same of a format that is already in @args. */
MUST_USE struct err *export_as(const struct command *command, struct export_to_args *args);

#endif
