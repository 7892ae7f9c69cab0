/* SPDX-License-Identifier: Apache-2.0 */
/*
 * svg.c - one box a frame, as wide as its share. Colours tell kinds of code apart (and differ in lightness,
 * for those who do not see the hue); the suffixes of collapsed stacks say which kind it is. Where threads waited there are two
 * hues instead: of each box the right part is the share of its time off the CPU.
 */
#include "report/page/svg.h"

#include "formats/base/map.h"
#include "formats/base/text.h"
#include "report/page/markup.h"

#include <inttypes.h>
#include <math.h>

#define ROW         17 /* height of a row of boxes, in pixels */
#define MARGIN      10
#define HEAD        44 /* room for title and subtitle */
#define FOOT        26
#define CHAR_WIDTH  6.6 /* of the 11 px monospaced font, rounded up */
#define WIDTH_MIN   0.4 /* narrower boxes cannot be seen and are not drawn */
#define TITLE_WIDTH 9.2 /* of a character of the title */

struct canvas {
	const struct flame *flame;
	const struct svg_options *options;
	FILE *out;
	double scale;   /* pixels a unit of weight */
	int64_t least; /* weight of the lightest box that is drawn */
	uint32_t depth; /* of the deepest box that is drawn */
	uint32_t height;
};

/* Bytes of @name that fit into @columns characters. */
static size_t fitting(const char *name, size_t columns)
{
	size_t len = 0;

	for (size_t i = 0; i < columns && name[len]; i++)
		len += MAX(text_char_len(name + len), 1);
	return len;
}

/* As much of @text as fits, and a mark where it was cut; @columns is at least 3. */
static void put_fitting(FILE *out, const char *text, size_t columns)
{
	size_t len = fitting(text, columns);
	bool is_cut = text[len];

	markup_put(out, text, is_cut ? fitting(text, columns - 2) : len);
	fputs(is_cut ? ".." : "", out);
}

/* CSS class of a frame, see put_head(); three shades each so that neighbours differ. */
static char kind_of(const struct flame *flame, const struct flame_node *node)
{
	if (node->depth <= flame->grouped)
		return 'p';
	if (text_ends(node->name, "_[k]"))
		return 'k';
	if (text_ends(node->name, "_[j]"))
		return 'j';
	if (text_ends(node->name, "_[i]"))
		return 'i';
	return *node->name == '[' ? 'x' : 'u';
}

static unsigned shade_of(const char *name)
{
	uint64_t hash = 0;

	for (; *name; name++)
		hash = map_hash(hash ^ (uint8_t)*name);
	return hash % 3;
}

static void put_head(const struct canvas *c)
{
	static const char style[] =
		"text{font:11px ui-monospace,Menlo,Consolas,monospace;fill:#111}"
		".t{font-size:15px;font-weight:bold}.s{fill:#444}"
		"g.f:hover rect{stroke:#000;stroke-width:1}"
		".p0,.p1,.p2{fill:#d9d9d9}.x0,.x1,.x2{fill:#bdbdbd}"
		".u0{fill:#f6c065}.u1{fill:#f4b04a}.u2{fill:#f8cd84}"
		".i0{fill:#fde6a8}.i1{fill:#fbdc8c}.i2{fill:#feefc4}"
		".k0{fill:#7fb2e5}.k1{fill:#6aa3dc}.k2{fill:#93c0ec}"
		".j0{fill:#8fd0a6}.j1{fill:#7ac495}.j2{fill:#a5dbb8}"
		".w{fill:#93c0ec}";
	uint32_t width = c->options->width;

	fprintf(c->out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%" PRIu32 "\" height=\"%" PRIu32
		"\" viewBox=\"0 0 %" PRIu32 " %" PRIu32 "\" role=\"img\">\n<style>%s</style>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n<text class=\"t\" "
		"x=\"%d\" y=\"20\">",
		width, c->height, width, c->height, style, MARGIN);
	put_fitting(c->out, c->options->title, (size_t)((width - 2 * MARGIN) / TITLE_WIDTH));
	fprintf(c->out, "</text>\n<text class=\"s\" x=\"%d\" y=\"37\">", MARGIN);
	markup_put(c->out, c->options->subtitle, SIZE_MAX);
	fputs("</text>\n", c->out);
}

static void put_amount(const struct canvas *c, const struct flame_node *node)
{
	double total = (double)c->flame->nodes.items[0].weight;

	fprintf(c->out, " (%.2f %%, %" PRIu64 " samples, ", 100.0 * (double)node->weight / total,
		node->count);
	if (c->options->weight_is_ns)
		fprintf(c->out, "%.3f s, self %.2f %%)", (double)node->weight / 1e9,
			100.0 * (double)node->self / total);
	else
		fprintf(c->out, "%" PRId64 " events, self %.2f %%)", node->weight,
			100.0 * (double)node->self / total);
}

static void put_label(const struct canvas *c, const char *name, double x, double y, double width)
{
	if (width < 3 * CHAR_WIDTH + 4)
		return;
	fprintf(c->out, "<text x=\"%.1f\" y=\"%.0f\">", x + 3, y + 12);
	put_fitting(c->out, name, (size_t)((width - 4) / CHAR_WIDTH));
	fputs("</text>", c->out);
}

/* Did threads wait anywhere? */
static bool two_hues(const struct canvas *c)
{
	return c->flame->nodes.items[0].off > 0;
}

static void put_rect(const struct canvas *c, const char *class, double x, double y, double width)
{
	fprintf(c->out, "<rect class=\"%s\" x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%d\" rx=\"1\"/>", class, x, y, width,
		ROW - 1);
}

static void put_box(const struct canvas *c, const struct flame_node *node, double x)
{
	double width = (double)node->weight * c->scale;
	uint32_t row = c->options->root_on_top ? node->depth : c->depth - node->depth;
	double y = HEAD + (double)row * ROW;

	fputs("<g class=\"f\"><title>", c->out);
	markup_put(c->out, node->name, SIZE_MAX);
	put_amount(c, node);
	fputs("</title>", c->out);
	if (!two_hues(c)) {
		char class[] = { kind_of(c->flame, node), (char)('0' + shade_of(node->name)), '\0' };

		put_rect(c, class, x, y, width);
	} else {
		double off = (double)node->off * c->scale;

		if (node->off < node->weight)
			put_rect(c, (const char *const[]){ "u0", "u1", "u2" }[shade_of(node->name)], x, y, width - off);
		if (node->off > 0)
			put_rect(c, "w", x + width - off, y, off);
	}
	put_label(c, node->name, x, y, width);
	fputs("</g>\n", c->out);
}

/* The boxes of @node and of what stands on it; depth is bounded by the unwinder's limit of frames. */
static uint64_t put_tree(const struct canvas *c, uint32_t at, double x)
{
	const struct flame_node *node = &c->flame->nodes.items[at];
	uint64_t drawn = 1;

	if (node->weight < c->least)
		return 0;
	put_box(c, node, x);
	for (uint32_t child = node->first_child; child; child = c->flame->nodes.items[child].next) {
		drawn += put_tree(c, child, x);
		x += (double)c->flame->nodes.items[child].weight * c->scale;
	}
	return drawn;
}

static int compare_weights(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x < y) - (x > y);
}

/* The weight from which on boxes are drawn, so that they are visible and not too many. */
static int64_t least_weight(const struct flame *flame, double scale)
{
	int64_t least = MAX((uint64_t)ceil(WIDTH_MIN / scale), 1);
	VEC(int64_t) weights = { 0 };

	for (size_t i = 0; i < flame->nodes.len; i++)
		if (flame->nodes.items[i].weight >= least)
			vec_push(&weights, flame->nodes.items[i].weight);
	if (weights.len > SVG_FRAMES_MAX) {
		vec_sort(&weights, compare_weights);
		least = weights.items[SVG_FRAMES_MAX] + 1;
	}
	vec_deinit(&weights);
	return least;
}

static uint32_t drawn_depth(const struct flame *flame, int64_t least)
{
	uint32_t depth = 0;

	for (size_t i = 0; i < flame->nodes.len; i++)
		if (flame->nodes.items[i].weight >= least)
			depth = MAX(depth, flame->nodes.items[i].depth);
	return depth;
}

void svg_write(const struct flame *flame, const struct svg_options *options, FILE *out)
{
	int64_t total = MAX(flame->nodes.items[0].weight, 1);
	struct canvas c = {
		.flame = flame,
		.options = options,
		.out = out,
		.scale = ((double)options->width - 2 * MARGIN) / (double)total,
	};

	c.least = least_weight(flame, c.scale);
	c.depth = drawn_depth(flame, c.least);
	c.height = HEAD + (c.depth + 1) * ROW + FOOT;
	put_head(&c);
	uint64_t drawn = put_tree(&c, 0, MARGIN);

	fprintf(out, "<text class=\"s\" x=\"%d\" y=\"%" PRIu32 "\">%" PRIu64 " frames", MARGIN,
		c.height - 9, drawn);
	if (drawn < flame->nodes.len)
		fprintf(out, "; %" PRIu64 " narrower than %.2g %% are not drawn",
			(uint64_t)flame->nodes.len - drawn,
			100.0 * (double)c.least / (double)total);
	fprintf(out, ". %s.</text>\n</svg>\n",
		two_hues(&c) ? "Orange: on a CPU, blue: off CPU"
			     : "Orange: user, yellow: inlined, blue: kernel, green: JIT, grey: process or incomplete");
}
