/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.c - from options to a loaded session to a file that is whole or not there.
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

void export_defaults(void *args)
{
	struct export_args *export = args;

	session_args_init(&export->session);
}

void export_release(void *args)
{
	struct export_args *export = args;

	filter_deinit(&export->filter);
	session_args_deinit(&export->session);
	vec_deinit(&export->kept.counts);
	vec_deinit(&export->kept.all);
}

struct job {
	struct export_args *args;
	export_fn *write;
};

static struct err *load_and_write(struct session *s, const struct job *job)
{
	CLEANUP(output_close) struct output out = { 0 };
	struct err *err = session_load(s, &job->args->filter);

	if (!err)
		err = output_open(&out, job->args->output);
	if (!err)
		err = job->write(job->args, s, out.stream);
	return err ? err : output_commit(&out);
}

static void keep_branches(void *context, struct session *s, const struct event *ev, uint32_t row)
{
	struct export_branches *kept = context;

	(void)s;
	(void)row;
	vec_push(&kept->counts, (uint32_t)ev->sample.nbranches);
	vec_append(&kept->all, ev->sample.branches, ev->sample.nbranches);
}

static struct err *do_job(struct session *s, void *job_)
{
	const struct job *job = job_;
	struct export_args *args = job->args;
	struct session_listener branches = { .context = &args->kept, .row = keep_branches };
	struct err *err = NULL;

	s->keep_times = args->times;
	if (args->branches)
		session_listen(s, &branches);
	if (args->prepare)
		err = args->prepare(args, s);
	if (!err)
		err = load_and_write(s, job);
	if (args->finish)
		args->finish(args);
	return err;
}

struct err *export_run(const struct command *command, void *args, export_fn *write)
{
	struct job job = { args, write };

	return session_run(command, &job.args->session, do_job, &job);
}

struct err *export_run_file(const struct command *command, void *args, export_fn *write,
			    const struct export_file *file)
{
	struct export_args *export = args;

	if (!export->output && isatty(STDOUT_FILENO))
		export->output = file->name;

	struct err *err = export_run(command, args, write);

	if (!err && export->output)
		fprintf(stderr, "preport: wrote '%s'; look at it with: %s %s\n", export->output,
			file->with, export->output);
	return err;
}

void export_stop_names(const char **ret)
{
	for (int stop = 0; stop < UNWIND_STOPS; stop++)
		ret[stop] = unwind_stop_is_complete(stop) ? NULL : unwind_stop_name(stop);
}

void export_warn_losses(struct session *s)
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
