/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands.h - every command of preport, each from its own report/cmd_<name>.c.
 */
#ifndef REPORT_COMMANDS_H
#define REPORT_COMMANDS_H

#include "formats/base/command.h"

/* The one without a name: the summary, or a table with --by and the like. */
extern const struct command cmd_report;

extern const struct command cmd_annotate, cmd_bundle, cmd_debug_unwind, cmd_diff, cmd_flamegraph, cmd_folded,
	cmd_info, cmd_pprof, cmd_script, cmd_strip;

/* All of them, NULL-terminated, in the order of --help; the unnamed one first. */
extern const struct command *const commands[];

#endif
