/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flame_data.c - column after column, so that like stands with like and compresses.
 */
#include "report/page/flame_data.h"

#include "formats/base/json_writer.h"
#include "formats/base/text.h"
#include "report/view/path_tree.h"
#include "report/view/trust.h"
#include "report/view/view.h"
#include "report/view/view_keys.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- a profile's stacks as one tree of functions, with what stands on it ---- */

/*
 * First the tree in the order in which it is found, each stack of the profile once; then everything gets its final
 * number.
 */

#define BINS_MAX 4096
#define MS       1000000u
#define ROW_WAITS 128 /* beside why its stack ends */

struct builder {
	struct flame_tree *tree;
	const struct profile_facts *facts;
	const struct profile *p;
	struct arena arena;
	struct view_keys *keys;
	uint32_t *functions; /* by function of the profile: its number, or PROFILE_NONE */
	uint32_t *threads;   /* by thread of the profile */
	uint32_t *stacks;    /* by stack of the profile: its node; 0 for those without samples */
	struct path_tree found; /* of function << 1 | inlined */
	uint32_t *nodes; /* by found node: its number */
	uint32_t *rows;  /* by row of the profile */
};

/* ---- functions ---- */

static int compare_functions(const void *a, const void *b, void *context)
{
	const struct profile *p = context;
	const struct profile_function *fa = &p->functions.items[*(const uint32_t *)a];
	const struct profile_function *fb = &p->functions.items[*(const uint32_t *)b];
	int order = strcmp(profile_text(p, fa->name), profile_text(p, fb->name));

	return order ? order
		     : strcmp(profile_text(p, profile_module(p, fa->module)->path),
			      profile_text(p, profile_module(p, fb->module)->path));
}

/* Mark the stacks that have samples, and all below them. */
static void mark_stacks(struct builder *b)
{
	for (size_t i = 0; i < b->p->samples.len; i++) {
		uint32_t stack = b->p->samples.items[i].stack;

		for (; stack && !b->stacks[stack]; stack = b->p->stacks.items[stack].parent)
			b->stacks[stack] = 1;
	}
}

static void number_functions(struct builder *b)
{
	const struct profile *p = b->p;

	for (uint32_t i = 1; i < p->stacks.len; i++) {
		const struct profile_location *at = &p->locations.items[p->stacks.items[i].location];

		for (uint32_t line = 0; b->stacks[i] && line < at->nlines; line++) {
			uint32_t function = view_keys_function(
				b->keys, p->lines.items[at->first_line + line].function);

			if (b->functions[function] != PROFILE_NONE)
				continue;
			b->functions[function] = 0;
			vec_push(&b->tree->functions, function);
		}
	}
	if (b->tree->functions.len)
		qsort_r(b->tree->functions.items, b->tree->functions.len, sizeof(uint32_t),
			compare_functions, (void *)p);
	for (uint32_t i = 0; i < b->tree->functions.len; i++)
		b->functions[b->tree->functions.items[i]] = i;
}

/* ---- nodes ---- */

static void find_nodes(struct builder *b)
{
	const struct profile *p = b->p;

	for (uint32_t i = 1; i < p->stacks.len; i++) {
		const struct profile_location *at = &p->locations.items[p->stacks.items[i].location];
		uint32_t node = b->stacks[p->stacks.items[i].parent];

		if (!b->stacks[i])
			continue;
		for (uint32_t line = at->nlines; line-- > 0;) {
			uint32_t function = view_keys_function(
				b->keys, p->lines.items[at->first_line + line].function);
			bool inlined = line + 1 < at->nlines;

			node = path_tree_child(&b->found, node, b->functions[function] << 1 | inlined);
		}
		b->stacks[i] = node;
	}
}

static int compare_frames(const void *context, uint32_t a, uint32_t b)
{
	const struct path_tree *tree = context;

	return tree->nodes.items[a].key < tree->nodes.items[b].key ? -1 : 1;
}

/* From the root on, each node before its children, and those before its next brother. */
static void number_nodes(struct builder *b)
{
	struct flame_tree *tree = b->tree;
	const struct path_node *found = b->found.nodes.items;
	VEC(uint32_t) left = { 0 };

	path_tree_sort(&b->found, compare_frames, &b->found);
	b->nodes = ARENA_ARRAY(&b->arena, uint32_t, b->found.nodes.len);
	vec_push(&left, 0);
	while (left.len) {
		uint32_t at = left.items[--left.len], parent = found[at].parent;
		struct flame_tree_node node = { .function = PROFILE_NONE };

		if (at)
			node = (struct flame_tree_node){
				.parent = b->nodes[parent],
				.depth = tree->nodes.items[b->nodes[parent]].depth + 1,
				.function = found[at].key >> 1,
				.inlined = found[at].key & 1,
			};
		b->nodes[at] = (uint32_t)tree->nodes.len;
		vec_push(&tree->nodes, node);
		for (uint32_t i = found[at].count; i-- > 0;)
			vec_push(&left, b->found.order.items[found[at].first + i]);
	}
	vec_deinit(&left);
}

/* ---- rows ---- */

struct keyed_row {
	struct flame_tree_row row;
	uint32_t from; /* row of the profile */
};

static int compare_rows(const void *a, const void *b)
{
	const struct flame_tree_row *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	if (x->waits != y->waits)
		return x->waits ? 1 : -1;
	return (int)x->stop - (int)y->stop;
}

static uint32_t thread_of(struct builder *b, uint32_t thread)
{
	if (b->threads[thread] == PROFILE_NONE) {
		b->threads[thread] = (uint32_t)b->tree->threads.len;
		vec_push(&b->tree->threads, thread);
	}
	return b->threads[thread];
}

static void number_rows(struct builder *b)
{
	VEC(struct keyed_row) rows = { 0 };

	for (uint32_t i = 0; i < b->p->samples.len; i++) {
		const struct profile_sample *sample = &b->p->samples.items[i];
		struct keyed_row keyed = { .from = i };

		keyed.row.node = b->nodes[b->stacks[sample->stack]];
		keyed.row.thread = thread_of(b, sample->thread);
		keyed.row.cpu = sample->cpu;
		keyed.row.stop = sample->stop;
		keyed.row.waits = profile_state_waits(sample->state);
		vec_push(&rows, keyed);
	}
	vec_sort(&rows, compare_rows);
	for (size_t i = 0; i < rows.len; i++) {
		struct flame_tree *tree = b->tree;

		if (i == 0 || compare_rows(&rows.items[i - 1].row, &rows.items[i].row))
			vec_push(&tree->rows, rows.items[i].row);
		b->rows[rows.items[i].from] = (uint32_t)tree->rows.len - 1;
	}
	vec_deinit(&rows);
}

/* ---- time ---- */

static void set_clock(struct builder *b)
{
	static const uint32_t steps[] = { 1, 2, 5 };
	struct flame_tree_clock *clock = &b->tree->clock;
	uint64_t start_ns = b->facts->start_ns;
	uint64_t from_ns = MAX(start_ns, b->facts->from_ns);
	uint64_t to_ns = MIN(start_ns + b->facts->duration_ns, b->facts->to_ns);

	*clock = (struct flame_tree_clock){ .nbins = 1 };
	if (!b->p->times.len)
		return;
	to_ns = MAX(to_ns, b->p->times.last.time_ns + 1);
	from_ns -= start_ns;
	to_ns -= start_ns;
	clock->bin_ns = MS;
	for (unsigned i = 0; (to_ns - from_ns) / clock->bin_ns >= BINS_MAX - 1; i++) {
		clock->bin_ns = MS * steps[i % 3];
		for (unsigned tens = i / 3; tens; tens--)
			clock->bin_ns *= 10;
	}
	clock->start_ns = from_ns / clock->bin_ns * clock->bin_ns;
	clock->nbins = (uint32_t)((to_ns - 1 - clock->start_ns) / clock->bin_ns) + 1;
}

static uint32_t bin_of(const struct builder *b, uint64_t time_ns)
{
	const struct flame_tree_clock *clock = &b->tree->clock;
	uint64_t first_ns = b->facts->start_ns + clock->start_ns;

	return time_ns < first_ns ? 0 : (uint32_t)((time_ns - first_ns) / clock->bin_ns);
}

static int compare_samples(const void *a, const void *b)
{
	const struct flame_tree_sample *x = a, *y = b;

	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	if (x->bin != y->bin)
		return x->bin < y->bin ? -1 : 1;
	return COMPARE(x->weight, y->weight);
}

/* Equal ones that stand together become one with their sum of counts. */
static void merge_samples(struct flame_tree *tree)
{
	size_t kept = 0;

	vec_sort(&tree->samples, compare_samples);
	for (size_t i = 0; i < tree->samples.len; i++) {
		struct flame_tree_sample *sample = &tree->samples.items[i];

		if (kept && !compare_samples(&tree->samples.items[kept - 1], sample))
			tree->samples.items[kept - 1].count += sample->count;
		else
			tree->samples.items[kept++] = *sample;
	}
	tree->samples.len = kept;
}

/* Where no times were kept the mean stands for each weight. */
static void add_samples(struct builder *b)
{
	struct flame_tree *tree = b->tree;
	struct time_cursor cursor = time_series_begin(&b->p->times);
	struct profile_time when;

	while (time_series_next(&cursor, &when)) {
		struct flame_tree_sample sample = { b->p->samples.items[when.row].type,
						    b->rows[when.row], bin_of(b, when.time_ns), 1,
						    when.weight };

		vec_push(&tree->samples, sample);
	}
	for (uint32_t i = 0; !b->p->times.len && i < b->p->samples.len; i++) {
		const struct profile_sample *row = &b->p->samples.items[i];
		struct flame_tree_sample sample = { row->type, b->rows[i], 0, row->count,
						    row->weight / MAX(row->count, 1) };

		vec_push(&tree->samples, sample);
	}
	merge_samples(tree);
}

static uint32_t *numbers(struct arena *arena, size_t len, int byte)
{
	uint32_t *array = ARENA_ARRAY(arena, uint32_t, len + 1);

	memset(array, byte, (len + 1) * sizeof(*array));
	return array;
}

void flame_tree_init(struct flame_tree *tree, const struct profile *p, const struct profile_facts *facts)
{
	struct builder b = { .tree = tree, .facts = facts, .p = p };

	*tree = (struct flame_tree){ 0 };
	b.keys = view_keys_new(p, &(struct view_levels){ 0 }, &b.arena);
	b.functions = numbers(&b.arena, p->functions.len, 0xff);
	b.threads = numbers(&b.arena, p->threads.len, 0xff);
	b.stacks = numbers(&b.arena, p->stacks.len, 0);
	b.rows = numbers(&b.arena, p->samples.len, 0);

	path_tree_init(&b.found);
	mark_stacks(&b);
	number_functions(&b);
	find_nodes(&b);
	number_nodes(&b);
	number_rows(&b);
	set_clock(&b);
	add_samples(&b);

	path_tree_deinit(&b.found);
	view_keys_free(b.keys);
	arena_deinit(&b.arena);
}

void flame_tree_deinit(struct flame_tree *tree)
{
	vec_deinit(&tree->functions);
	vec_deinit(&tree->threads);
	vec_deinit(&tree->nodes);
	vec_deinit(&tree->rows);
	vec_deinit(&tree->samples);
}

/* ---- packed for the page ---- */

struct encoder {
	const struct flame_tree *tree;
	const struct profile *p;
	const struct profile_facts *facts;
	const struct flame_data_view *view;
	struct arena arena;
	struct writer *out;
	struct strtab texts; /* number 0 is "" */
	bool *kernel_threads; /* by thread of the tree */
};

/* ---- what the numbers are of ---- */

static bool starts_kernel_thread(const struct encoder *e, uint32_t node)
{
	const struct flame_tree *tree = e->tree;

	if (!node)
		return true;
	while (tree->nodes.items[node].parent)
		node = tree->nodes.items[node].parent;

	uint32_t function = tree->functions.items[tree->nodes.items[node].function];
	const char *name = profile_text(e->p, e->p->functions.items[function].name);

	return strncmp(name, "ret_from_fork", 13) == 0 || strncmp(name, "kthread", 7) == 0;
}

/* Idle tasks, and threads that began in the kernel and were never seen elsewhere. */
static void find_kernel_threads(struct encoder *e)
{
	const struct flame_tree *tree = e->tree;

	e->kernel_threads = ARENA_ARRAY(&e->arena, bool, tree->threads.len + 1);
	for (size_t i = 0; i < tree->threads.len; i++)
		e->kernel_threads[i] = true;
	for (size_t i = 0; i < tree->rows.len; i++) {
		const struct flame_tree_row *row = &tree->rows.items[i];
		uint32_t pid = e->p->threads.items[tree->threads.items[row->thread]].pid;

		if (pid != 0 &&
		    (row->stop != STACK_STOP_NOT_WALKED || !starts_kernel_thread(e, row->node)))
			e->kernel_threads[row->thread] = false;
	}
}

static void put_text(struct json *json, struct encoder *e, const char *key, const char *text)
{
	json_string(json, key, text_escape(&e->arena, text ? text : ""));
}

static void put_profile_text(struct json *json, struct encoder *e, const char *key, uint32_t string)
{
	put_text(json, e, key, profile_text(e->p, string));
}

/* Is the time off a CPU measured, all of it? */
static bool is_measured(const struct profile *p, uint32_t event)
{
	bool any = false;

	for (size_t i = 0; i < p->samples.len; i++) {
		const struct profile_sample *row = &p->samples.items[i];

		if (row->type != event || row->state == PROFILE_STATE_NONE || row->state == PROFILE_STATE_ON_CPU)
			continue;
		if (row->exact != row->weight)
			return false;
		any |= row->weight != 0;
	}
	return any;
}

static void put_events(struct json *json, struct encoder *e)
{
	json_open(json, "sets", '[');
	for (uint32_t i = 0, at = 0; i < e->p->types.len; i++) {
		const struct profile_value_type *event = &e->p->types.items[i];
		struct profile_sum total = profile_total(e->p, i);
		uint32_t first = at;

		while (at < e->tree->samples.len && e->tree->samples.items[at].event == i)
			at++;
		if (at == first)
			continue;
		json_open(json, NULL, '{');
		if (e->view->names)
			put_text(json, e, "name", e->view->names[i]);
		else
			put_profile_text(json, e, "name", event->name);
		put_profile_text(json, e, "unit", event->unit);
		json_uint(json, "rate", event->rate);
		json_bool(json, "isFreq", event->is_freq);
		json_bool(json, "first", i == e->view->event);
		if (!profile_is_counted(&total))
			json_bool(json, "vague", true);
		if (is_measured(e->p, i))
			json_bool(json, "measured", true);
		if (e->view->compare && i == e->view->other)
			json_bool(json, "other", true);
		json_uint(json, "entries", at - first);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static const struct profile_function *function_of(const struct encoder *e, size_t i)
{
	return &e->p->functions.items[e->tree->functions.items[i]];
}

/* Functions whose module is not known are in one behind the others. */
static uint32_t module_number(const struct encoder *e, uint32_t module)
{
	return module == PROFILE_NONE ? (uint32_t)e->p->modules.len : module;
}

static bool has_unknown_module(const struct encoder *e)
{
	for (size_t i = 0; i < e->tree->functions.len; i++)
		if (function_of(e, i)->module == PROFILE_NONE)
			return true;
	return false;
}

static void put_modules(struct json *json, struct encoder *e)
{
	static const char *const kinds[] = { "user", "kernel", "jit", "unknown" };

	json_open(json, "modules", '[');
	for (size_t i = 0; i < e->p->modules.len; i++) {
		const struct profile_module *mod = &e->p->modules.items[i];

		json_open(json, NULL, '[');
		put_profile_text(json, e, NULL, mod->name);
		put_profile_text(json, e, NULL, mod->path);
		json_string(json, NULL, kinds[mod->kind]);
		json_close(json, ']');
	}
	if (has_unknown_module(e)) {
		json_open(json, NULL, '[');
		json_string(json, NULL, "[unknown]");
		json_string(json, NULL, "");
		json_string(json, NULL, kinds[PROFILE_UNKNOWN]);
		json_close(json, ']');
	}
	json_close(json, ']');
}

/* A name of @thread, marked if it recorded: two recordings that are compared keep what is the same in both together. */
static void put_thread_name(struct json *json, struct encoder *e,
			    const struct profile_thread *thread, uint32_t name)
{
	uint32_t recorder = e->view->compare ? 0 : e->facts->recorder_pid;
	const char *mark = recorder && thread->pid == recorder ? VIEW_RECORDER_MARK : "";

	put_text(json, e, NULL, arena_printf(&e->arena, "%s%s", profile_text(e->p, name), mark));
}

static void put_threads(struct json *json, struct encoder *e)
{
	json_open(json, "threads", '[');
	for (size_t i = 0; i < e->tree->threads.len; i++) {
		const struct profile_thread *thread =
			&e->p->threads.items[e->tree->threads.items[i]];

		json_open(json, NULL, '[');
		json_uint_or_null(json, NULL, thread->pid);
		json_uint_or_null(json, NULL, thread->tid);
		put_thread_name(json, e, thread, thread->comm);
		put_thread_name(json, e, thread, thread->process);
		json_uint(json, NULL, e->kernel_threads[i]);
		json_close(json, ']');
	}
	json_close(json, ']');
}

static void put_seconds(struct json *json, struct encoder *e, const char *key, uint64_t ns)
{
	json_number(json, key,
		    arena_printf(&e->arena, "%" PRIu64 ".%09" PRIu64, ns / 1000000000,
				 ns % 1000000000));
}

static void put_recording(struct json *json, struct encoder *e)
{
	const struct profile_facts *facts = e->facts;
	struct trust trust;

	trust_judge(&trust, e->p, facts);
	put_text(json, e, "title", e->view->title);
	put_text(json, e, "command", facts->cmdline);
	put_text(json, e, "host", facts->hostname);
	put_text(json, e, "kernel", facts->os_release);
	put_text(json, e, "cpu", facts->cpu_model);
	put_text(json, e, "tool", facts->tool);
	put_text(json, e, "filter", facts->filter);
	put_text(json, e, "trust", trust_line(&trust, &e->arena));
	json_bool(json, "whole", facts->complete);
	json_uint(json, "lostKernel", facts->lost_by_kernel);
	json_uint(json, "lostRecorder", facts->lost_by_recorder);
	put_seconds(json, e, "duration", facts->duration_ns);
	put_seconds(json, e, "start", e->tree->clock.start_ns);
	put_seconds(json, e, "bin", e->tree->clock.bin_ns);
	json_uint(json, "bins", e->tree->clock.nbins);
}

static void put_view(struct json *json, struct encoder *e)
{
	put_text(json, e, "by", e->view->by);
	json_bool(json, "callers", e->view->callers);
	json_bool(json, "rootOnTop", e->view->root_on_top);
}

/* What does not fit a figure, as it is never sure, is a large one. */
static void put_noise(struct json *json, struct encoder *e)
{
	if (!e->view->effects)
		return;
	json_open(json, "noise", '{');
	json_number(json, "run", arena_printf(&e->arena, "%g", e->view->run_noise));
	json_open(json, "effects", '[');
	for (size_t i = 0; i < e->tree->functions.len; i++) {
		double effect = e->view->effects[e->tree->functions.items[i]];

		json_number(json, NULL, arena_printf(&e->arena, "%.3g", MIN(effect, 1e9)));
	}
	json_close(json, ']');
	json_close(json, '}');
}

static void put_stops(struct json *json)
{
	json_open(json, "stops", '[');
	for (int i = 0; i < STACK_STOPS; i++)
		json_string(json, NULL, stack_stop_is_complete(i) ? "" : stack_stop_name(i));
	json_close(json, ']');
}

static void put_head(struct json *json, void *context)
{
	struct encoder *e = context;

	json_open(json, NULL, '{');
	json_uint(json, "version", 1);
	put_recording(json, e);
	put_view(json, e);
	put_events(json, e);
	put_modules(json, e);
	put_threads(json, e);
	put_noise(json, e);
	put_stops(json);
	json_uint(json, "functions", e->tree->functions.len);
	json_uint(json, "nodes", e->tree->nodes.len);
	json_uint(json, "rows", e->tree->rows.len);
	json_close(json, '}');
}

/* ---- columns ---- */

static uint32_t text_number(struct encoder *e, uint32_t string)
{
	return strtab_add(&e->texts, text_escape(&e->arena, profile_text(e->p, string)));
}

/* Names first, in the order of functions, so that a name's number grows with the function's. */
static void put_functions(struct encoder *e)
{
	size_t count = e->tree->functions.len;
	uint32_t *names = ARENA_ARRAY(&e->arena, uint32_t, count + 1);
	uint32_t *files = ARENA_ARRAY(&e->arena, uint32_t, count + 1);

	strtab_add(&e->texts, "");
	for (size_t i = 0; i < count; i++)
		names[i] = text_number(e, function_of(e, i)->name);
	for (size_t i = 0; i < count; i++)
		files[i] = text_number(e, function_of(e, i)->file);

	writer_u32(e->out, e->texts.len);
	for (uint32_t i = 0; i < e->texts.len; i++)
		writer_string(e->out, strtab_get(&e->texts, i));
	for (size_t i = 0; i < count; i++)
		writer_zigzag(e->out, (int64_t)names[i] - (i ? names[i - 1] : 0));
	for (size_t i = 0; i < count; i++)
		writer_uleb(e->out, module_number(e, function_of(e, i)->module));
	for (size_t i = 0; i < count; i++)
		writer_uleb(e->out, files[i]);
	for (size_t i = 0; i < count; i++)
		writer_uleb(e->out, function_of(e, i)->line);
}

static void put_nodes(struct encoder *e)
{
	const struct flame_tree *tree = e->tree;

	for (size_t i = 1; i < tree->nodes.len; i++)
		writer_uleb(e->out, tree->nodes.items[i - 1].depth + 1 - tree->nodes.items[i].depth);
	for (size_t i = 1; i < tree->nodes.len; i++)
		writer_uleb(e->out, tree->nodes.items[i].function << 1 |
					    tree->nodes.items[i].inlined);
}

static void put_rows(struct encoder *e)
{
	const struct flame_tree *tree = e->tree;

	for (size_t i = 0; i < tree->rows.len; i++)
		writer_uleb(e->out,
			    tree->rows.items[i].node - (i ? tree->rows.items[i - 1].node : 0));
	for (size_t i = 0; i < tree->rows.len; i++)
		writer_uleb(e->out, tree->rows.items[i].thread);
	for (size_t i = 0; i < tree->rows.len; i++) /* + 1: not known is 0 */
		writer_uleb(e->out, (uint32_t)(tree->rows.items[i].cpu + 1));
	for (size_t i = 0; i < tree->rows.len; i++)
		writer_uleb(e->out, tree->rows.items[i].stop | (tree->rows.items[i].waits ? ROW_WAITS : 0));
}

/* Samples [first, end) of one event. */
static void put_set(struct encoder *e, size_t first, size_t end)
{
	const struct flame_tree_sample *samples = e->tree->samples.items;

	for (size_t i = first; i < end; i++)
		writer_uleb(e->out, samples[i].row - (i > first ? samples[i - 1].row : 0));
	for (size_t i = first; i < end; i++) {
		bool same_row = i > first && samples[i].row == samples[i - 1].row;

		writer_uleb(e->out, samples[i].bin - (same_row ? samples[i - 1].bin : 0));
	}
	for (size_t i = first; i < end; i++)
		writer_uleb(e->out, samples[i].count - 1);
	for (size_t i = first; i < end; i++)
		writer_zigzag(e->out, (int64_t)(samples[i].weight -
						(i > first ? samples[i - 1].weight : 0)));
}

static void put_sets(struct encoder *e)
{
	const struct flame_tree_sample *samples = e->tree->samples.items;
	size_t count = e->tree->samples.len;

	for (size_t first = 0, end; first < count; first = end) {
		for (end = first; end < count && samples[end].event == samples[first].event;)
			end++;
		put_set(e, first, end);
	}
}

struct err *flame_data_write(const struct flame_tree *tree, const struct profile *p,
			     const struct profile_facts *facts, const struct flame_data_view *view,
			     struct writer *out)
{
	struct encoder e = { .tree = tree, .p = p, .facts = facts, .view = view, .out = out };

	find_kernel_threads(&e);

	struct err *err = json_pack(e.out, put_head, &e);

	if (!err) {
		put_functions(&e);
		put_nodes(&e);
		put_rows(&e);
		put_sets(&e);
	}
	strtab_deinit(&e.texts);
	arena_deinit(&e.arena);
	return err;
}
