/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_export.c - the profile for other tools.
 */
#include "report/commands.h"
#include "report/export/export_to.h"

static struct err *export_command_run(void *args, char **operands, int noperands, int *ret_status)
{
	(void)operands;
	(void)noperands;
	(void)ret_status;
	return export_to(&cmd_export, args);
}

const struct command cmd_export = {
	.name = "export",
	.summary = "write the profile for Firefox Profiler, speedscope, Chrome, KCachegrind, or as perf script prints it",
	.operands = "",
	.details = "With -o FILE.gz the file is compressed, where its tool takes that.",
	.examples = "  preport export --to firefox -o run.json.gz  for profiler.firefox.com\n"
		    "  preport export --to perf-script -o run.txt  for scripts of perf\n"
		    "  preport export --to pprof -o run.pb.gz      for go tool pprof\n",
	.manual = "preport-export(1)",
	.opts = export_to_opts,
	.args_size = sizeof(struct export_to_args),
	.run = export_command_run,
};
