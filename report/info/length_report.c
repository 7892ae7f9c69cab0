/* SPDX-License-Identifier: Apache-2.0 */
/*
 * length_report.c - one list of quantiles for columns and keys alike.
 */
#include "report/info/length_report.h"

#include "formats/base/json_writer.h"
#include "formats/base/memory.h"
#include "formats/base/vec.h"
#include "report/print/number.h"
#include "report/print/table.h"
#include "report/view/idle_waits.h"
#include "report/view/view_keys.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- how long waits took ---- */

/* Rows are given their groups once, waits go by their rows. */

static void add(struct wait_group *group, uint64_t len_ns, bool failed)
{
	unsigned bucket = len_ns ? 63u - (unsigned)__builtin_clzll(len_ns) : 0;

	vec_push(&group->lengths_ns, len_ns);
	group->total_ns += len_ns;
	group->errors += failed;
	group->buckets[MIN(bucket, WAIT_BUCKETS - 1u)]++;
}

static int compare_groups(const void *left, const void *right)
{
	const struct wait_group *a = left, *b = right;

	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	for (unsigned i = 0; i < VIEW_FIELDS_MAX && a->fields[i] && b->fields[i]; i++) {
		int order = strcmp(a->fields[i], b->fields[i]);

		if (order)
			return order;
	}
	return 0;
}

/* A system call or request that failed says with what. */
static bool has_failed(const struct profile *p, const struct profile_sample *row)
{
	const struct profile_label_set *set = &p->label_sets.items[row->labels];

	if (row->state < PROFILE_STATE_CALL)
		return false;
	for (uint32_t i = 0; i < set->count; i++)
		if (strcmp(profile_text(p, p->labels.items[set->first + i].key), "error") == 0)
			return true;
	return false;
}

/* The group of each row of the profile; those of other events have none. */
static uint32_t *group_rows(struct wait_lengths *w, const struct profile *p, const bool *idle,
			    const struct wait_lengths_request *request)
{
	struct view_levels levels = { .items = { request->level }, .len = 1 };
	struct view_keys *keys = view_keys_new(p, &levels, &w->arena);
	struct view_paths paths = { .profile = p, .functions = view_keys_functions(keys), .native = request->native, .idle = idle,
				    .frames_max = SIZE_MAX };
	uint32_t *groups = memory_zeroed(p->samples.len + 1, sizeof(*groups));
	struct view_path path;

	for (uint32_t i = 0; i < p->samples.len; i++) {
		const struct profile_sample *row = &p->samples.items[i];

		groups[i] = PROFILE_NONE;
		if (row->type != request->event || !view_paths_make(&paths, row, &path))
			continue;
		groups[i] = view_keys_find(keys, 0, &path, 0);
		while (w->groups.len <= groups[i])
			vec_push(&w->groups, ((struct wait_group){ 0 }));
		memcpy(w->groups.items[groups[i]].fields, view_keys_get(keys, 0, groups[i])->fields,
		       sizeof(w->groups.items[0].fields));
	}
	view_paths_deinit(&paths);
	view_keys_free(keys);
	return groups;
}

static void wait_lengths_collect(struct wait_lengths *w, const struct profile *p, const struct profile_facts *facts,
			  const struct wait_lengths_request *request)
{
	bool *idle = request->idle ? NULL : idle_waits_find(p, facts->lives.window_ns);
	uint32_t *groups = group_rows(w, p, idle, request);

	struct time_cursor cursor = time_series_begin(&p->times);
	struct profile_time when;

	while (time_series_next(&cursor, &when)) {
		if (!when.has_duration || groups[when.row] == PROFILE_NONE)
			continue;
		bool failed = has_failed(p, &p->samples.items[when.row]);

		add(&w->groups.items[groups[when.row]], when.duration_ns, failed);
		add(&w->all, when.duration_ns, failed);
	}
	free(groups);
	free(idle);
	for (size_t i = 0; i < w->groups.len; i++)
		vec_sort(&w->groups.items[i].lengths_ns, vec_u64_ascending);
	vec_sort(&w->all.lengths_ns, vec_u64_ascending);
	vec_sort(&w->groups, compare_groups);
}

static void wait_lengths_deinit(struct wait_lengths *w)
{
	for (size_t i = 0; i < w->groups.len; i++)
		vec_deinit(&w->groups.items[i].lengths_ns);
	vec_deinit(&w->all.lengths_ns);
	vec_deinit(&w->groups);
	arena_deinit(&w->arena);
}

/* The length that @part (0 to 1) of the waits do not exceed; 0 if there are none. */
static uint64_t wait_group_quantile(const struct wait_group *group, double part)
{
	size_t count = group->lengths_ns.len;
	size_t rank = (size_t)ceil(part * (double)count);

	return count ? group->lengths_ns.items[rank ? MIN(rank, count) - 1 : 0] : 0;
}

/* ---- printing ---- */

#define BAR_LEN  40
#define ROWS_MAX 20 /* unless -n says otherwise */

struct length_table {
	const struct length_report *report;
	const struct wait_lengths *lengths;
	enum view_by by; /* what groups them */
	uint64_t limit;	 /* groups, 0: all */
};

static const struct quantile {
	const char *title, *key;
	double part;
} quantiles[] = { { "median", "median", 0.5 }, { "90 %", "p90", 0.9 }, { "99 %", "p99", 0.99 }, { "longest", "max", 1 } };

const struct opt length_opts[] = {
	OPT_UINT(struct length_args, limit, "limit", 'n', "N", "N rows, 0 for all (default: 20)"),
	OPT_CHOICE(struct length_args, format, "format", 0, "FORMAT", "text (default), csv or json", table_formats),
	OPT_GROUP(struct length_args, terminal, terminal_opts),
	OPT_GROUP(struct length_args, filter, filter_opts),
	OPT_GROUP(struct length_args, session, session_opts),
	OPT_END,
};

void length_args_init(struct length_args *args, enum view_by by)
{
	args->by = (struct view_levels){ .items = { { by, 0 } }, .len = 1 };
	args->limit = ROWS_MAX;
}

static size_t groups_shown(const struct length_table *t)
{
	size_t len = t->lengths->groups.len;

	return t->limit ? MIN(len, (size_t)t->limit) : len;
}

static void add_number(struct table *table, const char *title, const char *key)
{
	table_add_column(table, &(struct table_column){ title, key, TABLE_RIGHT, TABLE_KEEP, true });
}

static void add_columns(const struct length_table *t, struct table *table)
{
	unsigned nfields;
	const struct view_field *fields = view_fields(t->by, &nfields);

	add_number(table, t->report->noun, t->report->noun);
	if (t->report->errors)
		add_number(table, "errors", "errors");
	add_number(table, "time", "total_ns");
	for (size_t q = 0; q < ARRAY_LEN(quantiles); q++)
		add_number(table, quantiles[q].title, quantiles[q].key);
	for (unsigned f = 0; f < nfields; f++)
		table_add_column(table, &(struct table_column){ fields[f].title, fields[f].key,
								fields[f].number ? TABLE_RIGHT : TABLE_LEFT,
								TABLE_CUT_END, fields[f].number });
}

static void add_row(const struct length_table *t, struct table *table, const struct wait_group *group)
{
	struct arena *arena = table->arena;
	unsigned nfields;

	view_fields(t->by, &nfields);
	table_add_row(table, 0, TABLE_PLAIN);
	table_add_cell(table, number_count(arena, group->lengths_ns.len),
		       arena_printf(arena, "%zu", group->lengths_ns.len));
	if (t->report->errors)
		table_add_cell(table, number_count(arena, group->errors), arena_printf(arena, "%" PRIu64, group->errors));
	table_add_cell(table, number_time(arena, group->total_ns), arena_printf(arena, "%" PRIu64, group->total_ns));
	for (size_t q = 0; q < ARRAY_LEN(quantiles); q++) {
		uint64_t ns = wait_group_quantile(group, quantiles[q].part);

		table_add_cell(table, number_time(arena, ns), arena_printf(arena, "%" PRIu64, ns));
	}
	for (unsigned f = 0; f < nfields; f++)
		table_add_cell(table, group->fields[f], NULL);
}

static void fill(const struct length_table *t, struct table *table)
{
	add_columns(t, table);
	for (size_t i = 0; i < groups_shown(t); i++)
		add_row(t, table, &t->lengths->groups.items[i]);
}

static void print_histogram(const struct length_table *t, struct arena *arena)
{
	const uint64_t *buckets = t->lengths->all.buckets;
	unsigned first = WAIT_BUCKETS, last = 0;
	uint64_t most = 1;

	for (unsigned i = 0; i < WAIT_BUCKETS; i++) {
		if (!buckets[i])
			continue;
		first = MIN(first, i);
		last = i;
		most = MAX(most, buckets[i]);
	}
	printf("\n%10s  %10s\n", "from", t->report->noun);
	for (unsigned i = first; i <= last && first < WAIT_BUCKETS; i++) {
		unsigned len = (unsigned)((buckets[i] * BAR_LEN + most - 1) / most);

		printf("%10s  %10s  %.*s\n", number_time(arena, 1ull << i), number_count(arena, buckets[i]), (int)len,
		       "****************************************");
	}
}

static void print_json_group(const struct length_table *t, struct json *json, const struct wait_group *group)
{
	unsigned nfields;
	const struct view_field *fields = view_fields(t->by, &nfields);

	json_open(json, NULL, '{');
	for (unsigned f = 0; f < nfields && group->fields[f]; f++)
		json_string(json, fields[f].key, group->fields[f]);
	json_uint(json, t->report->noun, group->lengths_ns.len);
	if (t->report->errors)
		json_uint(json, "errors", group->errors);
	json_uint(json, "total_ns", group->total_ns);
	for (size_t q = 0; q < ARRAY_LEN(quantiles); q++)
		json_uint(json, quantiles[q].key, wait_group_quantile(group, quantiles[q].part));
	json_open(json, "histogram", '[');
	for (unsigned i = 0; i < WAIT_BUCKETS; i++) {
		if (!group->buckets[i])
			continue;
		json_open(json, NULL, '{');
		json_uint(json, "from_ns", i ? 1ull << i : 0);
		json_uint(json, t->report->noun, group->buckets[i]);
		json_close(json, '}');
	}
	json_close(json, ']');
	json_close(json, '}');
}

static void print_json(const struct length_table *t)
{
	struct json json_, *json = &json_;

	json_init(json, stdout);
	json->lines = true;
	json_open(json, NULL, '{');
	json_string(json, "by", view_by_name(t->by));
	json_uint(json, t->report->noun, t->lengths->all.lengths_ns.len);
	if (t->report->errors)
		json_uint(json, "errors", t->lengths->all.errors);
	json_uint(json, "total_ns", t->lengths->all.total_ns);
	json_open(json, "rows", '[');
	for (size_t i = 0; i < groups_shown(t); i++)
		print_json_group(t, json, &t->lengths->groups.items[i]);
	json_close(json, ']');
	json_close(json, '}');
}

static void print_text(const struct length_table *t, const struct table *table, const struct terminal *term)
{
	size_t hidden = t->lengths->groups.len - groups_shown(t);

	table_print_text(table, term, stdout);
	if (hidden)
		printf("(%s more, see -n)\n", number_count(table->arena, hidden));
	print_histogram(t, table->arena);
}

struct err *length_report_print(const struct length_report *report, const struct length_args *args,
				const struct session *s)
{
	struct wait_lengths lengths = { 0 };
	struct length_table t = { report, &lengths, args->by.items[0].by, args->limit };
	struct terminal term = terminal_open(&args->terminal);
	struct table table;

	wait_lengths_collect(&lengths, s->profile, &s->facts, &report->request);
	table_init(&table, &lengths.arena);
	fill(&t, &table);
	switch (table_format_named(args->format)) {
	case TABLE_CSV:
		table_print_csv(&table, stdout, /* with_header= */ true);
		break;
	case TABLE_JSON:
		print_json(&t);
		break;
	default:
		report->head(args, s, &lengths);
		print_text(&t, &table, &term);
	}
	table_deinit(&table);
	wait_lengths_deinit(&lengths);
	return terminal_close(&term, NULL);
}
