/* SPDX-License-Identifier: Apache-2.0 */
/*
 * branch_table.c - columns and rows of --by branch.
 */
#include "report/table/branch_table.h"

#include "formats/base/text.h"
#include "formats/base/json_writer.h"
#include "report/view/measures.h"
#include "report/print/number.h"

#include <inttypes.h>
#include <string.h>

#define HOT_SHARE 0.05 /* a row stands out if its share is surely more */

static const char *const words[] = {
	[BRANCHES_BY_FUNCTION] = "branch",
	[BRANCHES_BY_LINE] = "branch=line",
	[BRANCHES_BY_ADDRESS] = "branch=address",
};

bool branch_table_parse(const char *word, enum branches_by *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (strcmp(words[i], word) != 0)
			continue;
		*ret = (enum branches_by)i;
		return true;
	}
	return strcmp(word, "branch=function") == 0;
}

struct output {
	const struct branch_table_request *request;
	struct branches b;
	struct arena arena;
	struct table table;
	struct terminal term;
	uint64_t left_out; /* rows */
	double left_out_branches;
};

/* ---- columns ---- */

static void add_column(struct output *o, const char *title, const char *key, bool number)
{
	struct table_column column = { title, key, number ? TABLE_RIGHT : TABLE_LEFT,
				       number ? TABLE_KEEP : TABLE_CUT_END, number };

	table_add_column(&o->table, &column);
}

static void add_text_columns(struct output *o)
{
	static const char *const numbers[] = { "share",	     "95 % range", "branches", "mispredicted",
					       "95 % range", "cycles",	   "95 % range" };

	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		add_column(o, numbers[i], numbers[i], true);
	add_column(o, "from", "from", false);
	add_column(o, "to", "to", false);
}

static void add_data_columns(struct output *o)
{
	static const char *const numbers[] = {
		"share",	  "low",	       "high",		    "branches",
		"mispredicted",	  "mispredicted_low",  "mispredicted_high", "mispredicted_branches",
		"cycles",	  "cycles_low",	       "cycles_high",	    "cycles_branches",
	};
	static const char *const ends[] = { "from", "to" };

	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		add_column(o, NULL, numbers[i], true);
	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		add_column(o, NULL, ends[i], false);
		add_column(o, NULL, arena_printf(&o->arena, "%s_module", ends[i]), false);
		if (o->request->by == BRANCHES_BY_FUNCTION)
			continue;
		add_column(o, NULL, arena_printf(&o->arena, "%s_line", ends[i]), false);
		if (o->request->by == BRANCHES_BY_ADDRESS)
			add_column(o, NULL, arena_printf(&o->arena, "%s_address", ends[i]), false);
	}
}

/* ---- cells ---- */

/* "/src/parse.c:12", "" */
static const char *line_text(const struct output *o, uint32_t place, struct arena *arena)
{
	const struct profile *p = o->b.s->profile;
	const struct profile_line *line = branches_line(&o->b, place);

	if (!line || !line->file || !line->line)
		return "";
	return arena_printf(arena, "%s:%" PRIu32, profile_text(p, line->file), line->line);
}

static const char *address_text(const struct output *o, uint32_t place, struct arena *arena)
{
	uint32_t location = o->b.places.items[place].location;

	if (location == PROFILE_NONE)
		return "";
	return arena_printf(arena, "0x%" PRIx64, profile_address(&o->b.s->profile->locations.items[location]));
}

static void put_data_place(struct output *o, uint32_t place)
{
	table_add_cell(&o->table, branches_function(&o->b, place), NULL);
	table_add_cell(&o->table, branches_module(&o->b, place), NULL);
	if (o->request->by == BRANCHES_BY_FUNCTION)
		return;
	table_add_cell(&o->table, line_text(o, place, &o->arena), NULL);
	if (o->request->by == BRANCHES_BY_ADDRESS)
		table_add_cell(&o->table, address_text(o, place, &o->arena), NULL);
}

/* "parse", "parse.c:12 parse", "0x1230 parse" */
static void put_text_place(struct output *o, uint32_t place)
{
	const char *function = branches_function(&o->b, place), *at = "";

	if (o->request->by == BRANCHES_BY_ADDRESS)
		at = address_text(o, place, &o->arena);
	else if (o->request->by == BRANCHES_BY_LINE)
		at = line_text(o, place, &o->arena);
	if (strrchr(at, '/'))
		at = strrchr(at, '/') + 1; /* the column is cut at the end */
	table_add_cell(&o->table,
		       arena_printf(&o->arena, "%s%s%s", at, *at ? " " : "", function), NULL);
}

static void put_numbers(struct output *o, const char *const *cells, size_t count)
{
	for (size_t i = 0; i < count; i++)
		table_add_cell(&o->table, cells[i], NULL);
}

static const char *fraction(struct output *o, double value)
{
	return arena_printf(&o->arena, "%.6f", value);
}

static const char *count_text(struct output *o, double value)
{
	return arena_printf(&o->arena, "%.0f", value);
}

/* Figures that nothing is known about are empty. */
static void put_data_row(struct output *o, const struct branches_row *row)
{
	struct stats_share share = stats_ratio_share(&row->count);
	struct stats_share missed = stats_ratio_share(&row->missed);
	struct stats_mean cycles = stats_ratio_mean(&row->cycles);
	bool known = row->missed.whole > 0, timed = row->cycles.whole > 0;
	const char *cells[] = {
		fraction(o, share.share),
		fraction(o, share.low),
		fraction(o, share.high),
		count_text(o, row->count.part),
		known ? fraction(o, missed.share) : "",
		known ? fraction(o, missed.low) : "",
		known ? fraction(o, missed.high) : "",
		count_text(o, row->missed.whole),
		timed ? fraction(o, cycles.mean) : "",
		timed ? fraction(o, cycles.low) : "",
		timed ? fraction(o, cycles.high) : "",
		count_text(o, row->cycles.whole),
	};

	table_add_row(&o->table, 0, TABLE_PLAIN);
	put_numbers(o, cells, ARRAY_LEN(cells));
	put_data_place(o, row->from);
	put_data_place(o, row->to);
}

static void put_text_row(struct output *o, const struct branches_row *row)
{
	struct stats_share share = stats_ratio_share(&row->count);
	struct stats_share missed = stats_ratio_share(&row->missed);
	struct stats_mean cycles = stats_ratio_mean(&row->cycles);
	bool known = row->missed.whole >= MEASURES_LEAST;
	bool timed = row->cycles.whole >= MEASURES_LEAST;
	struct arena *arena = &o->arena;
	const char *cells[] = {
		number_share(arena, share.share),
		number_interval(arena, &share),
		number_count(arena, share.count),
		known ? number_share(arena, missed.share) : "-",
		known ? number_interval(arena, &missed) : "",
		timed ? arena_printf(arena, "%.1f", cycles.mean) : "-",
		timed ? arena_printf(arena, "%.1f-%.1f", cycles.low, cycles.high) : "",
	};

	table_add_row(&o->table, 0, share.low > HOT_SHARE ? TABLE_HOT : TABLE_PLAIN);
	put_numbers(o, cells, ARRAY_LEN(cells));
	put_text_place(o, row->from);
	put_text_place(o, row->to);
}

/* One line for all that is left out, so that nothing vanishes. */
static void put_rest(struct output *o)
{
	const char *cells[] = {
		number_share(&o->arena, o->left_out_branches / o->b.all.whole),
		"",
		number_count(&o->arena, (uint64_t)o->left_out_branches),
		"",
		"",
		"",
		"",
		arena_printf(&o->arena, "(%s more)", number_count(&o->arena, o->left_out)),
		"",
	};

	table_add_row(&o->table, 0, TABLE_DIM);
	put_numbers(o, cells, ARRAY_LEN(cells));
}

static void fill(struct output *o)
{
	const struct branch_table_request *r = o->request;
	bool text = r->format == TABLE_TEXT;
	uint64_t shown = 0;

	if (text)
		add_text_columns(o);
	else
		add_data_columns(o);
	for (size_t i = 0; i < o->b.rows.len; i++) {
		const struct branches_row *row = &o->b.rows.items[i];

		if (shown >= r->limit || row->count.part / o->b.all.whole < r->min_share) {
			o->left_out++;
			o->left_out_branches += row->count.part;
			continue;
		}
		shown++;
		if (text)
			put_text_row(o, row);
		else
			put_data_row(o, row);
	}
	if (text && o->left_out)
		put_rest(o);
}

/* ---- around them ---- */

static void put_line(const char *text)
{
	text_put_escaped(stdout, text);
	putchar('\n');
}

static void print_text(struct output *o)
{
	const struct session *s = o->b.s;
	bool few = false;

	put_line(arena_printf(&o->arena, "%s %s in %s, by %s",
			      number_count(&o->arena, (uint64_t)o->b.all.whole),
			      o->b.all.whole == 1 ? "branch" : "branches",
			      number_of(&o->arena, o->b.all.nbunches, "sample"),
			      words[o->request->by]));
	if (!filter_is_empty(s->filter))
		put_line(arena_printf(&o->arena, "of %s, only %s",
				      number_of(&o->arena, s->stream.samples, "sample"),
				      filter_describe(s->filter, &o->arena)));
	table_print_text(&o->table, &o->term, stdout);
	for (size_t i = 0; i < o->b.rows.len; i++)
		few |= o->b.rows.items[i].missed.whole < MEASURES_LEAST;
	put_line("shares are of recorded branches, not of time; cycles are those since the branch "
		 "before");
	if (few)
		put_line(arena_printf(&o->arena,
				      "- fewer than %d such branches were recorded",
				      MEASURES_LEAST));
}

static void print_json(struct output *o)
{
	struct json json;

	json_init(&json, stdout);
	json.lines = true;
	json_open(&json, NULL, '{');
	json_string(&json, "by", words[o->request->by]);
	json_string(&json, "filter", filter_describe(o->b.s->filter, &o->arena));
	json_uint(&json, "samples", o->b.all.nbunches);
	json_uint(&json, "branches", (uint64_t)o->b.all.whole);
	table_print_json(&o->table, "rows", &json);
	json_close(&json, '}');
}

static void print(struct output *o)
{
	if (o->request->format == TABLE_TEXT)
		print_text(o);
	else if (o->request->format == TABLE_CSV)
		table_print_csv(&o->table, stdout, /* with_header= */ true);
	else
		print_json(o);
}

/* ---- the run ---- */

static struct err *take(void *context, const struct walked_event *event)
{
	if (event->ev->kind == EVENT_SAMPLE)
		branches_take(context, event->ev);
	return NULL;
}

static struct err *nothing_there(struct output *o, const struct filter *filter)
{
	bool filtered = !filter_is_empty(filter);

	return err_remedy(err_new(ERR_UNSUPPORTED, "no sample of '%s'%s%s carries a branch",
				  o->b.s->facts.input, filtered ? " that passes " : "",
				  filtered ? filter_describe(filter, &o->arena) : ""),
			  "record with 'precord -b' on a machine whose PMU has branch stacks (LBR, "
			  "BRBE); with -j, choose branches that occur");
}

struct err *branch_table_run(const struct branch_table_request *request, struct session *s,
			     struct filter *filter, const struct terminal_args *terminal)
{
	struct output o = { .request = request };
	struct loader_listener listener = { .event = take, .context = &o.b, .flat = true };
	struct err *err = session_need(s, "events", "--by branch");

	branches_init(&o.b, s, request->by);
	table_init(&o.table, &o.arena);
	if (!err)
		err = session_each(s, filter, &listener);
	if (!err && !o.b.rows.len)
		err = nothing_there(&o, filter);
	if (!err) {
		branches_finish(&o.b);
		branches_sort(&o.b, request->sort);
		o.term = terminal_open(terminal);
		fill(&o);
		print(&o);
		err = terminal_close(&o.term, NULL);
	}
	table_deinit(&o.table);
	branches_deinit(&o.b);
	arena_deinit(&o.arena);
	return err;
}
