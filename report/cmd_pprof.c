/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_pprof.c - the profile for pprof and everything that reads its files.
 */
#include "report/commands.h"
#include "report/export/export_to.h"

static struct err *pprof_run(void *args, char **operands, int noperands, int *ret_status)
{
	struct export_to_args *to = args;

	(void)operands;
	(void)noperands;
	(void)ret_status;
	to->to = "pprof";
	to->format = &export_pprof;
	return export_as(&cmd_pprof, to);
}

const struct command cmd_pprof = {
	.name = "pprof",
	.summary = "a gzip-compressed profile.proto, for pprof",
	.operands = "",
	.details = "On a terminal the file is precord.pb.gz unless -o names another.",
	.examples = "  preport pprof -o run.pb.gz && go tool pprof -top run.pb.gz\n"
		    "  preport pprof --comm postgres -o postgres.pb.gz\n",
	.manual = "preport-export(1)",
	.opts = export_opts,
	.args_size = sizeof(struct export_to_args),
	.run = pprof_run,
};
