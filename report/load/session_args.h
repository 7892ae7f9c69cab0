/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_args.h - the options that every command with an input has.
 *
 * A command embeds a struct session_args and lists session_opts as an OPT_GROUP, which sets the defaults and releases what
 * the options gathered.
 */
#ifndef REPORT_SESSION_ARGS_H
#define REPORT_SESSION_ARGS_H

#include "formats/base/command.h"
#include "symbolize/name/demangle.h"

/* -i, --symfs, --debug-dir, --vmlinux, --kallsyms, --threads, --no-inline, --no-cache, --demangle, --debuginfod-time, --no-progress. */
struct session_args {
	const char *input; /* path, "-" for standard input; never NULL after session_args_init() */
	const char *symfs; /* NULL: "/" */
	struct opt_list debug_dirs;
	const char *vmlinux; /* NULL: looked for where it usually is */
	const char *kallsyms; /* a copy of /proc/kallsyms for a perf.data; NULL: the one here */
	bool inlines, cache, progress; /* all true from the start */
	enum demangle_how demangle;
	uint64_t debuginfod_time_ns;   /* that servers of debug information may take, all together */
	struct opt_list not_mine;      /* globs of files whose code is not the user's own */
	bool native; /* show the frames that are a runtime's alone */
	uint64_t threads;	/* 0: one */
};

extern const struct opt session_opts[];

/*
 * Of a command whose operands are no files: one that names a file here, with a dot or slash in its name, is the input after
 * all, and taken out of @operands. Returns how many are left.
 */
int session_args_take_file(struct session_args *args, char **operands, int noperands);

void session_args_init(struct session_args *args);
void session_args_deinit(struct session_args *args);

#endif
