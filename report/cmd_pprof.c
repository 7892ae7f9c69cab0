/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_pprof.c - the profile for pprof and everything that reads its files.
 */
#include "formats/profile/pprof.h"
#include "report/commands.h"
#include "report/export/export.h"
#include "report/load/main_module.h"

#include <inttypes.h>

/* Where a terminal's user finds the file that a terminal cannot show. */
#define DEFAULT_FILE "precord.pb.gz"

struct pprof_args {
	struct export_args export; /* first, for export_defaults() */
};

static const struct opt pprof_opts[] = {
	OPT_GROUP(struct pprof_args, export, export_opts),
	OPT_END,
};

static const char *lost_text(const struct profile_facts *facts, struct arena *arena)
{
	uint64_t lost = facts->lost_by_kernel + facts->lost_by_recorder;

	return arena_printf(arena, "lost: %" PRIu64 " of %" PRIu64 " samples", lost,
			    facts->samples + lost);
}

static struct err *write_profile(void *args, struct session *s, FILE *out)
{
	const struct profile_facts *facts = &s->facts;
	const char *comments[3] = { 0 };

	if (*facts->hostname)
		comments[0] = arena_printf(&s->arena, "recorded by %s on %s (%s)", facts->tool,
					   facts->hostname, facts->os_release);
	if (comments[0])
		comments[1] = lost_text(facts, &s->arena);
	export_warn_losses(s);

	struct pprof_about about = {
		.wall_ns = facts->wall_ns,
		.duration_ns = facts->duration_ns,
		.default_event = facts->first_type,
		.main_module = main_module(s->profile, facts->first_type),
		.comments = comments,
	};

	(void)args;
	return pprof_write(s->profile, &about, out);
}

static struct err *pprof_run(void *args, char **operands, int noperands, int *ret_status)
{
	static const struct export_file file = { DEFAULT_FILE, "go tool pprof -top" };

	(void)operands;
	(void)noperands;
	(void)ret_status;
	return export_run_file(&cmd_pprof, args, write_profile, &file);
}

const struct command cmd_pprof = {
	.name = "pprof",
	.summary = "a gzip-compressed profile.proto, for pprof",
	.operands = "",
	.details = "On a terminal the file is " DEFAULT_FILE " unless -o names another.",
	.opts = pprof_opts,
	.args_size = sizeof(struct pprof_args),
	.defaults = export_defaults,
	.run = pprof_run,
	.release = export_release,
};
