/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.c - from options to a loaded profile to a file that is whole or not there.
 */
#include "report/export/export.h"

#include "report/print/output.h"
#include "report/load/remarks.h"

#include <unistd.h>

const struct opt export_opts[] = {
	OPT_STR(struct export_args, output, "output", 'o', "FILE", "write to FILE"),
	OPT_GROUP(struct export_args, filter, filter_opts),
	OPT_GROUP(struct export_args, session, session_opts),
	OPT_END,
};

struct job {
	struct export_args *args;
	export_fn *write;
};

/* A file of another tool's format does not say what the recording lost, or that it is damaged. */
static void warn_losses(struct session *s)
{
	CLEANUP(remarks_deinit) struct remarks remarks = { 0 };

	if (s->imported)
		return;
	remarks_init(&remarks, s, &s->arena);
	for (size_t i = 0; i < remarks.list.len; i++)
		if (remarks.list.items[i].weight >= REMARK_LOST)
			diag_warn(&s->diag, "%s; the exported file does not show it",
				  remarks.list.items[i].text);
}

/* The sample is the last that was added. */
static void keep_branches(void *context, const struct event *ev, uint32_t row)
{
	struct profile *p = context;
	struct profile_branch_stack stack = { p->times.len - 1, p->branches.all.len, ev->sample.nbranches };

	(void)row;
	if (!stack.count)
		return;
	vec_push(&p->branches.stacks, stack);
	vec_append(&p->branches.all, ev->sample.branches, ev->sample.nbranches);
}

static struct err *load_and_write(struct session *s, void *job_)
{
	const struct job *job = job_;
	struct export_args *args = job->args;
	struct loader_listener branches = { .context = s->profile, .row = keep_branches };
	CLEANUP(output_close) struct output out = { 0 };
	struct err *err;

	s->keep_times = args->times;
	s->keep_spans = args->spans;
	if (args->branches)
		loader_listen(s->loader, &branches);
	err = session_load(s, &args->filter);
	if (!err)
		err = output_open(&out, args->output);
	if (!err)
		err = job->write(args, s->profile, &s->facts, out.stream);
	if (!err)
		err = output_commit(&out);
	if (err)
		return err;
	if (args->warns_losses)
		warn_losses(s);
	if (args->left_out)
		args->left_out(args, s->profile, &s->facts);
	return NULL;
}

struct err *export_run(const struct command *command, void *args, export_fn *write)
{
	struct job job = { args, write };

	return session_run(command, &job.args->session, load_and_write, &job);
}

/* As session_run(); @file is where it goes if it cannot go to the terminal. */
static struct err *run_file(const struct command *command, struct export_args *args, session_fn *work, void *work_args,
			    const struct export_file *file)
{
	if (!args->output && isatty(STDOUT_FILENO))
		args->output = file->name;

	struct err *err = session_run(command, &args->session, work, work_args);

	if (!err && args->output)
		fprintf(stderr, "preport: wrote '%s'; look at it with: %s %s\n", args->output, file->with, args->output);
	return err;
}

struct err *export_run_file(const struct command *command, void *args, export_fn *write,
			    const struct export_file *file)
{
	struct job job = { args, write };

	return run_file(command, args, load_and_write, &job, file);
}

struct err *export_run_code(const struct command *command, void *args, session_fn *work,
			    const struct export_file *file)
{
	return run_file(command, args, work, args, file);
}
