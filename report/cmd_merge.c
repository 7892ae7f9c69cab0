/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_merge.c - several profiles as one pprof file: of many machines, many runs or many intervals.
 */
#include "formats/profile/pprof.h"
#include "formats/profile/profile_merge.h"
#include "formats/profile/same_names.h"
#include "report/commands.h"
#include "report/load/session.h"
#include "report/print/output.h"

#include <stdio.h>
#include <unistd.h>

#define DEFAULT_FILE "merged.pb.gz"

struct merge_args {
	const char *output;
	struct filter filter;
	struct session_args session;
};

static const struct opt merge_opts[] = {
	OPT_STR(struct merge_args, output, "output", 'o', "FILE", "write to FILE"),
	OPT_GROUP(struct merge_args, filter, filter_opts),
	OPT_GROUP(struct merge_args, session, session_opts),
	OPT_END,
};

struct merged {
	const struct filter *filter;
	struct profile *profile;
	struct profile_facts facts; /* when the earliest began, if all tell; how long they took together */
};

static struct err *add_session(struct merged *merged, struct session *s)
{
	struct filter filter = *merged->filter; /* what it finds out of events is of this file */
	struct err *err = session_load(s, &filter);

	filter_unbind(&filter);
	if (err)
		return err;
	if (!s->facts.has_wall)
		merged->facts.has_wall = false;
	else if (!merged->facts.wall_ns || s->facts.wall_ns < merged->facts.wall_ns)
		merged->facts.wall_ns = s->facts.wall_ns;
	if (s->facts.has_duration)
		merged->facts.duration_ns += s->facts.duration_ns;
	merged->facts.has_duration |= s->facts.has_duration;
	err = profile_merge(merged->profile, s->profile);
	return err ? err_wrap(err, "'%s'", s->facts.input) : NULL;
}

static struct err *add_file(const struct session_args *args, struct merged *merged)
{
	struct session s = { 0 };
	struct err *err = session_open(&s, args);

	if (!err)
		err = add_session(merged, &s);
	session_warn(&s);
	session_close(&s);
	return err;
}

static struct err *write_merged(struct merged *merged, const char *path)
{
	CLEANUP(output_close) struct output out = { 0 };
	struct err *err = output_open(&out, path);

	same_names_tell_apart(merged->profile);

	if (!err)
		err = pprof_write(merged->profile, &merged->facts, out.stream);
	return err ? err : output_commit(&out);
}

static struct err *merge_run(void *args_, char **operands, int noperands, int *ret_status)
{
	struct merge_args *args = args_;
	const char *path = args->output ? args->output : isatty(STDOUT_FILENO) ? DEFAULT_FILE : NULL;
	struct merged merged = { .filter = &args->filter };
	struct err *err = NULL;

	(void)ret_status;
	if (noperands < 2)
		return err_new(ERR_USAGE, "merge wants two files or more");
	profile_facts_init(&merged.facts);
	merged.facts.has_wall = true;
	merged.profile = profile_new();
	for (int i = 0; i < noperands && !err; i++) {
		args->session.input = operands[i];
		err = add_file(&args->session, &merged);
	}
	if (!err)
		err = write_merged(&merged, path);
	if (!err && path)
		fprintf(stderr, "preport: wrote '%s', the sum of %d profiles; look at it with: preport %s\n", path, noperands, path);
	profile_free(merged.profile);
	return err;
}

const struct command cmd_merge = {
	.name = "merge",
	.summary = "add up several profiles into a pprof file",
	.operands = "FILE FILE ...",
	.details = "Whatever preport reads can be merged where it has an event in common; times are left out. On a terminal the file is "
		   DEFAULT_FILE " unless -o names another.",
	.examples = "  preport merge -o all.trace one.trace two.trace\n"
		    "  preport merge -o fleet.pb.gz host-*.trace\n",
	.manual = "preport(1)",
	.opts = merge_opts,
	.args_size = sizeof(struct merge_args),
	.run = merge_run,
};
