/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_table.c - which columns a view has, and its rows in order.
 */
#include "report/table/view_table.h"

#include "formats/base/text.h"
#include "report/print/number.h"

#include <inttypes.h>
#include <string.h>

#define HOT_SHARE 0.05 /* a row stands out if its share is surely more */
#define BAR_WIDTH 10   /* columns of the longest bar, which is the largest share's */

struct filler {
	struct table *table;
	struct arena *arena;
	const struct view *view;
	const struct view_table_options *options;
	const char *unit;
	unsigned nlevels;
	bool total;     /* some level is VIEW_TOTAL */
	double largest; /* share of a row */
};

static enum view_by by_of(const struct filler *f, unsigned level)
{
	return f->view->spec.levels.items[level].by;
}

/* ---- columns ---- */

static void add_number(struct filler *f, const char *title, const char *key, enum table_fit fit)
{
	struct table_column column = { title, key, TABLE_RIGHT, fit, true };

	table_add_column(f->table, &column);
}

static void add_name_fitting(struct filler *f, const char *title, const char *key, enum table_fit fit)
{
	table_add_column(f->table, &(struct table_column){ title, key, TABLE_LEFT, fit, false });
}

static void add_name(struct filler *f, const char *title, const char *key)
{
	add_name_fitting(f, title, key, TABLE_CUT_NAME);
}

/* The module of a place that has its line, or of a function that has its caller, is worth less than those. */
static bool is_module_beside_more(enum view_by by, unsigned field)
{
	return field == 2 && (by == VIEW_LINE || by == VIEW_SCRIPT_LINE || by == VIEW_ADDRESS || by == VIEW_CALLER);
}

static bool has_key(const struct filler *f, const char *key)
{
	for (size_t i = 0; i < f->table->columns.len; i++) {
		if (strcmp(f->table->columns.items[i].key, key) == 0)
			return true;
	}
	return false;
}

static void add_field_columns(struct filler *f, unsigned level)
{
	unsigned nfields;
	const struct view_field *fields = view_fields(by_of(f, level), &nfields);

	for (unsigned i = 0; i < nfields; i++) {
		struct view_field first = view_level_field(&f->view->spec.levels, level);
		const char *key = i ? fields[i].key : first.key;
		const char *title = i ? fields[i].title : first.title;

		if (has_key(f, key))
			key = arena_printf(f->arena, "%s%u_%s", view_by_name(by_of(f, level)),
					   level + 1, key);
		if (fields[i].number)
			add_number(f, title, key, TABLE_KEEP);
		else
			add_name_fitting(f, title, key,
					 fields[i].is_path				? TABLE_CUT_START :
					 is_module_beside_more(by_of(f, level), i) ? TABLE_CUT_LAST
										      : TABLE_CUT_NAME);
	}
}

static size_t nmetrics(const struct filler *f)
{
	return f->options->metrics ? f->options->metrics->items.len : 0;
}

/* A name of ours may be one of the table's too. */
static const char *metric_key(struct filler *f, const char *name, const char *what)
{
	const char *key = arena_printf(f->arena, "%s%s", name, what);

	return has_key(f, key) ? arena_printf(f->arena, "metric_%s", key) : key;
}

static void add_metric_data_columns(struct filler *f)
{
	static const char *const parts[] = { "", "_low", "_high", "_samples" };

	for (size_t i = 0; i < nmetrics(f); i++)
		for (size_t k = 0; k < ARRAY_LEN(parts); k++)
			add_number(f, NULL,
				   metric_key(f, f->options->metrics->items.items[i].name, parts[k]),
				   TABLE_KEEP);
}

static void add_metric_text_columns(struct filler *f)
{
	for (size_t i = 0; i < nmetrics(f); i++) {
		const struct metric *metric = &f->options->metrics->items.items[i];
		const char *mark = metric->measures.method == MEASURES_APART ? "*" : "";

		add_number(f, arena_printf(f->arena, "%s%s", metric->name, mark), metric->name,
			   TABLE_KEEP);
		add_number(f, "95 % range", metric->name, TABLE_KEEP);
	}
}

static bool has_latency(const struct filler *f)
{
	return f->view->spec.latencies;
}

static void add_latency_data_columns(struct filler *f)
{
	static const char *const keys[] = { "latency", "latency_low", "latency_high",
					    "latency_deviation", "latency_samples" };

	for (size_t i = 0; has_latency(f) && i < ARRAY_LEN(keys); i++)
		add_number(f, NULL, keys[i], TABLE_KEEP);
}

static void add_data_columns(struct filler *f)
{
	if (f->options->event)
		add_name(f, NULL, "event");
	add_number(f, NULL, "share", TABLE_KEEP);
	add_number(f, NULL, "low", TABLE_KEEP);
	add_number(f, NULL, "high", TABLE_KEEP);
	add_number(f, NULL, "samples", TABLE_KEEP);
	add_number(f, NULL, "weight", TABLE_KEEP);
	if (f->total) {
		add_number(f, NULL, "self_share", TABLE_KEEP);
		add_number(f, NULL, "self_samples", TABLE_KEEP);
		add_number(f, NULL, "passed_through", TABLE_KEEP);
	}
	add_latency_data_columns(f);
	add_metric_data_columns(f);
	for (unsigned level = 0; level < f->nlevels; level++)
		add_field_columns(f, level);
}

static bool has_modules_beside(const struct filler *f)
{
	for (unsigned level = 0; level < f->nlevels; level++)
		if (is_module_beside_more(by_of(f, level), 2))
			return true;
	return false;
}

static void add_text_columns(struct filler *f)
{
	add_number(f, "share", "share", TABLE_KEEP);
	if (f->options->bars)
		table_add_column(f->table, &(struct table_column){ "", "bar", TABLE_LEFT,
								   TABLE_DROP, false });
	if (profile_is_counted(&f->view->whole)) {
		add_number(f, "95 % range", "range", TABLE_KEEP);
		add_number(f, "samples", "samples", TABLE_KEEP);
	}
	if (!f->options->brief)
		add_number(f, number_weight_title(f->options->event, f->unit), "weight", TABLE_DROP);
	if (f->total)
		add_number(f, "self", "self", TABLE_KEEP);
	if (has_latency(f)) {
		add_number(f, "latency", "latency", TABLE_KEEP);
		add_number(f, "95 % range", "latency", TABLE_KEEP);
	}
	add_metric_text_columns(f);
	f->table->indent_column = (unsigned)f->table->columns.len;
	if (f->nlevels == 1) {
		add_field_columns(f, 0);
		return;
	}

	const char *title = "";

	for (unsigned level = 0; level < f->nlevels; level++)
		title = arena_printf(f->arena, "%s%s%s", title, level ? " / " : "",
				     view_level_field(&f->view->spec.levels, level).title);
	add_name(f, title, "name");
	add_name(f, "", "in");
	if (has_modules_beside(f))
		add_name_fitting(f, "", "module", TABLE_CUT_LAST);
}

/* ---- cells ---- */

static void put_data_share(struct filler *f, const struct stats_share *share)
{
	table_add_format(f->table, "%.6f", share->share);
	table_add_cell(f->table, number_bound(f->arena, share, share->low), NULL);
	table_add_cell(f->table, number_bound(f->arena, share, share->high), NULL);
	table_add_cell(f->table, share->uncounted ? "" : arena_printf(f->arena, "%" PRIu64, share->count), NULL);
}

/* The group of the level that is "total", from @group outwards. */
static const struct view_group *total_group(const struct filler *f, const struct view_group *group)
{
	while (by_of(f, group->level) != VIEW_TOTAL)
		group = &f->view->groups.items[group->parent];
	return group;
}

static void put_data_fields(struct filler *f, const struct view_group *group)
{
	unsigned nfields;

	if (group->parent != PROFILE_NONE)
		put_data_fields(f, &f->view->groups.items[group->parent]);
	view_fields(by_of(f, group->level), &nfields);
	for (unsigned i = 0; i < nfields; i++)
		table_add_cell(f->table, view_key(f->view, group)->fields[i], NULL);
}

static void put_data_latency(struct filler *f, const struct view_group *group)
{
	const struct latency *l = view_latency(f->view, group);
	struct stats_mean mean;

	if (!has_latency(f))
		return;
	if (!l || !l->count) {
		for (int i = 0; i < 4; i++)
			table_add_cell(f->table, "", NULL);
		table_add_cell(f->table, "0", NULL);
		return;
	}
	mean = stats_ratio_mean(&l->mean);
	table_add_format(f->table, "%.3f", mean.mean);
	table_add_format(f->table, "%.3f", mean.low);
	table_add_format(f->table, "%.3f", mean.high);
	table_add_format(f->table, "%.3f", latency_deviation(l));
	table_add_format(f->table, "%" PRIu64, l->count);
}

static void put_text_latency(struct filler *f, const struct view_group *group)
{
	const struct latency *l = view_latency(f->view, group);
	bool known = l && l->count >= MEASURES_LEAST;
	struct stats_mean mean;

	if (!has_latency(f))
		return;
	if (!known) {
		table_add_cell(f->table, "-", NULL);
		table_add_cell(f->table, "", NULL);
		return;
	}
	mean = stats_ratio_mean(&l->mean);
	table_add_format(f->table, "%.1f", mean.mean);
	table_add_format(f->table, "%.1f-%.1f", mean.low, mean.high);
}

static struct measure_value metric_of(const struct filler *f, const struct view_group *group,
				      unsigned which)
{
	const struct metric *metric = &f->options->metrics->items.items[which];

	return measures_value(&metric->measures, view_measured(f->view, group, which),
			      metric->expr);
}

static void put_data_metrics(struct filler *f, const struct view_group *group)
{
	for (unsigned i = 0; i < nmetrics(f); i++) {
		struct measure_value value = metric_of(f, group, i);
		double parts[] = { value.value, value.low, value.high };

		for (size_t k = 0; k < ARRAY_LEN(parts); k++) {
			if (value.known)
				table_add_format(f->table, "%.6f", parts[k]);
			else
				table_add_cell(f->table, "", NULL);
		}
		table_add_format(f->table, "%" PRIu64, value.n);
	}
}

static void put_text_metrics(struct filler *f, const struct view_group *group)
{
	for (unsigned i = 0; i < nmetrics(f); i++) {
		const struct metric *metric = &f->options->metrics->items.items[i];
		struct measure_value value = metric_of(f, group, i);

		table_add_cell(f->table, metrics_text(metric, &value, f->arena), NULL);
		table_add_cell(f->table, metrics_range(metric, &value, f->arena), NULL);
	}
}

static void put_data_row(struct filler *f, const struct view_group *group)
{
	struct stats_share share = view_share(f->view, group);

	table_add_row(f->table, 0, TABLE_PLAIN);
	if (f->options->event)
		table_add_cell(f->table, f->options->event, NULL);
	put_data_share(f, &share);
	table_add_format(f->table, "%" PRId64, group->sum.weight);
	if (f->total) {
		const struct view_group *total = total_group(f, group);
		struct stats_share self = stats_share(&total->self, &f->view->whole);

		table_add_format(f->table, "%.6f", self.share);
		table_add_cell(f->table, number_samples_data(f->arena, &total->self), NULL);
		table_add_cell(f->table, view_is_passed_through(f->view, total) ? "true" : "false",
			       NULL);
	}
	put_data_latency(f, group);
	put_data_metrics(f, group);
	put_data_fields(f, group);
}

/*
 * Eighths of a column: U+2588 is a full block, U+258F one eighth. What is left out together may be more than any row
 * and has no bar.
 */
static const char *bar_of(struct filler *f, double share)
{
	unsigned eighths = (unsigned)(share / f->largest * BAR_WIDTH * 8 + 0.5);
	const char *bar = "";

	if (share > f->largest)
		return bar;
	for (; eighths >= 8; eighths -= 8)
		bar = arena_printf(f->arena, "%s\xe2\x96\x88", bar);
	return eighths ? arena_printf(f->arena, "%s\xe2\x96%c", bar, (char)(0x90 - eighths)) : bar;
}

static void put_share(struct filler *f, const struct profile_sum *sum, struct stats_share share)
{
	table_add_cell(f->table, number_share(f->arena, share.share), NULL);
	if (f->options->bars)
		table_add_cell(f->table, bar_of(f, share.share), NULL);
	if (!share.uncounted) {
		table_add_cell(f->table, number_interval(f->arena, &share), NULL);
		table_add_cell(f->table, number_count(f->arena, share.count), NULL);
	}
	if (!f->options->brief)
		table_add_cell(f->table, number_weight(f->arena, sum->weight, f->unit), NULL);
}

/* "pid 4711, tid 4712" or "libc.so.6": what the first field leaves open. */
static const char *rest_of_fields(struct filler *f, const struct view_group *group)
{
	const struct view_key *key = view_key(f->view, group);
	const char *text = "";
	unsigned nfields;
	const struct view_field *fields = view_fields(by_of(f, group->level), &nfields);

	for (unsigned i = 1; i < nfields; i++) {
		const char *title = "";

		if (!*key->fields[i] || is_module_beside_more(by_of(f, group->level), i))
			continue;
		if (fields[i].number || strcmp(fields[i].key, "caller") == 0)
			title = arena_printf(f->arena, "%s ", fields[i].title);
		text = arena_printf(f->arena, "%s%s%s%s", text, *text ? ", " : "", title,
				    key->fields[i]);
	}
	return text;
}

static const char *first_field(struct filler *f, const struct view_group *group)
{
	const char *text = view_key(f->view, group)->fields[0];

	const char *mark = view_recorder_mark(f->view, group, f->options->recorder_pid);

	if (*mark)
		text = arena_printf(f->arena, "%s%s", text, mark);
	if (by_of(f, group->level) == VIEW_LINE && f->nlevels > 1 && strrchr(text, '/'))
		text = strrchr(text, '/') + 1; /* the column is cut at the end */
	if (by_of(f, group->level) == VIEW_CPU && f->nlevels > 1)
		text = *text ? arena_printf(f->arena, "cpu %s", text) : "cpu not known";
	return view_is_passed_through(f->view, group) ? arena_printf(f->arena, "~ %s", text) : text;
}

static enum table_tone tone_of(const struct filler *f, const struct view_group *group)
{
	if (view_is_passed_through(f->view, group))
		return TABLE_DIM;
	if (view_key(f->view, group)->unnamed)
		return TABLE_DOUBTFUL;
	return view_share(f->view, group).low > HOT_SHARE ? TABLE_HOT : TABLE_PLAIN;
}

static void put_text_row(struct filler *f, const struct view_group *group)
{
	unsigned nfields;

	table_add_row(f->table, group->level, tone_of(f, group));
	put_share(f, &group->sum, view_share(f->view, group));
	if (f->total && by_of(f, group->level) == VIEW_TOTAL)
		table_add_cell(
			f->table,
			number_share(f->arena, stats_share(&group->self, &f->view->whole).share),
			NULL);
	else if (f->total)
		table_add_cell(f->table, "", NULL);
	put_text_latency(f, group);
	put_text_metrics(f, group);
	table_add_cell(f->table, first_field(f, group), NULL);
	if (f->nlevels > 1) {
		table_add_cell(f->table, rest_of_fields(f, group), NULL);
		if (has_modules_beside(f))
			table_add_cell(f->table,
				       is_module_beside_more(by_of(f, group->level), 2) ?
					       view_key(f->view, group)->fields[2] : "",
				       NULL);
		return;
	}
	view_fields(by_of(f, 0), &nfields);
	for (unsigned i = 1; i < nfields; i++)
		table_add_cell(f->table, view_key(f->view, group)->fields[i], NULL);
}

/* One line for all that is left out, so that nothing vanishes. */
static void put_rest(struct filler *f, const struct view_group *rest, uint64_t count)
{
	bool additive = by_of(f, rest->level) != VIEW_TOTAL;

	table_add_row(f->table, rest->level, TABLE_DIM);
	if (additive)
		put_share(f, &rest->sum, view_share(f->view, rest));
	while (f->table->cells.len % f->table->columns.len < f->table->indent_column)
		table_add_cell(f->table, "", NULL);
	table_add_cell(f->table, arena_printf(f->arena, "(%s more)", number_count(f->arena, count)),
		       NULL);
	while (f->table->cells.len % f->table->columns.len)
		table_add_cell(f->table, "", NULL);
}

/* ---- rows ---- */

static bool is_shown(const struct filler *f, const struct view_group *group, uint64_t shown)
{
	return shown < f->options->limit &&
	       stats_share(&group->sum, &f->view->whole).share >= f->options->min_share;
}

/* One that stands where @group does, with what all of them have. */
static void add_to_rest(struct view_group *rest, const struct view_group *group, bool is_first)
{
	if (is_first) {
		*rest = *group;
		return;
	}
	rest->sum.count += group->sum.count;
	rest->sum.weight += group->sum.weight;
	rest->sum.weight_sq += group->sum.weight_sq;
	rest->sum.exact += group->sum.exact;
	rest->bare_weight += group->bare_weight;
	rest->lost_weight += group->lost_weight;
}

static void put_groups(struct filler *f, uint32_t first, uint32_t count)
{
	struct view_group rest = { 0 };
	uint64_t shown = 0, left_out = 0;

	for (uint32_t i = first; i < first + count; i++) {
		const struct view_group *group = &f->view->groups.items[f->view->order.items[i]];

		if (f->options->without_idle && view_key(f->view, group)->idle)
			continue;
		if (!is_shown(f, group, shown)) {
			add_to_rest(&rest, group, left_out++ == 0);
			continue;
		}
		shown++;
		if (f->options->data && group->level + 1 == f->nlevels)
			put_data_row(f, group);
		else if (!f->options->data)
			put_text_row(f, group);
		put_groups(f, group->first, group->count);
	}
	if (left_out && !f->options->data && !f->options->brief)
		put_rest(f, &rest, left_out);
}

void view_table_fill(struct table *table, const struct view *view,
		     const struct view_table_options *options)
{
	const struct profile *p = view->profile;
	struct filler f = {
		.table = table,
		.arena = table->arena,
		.view = view,
		.options = options,
		.unit = profile_text(p, p->types.items[view->spec.event].unit),
		.nlevels = view->spec.levels.len,
	};

	for (unsigned level = 0; level < f.nlevels; level++)
		f.total |= by_of(&f, level) == VIEW_TOTAL;
	for (uint32_t i = 0; i < view->groups.len; i++)
		f.largest = MAX(f.largest,
				stats_share(&view->groups.items[i].sum, &view->whole).share);
	if (options->data)
		add_data_columns(&f);
	else
		add_text_columns(&f);
	put_groups(&f, 0, view->ntop);
}

/* VIEW_TABLE_ALL is what commands have where the option was not given. */
struct err *view_table_parse_limit(void *field, const char *value)
{
	uint64_t limit;

	if (!text_parse_u64(value, &limit))
		return err_new(ERR_USAGE, "'%s' is not a whole number", value);
	*(uint64_t *)field = limit ? limit : VIEW_TABLE_ALL - 1;
	return NULL;
}
