/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_cpuprofile.c - V8's CPU profile, as Node.js (--cpu-prof), Chrome's DevTools and Deno write it.
 *
 * A sample lasts until the next one, as DevTools counts, and the last one until the profile's end. A file without times has a
 * count of samples only. positionTicks say how often each line of a function was hit but not when: samples are dealt out to
 * lines in turn, so that each line has its number. Not read: deoptReason.
 */
#include "formats/profile/import/import_json.h"
#include "formats/profile/import/import_rows.h"
#include "formats/profile/import/v8_frames.h"

#include <inttypes.h>

#define NS_PER_US 1000
#define AHEAD	  16 /* samples: the memory that one needs is asked for so long before */

struct cpuprofile {
	struct v8_tree tree;
	struct json_text ids; /* of the samples' nodes, where the file has them before the nodes */
	VEC(uint32_t) samples; /* indices of nodes */
	VEC(int64_t) times;   /* microseconds: differences, or times themselves */
	bool are_deltas, has_start, has_end;
	int64_t start, end;
	VEC(uint32_t) rows; /* by index of node: of its samples, if it has no ticks; PROFILE_NONE before its first one */
};

static unsigned recognise(const uint8_t *start, size_t len)
{
	if (!import_json_begins(start, len, '{'))
		return 0;
	if (import_json_has(start, len, "nodes") && import_has_text(start, len, "\"callFrame\""))
		return 90;
	if (import_json_has(start, len, "head") && import_has_text(start, len, "\"callUID\""))
		return 90;
	if (import_json_has(start, len, "timeDeltas") || import_json_has(start, len, "head"))
		return 40;
	return 0;
}

static struct err *read_samples(struct cpuprofile *in, struct json_reader *r)
{
	int64_t id;

	if (!json_read_array(r))
		return NULL;
	while (json_read_more_int(r, &id)) {
		uint32_t node = v8_tree_find(&in->tree, id);

		if (node == PROFILE_NONE)
			return err_new(ERR_CORRUPT, "sample %zu is of node %" PRId64 ", which is not there",
				       in->samples.len + 1, id);
		vec_push(&in->samples, node);
	}
	return NULL;
}

static struct err *read_samples_before(struct cpuprofile *in, const struct json_reader *r)
{
	struct json_reader ids = json_reader_part(r, in->ids);
	struct err *err = in->ids.data ? read_samples(in, &ids) : NULL;

	if (!err && in->ids.data)
		err = json_read_check(&ids);
	json_reader_deinit(&ids);
	return err;
}

static void read_times(struct cpuprofile *in, struct json_reader *r, bool are_deltas)
{
	int64_t time;

	if (!json_read_array(r))
		return;
	in->are_deltas = are_deltas;
	in->times.len = 0;
	while (json_read_more_int(r, &time))
		vec_push(&in->times, time);
}

static struct err *read_file(struct cpuprofile *in, struct json_reader *r)
{
	struct json_text key;
	struct err *err = NULL;

	json_read_object(r);
	while (!err && json_read_key(r, &key)) {
		if (json_is(key, "nodes")) {
			v8_tree_read(&in->tree, r);
		} else if (json_is(key, "head")) {
			v8_tree_read_head(&in->tree, r);
		} else if (json_is(key, "samples") && in->tree.nodes.len) {
			err = read_samples(in, r);
		} else if (json_is(key, "samples")) {
			in->ids = json_read_raw(r);
		} else if (json_is(key, "timeDeltas")) {
			read_times(in, r, /* are_deltas= */ true);
		} else if (json_is(key, "timestamps")) {
			read_times(in, r, /* are_deltas= */ false);
		} else if (json_is(key, "startTime")) {
			in->start = json_read_int(r);
			in->has_start = true;
		} else if (json_is(key, "endTime")) {
			in->end = json_read_int(r);
			in->has_end = true;
		} else {
			json_read_skip(r);
		}
	}
	if (!err)
		err = json_read_check(r);
	return err ? err : read_samples_before(in, r);
}

/* ---- samples ---- */

/* Where only sums are known, of the older form. */
static void add_hits(struct cpuprofile *in, uint32_t thread)
{
	uint32_t type = import_type(in->tree.p, "samples", "events");

	for (uint32_t i = 0; i < in->tree.nodes.len; i++) {
		uint64_t hits = MIN(in->tree.nodes.items[i].hits, (uint64_t)INT64_MAX >> 20);
		struct import_sample sample = { .type = type,
						.thread = thread,
						.count = hits,
						.weight = (int64_t)hits };

		if (!hits)
			continue;
		sample.stack = v8_tree_stack(&in->tree, i);
		import_sample(in->tree.p, &sample);
	}
}

static bool is_time(int64_t us)
{
	return us >= 0 && us <= INT64_MAX / NS_PER_US;
}

/* Differences become times; more than 292 years are taken for damage. */
static struct err *add_up(struct cpuprofile *in)
{
	int64_t now = in->start;

	for (size_t i = 0; i < in->times.len; i++) {
		if (in->are_deltas && __builtin_add_overflow(now, in->times.items[i], &now))
			return err_new(ERR_CORRUPT, "its times add up to too much at sample %zu", i + 1);
		if (in->are_deltas)
			in->times.items[i] = now;
		if (!is_time(in->times.items[i]))
			return err_new(ERR_CORRUPT, "the time of sample %zu, %" PRId64
						    " us, is out of range",
				       i + 1, in->times.items[i]);
	}
	return NULL;
}

static int64_t end_of(const struct cpuprofile *in, size_t sample)
{
	if (sample + 1 < in->times.len)
		return in->times.items[sample + 1];
	return in->has_end ? in->end : in->times.items[sample];
}

struct time_of_sample {
	int64_t time;
	uint32_t node;
};

static int by_time(const void *a_, const void *b_)
{
	const struct time_of_sample *a = a_, *b = b_;

	return COMPARE(a->time, b->time);
}

/* Chrome writes samples of several threads' clocks: some differences are negative. */
static void sort_by_time(struct cpuprofile *in)
{
	VEC(struct time_of_sample) both = { 0 };
	bool ascend = true;

	for (size_t i = 1; i < in->times.len && ascend; i++)
		ascend = in->times.items[i] >= in->times.items[i - 1];
	if (ascend)
		return;
	for (size_t i = 0; i < in->times.len; i++) {
		struct time_of_sample one = { in->times.items[i], in->samples.items[i] };

		vec_push(&both, one);
	}
	vec_sort(&both, by_time);
	for (size_t i = 0; i < both.len; i++) {
		in->times.items[i] = both.items[i].time;
		in->samples.items[i] = both.items[i].node;
	}
	vec_deinit(&both);
}

static void add_first(struct cpuprofile *in, uint32_t index, struct import_sample *sample)
{
	bool has_ticks = in->tree.nodes.items[index].nticks; /* until the last one is used up */
	struct v8_tick *tick = v8_tree_tick(&in->tree, index);

	if (tick && tick->row != PROFILE_NONE) {
		import_sample_again(in->tree.p, tick->row, sample);
		return;
	}
	sample->stack = tick ? v8_tree_stack_at(&in->tree, index, tick->line) : v8_tree_stack(&in->tree, index);

	uint32_t row = import_sample(in->tree.p, sample);

	if (tick)
		tick->row = row;
	if (!has_ticks)
		in->rows.items[index] = row;
}

static void add_sample(struct cpuprofile *in, uint32_t index, struct import_sample *sample)
{
	uint32_t row = in->rows.items[index];

	if (row != PROFILE_NONE)
		import_sample_again(in->tree.p, row, sample);
	else
		add_first(in, index, sample);
}

/* Ask for the memory of the row of a sample that is added later. */
static void fetch(const struct cpuprofile *in, uint32_t node)
{
	if (in->rows.items[node] != PROFILE_NONE)
		profile_fetch_row(in->tree.p, in->rows.items[node]);
}

static void add_samples(struct cpuprofile *in, uint32_t thread)
{
	static const uint32_t none = PROFILE_NONE;
	bool has_times = in->times.len == in->samples.len;
	uint32_t type = has_times ? import_type(in->tree.p, "wall", "ns")
				  : import_type(in->tree.p, "samples", "events");
	struct import_sample sample = { .type = type, .thread = thread, .count = 1, .weight = 1 };

	sample.has_time = has_times;
	for (size_t i = 0; i < in->tree.nodes.len; i++)
		vec_push(&in->rows, none);
	for (size_t i = 0; i < in->samples.len; i++) {
		if (i + AHEAD < in->samples.len)
			fetch(in, in->samples.items[i + AHEAD]);
		if (has_times) {
			sample.time_ns = (uint64_t)in->times.items[i] * NS_PER_US;
			sample.weight = MAX(end_of(in, i) - in->times.items[i], 0) * NS_PER_US;
		}
		add_sample(in, in->samples.items[i], &sample);
	}
}

static struct err *fill(struct cpuprofile *in, struct profile_facts *facts)
{
	uint32_t thread = import_thread(in->tree.p, PROFILE_NONE, PROFILE_NONE, 0, 0);
	struct err *err = v8_tree_connect(&in->tree);

	if (err)
		return err;
	if (in->times.len && in->times.len != in->samples.len)
		return err_new(ERR_CORRUPT, "it has %zu samples and %zu times", in->samples.len,
			       in->times.len);
	if (!in->samples.len) {
		add_hits(in, thread);
		return NULL;
	}
	in->has_start = in->has_start && is_time(in->start);
	in->has_end = in->has_end && is_time(in->end);
	err = add_up(in);
	if (err)
		return err;
	sort_by_time(in);
	if (in->has_start && in->has_end && in->end > in->start) {
		facts->has_duration = true;
		facts->start_ns = (uint64_t)in->start * NS_PER_US;
		facts->duration_ns = (uint64_t)(in->end - in->start) * NS_PER_US;
	}
	add_samples(in, thread);
	return NULL;
}

static struct err *read_cpuprofile(const struct import_input *input, struct profile *p,
				   struct profile_facts *facts, struct diag *diag)
{
	struct cpuprofile in = { 0 };
	struct json_reader r;
	struct err *err;

	(void)diag;
	v8_tree_init(&in.tree, p);
	json_reader_init(&r, input->data, input->len);
	err = read_file(&in, &r);
	if (!err)
		err = fill(&in, facts);
	json_reader_deinit(&r);
	v8_tree_deinit(&in.tree);
	vec_deinit(&in.samples);
	vec_deinit(&in.times);
	vec_deinit(&in.rows);
	return err;
}

const struct importer import_cpuprofile = {
	.name = "cpuprofile",
	.what = "CPU profile of V8: Node.js, Chrome, Deno",
	.extensions = ".cpuprofile",
	.carries = IMPORT_TIMES | IMPORT_LINES,
	.recognise = recognise,
	.read = read_cpuprofile,
};
