/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listing_page.c - the rows of listing_rows.h as a table. The page's policy allows no style attributes, so heat and
 * indentation are classes of report/page/web/code.css.
 */
#include "report/code/listing_page.h"

#include "formats/base/path.h"
#include "formats/base/text.h"
#include "report/code/listing_rows.h"
#include "report/page/markup.h"
#include "report/print/number.h"
#include "report/page/page.h"
#include "report/code/source_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define HEAT_MAX 9

PAGE_ASSET_DECLARE(code_css);

struct listing_page {
	const struct annotate *a;
	const struct listing_options *options;
	FILE *out;
	struct source_text sources;
	/* Of the function that is being written. */
	struct arena arena;
	const struct annotate_function *function;
	struct annotate_listing *listing; /* NULL: its code is not there */
	struct listing_rows rows;
	bool skid_said; /* once a page is enough */
	size_t id; /* of the section: its place in a->functions */
	const struct annotate_line *beside;
};

struct listing_page *listing_page_new(const struct annotate *a,
				      const struct listing_options *options, FILE *out)
{
	struct listing_page *page = memory_zeroed(1, sizeof(*page));

	page->a = a;
	page->options = options;
	page->out = out;
	return page;
}

void listing_page_free(struct listing_page *page)
{
	if (!page)
		return;
	source_text_deinit(&page->sources);
	arena_deinit(&page->arena);
	free(page);
}

static void put(struct listing_page *page, const char *text)
{
	markup_put(page->out, text_escape(&page->arena, text), SIZE_MAX);
}

static struct stats_share share_of(const struct listing_page *page, const struct profile_sum *sum,
				   size_t column)
{
	return stats_share(sum, listing_whole(page->a, page->listing, column, page->options->global));
}

/* ---- cells ----------------------------------------------------------------------------------------- */

/* Shares are numbers; colour only helps to find them. */
static void put_shares(struct listing_page *page, const struct profile_sum *sums)
{
	for (size_t e = 0; e < page->a->events.len; e++) {
		if (!sums || !sums[e].count) {
			fputs("<td></td>", page->out);
			continue;
		}
		struct stats_share share = share_of(page, &sums[e], e);
		unsigned heat = (unsigned)MIN(share.share * 20, HEAT_MAX);

		fprintf(page->out, "<td class=\"h%u\" title=\"%s\">%s <small>%s</small></td>", heat,
			number_of(&page->arena, share.count, "sample"),
			number_share(&page->arena, share.share),
			number_interval(&page->arena, &share));
	}
}

/* Three cells, as on the terminal, if any branches were recorded. */
static void put_branch(struct listing_page *page, const struct listing_row *row)
{
	struct listing_branch_text text = { "", "", "" };

	if (!page->listing->branches)
		return;
	if (row->kind == LISTING_INSN)
		text = listing_branch_text(&page->arena, &page->listing->branches[row->line]);
	fprintf(page->out, "<td>%s</td><td>%s</td><td>%s</td>", text.taken, text.missed, text.cycles);
}

static void put_block(struct listing_page *page, const struct listing_row *row)
{
	uint32_t number = page->listing->flow->block_of[row->line];
	const struct flow_block *block = &page->listing->flow->blocks[number];
	const struct profile_sum *sum = &page->listing->block_sums[number * page->a->events.len];
	bool begins = block->first == row->line && block->count > 1 && sum->count;

	fprintf(page->out, "<td class=\"block\">%s</td>",
		begins ? number_share(&page->arena, share_of(page, sum, 0).share) : "");
}

static void put_sums_in_words(struct listing_page *page, const struct profile_sum *sums)
{
	uint64_t count = 0;

	for (size_t e = 0; e < page->a->events.len; e++)
		count += sums[e].count;
	for (size_t e = 0; count && e < page->a->events.len; e++)
		fprintf(page->out, "%s%s", e ? " | " : ": ",
			number_share(&page->arena, share_of(page, &sums[e], e).share));
}

static void put_source(struct listing_page *page, const struct annotate_line *line)
{
	const char *file = annotate_file(line);

	if (!file)
		return;
	fputs("<span title=\"", page->out);
	put(page, file);
	fputs("\">", page->out);
	put(page, path_last_part(file));
	fprintf(page->out, ":%" PRIu32 "</span>  ", annotate_line_number(line));
	put(page, source_text_line(&page->sources, file, annotate_line_number(line)));
}

/* The section of the function that begins at @vaddr of the same module; 0 if this page does not have it. */
static size_t section_of(const struct listing_page *page, uint64_t vaddr)
{
	for (size_t i = 0; i < page->a->functions.len; i++)
		if (code_place_address(page->a->functions.items[i].vaddr) == vaddr &&
		    page->a->functions.items[i].module == page->function->module)
			return i + 1;
	return 0;
}

static void put_callee(struct listing_page *page, const struct annotate_line *line)
{
	size_t section = section_of(page, line->insn.target);

	fputs("  ", page->out);
	if (section)
		fprintf(page->out, "<a href=\"#code-%zu\">", section);
	fputs("&lt;", page->out);
	put(page, line->callee);
	fprintf(page->out, "&gt;%s", section ? "</a>" : "");
}

static void put_insn(struct listing_page *page, const struct listing_row *row)
{
	const struct annotate_listing *listing = page->listing;
	const struct annotate_line *line = &listing->lines.items[row->line];
	const struct disasm_insn *insn = &line->insn;
	uint32_t target = flow_jump(listing->insns, (uint32_t)listing->lines.len, row->line);

	for (uint8_t i = 0; page->options->bytes && i < insn->len; i++)
		fprintf(page->out, "%02x ", line->code[i]);
	fputs("<b>", page->out);
	put(page, insn->mnemonic);
	fputs("</b> ", page->out);
	if (target != FLOW_NONE)
		fprintf(page->out, "<a href=\"#code-%zu-%" PRIx64 "\">", page->id, insn->target);
	put(page, insn->operands);
	if (target != FLOW_NONE)
		fputs("</a>", page->out);
	if (line->callee)
		put_callee(page, line);
}

/* ---- rows ------------------------------------------------------------------------------------------ */

static const char *const kinds[] = {
	[LISTING_INSN] = "insn", [LISTING_SOURCE] = "source", [LISTING_INLINE] = "inline",
	[LISTING_LOOP] = "loop", [LISTING_FOLD] = "fold",
};

static void put_words(struct listing_page *page, const struct listing_row *row)
{
	const struct annotate_line *line = &page->listing->lines.items[row->line];

	switch (row->kind) {
	case LISTING_INSN:
		put_insn(page, row);
		break;
	case LISTING_SOURCE:
		put_source(page, line);
		break;
	case LISTING_INLINE:
		fputs("inlined ", page->out);
		put(page, listing_call_text(&page->arena, line, row->frame));
		put_sums_in_words(page, row->sums);
		break;
	case LISTING_LOOP:
		put(page, listing_loop_text(&page->arena, page->listing, row->loop));
		put_sums_in_words(page, row->sums);
		break;
	case LISTING_FOLD:
		fprintf(page->out, "%" PRIu32 " instructions without samples", row->count);
		break;
	}
}

static void put_row(struct listing_page *page, size_t i)
{
	const struct listing_row *row = &page->rows.rows.items[i];
	struct annotate_line *line = &page->listing->lines.items[row->line];
	bool insn = row->kind == LISTING_INSN;
	char arrows[32];

	listing_rows_arrows(&page->rows, i, true, arrows);
	fprintf(page->out, "<tr class=\"%s\"", kinds[row->kind]);
	if (insn)
		fprintf(page->out, " id=\"code-%zu-%" PRIx64 "\"", page->id, line->insn.vaddr);
	fputc('>', page->out);
	put_shares(page, insn ? row->sums : NULL);
	put_branch(page, row);
	if (insn)
		put_block(page, row);
	else
		fputs("<td></td>", page->out);
	fprintf(page->out, "<td class=\"arrows\" aria-hidden=\"true\">%s</td>", arrows);
	if (insn)
		fprintf(page->out, "<td class=\"address\">%" PRIx64 "</td>", line->insn.vaddr);
	else
		fputs("<td></td>", page->out);
	fprintf(page->out, "<td class=\"text i%" PRIu32 "\">", row->indent);
	put_words(page, row);
	fputs("</td>", page->out);
	if (page->options->source == LISTING_SOURCE_BESIDE) {
		fputs("<td class=\"text beside\">", page->out);
		if (insn && !annotate_same_source(page->beside, line)) {
			put_source(page, line);
			page->beside = line;
		}
		fputs("</td>", page->out);
	}
	fputs("</tr>\n", page->out);
}

/* ---- the section ----------------------------------------------------------------------------------- */

static void put_events(struct listing_page *page)
{
	struct arena *arena = &page->arena;

	for (size_t e = 0; e < page->a->events.len; e++) {
		const struct annotate_event *event = &page->a->events.items[e];
		const struct profile_sum *sum = &page->function->sums[e];
		struct stats_share share = stats_share(sum, &event->total);
		const char *skid = page->skid_said ? NULL : annotate_skid(page->a, event);

		fprintf(page->out, "<p>%s (%s) of all %s of ", number_share(arena, share.share),
			number_interval(arena, &share),
			number_of(arena, event->total.count, "sample"));
		put(page, event->name);
		fprintf(page->out, ", here %s", number_of(arena, sum->count, "sample"));
		if (skid)
			fputs("; <span class=\"skid\">", page->out);
		put(page, skid ? skid : "");
		fprintf(page->out, "%s</p>\n", skid ? "</span>" : "");
	}
	page->skid_said = true;
}

static void put_head(struct listing_page *page, const struct annotate_function *function)
{
	const struct profile *p = page->a->s->profile;
	const char *module = profile_text(p, profile_module(p, function->module)->path);

	page->function = function;
	page->id = (size_t)(function - page->a->functions.items) + 1;
	fprintf(page->out, "<section class=\"code\" id=\"code-%zu\" aria-labelledby=\"code-name-%zu\" data-name=\"",
		page->id, page->id);
	put(page, function->name);
	fputs("\" data-module=\"", page->out);
	put(page, profile_text(p, profile_module(p, function->module)->name));
	fprintf(page->out, "\">\n<h2 id=\"code-name-%zu\">", page->id);
	put(page, function->name);
	fputs("</h2>\n<p class=\"module\">", page->out);
	put(page, module);
	fputs("</p>\n", page->out);
	put_events(page);
}

static void put_titles(struct listing_page *page)
{
	fprintf(page->out, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Code of function %zu\"><table>\n<thead><tr>",
		page->id);
	for (size_t e = 0; e < page->a->events.len; e++) {
		fputs("<th scope=\"col\">", page->out);
		put(page, page->a->events.items[e].name);
		fputs("</th>", page->out);
	}
	if (page->listing->branches)
		fputs("<th scope=\"col\" title=\"how often the branch was recorded\">taken</th>"
		      "<th scope=\"col\" title=\"how many of them were mispredicted\">missed</th>"
		      "<th scope=\"col\" title=\"mean cycles of the code before the branch\">cycles</th>",
		      page->out);
	fputs("<th scope=\"col\" title=\"share of the basic block that begins here\">block</th><td></td>"
	      "<th scope=\"col\">address</th><th scope=\"col\" class=\"text\">code</th>",
	      page->out);
	if (page->options->source == LISTING_SOURCE_BESIDE)
		fputs("<th scope=\"col\" class=\"text\">source</th>", page->out);
	fputs("</tr></thead>\n<tbody>\n", page->out);
}

void listing_page_put(struct listing_page *page, struct annotate_listing *listing)
{
	struct listing_rows_options how = {
		.all = page->options->all,
		.source = page->options->source == LISTING_SOURCE_BETWEEN,
		.lanes = LISTING_LANES_MAX,
	};

	page->listing = listing;
	page->beside = NULL;
	listing_rows_init(&page->rows, page->a, listing, &how);
	put_head(page, listing->function);
	if (listing->origin) {
		fputs("<p>", page->out);
		put(page, listing->origin);
		fputs("</p>\n", page->out);
	}
	fprintf(page->out, "<p>Shares below are of %s, with 95 %% intervals.</p>\n",
		page->options->global ? "all samples" : "these");
	if (listing->branches)
		fprintf(page->out, "<p>%s.</p>\n",
			listing_branches_text(&page->arena, page->a, listing));
	put_titles(page);
	for (size_t i = 0; i < page->rows.rows.len; i++)
		put_row(page, i);
	fputs("</tbody></table></div>\n", page->out);

	const char *missing = listing_missing_text(&page->arena, page->a, listing);

	if (*missing) {
		fputs("<p>", page->out);
		put(page, missing);
		fputs("</p>\n", page->out);
	}
	fputs("</section>\n", page->out);
	listing_rows_deinit(&page->rows);
	arena_reset(&page->arena);
}

void listing_page_put_missing(struct listing_page *page, const struct annotate_function *function,
			      struct err *why)
{
	put_head(page, function);
	fputs("<p class=\"missing\">", page->out);
	put(page, err_message(why));
	if (err_hint(why)) {
		fputs("; ", page->out);
		put(page, err_hint(why));
	}
	fputs("</p>\n</section>\n", page->out);
	arena_reset(&page->arena);
	err_free(why);
}

/* ---- a page of its own ------------------------------------------------------------------------------ */

static const struct page_asset styles[] = { PAGE_ASSET(code_css), { 0 } };

void listing_page_begin(struct listing_page *page, const char *title)
{
	struct session_losses lost = session_losses(page->a->s);
	uint64_t count = lost.by_kernel + lost.by_recorder;

	page_begin(page->out, &(struct page_template){ title, styles, NULL, NULL });
	fputs("<header class=\"code\"><h1>", page->out);
	put(page, title);
	fputs("</h1>\n<p>", page->out);
	put(page, page->a->s->recording->cmdline);
	fprintf(page->out, "</p>\n<p>%s in %s, %s lost</p></header>\n<main>\n",
		number_of(&page->arena, page->a->s->matched.count, "sample"),
		number_time(&page->arena, session_duration_ns(page->a->s)),
		number_count(&page->arena, count));
}

struct err *listing_page_end(struct listing_page *page, const char *title)
{
	fputs("</main>\n", page->out);
	return page_end(page->out, &(struct page_template){ title, styles, NULL, NULL });
}
