/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live.c - each interval is loaded once; the sum is made anew when one comes or goes.
 *
 * Decay goes from the oldest to the newest: what is summed up so far gets lighter before the next is added, so the
 * intervals themselves stay as they are.
 */
#include "report/tui/live.h"

#include "formats/base/err.h"
#include "formats/base/memory.h"
#include "formats/base/vec.h"
#include "formats/profile/profile_merge.h"
#include "formats/profile/same_names.h"
#include "formats/trace/trace_reader.h"
#include "formats/trace/trace_rewrite.h"
#include "report/print/number.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the files of one recording that was cut into intervals (--switch-output), as one trace ---- */

/* Events one file after the other; what stands beside them is united. */

struct join {
	VEC(struct event_source *) sources; /* open while their recordings are looked at */
	VEC(struct recording_count) counts;
	VEC(struct recording_image) images;
	VEC(struct recording_lines) lines;
	VEC(struct recording_ksym) ksyms;
	VEC(struct recording_jit_map) jit_maps;
	bool differ; /* images of one file */
	struct recording as;
	struct arena arena; /* of its notes */
};

static void add_count(struct join *j, const struct recording_count *add)
{
	for (size_t i = 0; i < j->counts.len; i++) {
		struct recording_count *have = &j->counts.items[i];

		if (have->event != add->event || have->cpu != add->cpu)
			continue;
		have->samples += add->samples;
		have->lost_kernel += add->lost_kernel;
		have->lost_recorder += add->lost_recorder;
		have->stacks_shortened += add->stacks_shortened;
		have->stacks_cut += add->stacks_cut;
		have->throttled += add->throttled;
		have->missed += add->missed;
		have->enabled_ns += add->enabled_ns;
		have->running_ns += add->running_ns;
		have->value += add->value;
		return;
	}
	vec_push(&j->counts, *add);
}

static void add_image(struct join *j, const struct recording_image *add)
{
	for (size_t i = 0; i < j->images.len; i++) {
		struct recording_image *have = &j->images.items[i];

		if (strcmp(have->path, add->path) != 0 || have->build_id_len != add->build_id_len ||
		    memcmp(have->build_id, add->build_id, add->build_id_len) != 0)
			continue;
		j->differ |= have->elf_len != add->elf_len || memcmp(have->elf, add->elf, add->elf_len) != 0;
		if (have->partial && (!add->partial || add->elf_len > have->elf_len))
			*have = *add;
		return;
	}
	vec_push(&j->images, *add);
}

/* The last one of a process knows most. */
static void add_jit_map(struct join *j, const struct recording_jit_map *add)
{
	for (size_t i = 0; i < j->jit_maps.len; i++) {
		if (j->jit_maps.items[i].pid == add->pid) {
			j->jit_maps.items[i] = *add;
			return;
		}
	}
	vec_push(&j->jit_maps, *add);
}

static int compare_ksyms(const struct recording_ksym *a, const struct recording_ksym *b)
{
	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int compare_ksym_items(const void *a, const void *b)
{
	return compare_ksyms(a, b);
}

static void unite_ksyms(struct join *j)
{
	size_t kept = 0;

	if (!j->ksyms.len)
		return;
	qsort(j->ksyms.items, j->ksyms.len, sizeof(*j->ksyms.items), compare_ksym_items);
	for (size_t i = 0; i < j->ksyms.len; i++)
		if (!kept || compare_ksyms(&j->ksyms.items[kept - 1], &j->ksyms.items[i]) != 0)
			j->ksyms.items[kept++] = j->ksyms.items[i];
	j->ksyms.len = kept;
}

static void add_recording(struct join *j, const struct recording *rec)
{
	for (size_t i = 0; i < rec->ncounts; i++)
		add_count(j, &rec->counts[i]);
	for (size_t i = 0; i < rec->nimages; i++)
		add_image(j, &rec->images[i]);
	for (size_t i = 0; i < rec->nlines; i++)
		vec_push(&j->lines, rec->lines[i]);
	for (size_t i = 0; i < rec->nksyms; i++)
		vec_push(&j->ksyms, rec->ksyms[i]);
	for (size_t i = 0; i < rec->njit_maps; i++)
		add_jit_map(j, &rec->jit_maps[i]);
}

/* What the whole begins with is the first's, what it ends with the last's. */
static void settle(struct join *j)
{
	const struct recording *last = event_source_recording(j->sources.items[j->sources.len - 1]);

	unite_ksyms(j);
	j->as = *event_source_recording(j->sources.items[0]);
	j->as.end_ns = last->end_ns;
	j->as.complete = last->complete;
	j->as.exit_status = last->exit_status;
	j->as.kernel_code = last->kernel_code;
	j->as.counts = j->counts.items;
	j->as.ncounts = j->counts.len;
	j->as.images = j->images.items;
	j->as.nimages = j->images.len;
	j->as.lines = j->lines.items;
	j->as.nlines = j->lines.len;
	j->as.ksyms = j->ksyms.items;
	j->as.nksyms = j->ksyms.len;
	j->as.jit_maps = j->jit_maps.items;
	j->as.njit_maps = j->jit_maps.len;
	j->as.notes = last->notes;
	j->as.nnotes = last->nnotes;
	if (!j->differ)
		return;
	j->as.notes = ARENA_ARRAY(&j->arena, struct recording_note, last->nnotes + 1);
	for (size_t i = 0; i < last->nnotes; i++)
		j->as.notes[i] = last->notes[i];
	j->as.notes[j->as.nnotes++] = (struct recording_note){
		.subject = "",
		.text = "joined from intervals: of some binaries only a part is embedded, other machines may lack names",
	};
}

static struct err *write_events(struct event_source *source, struct trace_rewrite *rw)
{
	struct event ev;

	while (event_source_next(source, &ev)) {
		struct err *err = trace_rewrite_event(rw, &ev);

		if (err)
			return err;
	}
	return event_source_finish(source);
}

static struct err *write_all(struct join *j, int fd)
{
	struct trace_rewrite *rw;
	struct err *err = trace_rewrite_begin(fd, &j->as, &rw);

	if (err)
		return err;
	for (size_t i = 0; i < j->sources.len && !err; i++)
		err = write_events(j->sources.items[i], rw);
	if (!err)
		err = trace_rewrite_end(rw, &j->as);
	trace_rewrite_free(rw);
	return err;
}

static struct err *write_file(struct join *j, const char *output)
{
	int fd = open(output, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	struct err *err;

	if (fd < 0 && errno == EEXIST)
		return err_new(ERR_USAGE, "'%s' is there already", output);
	if (fd < 0)
		return err_system(errno, "cannot create '%s'", output);
	err = write_all(j, fd);
	if (close(fd) < 0 && !err)
		err = err_system(errno, "cannot write '%s'", output);
	if (err)
		unlink(output);
	return err;
}

/*
 * Write @paths, oldest first, to @output, a file of its owner's alone that is not there yet.
 *
 * ERR_USAGE: it is there.  ERR_SYSTEM, ERR_CORRUPT: as reader and writer say; then there is no @output.
 */
static MUST_USE struct err *trace_join(const char *const *paths, size_t count, const char *output)
{
	struct join j = { .differ = false };
	struct err *err = NULL;

	for (size_t i = 0; i < count && !err; i++) {
		struct event_source *source;

		err = trace_reader_open(paths[i], &source);
		if (err)
			break;
		vec_push(&j.sources, source);
		add_recording(&j, event_source_recording(source));
	}
	if (!err && !count)
		err = err_new(ERR_USAGE, "there is nothing to join yet");
	if (!err) {
		settle(&j);
		err = write_file(&j, output);
	}
	for (size_t i = 0; i < j.sources.len; i++)
		event_source_close(j.sources.items[i]);
	arena_deinit(&j.arena);
	vec_deinit(&j.sources);
	vec_deinit(&j.counts);
	vec_deinit(&j.images);
	vec_deinit(&j.lines);
	vec_deinit(&j.ksyms);
	vec_deinit(&j.jit_maps);
	return err;
}

/* ---- the intervals as one profile ---- */

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
		row->exact = (int64_t)((double)row->exact * factor);
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
