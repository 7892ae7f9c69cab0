/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_chrome.c - the Trace Event Format's sampling sections, for chrome://tracing and what reads its files:
 *
 *	"traceEvents"	names of processes and threads; what each thread did when, if switches were recorded
 *	"stackFrames"	a tree of frames by number: name, category (the module), parent
 *	"samples"	CPU, thread, time in microseconds, event, weight, and the stack's number
 *
 * The profile's stacks are that tree already, but that inlined functions share a node there: frame number
 * (stack, how deep inlined). A stack that misses its root stands on a frame that says why, so such a tree is written
 * a second time.
 */
#include "formats/base/map.h"
#include "formats/base/text.h"
#include "report/export/export_format.h"
#include "report/view/frame_list.h"
#include "formats/base/json_writer.h"
#include "report/view/track.h"
#include "report/view/wait_frames.h"

#include <inttypes.h>

struct writer_state {
	const struct profile *p;
	const struct profile_facts *facts;
	struct json json;
	struct arena arena;
	struct frame_list list;
	struct map numbers; /* (stack, stop, inlined) -> number of the frame */
	uint64_t nframes;
};

/* Frames of complete stacks have one key, whatever they ended with. */
static uint64_t frame_key(const struct frame *frame, uint8_t reason)
{
	if (frame->line == FRAME_REASON)
		return (uint64_t)reason << 56;
	return (uint64_t)reason << 56 | (uint64_t)frame->stack << 24 | (frame->inlined + 1);
}

static void put_frame(struct writer_state *w, const struct frame *frame, uint64_t number,
		      uint64_t parent)
{
	const char *name = frame_name(&w->list, frame, w->p, &w->arena);

	json_open(&w->json, arena_printf(&w->arena, "%" PRIu64, number), '{');
	json_string(&w->json, "name", name);
	if (frame->line == FRAME_REASON) {
		json_string(&w->json, "category", "incomplete");
	} else {
		uint32_t function = w->p->lines.items[frame->line].function;
		uint32_t module = w->p->functions.items[function].module;

		json_string(&w->json, "category",
			    text_escape(&w->arena,
					profile_text(w->p, profile_module(w->p, module)->name)));
	}
	if (parent)
		json_string(&w->json, "parent", arena_printf(&w->arena, "%" PRIu64, parent));
	json_close(&w->json, '}');
	arena_reset(&w->arena);
}

/* The number of the leaf's frame of @row; with @put what was not there is written. Numbers begin with 1. */
static uint64_t leaf_number(struct writer_state *w, const struct profile_sample *row, bool put)
{
	uint8_t reason = frame_is_needed(row->stop) ? row->stop + 1 : 0;
	uint64_t number = 0;

	frame_list_fill(&w->list, w->p, row);
	for (size_t i = 0; i < w->list.frames.len; i++) {
		const struct frame *frame = &w->list.frames.items[i];
		uint64_t *slot = map_put(&w->numbers, frame_key(frame, reason), NULL);

		if (!*slot && put) {
			*slot = ++w->nframes;
			put_frame(w, frame, *slot, number);
		}
		number = *slot;
	}
	return number;
}

/* Samples find their thread by these. Where the number is not known the name takes its place, which readers accept. */
static void put_id(struct writer_state *w, const char *key, uint32_t number, uint32_t name)
{
	if (number != PROFILE_NONE)
		json_uint(&w->json, key, number);
	else if (name)
		json_string(&w->json, key, text_escape(&w->arena, profile_text(w->p, name)));
}

static void put_ids(struct writer_state *w, const struct profile_thread *thread)
{
	put_id(w, "pid", thread->pid, thread->process ? thread->process : thread->comm);
	put_id(w, "tid", thread->tid, thread->comm);
}

static void put_name_event(struct writer_state *w, const struct profile_thread *thread,
			   const char *what, uint32_t name)
{
	json_open(&w->json, NULL, '{');
	json_string(&w->json, "ph", "M");
	json_string(&w->json, "name", what);
	put_ids(w, thread);
	json_open(&w->json, "args", '{');
	json_string(&w->json, "name", text_escape(&w->arena, profile_text(w->p, name)));
	json_close(&w->json, '}');
	json_close(&w->json, '}');
}

/* Microseconds. */
static const char *time_text(struct writer_state *w, uint64_t time_ns)
{
	return arena_printf(&w->arena, "%" PRIu64 ".%03" PRIu64, time_ns / 1000, time_ns % 1000);
}

static const char *since_start(struct writer_state *w, uint64_t time_ns)
{
	return time_text(w, time_ns - MIN(w->facts->start_ns, time_ns));
}

static void put_waker(struct writer_state *w, uint32_t thread)
{
	const struct profile_thread *waker = &w->p->threads.items[thread];
	const char *name = text_escape(&w->arena, profile_text(w->p, waker->comm));

	json_string(&w->json, "woken by",
		    waker->tid == PROFILE_NONE ? name : arena_printf(&w->arena, "%s %" PRIu32, name, waker->tid));
}

/* A span is a complete event of category "state"; several short ones that became one are a state of their own. */
static void put_span(struct writer_state *w, const struct profile_span *span)
{
	json_open(&w->json, NULL, '{');
	json_string(&w->json, "ph", "X");
	json_string(&w->json, "cat", "state");
	json_string(&w->json, "name", wait_kind_name(wait_frames_span_kind(w->p, span)));
	put_ids(w, &w->p->threads.items[span->thread]);
	json_number(&w->json, "ts", since_start(w, span->from_ns));
	json_number(&w->json, "dur", time_text(w, span->len_ns));
	json_open(&w->json, "args", '{');
	if (span->waker != PROFILE_NONE)
		put_waker(w, span->waker);
	if (span->count > 1)
		json_uint(&w->json, "states", span->count);
	if (span->count != 1)
		json_number(&w->json, "us on a CPU", time_text(w, span->run_ns));
	json_close(&w->json, '}');
	json_close(&w->json, '}');
	arena_reset(&w->arena);
}

static void put_events(struct writer_state *w)
{
	json_open(&w->json, "traceEvents", '[');
	for (size_t i = 0; i < w->p->threads.len; i++) {
		const struct profile_thread *thread = &w->p->threads.items[i];

		put_name_event(w, thread, "process_name", thread->process);
		put_name_event(w, thread, "thread_name", thread->comm);
	}
	for (size_t i = 0; i < w->p->spans.spans.len; i++)
		put_span(w, &w->p->spans.spans.items[i]);
	json_close(&w->json, ']');
}

static void put_sample(struct writer_state *w, const struct profile_time *time)
{
	const struct profile_sample *row = &w->p->samples.items[time->row];
	const struct profile_thread *thread = &w->p->threads.items[row->thread];
	uint64_t leaf = leaf_number(w, row, /* put= */ false);

	json_open(&w->json, NULL, '{');
	if (row->cpu != UINT32_MAX)
		json_uint(&w->json, "cpu", row->cpu);
	put_ids(w, thread);
	json_number(&w->json, "ts", since_start(w, time->time_ns));
	json_string(&w->json, "name",
		    text_escape(&w->arena,
				profile_text(w->p, w->p->types.items[row->type].name)));
	if (leaf)
		json_uint(&w->json, "sf", leaf);
	json_int(&w->json, "weight", time->weight);
	json_close(&w->json, '}');
	arena_reset(&w->arena);
}

static void put_about(struct writer_state *w)
{
	const struct profile_facts *facts = w->facts;

	json_open(&w->json, "otherData", '{');
	json_string(&w->json, "exporter", "preport " VERSION);
	json_string(&w->json, "command", text_escape(&w->arena, facts->cmdline));
	json_string(&w->json, "host", text_escape(&w->arena, facts->hostname));
	json_open(&w->json, "units", '{');
	for (size_t i = 0; i < w->p->types.len; i++)
		json_string(&w->json, text_escape(&w->arena, profile_text(w->p, w->p->types.items[i].name)),
			    profile_text(w->p, w->p->types.items[i].unit));
	json_close(&w->json, '}');
	json_close(&w->json, '}');
}

static struct err *write_chrome(const struct profile *p, const struct profile_facts *facts, FILE *out)
{
	struct writer_state w = { .p = p, .facts = facts };
	size_t ntimes;
	CLEANUP(memory_freep) struct profile_time *times = track_samples(p, &ntimes);

	json_init(&w.json, out);
	w.json.lines = true;
	json_open(&w.json, NULL, '{');
	json_string(&w.json, "displayTimeUnit", "ms");
	put_about(&w);
	put_events(&w);
	json_open(&w.json, "stackFrames", '{');
	for (size_t i = 0; i < w.p->samples.len; i++)
		leaf_number(&w, &w.p->samples.items[i], /* put= */ true);
	json_close(&w.json, '}');
	json_open(&w.json, "samples", '[');
	for (size_t i = 0; i < ntimes; i++)
		put_sample(&w, &times[i]);
	json_close(&w.json, ']');
	json_close(&w.json, '}');
	map_deinit(&w.numbers);
	frame_list_deinit(&w.list);
	arena_deinit(&w.arena);
	return NULL;
}

const struct export_format export_chrome = {
	.file = "precord.trace.json.gz",
	.with = "chrome://tracing, Load:",
	.missing = "holds no source files, lines, build IDs or addresses, and not the unit of its weights",
	.times = true,
	.spans = true,
	.gzip = EXPORT_GZIP_ASKED,
	.carries = IMPORT_TIMES | IMPORT_THREADS | IMPORT_TYPES,
	.write = write_chrome,
};
