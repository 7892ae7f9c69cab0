/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_speedscope.c - speedscope's own file format: one list of frames, and for each event and thread a "sampled"
 * profile, whose samples are lists of frames, root first, with their weights. If switches were recorded, an "evented"
 * profile for each thread follows: what it did when, as frames that open and close.
 *
 * A frame is a function. Samples that follow each other with the same stack are one with the sum of their weights:
 * the picture is the same and the file much smaller.
 */
#include "formats/base/text.h"
#include "formats/stack_stop.h"
#include "report/export/export_format.h"
#include "report/view/frame_list.h"
#include "formats/base/json_writer.h"
#include "report/view/track.h"
#include "report/view/wait_frames.h"

#include <inttypes.h>

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"
#define SPANS_MAX 100000 /* some 1 kB each; speedscope holds all in memory */
#define STATES "states"	 /* what the values of evented profiles are called */

struct writer_state {
	const struct profile *p;
	const struct profile_facts *facts;
	struct json json;
	struct arena arena;
	struct frame_list list;
};

static uint64_t since_start(const struct writer_state *w, uint64_t time_ns)
{
	return time_ns - MIN(w->facts->start_ns, time_ns);
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

/* In brackets, as the reasons: a function may be called poll. */
static const char *state_name(struct writer_state *w, int kind)
{
	const char *name = wait_kind_name((enum wait_kind)kind);

	return *name == '[' ? name : arena_printf(&w->arena, "[%s]", name);
}

static void put_name(struct writer_state *w, const char *name)
{
	json_open(&w->json, NULL, '{');
	json_string(&w->json, "name", name);
	json_close(&w->json, '}');
}

static void put_frames(struct writer_state *w)
{
	bool has_spans = w->p->spans.spans.len > 0;
	bool has_reasons = has_spans || misses_roots(w->p);

	json_open(&w->json, "shared", '{');
	json_open(&w->json, "frames", '[');
	for (size_t i = 0; i < w->p->functions.len; i++)
		put_function(w, &w->p->functions.items[i]);
	for (uint8_t stop = 0; stop < STACK_STOPS && has_reasons; stop++)
		put_name(w, frame_reason(stop, &w->arena));
	for (int kind = 0; kind <= WAIT_KINDS && has_spans; kind++)
		put_name(w, state_name(w, kind));
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
		json_uint(&w->json, NULL, frame_function(&w->list, &w->list.frames.items[i], w->p));
	json_close(&w->json, ']');
}

/* The name of a profile of the values @what of a thread. */
static const char *name_of(struct writer_state *w, uint32_t number, const char *what)
{
	const struct profile_thread *thread = &w->p->threads.items[number];
	const char *comm = text_escape(&w->arena, profile_text(w->p, thread->comm));
	const char *process = text_escape(&w->arena, profile_text(w->p, thread->process));

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
	json_string(&w->json, "name",
		    name_of(w, track->thread, text_escape(&w->arena, profile_text(w->p, event->name))));
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

/* ---- what threads did when ---- */

static void put_event(struct writer_state *w, const char *type, uint32_t frame, uint64_t at)
{
	json_open(&w->json, NULL, '{');
	json_string(&w->json, "type", type);
	json_uint(&w->json, "frame", frame);
	json_uint(&w->json, "at", at);
	json_close(&w->json, '}');
}

/* The state is the root, so that a thread's time is divided by that first; on it stands the stack of a wait. */
static uint32_t state_number(const struct writer_state *w, const struct profile_span *span)
{
	return (uint32_t)w->p->functions.len + STACK_STOPS + wait_frames_span_kind(w->p, span);
}

static void put_span(struct writer_state *w, const struct profile_span *span, uint64_t from, uint64_t to)
{
	struct profile_sample row = { .stack = span->count == 1 ? span->stack : 0 };
	uint32_t state = state_number(w, span);

	frame_list_fill(&w->list, w->p, &row);
	put_event(w, "O", state, from);
	for (size_t i = 0; i < w->list.frames.len; i++)
		put_event(w, "O", frame_function(&w->list, &w->list.frames.items[i], w->p), from);
	for (size_t i = w->list.frames.len; i > 0; i--)
		put_event(w, "C", frame_function(&w->list, &w->list.frames.items[i - 1], w->p), to);
	put_event(w, "C", state, to);
}

/* The @len spans of one thread, in order of time: none begins before the one in front of it has ended. */
static void put_states(struct writer_state *w, const struct profile_span *spans, size_t len)
{
	const struct profile_span *last = &spans[len - 1];
	uint64_t now = since_start(w, spans->from_ns);

	json_open(&w->json, NULL, '{');
	json_string(&w->json, "type", "evented");
	json_string(&w->json, "name", name_of(w, spans->thread, STATES));
	json_string(&w->json, "unit", "nanoseconds");
	json_uint(&w->json, "startValue", now);
	json_open(&w->json, "events", '[');
	for (size_t i = 0; i < len; i++) {
		uint64_t from = MAX(since_start(w, spans[i].from_ns), now);
		uint64_t to = since_start(w, spans[i].from_ns + spans[i].len_ns);

		if (to <= from)
			continue;
		put_span(w, &spans[i], from, to);
		now = to;
	}
	json_close(&w->json, ']');
	json_uint(&w->json, "endValue", MAX(since_start(w, last->from_ns + last->len_ns), now));
	json_close(&w->json, '}');
	arena_reset(&w->arena);
}

static void put_spans(struct writer_state *w)
{
	struct span_list list = { .step_ns = w->p->spans.step_ns };
	const struct profile_span *spans;
	size_t end;

	vec_append(&list.spans, w->p->spans.spans.items, w->p->spans.spans.len);
	span_list_fit(&list, SPANS_MAX);
	spans = list.spans.items;
	for (size_t i = 0; i < list.spans.len; i = end) {
		for (end = i + 1; end < list.spans.len && spans[end].thread == spans[i].thread;)
			end++;
		put_states(w, &spans[i], end - i);
	}
	span_list_deinit(&list);
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
	put_spans(&w);
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
	.spans = true,
	.gzip = EXPORT_GZIP_ASKED,
	.carries = IMPORT_THREADS | IMPORT_TYPES,
	.write = write_speedscope,
};
