/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.h - what all commands share that turn the whole profile into one file.
 *
 * Such a command's arguments begin with a struct export_args; it lists export_opts as an OPT_GROUP, and its
 * .defaults and .release are export_defaults() and export_release().
 */
#ifndef REPORT_EXPORT_H
#define REPORT_EXPORT_H

#include "report/export/export_format.h"
#include "report/load/session.h"

#include <stdio.h>

struct export_args {
	struct session_args session;
	struct filter filter;
	const char *output; /* NULL: standard output */
	bool times;         /* not an option: keep the time of each sample (profile.times) */
	bool branches;      /* the same of their branches: in @kept */
	struct export_branches kept;
	/* No options either; @args is the command's. Before anything is loaded, and when all is done; or NULL. */
	struct err *(*prepare)(void *args, struct session *s);
	void (*finish)(void *args);
};

/* -o, filter_opts and session_opts. */
extern const struct opt export_opts[];

void export_defaults(void *args);
void export_release(void *args);

/* Write the profile of @s to @out; @args is the command's. */
typedef struct err *export_fn(void *args, struct session *s, FILE *out);

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

/*
 * What an incomplete stack is called, by profile_sample.stop; NULL for those that miss nothing. @ret has
 * UNWIND_STOPS entries.
 */
void export_stop_names(const char **ret);

/* A file of another tool's format does not say what the recording lost, or that it is damaged: warn of that. */
void export_warn_losses(struct session *s);

#endif
