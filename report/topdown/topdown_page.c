/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topdown_page.c - bars are SVG with attributes alone, since the page's policy takes no styles of single elements. What
 * a bar shows stands beside it in figures, so it is hidden from those who hear the page.
 */
#include "report/topdown/topdown_page.h"

#include "formats/base/text.h"
#include "report/page/markup.h"
#include "report/print/number.h"
#include "report/print/facts_text.h"
#include "report/topdown/topdown_text.h"

#include <inttypes.h>
#include <string.h>

#define FUNCTIONS 15
#define PROCESSES 10

struct drawing {
	const struct topdown_tree *tree;
	const struct profile *profile;
	const struct profile_facts *facts;
	struct arena arena;
	FILE *out;
	struct topdown_value whole[TOPDOWN_NODES_MAX];
};

static void put(struct drawing *d, const char *text)
{
	markup_put(d->out, text_escape(&d->arena, text), SIZE_MAX);
}

static void put_paragraph(struct drawing *d, const char *text)
{
	fputs("<p>", d->out);
	put(d, text);
	fputs("</p>\n", d->out);
}

/* ---- the whole: a bar for each part, with its interval ---- */

static void put_bar(struct drawing *d, const struct measure_value *v)
{
	fprintf(d->out,
		"<td class=\"left\"><svg class=\"bar\" viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" "
		"aria-hidden=\"true\">");
	if (v->known)
		fprintf(d->out,
			"<rect y=\"1\" height=\"8\" width=\"%.2f\"/><path d=\"M%.2f 5H%.2f\"/>",
			100 * MIN(v->value, 1), 100 * MIN(v->low, 1), 100 * MIN(v->high, 1));
	fputs("</svg></td>", d->out);
}

static void put_part(struct drawing *d, unsigned i)
{
	const struct topdown_node *node = d->tree->nodes[i].node;
	const struct topdown_value *v = &d->whole[i];
	const char *range = v->value.known ? arena_printf(&d->arena, "%.1f-%.1f", 100 * v->value.low,
							  100 * v->value.high)
					   : arena_printf(&d->arena, "n = %" PRIu64, v->value.n);

	fprintf(d->out, "<tr class=\"%s%s\"><th scope=\"row\" class=\"left\">",
		node->parent ? "child" : "part", v->flagged ? " flagged" : "");
	put(d, node->name);
	fprintf(d->out, "</th><td>%s</td><td>%s</td><td>%s</td>",
		v->value.known ? arena_printf(&d->arena, "%.1f %%", 100 * v->value.value) : "-", range,
		v->flagged ? "over" : "");
	put_bar(d, &v->value);
	fputs("</tr>\n", d->out);
}

static void put_tree(struct drawing *d)
{
	const struct topdown_formula *nodes = d->tree->nodes;

	fprintf(d->out,
		"<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Top-down tree\"><table "
		"class=\"topdown\"><caption>All that was recorded</caption>\n<thead><tr><th scope=\"col\" "
		"class=\"left\">part</th><th scope=\"col\">of %s</th><th scope=\"col\">95 %% range</th><th "
		"scope=\"col\">threshold</th><th scope=\"col\" class=\"left\">as a bar</th></tr></thead>\n<tbody>\n",
		d->tree->model->width ? "slots" : "cycles");
	for (unsigned i = 0; i < d->tree->nnodes; i++) {
		if (nodes[i].node->parent)
			continue;
		put_part(d, i);
		for (unsigned k = 0; k < d->tree->nnodes; k++)
			if (nodes[k].node->parent && strcmp(nodes[k].node->parent, nodes[i].node->key) == 0)
				put_part(d, k);
	}
	fputs("</tbody></table></div>\n", d->out);
}

/* ---- processes and functions: the parts of level 1 in one bar ---- */

static void put_stacked(struct drawing *d, const struct topdown_value *values)
{
	double at = 0;
	unsigned number = 0;

	fputs("<td class=\"left\"><svg class=\"bar\" viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" "
	      "aria-hidden=\"true\">",
	      d->out);
	for (unsigned i = 0; i < d->tree->nnodes; i++) {
		double part = values[i].value.known ? values[i].value.value : 0;

		if (d->tree->nodes[i].node->parent)
			continue;
		part = MIN(part, 1 - at);
		fprintf(d->out, "<rect class=\"td%u\" x=\"%.2f\" y=\"1\" height=\"8\" width=\"%.2f\"/>",
			number++, 100 * at, 100 * part);
		at += part;
	}
	fputs("</svg></td>", d->out);
}

static void put_group(struct drawing *d, const struct view *view, const struct view_group *group)
{
	const struct view_key *key = view_key(view, group);
	struct topdown_value values[TOPDOWN_NODES_MAX];

	topdown_tree_judge_group(d->tree, view, group, values);
	fputs("<tr><th scope=\"row\" class=\"left\">", d->out);
	put(d, key->fields[0]);
	fprintf(d->out, "</th><td>%s</td><td>%" PRIu64 "</td>",
		number_share(&d->arena, stats_share(&group->sum, &view->whole).share), group->sum.count);
	put_stacked(d, values);
	for (unsigned i = 0; i < d->tree->nnodes; i++) {
		if (d->tree->nodes[i].node->parent)
			continue;
		if (values[i].value.known)
			fprintf(d->out, "<td%s>%.1f &plusmn;%.1f</td>", values[i].flagged ? " class=\"flagged\"" : "",
				100 * values[i].value.value, 50 * (values[i].value.high - values[i].value.low));
		else
			fputs("<td>-</td>", d->out);
	}
	fputs("<td class=\"left\">", d->out);
	put(d, topdown_text_bottleneck(d->tree, values, &d->arena));
	fputs("</td></tr>\n", d->out);
}

static void put_groups(struct drawing *d, enum view_by by, const char *title, uint32_t limit)
{
	struct view view;
	unsigned number = 0;

	fprintf(d->out,
		"<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\"><table "
		"class=\"topdown\"><caption>%s: parts in per cent of their %s, '-' below 30 samples</caption>\n"
		"<thead><tr><th scope=\"col\" class=\"left\">name</th><th scope=\"col\">share</th><th "
		"scope=\"col\">samples</th><th scope=\"col\" class=\"left\">as a bar</th>",
		title, title, d->tree->model->width ? "slots" : "cycles");
	for (unsigned i = 0; i < d->tree->nnodes; i++)
		if (!d->tree->nodes[i].node->parent)
			fprintf(d->out,
				"<th scope=\"col\"><svg class=\"key\" viewBox=\"0 0 10 10\" aria-hidden=\"true\"><rect "
				"class=\"td%u\" width=\"10\" height=\"10\"/></svg> %s</th>",
				number++, d->tree->nodes[i].node->name);
	fputs("<th scope=\"col\" class=\"left\">held up by</th></tr></thead>\n<tbody>\n", d->out);
	topdown_tree_view(d->tree, d->profile, d->facts->first_type, by, &view);
	for (uint32_t i = 0; i < view.ntop && i < limit; i++)
		put_group(d, &view, &view.groups.items[view.order.items[i]]);
	fputs("</tbody></table></div>\n", d->out);
	view_deinit(&view);
}

void topdown_page_put(const struct topdown_tree *tree, const struct profile *profile,
		      const struct profile_facts *facts, FILE *out)
{
	struct drawing d = { .tree = tree, .profile = profile, .facts = facts, .out = out };

	topdown_tree_judge_all(tree, profile, d.whole);
	fputs("<section class=\"report\" id=\"topdown\"><h2>Top-down: why the processor was slow</h2>\n", out);

	const char *worst = topdown_tree_worst(tree, profile, facts->first_type, d.whole, &d.arena);

	put_paragraph(&d, topdown_text_verdict(tree, d.whole, worst, facts_text_command(facts, &d.arena),
					       &d.arena));
	put_paragraph(&d, arena_printf(&d.arena, "%s; %s", tree->model->title,
				       topdown_text_method(tree, &d.arena)));
	if (topdown_text_sum(tree, d.whole, &d.arena))
		put_paragraph(&d, topdown_text_sum(tree, d.whole, &d.arena));
	if (tree->model->lacking)
		put_paragraph(&d, tree->model->lacking);
	put_tree(&d);
	put_groups(&d, VIEW_PROCESS, "Processes", PROCESSES);
	put_groups(&d, VIEW_LEAF, "Functions", FUNCTIONS);
	fputs("</section>\n", out);
	arena_deinit(&d.arena);
}
