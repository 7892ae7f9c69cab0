/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands.h - every command of preport, each from its own report/cmd_<name>.c.
 */
#ifndef REPORT_COMMANDS_H
#define REPORT_COMMANDS_H

#include "formats/base/command.h"

/* The one without a name: the summary, or a table with --by and the like. */
extern const struct command cmd_report;

extern const struct command cmd_annotate;
extern const struct command cmd_bundle;
extern const struct command cmd_cache;
extern const struct command cmd_config;
extern const struct command cmd_convert;
extern const struct command cmd_debug_unwind;
extern const struct command cmd_diff;
extern const struct command cmd_dump;
extern const struct command cmd_export;
extern const struct command cmd_flamegraph;
extern const struct command cmd_folded;
extern const struct command cmd_formats;
extern const struct command cmd_graph;
extern const struct command cmd_html;
extern const struct command cmd_info;
extern const struct command cmd_merge;
extern const struct command cmd_perf_data;
extern const struct command cmd_pprof;
extern const struct command cmd_processes;
extern const struct command cmd_script;
extern const struct command cmd_strip;
extern const struct command cmd_topdown;
extern const struct command cmd_tui;
extern const struct command cmd_syscalls;
extern const struct command cmd_waits;

/* All of them, NULL-terminated, in the order of --help; the unnamed one first. */
extern const struct command *const commands[];

#endif
