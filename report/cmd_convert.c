/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_convert.c - a profile of one tool as the file of another: whatever can be read, in whatever can be written.
 *
 * The commands that write the formats do the work; this one has them all behind one option.
 */
#include "report/commands.h"
#include "report/export/export_format.h"
#include "report/export/export_to.h"

#include <string.h>

static const char *const targets[] = { "pprof", "folded", EXPORT_FORMATS(EXPORT_NAME) NULL };

static const struct opt convert_opts[] = {
	OPT_CHOICE(struct export_to_args, to, "to", 0, "FORMAT",
		   "one of pprof folded" EXPORT_FORMATS(EXPORT_WORD), targets),
	OPT_GROUP(struct export_to_args, export, export_opts),
	OPT_END,
};

/* Have another command do it, whose arguments begin with a struct export_args too and are else as they are from the start. */
static struct err *run_as(const struct command *command, struct export_to_args *args, int *ret_status)
{
	CLEANUP(memory_freep) struct export_args *inner = memory_zeroed(1, command->args_size);
	struct err *err;

	*inner = args->export;
	err = command->run(inner, NULL, 0, ret_status);
	args->export = *inner; /* whatever it holds is released with ours */
	return err;
}

static struct err *convert_run(void *args_, char **operands, int noperands, int *ret_status)
{
	struct export_to_args *args = args_;

	if (!args->to)
		return err_remedy(err_new(ERR_USAGE, "--to is missing"),
				  "it takes one of pprof folded" EXPORT_FORMATS(EXPORT_WORD));
	if (strcmp(args->to, "pprof") == 0)
		return run_as(&cmd_pprof, args, ret_status);
	if (strcmp(args->to, "folded") == 0)
		return run_as(&cmd_folded, args, ret_status);
	return cmd_export.run(args, operands, noperands, ret_status);
}

const struct command cmd_convert = {
	.name = "convert",
	.summary = "a profile of one tool as the file of another",
	.operands = "",
	.details = "'preport formats' lists what can be read. With -o FILE.gz the file is compressed, where its tool takes that.",
	.opts = convert_opts,
	.args_size = sizeof(struct export_to_args),
	.defaults = export_defaults,
	.run = convert_run,
	.release = export_release,
};
