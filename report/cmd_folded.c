/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_folded.c - collapsed stacks, for flame graph scripts and for diffing.
 */
#include "formats/profile/folded.h"
#include "report/commands.h"
#include "report/export/export.h"

struct folded_args {
	struct export_args export;
	bool samples, pid, tid, module, lines, suffixes;
};

static const struct opt folded_opts[] = {
	OPT_FLAG(struct folded_args, samples, "samples", 0,
		 "count samples instead of summing weights"),
	OPT_FLAG(struct folded_args, pid, "with-pid", 0,
		 "append the process ID to the process name"),
	OPT_FLAG(struct folded_args, tid, "with-tid", 0, "keep threads apart: name-PID/TID"),
	OPT_FLAG(struct folded_args, module, "with-module", 0, "append [module] to each function"),
	OPT_FLAG(struct folded_args, lines, "with-lines", 0, "append (file:line) to each function that has a line"),
	OPT_FLAG(struct folded_args, suffixes, "suffixes", 0,
		 "mark kernel, inlined and JIT frames: _[k], _[i], _[j]"),
	OPT_GROUP(struct folded_args, export, export_opts),
	OPT_END,
};

static struct err *write_stacks(void *args, const struct profile *p, const struct profile_facts *facts, FILE *out)
{
	const struct folded_args *folded = args;
	struct profile_sum sum = profile_total(p, facts->first_type);
	struct folded_options options = {
		.event = facts->first_type,
		.samples = folded->samples,
		.pid = folded->pid,
		.tid = folded->tid,
		.module = folded->module,
		.lines = folded->lines,
		.suffixes = folded->suffixes,
	};

	if (folded->samples && !profile_is_counted(&sum))
		return err_new(ERR_UNSUPPORTED, "'%s' does not say how many samples there were", facts->input);
	return folded_write(p, &options, out);
}

static struct err *folded_run(void *args, char **operands, int noperands, int *ret_status)
{
	struct folded_args *folded = args;

	(void)operands;
	(void)noperands;
	(void)ret_status;
	folded->export.warns_losses = true;
	return export_run(&cmd_folded, args, write_stacks);
}

const struct command cmd_folded = {
	.name = "folded",
	.summary = "collapsed stacks: process;root;...;leaf weight",
	.operands = "",
	.examples = "  preport folded -o run.folded  a line for each stack\n"
		    "  preport folded --comm nginx | flamegraph.pl >nginx.svg\n",
	.manual = "preport-export(1)",
	.opts = folded_opts,
	.args_size = sizeof(struct folded_args),
	.run = folded_run,
};
