/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listing.c - in text, a line an instruction under the source line that it comes from:
 *
 *	                       parse.c:17  while (*p != ';')
 *	 45.2 %  42.1-48.3  >   1a2b  movq (%rax), %rdx
 *	                        1a2e  jne 0x1a2b                  ^
 *
 * '>' marks where a jump inside the function leads, '^' and 'v' tell a jump's direction. Stretches of code
 * without samples are folded, source text is read from the file if it is there.
 */
#include "report/listing.h"

#include "formats/base/text.h"
#include "report/number.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FOLD_KEEP  6    /* instructions shown around those with samples */
#define FOLD_LEAST 4    /* shorter stretches are not worth folding */
#define LINE_MAX   4096 /* bytes of a source line that are looked at */

/* The lines of one source file; a file that is not there has none. */
struct source {
	const char *path;
	char *text;
	VEC(char *) lines;
};

struct listing_printer {
	const struct annotate *a;
	const struct listing_options *options;
	FILE *out;
	struct arena arena;
	struct json json;
	VEC(struct source) sources;
	bool csv_begun;
	bool begun;
};

struct listing_printer *listing_printer_new(const struct annotate *a,
					    const struct listing_options *options, FILE *out)
{
	struct listing_printer *printer = memory_zeroed(1, sizeof(*printer));

	printer->a = a;
	printer->options = options;
	printer->out = out;
	if (options->format == TABLE_JSON) {
		json_init(&printer->json, out);
		printer->json.lines = true;
		json_open(&printer->json, NULL, '[');
	}
	return printer;
}

void listing_printer_finish(struct listing_printer *printer)
{
	if (printer->options->format == TABLE_JSON) {
		json_close(&printer->json, ']');
	}
	for (size_t i = 0; i < printer->sources.len; i++) {
		free(printer->sources.items[i].text);
		vec_deinit(&printer->sources.items[i].lines);
	}
	vec_deinit(&printer->sources);
	arena_deinit(&printer->arena);
	free(printer);
}

/* ---- source text ----------------------------------------------------------------------------------- */

static void read_source(struct source *source)
{
	FILE *file = fopen(source->path, "re");
	char line[LINE_MAX];
	size_t len = 0, text_len = 0;
	FILE *text;

	if (!file)
		return;
	text = open_memstream(&source->text, &text_len);
	while (text && fgets(line, sizeof(line), file)) {
		len = strcspn(line, "\n");
		fwrite(line, 1, len, text);
		fputc(line[len] ? 0 : '\n',
		      text); /* over-long lines: the rest is a line that nobody asks for */
	}
	fclose(file);
	if (text)
		fclose(text);
	for (size_t at = 0; at < text_len; at += strlen(source->text + at) + 1)
		vec_push(&source->lines, source->text + at);
}

static const char *source_line(struct listing_printer *printer, const char *path, uint32_t number)
{
	struct source *source = NULL;

	for (size_t i = 0; i < printer->sources.len; i++)
		if (strcmp(printer->sources.items[i].path, path) == 0)
			source = &printer->sources.items[i];
	if (!source) {
		vec_push(&printer->sources, ((struct source){ .path = path }));
		source = &printer->sources.items[printer->sources.len - 1];
		read_source(source);
	}
	return number && number <= source->lines.len ? source->lines.items[number - 1] : "";
}

/* ---- text ------------------------------------------------------------------------------------------ */

static const struct profile_sum *whole_of(const struct listing_printer *printer,
					  const struct annotate_function *function)
{
	return printer->options->global ? &printer->a->total : &function->sum;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void put_source(struct listing_printer *printer, const struct annotate_line *line)
{
	const char *text = source_line(printer, line->file, line->line);

	fprintf(printer->out, "%*s", 20, "");
	text_put_escaped(printer->out, base_name(line->file));
	fprintf(printer->out, ":%" PRIu32, line->line);
	text += strspn(text, "\t ");
	if (*text)
		fputs("  ", printer->out);
	text_put_escaped(printer->out, text);
	fputc('\n', printer->out);
}

static void put_share(struct listing_printer *printer, const struct annotate_function *function,
		      const struct profile_sum *sum)
{
	struct stats_share share = stats_share(sum, whole_of(printer, function));

	if (!sum->count) {
		fprintf(printer->out, "%*s", 19, "");
		return;
	}
	fprintf(printer->out, "%7s  %-9s ", number_share(&printer->arena, share.share),
		number_interval(&printer->arena, &share));
}

static void put_insn(struct listing_printer *printer, const struct annotate_function *function,
		     const struct annotate_line *line)
{
	const struct disasm_insn *insn = &line->insn;
	bool inside = insn->target - function->vaddr < function->len;

	put_share(printer, function, &line->sum);
	fprintf(printer->out, "%c %8" PRIx64 "  ", line->is_target ? '>' : ' ', insn->vaddr);
	if (printer->options->bytes) {
		for (uint8_t i = 0; i < insn->len; i++)
			fprintf(printer->out, "%02x ", line->code[i]);
		fprintf(printer->out, "%*s", MAX(0, 3 * (8 - insn->len)), "");
	}
	fputs(insn->mnemonic, printer->out);
	if (*insn->operands)
		fprintf(printer->out, " %s", insn->operands);
	if (insn->target && inside && insn->flow != DISASM_CALL)
		fputs(insn->target <= insn->vaddr ? "  ^" : "  v", printer->out);
	if (line->callee) {
		fputs("  <", printer->out);
		text_put_escaped(printer->out, line->callee);
		fputc('>', printer->out);
	}
	fputc('\n', printer->out);
}

/* Is there an instruction with samples within reach of line @i? */
static bool is_near_sample(const struct annotate_listing *listing, size_t i)
{
	size_t first = i > FOLD_KEEP ? i - FOLD_KEEP : 0;
	size_t last = MIN(i + FOLD_KEEP, listing->lines.len - 1);

	for (size_t k = first; k <= last; k++)
		if (listing->lines.items[k].sum.count)
			return true;
	return false;
}

/* How many lines from @i on can be folded into one; 0 if that is not worth it. */
static size_t fold_at(const struct listing_printer *printer, const struct annotate_listing *listing,
		      size_t i)
{
	size_t len = 0;

	if (printer->options->all)
		return 0;
	while (i + len < listing->lines.len && !is_near_sample(listing, i + len))
		len++;
	return len >= FOLD_LEAST ? len : 0;
}

static bool same_source(const struct annotate_line *a, const struct annotate_line *b)
{
	return a && b->file && a->file && a->line == b->line && strcmp(a->file, b->file) == 0;
}

static void put_head(struct listing_printer *printer, const struct annotate_function *function)
{
	const struct profile *p = printer->a->s->profile;
	struct stats_share share = stats_share(&function->sum, &printer->a->total);
	struct arena *arena = &printer->arena;

	if (printer->begun)
		fputc('\n', printer->out);
	printer->begun = true;
	text_put_escaped(printer->out, function->name);
	fputs(" in ", printer->out);
	text_put_escaped(printer->out, profile_text(p, p->modules.items[function->module].path));
	fprintf(printer->out, "\n%s (%s) of all %s of ", number_share(arena, share.share),
		number_interval(arena, &share),
		number_of(arena, printer->a->total.count, "sample"));
	text_put_escaped(printer->out, profile_text(p, p->events.items[printer->a->event].name));
	fprintf(printer->out, ", here %s; shares below are of %s, with 95 %% intervals\n\n",
		number_of(arena, function->sum.count, "sample"),
		printer->options->global ? "all" : "these");
}

static void put_foot(struct listing_printer *printer, const struct annotate_function *function,
		     const struct annotate_listing *listing)
{
	if (listing->code_len < function->len)
		fprintf(printer->out,
			"only the first %" PRIu64 " of %" PRIu64
			" bytes of code are in the recording\n",
			listing->code_len, function->len);
	if (listing->elsewhere.count)
		fprintf(printer->out, "%s fell on addresses that are not listed\n",
			number_of(&printer->arena, listing->elsewhere.count, "sample"));
}

static void print_text(struct listing_printer *printer, const struct annotate_function *function,
		       const struct annotate_listing *listing)
{
	const struct annotate_line *last = NULL;

	put_head(printer, function);
	for (size_t i = 0; i < listing->lines.len; i++) {
		const struct annotate_line *line = &listing->lines.items[i];
		size_t folded = fold_at(printer, listing, i);

		if (folded) {
			fprintf(printer->out, "%*s... %zu instructions without samples\n", 20, "",
				folded);
			i += folded - 1;
			last = NULL;
			continue;
		}
		if (printer->options->source && line->file && !same_source(last, line))
			put_source(printer, line);
		put_insn(printer, function, line);
		last = line;
	}
	put_foot(printer, function, listing);
}

/* ---- CSV and JSON ---------------------------------------------------------------------------------- */

static const struct table_column columns[] = {
	{ .key = "function" },
	{ .key = "module" },
	{ .key = "address" },
	{ .key = "instruction" },
	{ .key = "samples", .number = true },
	{ .key = "weight", .number = true },
	{ .key = "share", .number = true },
	{ .key = "low", .number = true },
	{ .key = "high", .number = true },
	{ .key = "file" },
	{ .key = "line", .number = true },
	{ .key = "target" },
	{ .key = "callee" },
};

static void add_row(struct listing_printer *printer, struct table *table,
		    const struct annotate_function *function, const struct annotate_line *line)
{
	const struct profile *p = printer->a->s->profile;
	const struct disasm_insn *insn = &line->insn;
	struct stats_share share = stats_share(&line->sum, whole_of(printer, function));

	table_add_row(table, 0, TABLE_PLAIN);
	table_add_cell(table, function->name, NULL);
	table_add_cell(table, profile_text(p, p->modules.items[function->module].path), NULL);
	table_add_format(table, "0x%" PRIx64, insn->vaddr);
	table_add_format(table, "%s%s%s", insn->mnemonic, *insn->operands ? " " : "",
			 insn->operands);
	table_add_format(table, "%" PRIu64, line->sum.count);
	table_add_format(table, "%" PRIu64, line->sum.weight);
	table_add_format(table, "%.6f", share.share);
	table_add_format(table, "%.6f", share.low);
	table_add_format(table, "%.6f", share.high);
	table_add_cell(table, line->file ? line->file : "", NULL);
	table_add_format(table, "%" PRIu32, line->line);
	table_add_cell(table,
		       insn->target ? arena_printf(table->arena, "0x%" PRIx64, insn->target) : "",
		       NULL);
	table_add_cell(table, line->callee ? line->callee : "", NULL);
}

static void print_table(struct listing_printer *printer, const struct annotate_function *function,
			const struct annotate_listing *listing)
{
	struct table table;

	table_init(&table, &printer->arena);
	for (size_t i = 0; i < ARRAY_LEN(columns); i++)
		table_add_column(&table, &columns[i]);
	for (size_t i = 0; i < listing->lines.len; i++)
		add_row(printer, &table, function, &listing->lines.items[i]);
	if (printer->options->format == TABLE_CSV) {
		table_print_csv(&table, printer->out, /* with_header= */ !printer->csv_begun);
		printer->csv_begun = true;
	} else {
		json_open(&printer->json, NULL, '{');
		json_string(&printer->json, "function", function->name);
		json_uint(&printer->json, "samples", function->sum.count);
		json_uint(&printer->json, "all_samples", printer->a->total.count);
		table_print_json(&table, "instructions", &printer->json);
		json_close(&printer->json, '}');
	}
	table_deinit(&table);
}

void listing_print(struct listing_printer *printer, const struct annotate_function *function,
		   const struct annotate_listing *listing)
{
	if (printer->options->format == TABLE_TEXT)
		print_text(printer, function, listing);
	else
		print_table(printer, function, listing);
}
