/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_bundle.c - puts into a trace what this machine knows about its code, so that another one need not.
 */
#include "report/rewrite/bundle_parts.h"
#include "report/commands.h"
#include "report/rewrite/trace_copy.h"
#include "symbolize/name/symbolizer.h"

#include <inttypes.h>
#include <stdio.h>

struct bundle_args {
	struct session_args session;
	const char *output; /* NULL: the trace itself */
};

static const struct opt bundle_opts[] = {
	OPT_STR(struct bundle_args, output, "output", 'o', "FILE",
		"write to FILE instead of replacing the trace"),
	OPT_GROUP(struct bundle_args, session, session_opts),
	OPT_END,
};

/* What could not be added, and what to do about it. */
static void name_missing(struct session *s, const struct bundle_parts *parts)
{
	for (size_t i = 0; i < parts->without.len; i++) {
		struct module *mod = parts->without.items[i];

		diag_warn(&s->diag, "'%s': no lines were found (%s)", mod->path,
			  symbolizer_note(s->binaries.symbolizer, mod));
	}
}

static struct err *bundle(struct session *s, void *args_)
{
	const struct bundle_args *args = args_;
	CLEANUP(bundle_parts_deinit) struct bundle_parts parts = { 0 };
	struct filter everything = { 0 };
	struct recording as = *s->recording;
	struct trace_copy copy = {
		.input = args->session.input,
		.output = args->output ? args->output : args->session.input,
		.as = &as,
	};
	uint64_t len = 0;
	struct err *err = session_load(s, &everything);

	if (err)
		return err;
	bundle_parts_make(&parts, s);
	name_missing(s, &parts);
	as.lines = parts.lines.items;
	as.nlines = parts.lines.len;
	as.images = parts.images.items;
	as.nimages = parts.images.len;
	err = trace_copy(&copy, &len);
	if (!err)
		fprintf(stderr,
			"preport: '%s': %" PRIu64 " bytes, with lines and inlined calls of %zu "
			"file%s (%" PRIu64 " ranges) and %zu file%s added\n",
			copy.output, len, parts.added_lines, parts.added_lines == 1 ? "" : "s",
			parts.nranges, parts.added_images, parts.added_images == 1 ? "" : "s");
	return err;
}

static struct err *bundle_run(void *args_, char **operands, int noperands, int *ret_status)
{
	struct bundle_args *args = args_;
	struct err *err = trace_copy_input(operands, noperands, &args->session.input);

	(void)ret_status;
	if (!err && !args->session.inlines)
		err = err_new(ERR_USAGE, "with --no-inline there is nothing to bundle");
	return err ? err : session_run(&cmd_bundle, &args->session, bundle, args);
}

const struct command cmd_bundle = {
	.name = "bundle",
	.summary = "add lines and inlined calls to a trace",
	.operands = "[TRACE]",
	.needs = "code",
	.details = "Run it where the debug information is; the trace can then be read anywhere.",
	.opts = bundle_opts,
	.args_size = sizeof(struct bundle_args),
	.run = bundle_run,
};
