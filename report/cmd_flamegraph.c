/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_flamegraph.c - the flame graph: a page to work with (report/page/web/), or a static SVG picture.
 */
#include "formats/base/text.h"
#include "report/commands.h"
#include "report/export/export.h"
#include "report/page/flame.h"
#include "report/page/flame_data.h"
#include "report/page/flame_page.h"
#include "report/page/svg.h"

#include <inttypes.h>
#include <string.h>

/* Where a terminal's user finds the page. */
#define DEFAULT_PAGE    "flame.html"
#define DEFAULT_PICTURE "flame.svg"
#define WIDTH_DEFAULT   1200
#define WIDTH_LEAST     300
#define WIDTH_MOST      20000

struct flamegraph_args {
	struct export_args export;
	const char *title, *by;
	uint64_t width; /* 0: not given */
	bool svg, reverse, root_on_top;
};

/* In the order of enum flame_by. */
static const char *const bys[] = { "program", "process", "thread", "comm", "cpu", "none", NULL };

static const struct opt flamegraph_opts[] = {
	OPT_FLAG(struct flamegraph_args, svg, "svg", 0,
		 "a static SVG picture instead of a page, as with -o FILE.svg"),
	OPT_STR(struct flamegraph_args, title, "title", 0, "TEXT", "title instead of the command"),
	OPT_UINT(struct flamegraph_args, width, "width", 0, "PIXELS",
		 "width of the SVG picture (default 1200)"),
	OPT_CHOICE(struct flamegraph_args, by, "by", 'b', "LEVEL",
		   "the base frame of stacks: program (default), process, thread, comm, cpu, none",
		   bys),
	OPT_FLAG(struct flamegraph_args, reverse, "reverse", 0, "leaves first, then their callers"),
	OPT_FLAG(struct flamegraph_args, root_on_top, "root-on-top", 0,
		 "let the stacks grow downwards"),
	OPT_GROUP(struct flamegraph_args, export, export_opts),
	OPT_END,
};

static void flamegraph_defaults(void *args)
{
	struct flamegraph_args *flame = args;

	flame->by = bys[0];
}

static const char *title_of(const struct flamegraph_args *args, const struct profile_facts *facts, struct arena *arena)
{
	const char *command = *facts->cmdline ? facts->cmdline : "Flame graph";

	return text_escape(arena, args->title ? args->title : command);
}

/* What is not known is left out. */
static const char *subtitle(const struct flame *flame, const struct profile_value_type *type, const struct profile *p,
			    const struct profile_facts *facts, struct arena *arena)
{
	const char *name = profile_text(p, type->name), *text = name;

	if (*facts->hostname)
		text = arena_printf(arena, "%s on %s", text, facts->hostname);
	if (facts->has_duration)
		text = arena_printf(arena, "%s, %.1f s", text, (double)facts->duration_ns / 1e9);
	text = arena_printf(arena, "%s, %" PRIu64 " samples", text, flame->nodes.items[0].count);
	if (!facts->sums_only)
		text = arena_printf(arena, "%s, %" PRIu64 " lost", text, facts->lost_by_kernel + facts->lost_by_recorder);
	return arena_printf(arena, "%s; width is %s in %s", text, name, profile_text(p, type->unit));
}

static enum flame_by by_of(const char *name)
{
	int by = 0;

	while (strcmp(bys[by], name) != 0)
		by++;
	return (enum flame_by)by;
}

static void write_picture(const struct flamegraph_args *args, const struct profile *p, const struct profile_facts *facts, FILE *out)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	CLEANUP(flame_deinit) struct flame flame;
	struct flame_options how = {
		.frames = { .event = facts->first_type, .suffixes = true },
		.by = by_of(args->by),
		.recorder_pid = facts->recorder_pid,
		.reverse = args->reverse,
	};

	flame_init(&flame, p, &how);

	uint32_t event = how.frames.event;
	const struct profile_value_type *type = &p->types.items[event];
	struct svg_options options = {
		.title = title_of(args, facts, &arena),
		.subtitle = text_escape(&arena, subtitle(&flame, type, p, facts, &arena)),
		.width = (uint32_t)(args->width ? args->width : WIDTH_DEFAULT),
		.root_on_top = args->root_on_top,
		.weight_is_ns = strcmp(profile_text(p, type->unit), "ns") == 0,
	};

	svg_write(&flame, &options, out);
}

static struct err *write_either(void *args, const struct profile *p, const struct profile_facts *facts, FILE *out)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const struct flamegraph_args *flame = args;
	struct flame_data_view view = {
		.title = title_of(flame, facts, &arena),
		.by = flame->by,
		.callers = flame->reverse,
		.root_on_top = flame->root_on_top,
		.event = facts->first_type,
	};

	if (!flame->svg)
		return flame_page_write(p, facts, &view, out);
	write_picture(flame, p, facts, out);
	return NULL;
}

static struct err *flamegraph_run(void *args, char **operands, int noperands, int *ret_status)
{
	static const struct export_file page = { DEFAULT_PAGE, "xdg-open" };
	static const struct export_file picture = { DEFAULT_PICTURE, "xdg-open" };
	struct flamegraph_args *flame = args;

	(void)operands;
	(void)noperands;
	(void)ret_status;
	if (flame->export.output && text_ends(flame->export.output, ".svg"))
		flame->svg = true;
	if (flame->width && !flame->svg)
		return err_remedy(err_new(ERR_USAGE, "a page is as wide as its window"),
				  "--width goes with --svg");
	if (flame->width && (flame->width < WIDTH_LEAST || flame->width > WIDTH_MOST))
		return err_new(ERR_USAGE, "a width of %" PRIu64 " pixels is not between %d and %d",
			       flame->width, WIDTH_LEAST, WIDTH_MOST);
	flame->export.times = flame->export.spans = !flame->svg;
	flame->export.filter.with_wall = !flame->svg && !flame->export.filter.events.len;
	return export_run_file(&cmd_flamegraph, args, write_either, flame->svg ? &picture : &page);
}

const struct command cmd_flamegraph = {
	.name = "flamegraph",
	.summary = "a flame graph, as a page or an SVG picture",
	.operands = "",
	.details = "On a terminal the file is " DEFAULT_PAGE " (with --svg " DEFAULT_PICTURE
		   ") unless -o names another.",
	.examples = "  preport flamegraph -o run.html       a page to zoom and search\n"
		    "  preport flamegraph --svg -o run.svg  a picture\n"
		    "  preport flamegraph --by thread -o threads.html\n",
	.manual = "preport-flamegraph(1)",
	.opts = flamegraph_opts,
	.args_size = sizeof(struct flamegraph_args),
	.defaults = flamegraph_defaults,
	.run = flamegraph_run,
};
