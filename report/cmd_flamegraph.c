/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_flamegraph.c - the flame graph as a static SVG picture.
 */
#include "formats/base/text.h"
#include "report/commands.h"
#include "report/export.h"
#include "report/flame.h"
#include "report/svg.h"

#include <inttypes.h>

/* Where a terminal's user finds the picture. */
#define DEFAULT_FILE "flame.svg"
#define WIDTH_LEAST  300
#define WIDTH_MOST   20000

struct flamegraph_args {
	struct export_args export; /* first, for export_defaults() */
	const char *title;
	uint64_t width;
	bool root_on_top, tid;
};

static const struct opt flamegraph_opts[] = {
	OPT_STR(struct flamegraph_args, title, "title", 0, "TEXT", "title of the picture"),
	OPT_UINT(struct flamegraph_args, width, "width", 0, "PIXELS",
		 "width of the picture (default 1200)"),
	OPT_FLAG(struct flamegraph_args, root_on_top, "root-on-top", 0,
		 "let the stacks grow downwards"),
	OPT_FLAG(struct flamegraph_args, tid, "with-tid", 0, "keep threads apart"),
	OPT_GROUP(struct flamegraph_args, export, export_opts),
	OPT_END,
};

static void flamegraph_defaults(void *args)
{
	struct flamegraph_args *flame = args;

	export_defaults(args);
	flame->width = 1200;
}

static const char *subtitle(struct session *s, const struct flame *flame, uint32_t event)
{
	const struct recording *rec = s->recording;
	struct session_losses losses = session_losses(s);
	struct profile_event *which = &s->profile->events.items[event];

	return arena_printf(
		&s->arena,
		"%s on %s, %.1f s, %" PRIu64 " samples, %" PRIu64 " lost; width is %s in %s",
		profile_text(s->profile, which->name), rec->hostname,
		(double)session_duration_ns(s) / 1e9, flame->nodes.items[0].count,
			    losses.by_kernel + losses.by_recorder,
		profile_text(s->profile, which->name), profile_text(s->profile, which->unit));
}

static struct err *write_picture(void *args, struct session *s, FILE *out)
{
	const struct flamegraph_args *flame_args = args;
	CLEANUP(flame_deinit) struct flame flame;
	const char *stops[UNWIND_STOPS];
	struct folded_options frames = {
		.event = session_default_event(s),
		.tid = flame_args->tid,
		.suffixes = true,
		.stop_names = stops,
		.nstops = UNWIND_STOPS,
	};

	export_stop_names(stops);
	flame_init(&flame, s->profile, &frames);

	const char *command = *s->recording->cmdline ? s->recording->cmdline : "Flame graph";
	const char *unit = profile_text(s->profile, s->profile->events.items[frames.event].unit);
	struct svg_options options = {
		.title = text_escape(&s->arena, flame_args->title ? flame_args->title : command),
		.subtitle = text_escape(&s->arena, subtitle(s, &flame, frames.event)),
		.width = (uint32_t)flame_args->width,
		.root_on_top = flame_args->root_on_top,
		.weight_is_ns = strcmp(unit, "ns") == 0,
	};

	svg_write(&flame, &options, out);
	return NULL;
}

static struct err *flamegraph_run(void *args, char **operands, int noperands, int *ret_status)
{
	static const struct export_file file = { DEFAULT_FILE, "xdg-open" };
	struct flamegraph_args *flame = args;

	(void)ret_status;
	if (flame->width < WIDTH_LEAST || flame->width > WIDTH_MOST)
		return err_new(ERR_USAGE, "a width of %" PRIu64 " pixels is not between %d and %d",
			       flame->width, WIDTH_LEAST, WIDTH_MOST);
	return export_run_file(args, operands, noperands, write_picture, &file);
}

const struct command cmd_flamegraph = {
	.name = "flamegraph",
	.summary = "a flame graph as an SVG picture",
	.operands = "",
	.details = "On a terminal the file is " DEFAULT_FILE " unless -o names another.",
	.opts = flamegraph_opts,
	.args_size = sizeof(struct flamegraph_args),
	.defaults = flamegraph_defaults,
	.run = flamegraph_run,
	.release = export_release,
};
