/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.c - walks the sample rows once, process by process, and adds each to its groups.
 *
 * Rows come sorted by process so that "which processes is this function seen in" needs one remembered number
 * for each group instead of a set.
 */
#include "report/view/view.h"

#include "formats/base/text.h"
#include "report/view/process_levels.h"
#include "report/view/view_keys.h"
#include "report/print/stats.h"

#include <string.h>

#define PASSED_SHARE 0.90  /* of the stacks of its processes, to be "on nearly every stack" */
#define OWN_SHARE    0.005 /* of its total, to have "no time of its own" */

struct builder {
	struct view *view;
	struct map numbers; /* parent group and key -> group + 1 */
	struct view_paths paths;
	struct view_path path;             /* of the current row */
	uint32_t row;                      /* its number */
	size_t measured_len;               /* doubles of a group */
	uint32_t *stamps[VIEW_LEVELS_MAX]; /* by function: the last visit that counted it */
	uint32_t visits[VIEW_LEVELS_MAX];
	struct profile_sum *processes; /* by process: all its rows */
	VEC(uint32_t) last_process;    /* by group */
};

static size_t frames_needed(const struct view_spec *spec)
{
	size_t most = 1;

	if (spec->cut != VIEW_WHOLE)
		return SIZE_MAX;
	for (unsigned i = 0; i < spec->levels.len; i++) {
		enum view_by by = spec->levels.items[i].by;

		if (by == VIEW_TOTAL || by == VIEW_DEPTH || by == VIEW_MINE || by == VIEW_SCRIPT ||
		    by == VIEW_SCRIPT_LINE)
			return SIZE_MAX;
		if (by == VIEW_CALLER)
			most = 2;
	}
	return most;
}

/* ---- groups ---- */

/* Of another event: it only brings its counts to groups that there are. */
static bool only_measures(const struct builder *b)
{
	return b->path.row->type != b->view->spec.event;
}

static uint32_t find_group(struct builder *b, uint32_t parent, unsigned level, uint32_t key)
{
	struct view *view = b->view;
	struct view_group fresh = { .parent = parent, .level = level, .key = key };
	uint64_t place = (uint64_t)parent << 32 | key;
	bool is_new;
	uint64_t *number;

	if (only_measures(b)) {
		number = map_get(&b->numbers, place);
		return number ? (uint32_t)*number : PROFILE_NONE;
	}
	number = map_put(&b->numbers, place, &is_new);

	if (is_new) {
		*number = view->groups.len;
		vec_push(&view->groups, fresh);
		vec_push(&b->last_process, PROFILE_NONE);
	}
	return (uint32_t)*number;
}

static void descend(struct builder *b, unsigned level, uint32_t parent);

static void add_measures(struct builder *b, uint32_t number)
{
	struct view *view = b->view;
	size_t at = (size_t)number * b->measured_len;

	while (view->measured.len < view->groups.len * b->measured_len)
		vec_push(&view->measured, 0);
	for (unsigned i = 0; i < view->spec.nmeasures; i++) {
		measures_sum_row(view->spec.measures[i], b->row, view->measured.items + at);
		at += measures_len(view->spec.measures[i]);
	}
}

static void add_latency(struct builder *b, uint32_t number)
{
	struct view *view = b->view;

	while (view->latencies.len < view->groups.len)
		vec_push(&view->latencies, ((struct latency){ 0 }));
	if (b->row < view->spec.nlatencies)
		latency_add_sum(&view->latencies.items[number], &view->spec.latencies[b->row]);
}

/* Whose time it is is known, whatever was lost. */
static bool is_of_tasks(enum view_by by)
{
	return process_level_is(by) || (by >= VIEW_THREAD && by < VIEW_CPU);
}

/* What it did meanwhile is not known. */
static bool is_lost(const struct profile_sample *row)
{
	return row->state == PROFILE_STATE_LOST || row->state == PROFILE_STATE_LEFT_OUT;
}

/* What is known of it is how long it was. */
static bool is_bare(const struct profile_sample *row)
{
	return row->state != PROFILE_STATE_NONE && !row->stack && row->exact == row->weight;
}

static void add_to(struct builder *b, unsigned level, uint32_t parent, size_t frame)
{
	uint32_t key = view_keys_find(b->view->keys, level, &b->path, frame);
	uint32_t number = find_group(b, parent, level, key);
	uint32_t process = view_keys_process(b->view->keys, b->path.row->thread);
	struct view_group *group;

	if (number == PROFILE_NONE)
		return;
	if (level == 0 && b->view->spec.group_of && !only_measures(b))
		b->view->spec.group_of[b->row] = number;
	add_measures(b, number);
	if (only_measures(b)) {
		if (level + 1 < b->view->spec.levels.len)
			descend(b, level + 1, number);
		return;
	}
	if (b->view->spec.latencies)
		add_latency(b, number);
	group = &b->view->groups.items[number];
	stats_add(&group->sum, b->path.row);
	if (is_lost(b->path.row))
		group->lost_weight += b->path.row->weight;
	if (is_bare(b->path.row))
		group->bare_weight += b->path.row->weight;
	if (frame == 0)
		stats_add(&group->self, b->path.row);
	if (b->last_process.items[number] != process) {
		b->last_process.items[number] = process;
		group->within.count += b->processes[process].count;
		group->within.weight += b->processes[process].weight;
		group->within.weight_sq += b->processes[process].weight_sq;
		group->within.exact += b->processes[process].exact;
	}
	if (level + 1 < b->view->spec.levels.len)
		descend(b, level + 1, number);
}

/* Every function on the path, once. */
static void add_to_each(struct builder *b, unsigned level, uint32_t parent)
{
	uint32_t visit = ++b->visits[level];

	for (size_t i = 0; i < b->path.len; i++) {
		uint32_t function = b->path.frames[i].function;
		uint32_t *stamp = &b->stamps[level][function == PROFILE_NONE ? 0 : function + 1];

		if (*stamp == visit)
			continue;
		*stamp = visit;
		add_to(b, level, parent, i);
	}
}

static void descend(struct builder *b, unsigned level, uint32_t parent)
{
	if (b->view->spec.levels.items[level].by == VIEW_TOTAL && b->path.len)
		add_to_each(b, level, parent);
	else
		add_to(b, level, parent, 0);
}

/* ---- rows ---- */

struct ordered_row {
	bool only_measures; /* last, when all groups are there */
	uint32_t process, row;
};

static size_t place_of(const struct ordered_row *row, size_t nprocesses)
{
	return row->only_measures * nprocesses + row->process;
}

/* By process, each one's as they came; @places counts the rows of each. */
static void order_rows(const struct ordered_row *rows, size_t nrows, size_t *places, size_t nprocesses, struct ordered_row *ret)
{
	size_t first = 0;

	for (size_t i = 0; i < 2 * nprocesses; i++) {
		size_t count = places[i];

		places[i] = first;
		first += count;
	}
	for (size_t i = 0; i < nrows; i++)
		ret[places[place_of(&rows[i], nprocesses)]++] = rows[i];
}

static void add_rows(struct builder *b)
{
	const struct profile *p = b->view->profile;
	size_t nprocesses = p->threads.len + 1;
	size_t *places = memory_zeroed(2 * nprocesses, sizeof(*places));
	VEC(struct ordered_row) rows = { 0 };

	for (uint32_t i = 0; i < p->samples.len; i++) {
		const struct profile_sample *row = &p->samples.items[i];

		bool other = row->type != b->view->spec.event;

		if ((other && !b->view->spec.nmeasures) ||
		    (b->view->spec.rows && !b->view->spec.rows[i]))
			continue;
		if (!other)
			stats_add(&b->view->all, row);
		if (b->view->spec.cut != VIEW_WHOLE && !view_paths_make(&b->paths, row, &b->path))
			continue;

		struct ordered_row ordered = {
			other, view_keys_process(b->view->keys, row->thread), i
		};

		vec_push(&rows, ordered);
		places[place_of(&ordered, nprocesses)]++;
		if (other)
			continue;
		stats_add(&b->view->whole, row);
		if (is_lost(row))
			b->view->lost_weight += row->weight;
		stats_add(&b->processes[ordered.process], row);
	}

	struct ordered_row *in_order = memory_zeroed(rows.len + 1, sizeof(*in_order));

	order_rows(rows.items, rows.len, places, nprocesses, in_order);
	for (size_t i = 0; i < rows.len; i++) {
		b->row = in_order[i].row;
		if (view_paths_make(&b->paths, &p->samples.items[b->row], &b->path))
			descend(b, 0, PROFILE_NONE);
	}
	free(in_order);
	free(places);
	vec_deinit(&rows);
}

void view_build(struct view *view, const struct profile *p, const struct view_spec *spec)
{
	struct builder b = { .view = view };

	*view = (struct view){ .profile = p, .spec = *spec };
	view->keys = view_keys_new(p, &spec->levels, &view->arena);
	b.paths = (struct view_paths){
		.profile = p,
		.functions = view_keys_functions(view->keys),
		.cut = spec->cut,
		.cut_at = spec->cut_at,
		.native = spec->native,
		.idle = spec->idle,
		.frames_max = frames_needed(spec),
	};
	b.processes = memory_zeroed(p->threads.len + 1, sizeof(*b.processes));
	for (unsigned i = 0; i < spec->levels.len; i++)
		b.stamps[i] = memory_zeroed(p->functions.len + 1, sizeof(*b.stamps[i]));

	for (unsigned i = 0; i < spec->nmeasures; i++)
		b.measured_len += measures_len(spec->measures[i]);

	add_rows(&b);

	for (unsigned i = 0; i < spec->levels.len; i++)
		free(b.stamps[i]);
	free(b.processes);
	map_deinit(&b.numbers);
	view_paths_deinit(&b.paths);
	vec_deinit(&b.last_process);
}

void view_deinit(struct view *view)
{
	view_keys_free(view->keys);
	vec_deinit(&view->groups);
	vec_deinit(&view->order);
	vec_deinit(&view->latencies);
	vec_deinit(&view->measured);
	arena_deinit(&view->arena);
	*view = (struct view){ 0 };
}

static enum view_by by_of(const struct view *view, const struct view_group *group)
{
	return view->spec.levels.items[group->level].by;
}

/* The task that all of @group is of, the innermost; NULL: there is none above it. */
static const struct view_group *task_above(const struct view *view, const struct view_group *group)
{
	for (uint32_t at = group->parent; at != PROFILE_NONE; at = view->groups.items[at].parent)
		if (is_of_tasks(by_of(view, &view->groups.items[at])))
			return &view->groups.items[at];
	return NULL;
}

/*
 * Where times were measured, how much each thread spent in which state is known, and how long its stack was not. Which stacks the rest
 * had may be an estimate, of the time of that thread only. What was lost may be anything of its thread.
 */
static struct stats_share measured_share(const struct view *view, const struct view_group *group)
{
	const struct view_group *task = task_above(view, group);
	const struct profile_sum *of = task ? &task->sum : &view->whole;
	struct stats_share share = stats_share(&group->sum, of);
	double scale = (double)of->weight / (double)view->whole.weight;
	int64_t lost = (task ? task->lost_weight : view->lost_weight) - group->lost_weight;
	bool tasks = is_of_tasks(by_of(view, group));

	share.share = stats_share(&group->sum, &view->whole).share;
	share.low = MIN(share.low * scale, share.share);
	share.high = MAX(share.high * scale, share.share);
	if (tasks || by_of(view, group) == VIEW_STATE || (group->sum.weight && group->bare_weight == group->sum.weight)) {
		share.low = share.high = share.share;
		share.exact = true;
	}
	if (!tasks && lost > 0) {
		share.high = MIN(share.high + (double)lost / (double)view->whole.weight, 1.0);
		share.exact = false;
	}
	return share;
}

struct stats_share view_share(const struct view *view, const struct view_group *group)
{
	struct stats_share share = stats_share(&group->sum, &view->whole);

	if (view->whole.weight <= 0)
		return share;
	if (view->whole.exact)
		return measured_share(view, group);
	if (!is_of_tasks(by_of(view, group)))
		share.high = MIN(share.high + (double)(view->lost_weight - group->lost_weight) / (double)view->whole.weight, 1.0);
	return share;
}

const double *view_measured(const struct view *view, const struct view_group *group, unsigned which)
{
	size_t len = 0, at = 0;

	for (unsigned i = 0; i < view->spec.nmeasures; i++) {
		at += i < which ? measures_len(view->spec.measures[i]) : 0;
		len += measures_len(view->spec.measures[i]);
	}
	return view->measured.items + (size_t)(group - view->groups.items) * len + at;
}

const struct latency *view_latency(const struct view *view, const struct view_group *group)
{
	return view->latencies.len ? &view->latencies.items[group - view->groups.items] : NULL;
}

const struct view_key *view_key(const struct view *view, const struct view_group *group)
{
	return view_keys_get(view->keys, group->level, group->key);
}

/* ---- order ---- */

struct order {
	const struct view *view;
	enum view_sort_by by;
};

/* Numbers by value (they have no leading zeros), everything else by bytes. */
static int compare_fields(const char *a, const char *b, bool number)
{
	size_t alen = strlen(a), blen = strlen(b);

	if (number && alen != blen)
		return alen < blen ? -1 : 1;
	return strcmp(a, b);
}

static int compare_names(const struct view *view, const struct view_group *a,
			 const struct view_group *b)
{
	const struct view_key *ka = view_key(view, a), *kb = view_key(view, b);
	unsigned nfields;
	const struct view_field *fields =
		view_fields(view->spec.levels.items[a->level].by, &nfields);

	for (unsigned i = 0; i < nfields; i++) {
		int order = compare_fields(ka->fields[i], kb->fields[i], fields[i].number);

		if (order)
			return order;
	}
	return 0;
}

/* Greater first. */
static int compare_i64(int64_t a, int64_t b)
{
	return a > b ? -1 : a < b;
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return a > b ? -1 : a < b;
}

static int compare_groups(const void *left, const void *right, void *context)
{
	const struct order *order = context;
	const struct view_group *a = &order->view->groups.items[*(const uint32_t *)left];
	const struct view_group *b = &order->view->groups.items[*(const uint32_t *)right];
	int result = 0;

	if (a->parent != b->parent) /* + 1: no parent comes first */
		return a->parent + 1 < b->parent + 1 ? -1 : 1;
	if (order->by == VIEW_SORT_WEIGHT)
		result = compare_i64(a->sum.weight, b->sum.weight);
	else if (order->by == VIEW_SORT_SAMPLES)
		result = compare_u64(a->sum.count, b->sum.count);
	else if (order->by == VIEW_SORT_SELF)
		result = compare_i64(a->self.weight, b->self.weight);
	if (result == 0)
		result = compare_names(order->view, a, b);
	return result ? result : COMPARE(a, b); /* the one that was seen first */
}

void view_sort(struct view *view, enum view_sort_by by)
{
	struct order order = { view, by };

	view->order.len = 0;
	view->ntop = 0;
	for (uint32_t i = 0; i < view->groups.len; i++) {
		vec_push(&view->order, i);
		view->groups.items[i].count = 0;
	}
	if (view->order.len > 1)
		qsort_r(view->order.items, view->order.len, sizeof(*view->order.items),
			compare_groups, &order);
	for (uint32_t i = 0; i < view->order.len; i++) {
		uint32_t parent = view->groups.items[view->order.items[i]].parent;

		if (parent == PROFILE_NONE)
			view->ntop++;
		else if (view->groups.items[parent].count++ == 0)
			view->groups.items[parent].first = i;
	}
}

bool view_group_is_of(const struct view *view, const struct view_group *group, uint32_t pid)
{
	enum view_by by = view->spec.levels.items[group->level].by;
	uint64_t number;

	return pid && (by == VIEW_PROCESS || by == VIEW_THREAD) &&
	       text_parse_u64(view_key(view, group)->fields[1], &number) && number == pid;
}

/* Has a thread of @pid, or with @others one of any other process, the name that @group stands for? */
static bool has_name(const struct view *view, const struct view_group *group, uint32_t pid,
		     bool others)
{
	const struct profile *p = view->profile;
	const char *name = view_key(view, group)->fields[0];
	bool by_comm = view->spec.levels.items[group->level].by == VIEW_COMM;

	for (size_t i = 0; i < p->threads.len; i++) {
		const struct profile_thread *thread = &p->threads.items[i];

		if ((thread->pid != pid) == others &&
		    !strcmp(profile_text(p, by_comm ? thread->comm : thread->process), name))
			return true;
	}
	return false;
}

const char *view_recorder_mark(const struct view *view, const struct view_group *group,
			       uint32_t pid)
{
	enum view_by by = view->spec.levels.items[group->level].by;

	if (by != VIEW_PROGRAM && by != VIEW_COMM)
		return view_group_is_of(view, group, pid) ? VIEW_RECORDER_MARK : "";
	if (!pid || !has_name(view, group, pid, /* others= */ false))
		return "";
	return has_name(view, group, pid, /* others= */ true) ? ", partly the recorder"
							      : VIEW_RECORDER_MARK;
}

bool view_is_passed_through(const struct view *view, const struct view_group *group)
{
	const struct profile_sum *within = &group->within;

	if (view->spec.levels.items[group->level].by != VIEW_TOTAL)
		return false;
	if (group->parent != PROFILE_NONE)
		within = &view->groups.items[group->parent].sum;
	return (double)group->sum.weight >= PASSED_SHARE * (double)within->weight &&
	       (double)group->self.weight <= OWN_SHARE * (double)group->sum.weight;
}
