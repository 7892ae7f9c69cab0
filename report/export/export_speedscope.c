/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_speedscope.c - speedscope's own file format: one list of frames, and for each event and thread a "sampled"
 * profile, whose samples are lists of frames, root first, with their weights.
 *
 * A frame is a function. Samples that follow each other with the same stack are one with the sum of their weights:
 * the picture is the same and the file much smaller.
 */
#include "formats/base/text.h"
#include "report/export/export_format.h"
#include "symbolize/unwind/unwind.h"
#include "report/view/frame_list.h"
#include "formats/base/json_writer.h"
#include "report/view/track.h"

#include <inttypes.h>

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

struct writer_state {
	const struct profile *p;
	const struct profile_facts *facts;
	struct json json;
	struct arena arena;
	struct frame_list list;
};

/* Frames are the functions by number, and behind them the reasons by number. */
static uint32_t frame_number(const struct writer_state *w, const struct frame *frame)
{
	if (frame->line == FRAME_REASON)
		return (uint32_t)w->p->functions.len + w->list.stop;
	return w->p->lines.items[frame->line].function;
}

/* The module stands where a source file is not known. */
static void put_function(struct writer_state *w, const struct profile_function *function)
{
	const char *file = profile_text(w->p, function->file);
	const char *module =
		profile_text(w->p, profile_module(w->p, function->module)->path);

	json_open(&w->json, NULL, '{');
	json_string(&w->json, "name",
		    text_escape(&w->arena, profile_text(w->p, function->name)));
	json_string(&w->json, "file", text_escape(&w->arena, *file ? file : module));
	if (*file && function->line)
		json_uint(&w->json, "line", function->line);
	json_close(&w->json, '}');
}

/* Is there a stack on which a reason stands? */
static bool misses_roots(const struct profile *p)
{
	for (size_t i = 0; i < p->samples.len; i++)
		if (frame_is_needed(p->samples.items[i].stop))
			return true;
	return false;
}

static void put_frames(struct writer_state *w)
{
	json_open(&w->json, "shared", '{');
	json_open(&w->json, "frames", '[');
	for (size_t i = 0; i < w->p->functions.len; i++)
		put_function(w, &w->p->functions.items[i]);
	for (uint8_t stop = 0; stop < UNWIND_STOPS && misses_roots(w->p); stop++) {
		json_open(&w->json, NULL, '{');
		json_string(&w->json, "name", frame_reason(stop, &w->arena));
		json_close(&w->json, '}');
	}
	json_close(&w->json, ']');
	json_close(&w->json, '}');
}

/* The number of samples from @at on that have one stack, and their weight. */
static size_t run_of(const struct writer_state *w, const struct track *track, size_t at,
		     int64_t *ret_weight)
{
	const struct profile_sample *rows = w->p->samples.items;
	const struct profile_sample *first = &rows[track->times[at].row];
	int64_t weight = 0;
	size_t end = at;

	for (; end < track->len; end++) {
		const struct profile_sample *row = &rows[track->times[end].row];

		if (row->stack != first->stack || row->stop != first->stop)
			break;
		weight += track->times[end].weight;
	}
	*ret_weight = weight;
	return end - at;
}

static void put_stack(struct writer_state *w, const struct profile_sample *row)
{
	frame_list_fill(&w->list, w->p, row);
	json_open(&w->json, NULL, '[');
	for (size_t i = 0; i < w->list.frames.len; i++)
		json_uint(&w->json, NULL, frame_number(w, &w->list.frames.items[i]));
	json_close(&w->json, ']');
}

static const char *track_name(struct writer_state *w, const struct track *track)
{
	const struct profile_thread *thread = &w->p->threads.items[track->thread];
	const struct profile_value_type *event = &w->p->types.items[track->event];
	const char *comm = text_escape(&w->arena, profile_text(w->p, thread->comm));
	const char *process = text_escape(&w->arena, profile_text(w->p, thread->process));
	const char *what = text_escape(&w->arena, profile_text(w->p, event->name));

	/* Names come first, so that pages that list them show more than numbers. */
	if (*process && *comm && strcmp(process, comm) != 0)
		comm = arena_printf(&w->arena, "%s: %s", process, comm);
	else if (!*comm)
		comm = process;
	if (thread->pid != PROFILE_NONE && thread->tid != PROFILE_NONE)
		comm = arena_printf(&w->arena, "%s %" PRIu32 "/%" PRIu32, comm, thread->pid, thread->tid);
	else if (thread->tid != PROFILE_NONE)
		comm = arena_printf(&w->arena, "%s %" PRIu32, comm, thread->tid);
	else if (thread->pid != PROFILE_NONE)
		comm = arena_printf(&w->arena, "%s %" PRIu32 "/", comm, thread->pid);
	return *comm ? arena_printf(&w->arena, "%s (%s)", comm, what) : what;
}

/* The format has names for these. */
static const char *unit_of(const char *unit)
{
	if (strcmp(unit, "ns") == 0)
		return "nanoseconds";
	return strcmp(unit, "bytes") == 0 ? "bytes" : "none";
}

static void put_track(struct writer_state *w, const struct track *track)
{
	const struct profile_value_type *event = &w->p->types.items[track->event];
	int64_t weight;

	json_open(&w->json, NULL, '{');
	json_string(&w->json, "type", "sampled");
	json_string(&w->json, "name", track_name(w, track));
	json_string(&w->json, "unit", unit_of(profile_text(w->p, event->unit)));
	json_uint(&w->json, "startValue", 0);
	json_int(&w->json, "endValue", track->weight);
	json_open(&w->json, "samples", '[');
	for (size_t at = 0; at < track->len; at += run_of(w, track, at, &weight))
		put_stack(w, &w->p->samples.items[track->times[at].row]);
	json_close(&w->json, ']');
	json_open(&w->json, "weights", '[');
	for (size_t at = 0; at < track->len;) {
		at += run_of(w, track, at, &weight);
		json_int(&w->json, NULL, weight);
	}
	json_close(&w->json, ']');
	json_close(&w->json, '}');
}

static struct err *write_speedscope(const struct profile *p, const struct profile_facts *facts, FILE *out)
{
	struct writer_state w = { .p = p, .facts = facts };
	CLEANUP(tracks_deinit) struct tracks tracks;

	tracks_init(&tracks, p, facts->first_type);
	json_init(&w.json, out);
	w.json.lines = true;
	json_open(&w.json, NULL, '{');
	json_string(&w.json, "$schema", SCHEMA);
	json_string(&w.json, "exporter", "preport " VERSION);
	json_string(&w.json, "name", text_escape(&w.arena, facts->cmdline));
	json_uint(&w.json, "activeProfileIndex", 0);
	put_frames(&w);
	json_open(&w.json, "profiles", '[');
	for (size_t i = 0; i < tracks.list.len; i++)
		put_track(&w, &tracks.list.items[i]);
	json_close(&w.json, ']');
	json_close(&w.json, '}');
	frame_list_deinit(&w.list);
	arena_deinit(&w.arena);
	return NULL;
}

const struct export_format export_speedscope = {
	.file = "precord.speedscope.json",
	.with = "speedscope",
	.missing = "holds no CPUs, times of samples, lines but those that functions begin at, build IDs or addresses, and no counts of samples "
		   "beside their weights",
	.times = true,
	.gzip = EXPORT_GZIP_ASKED,
	.carries = IMPORT_THREADS | IMPORT_TYPES,
	.write = write_speedscope,
};
