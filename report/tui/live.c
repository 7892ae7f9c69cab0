/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live.c - each interval is loaded once; the sum is made anew when one comes or goes.
 *
 * Decay goes from the oldest to the newest: what is summed up so far gets lighter before the next is added, so the
 * intervals themselves stay as they are.
 */
#include "report/tui/live.h"

#include "formats/base/memory.h"
#include "formats/profile/profile_merge.h"
#include "formats/profile/same_names.h"
#include "report/print/number.h"
#include "report/rewrite/trace_join.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define UNFINISHED ".part" /* how a file is called that the recorder still writes */

struct interval {
	char *path;
	struct profile *profile; /* NULL: without samples */
	uint64_t duration_ns, lost;
	uint32_t first_type, recorder_pid;
	bool there; /* found at the last look */
};

struct live {
	const char *folder;
	const struct session_args *args;
	const struct filter *filter;
	VEC(struct interval) intervals; /* oldest first */
	struct profile *sum, *before;
	struct profile_facts facts;
	struct arena arena; /* of what is said */
	const char *state, *trouble;
	char *last; /* path of the newest that was loaded, NULL: none yet */
	bool decay;
};

struct live *live_new(const char *folder, const struct session_args *args, const struct filter *filter)
{
	struct live *live = memory_zeroed(1, sizeof(*live));

	live->folder = folder;
	live->args = args;
	live->filter = filter;
	live->state = "";
	profile_facts_init(&live->facts);
	return live;
}

static void interval_free(struct interval *interval)
{
	if (interval->profile)
		profile_free(interval->profile);
	free(interval->path);
}

void live_free(struct live *live)
{
	if (!live)
		return;
	for (size_t i = 0; i < live->intervals.len; i++)
		interval_free(&live->intervals.items[i]);
	vec_deinit(&live->intervals);
	if (live->sum)
		profile_free(live->sum);
	if (live->before)
		profile_free(live->before);
	profile_facts_deinit(&live->facts);
	arena_deinit(&live->arena);
	free(live->last);
	free(live);
}

/* ---- intervals ---- */

static struct err *load(struct live *live, struct session *s, struct interval *interval)
{
	struct filter filter = *live->filter; /* what it finds out of events is of this interval */
	struct err *err;

	s->names = NAMER_ALL;
	err = session_load(s, &filter);
	filter_unbind(&filter);
	if (err)
		return err;
	interval->duration_ns = s->facts.duration_ns;
	interval->lost = s->facts.lost_by_kernel + s->facts.lost_by_recorder;
	interval->first_type = s->facts.first_type;
	interval->recorder_pid = s->facts.recorder_pid;
	interval->profile = profile_new();
	return profile_merge(interval->profile, s->profile);
}

/* An interval in which nothing ran is none without an answer; one that cannot be read is said, and the next comes soon. */
static void add_interval(struct live *live, const char *path)
{
	struct interval interval = { .path = memory_strdup(path), .there = true };
	struct session_args args = *live->args;
	struct session s = { 0 };
	struct err *err;

	args.input = path;
	err = session_open(&s, &args);
	if (!err)
		err = load(live, &s, &interval);
	if (err && err_kind(err) != ERR_UNSUPPORTED)
		live->trouble = arena_strdup(&live->arena, err_message(err));
	err_free(err);
	session_close(&s);
	vec_push(&live->intervals, interval);
	free(live->last);
	live->last = memory_strdup(path);
}

static int is_finished(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name), end = strlen(UNFINISHED);

	return *entry->d_name != '.' && !(len > end && strcmp(entry->d_name + len - end, UNFINISHED) == 0);
}

/* The recorder has removed it: it is out of the sum, too. */
static bool drop_what_is_gone(struct live *live)
{
	size_t kept = 0;

	for (size_t i = 0; i < live->intervals.len; i++) {
		if (live->intervals.items[i].there)
			live->intervals.items[kept++] = live->intervals.items[i];
		else
			interval_free(&live->intervals.items[i]);
	}
	bool changed = kept < live->intervals.len;

	live->intervals.len = kept;
	return changed;
}

static bool is_known(struct live *live, const char *path)
{
	for (size_t i = 0; i < live->intervals.len; i++) {
		if (strcmp(live->intervals.items[i].path, path) == 0)
			return live->intervals.items[i].there = true;
	}
	return false;
}

/* ---- the sum ---- */

static void lighten(struct profile *p, uint64_t passed_ns)
{
	double factor = exp2(-(double)passed_ns / 1e9 / LIVE_HALF_LIFE_S);

	for (size_t i = 0; i < p->samples.len; i++) {
		struct profile_sample *row = &p->samples.items[i];

		row->weight = (int64_t)llround((double)row->weight * factor);
		row->weight_sq *= factor * factor;
	}
}

static void say_state(struct live *live)
{
	live->state = arena_printf(&live->arena, "last %s%s", number_time(&live->arena, live->facts.duration_ns),
				   live->decay ? ", decaying" : "");
}

static void sum_up(struct live *live)
{
	struct profile *sum = profile_new();

	live->facts.duration_ns = live->facts.lost_by_kernel = 0;
	live->facts.has_duration = true;
	live->facts.input = live->folder;
	for (size_t i = 0; i < live->intervals.len; i++) {
		struct interval *interval = &live->intervals.items[i];

		live->facts.duration_ns += interval->duration_ns;
		live->facts.lost_by_kernel += interval->lost;
		if (live->decay)
			lighten(sum, interval->duration_ns);
		if (!interval->profile)
			continue;
		live->facts.first_type = interval->first_type;
		live->facts.recorder_pid = interval->recorder_pid;
		struct err *err = profile_merge(sum, interval->profile);

		if (err)
			live->trouble = arena_strdup(&live->arena, err_message(err));
		err_free(err);
	}
	same_names_tell_apart(sum);
	if (live->before)
		profile_free(live->before);
	live->before = live->sum;
	live->sum = sum;
	say_state(live);
}

bool live_look(struct live *live)
{
	struct dirent **entries;
	int count = scandir(live->folder, &entries, is_finished, alphasort);
	bool changed = false;

	for (size_t i = 0; i < live->intervals.len; i++)
		live->intervals.items[i].there = false;
	for (int i = 0; i < count; i++) {
		CLEANUP(arena_deinit) struct arena arena = { 0 };
		const char *path = arena_printf(&arena, "%s/%s", live->folder, entries[i]->d_name);

		if (!is_known(live, path) && (!live->last || strcmp(path, live->last) > 0)) {
			add_interval(live, path);
			changed = true;
		}
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	changed |= drop_what_is_gone(live);
	if (changed)
		sum_up(live);
	return changed && live_profile(live);
}

const struct profile *live_profile(const struct live *live)
{
	return live->sum && live->sum->samples.len ? live->sum : NULL;
}

const struct profile_facts *live_facts(const struct live *live)
{
	return &live->facts;
}

const char *live_state(const struct live *live)
{
	return live->state;
}

const char *live_trouble(const struct live *live)
{
	return live->trouble;
}

void live_turn_decay(struct live *live)
{
	live->decay = !live->decay;
	sum_up(live);
}

struct err *live_save(const struct live *live, const char *path)
{
	VEC(const char *) paths = { 0 };
	struct err *err;

	for (size_t i = 0; i < live->intervals.len; i++)
		if (access(live->intervals.items[i].path, R_OK) == 0)
			vec_push(&paths, live->intervals.items[i].path);
	err = trace_join(paths.items, paths.len, path);
	vec_deinit(&paths);
	return err;
}
