/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.h - what all commands share that turn the whole profile into one file.
 *
 * Such a command's arguments hold a struct export_args; it lists export_opts as an OPT_GROUP.
 */
#ifndef REPORT_EXPORT_H
#define REPORT_EXPORT_H

#include "formats/profile/facts.h"
#include "report/load/session.h"

#include <stdio.h>

struct export_args {
	struct session_args session;
	struct filter filter;
	const char *output; /* NULL: standard output */

	/* No options; the command sets them. */
	bool times;	   /* the time of each sample is kept (profile.times) */
	bool spans;	   /* so is what threads did when (profile.spans) */
	bool branches;	   /* their branches, too (profile.branches) */
	bool warns_losses; /* the file's format has no place for what was lost, or that the input is damaged: warn of it */
	/* Print what the file does not have of the profile it was made of, behind a file that is whole; or NULL. */
	void (*left_out)(const void *args, const struct profile *p, const struct profile_facts *facts);
};

/* -o, filter_opts and session_opts. */
extern const struct opt export_opts[];

/* Write @p, whose frames are all named, to @out; @args is the command's. */
typedef struct err *export_fn(void *args, const struct profile *p, const struct profile_facts *facts, FILE *out);

/* Load the input, call @write, and give the output its name only if all went well. */
MUST_USE struct err *export_run(const struct command *command, void *args, export_fn *write);

/* A file that no terminal can show. */
struct export_file {
	const char *name; /* where a terminal's user finds it unless -o says otherwise */
	const char *with; /* the command to look at it with */
};

/* The same, but never to a terminal; says on standard error what was written. */
MUST_USE struct err *export_run_file(const struct command *command, void *args, export_fn *write,
				     const struct export_file *file);

/* For commands whose files hold code besides the profile: @work, with its session; else as export_run_file(). */
MUST_USE struct err *export_run_code(const struct command *command, void *args, session_fn *work,
				     const struct export_file *file);

#endif
