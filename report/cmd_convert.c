/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_convert.c - a profile of one tool as the file of another: preport export under the name that is looked for by who has a
 * file of another tool.
 */
#include "report/commands.h"
#include "report/export/export_to.h"

static struct err *convert_run(void *args, char **operands, int noperands, int *ret_status)
{
	(void)operands;
	(void)noperands;
	(void)ret_status;
	return export_to(&cmd_convert, args);
}

const struct command cmd_convert = {
	.name = "convert",
	.summary = "convert a profile into another tool's format",
	.operands = "",
	.details = "'preport formats' lists what can be read. With -o FILE.gz the file is compressed, where its tool takes that.",
	.examples = "  preport convert -i cpu.pb.gz --to speedscope -o cpu.json\n"
		    "  preport convert -i app.jfr --to folded -o app.folded\n",
	.manual = "preport-export(1)",
	.opts = export_to_opts,
	.args_size = sizeof(struct export_to_args),
	.run = convert_run,
};
