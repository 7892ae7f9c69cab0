/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands.c - the list that dispatch, --help, completion and the man-page check read.
 */
#include "report/commands.h"

const struct command *const commands[] = {
	&cmd_report,
	&cmd_annotate,
	&cmd_bundle,
	&cmd_cache,
	&cmd_config,
	&cmd_convert,
	&cmd_debug_unwind,
	&cmd_diff,
	&cmd_dump,
	&cmd_export,
	&cmd_flamegraph,
	&cmd_graph,
	&cmd_folded,
	&cmd_formats,
	&cmd_html,
	&cmd_info,
	&cmd_merge,
	&cmd_perf_data,
	&cmd_pprof,
	&cmd_processes,
	&cmd_script,
	&cmd_strip,
	&cmd_syscalls,
	&cmd_topdown,
	&cmd_tui,
	&cmd_waits,
	NULL,
};
