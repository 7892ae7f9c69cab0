/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_bench.c - unwinds every stack of a trace, times that alone (CPU time, less what reading
 * the clock takes), or checks it.
 *
 *	unwind_bench [--no-splice] [--check] [--warm] TRACE
 *
 * --check walks every stack twice, with and without taking frames over from the last sample, and demands
 * the same chains. Prints per module where and why stacks stopped, and a hash of all chains.
 */
#include "formats/base/map.h"
#include "formats/trace_reader.h"
#include "symbolize/unwind.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct bench {
	const char *path;
	bool no_splice, check, warm;
	struct unwinder *unwinder, *reference;
	uint64_t clock_ns, ns, hash, differences, stack_len, words;
	uint64_t hows[8];
	struct map stops; /* module id, stop -> count */
	struct module_table *modules;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* What two calls of now_ns() measure when there is nothing between them. */
static uint64_t clock_cost(void)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 1000; i++) {
		uint64_t start = now_ns();
		uint64_t spent = now_ns() - start;

		least = MIN(least, spent);
	}
	return least;
}

static bool same(const struct unwind_chain *a, const struct unwind_chain *b)
{
	if (a->nframes != b->nframes || a->stop != b->stop || a->stop_module != b->stop_module)
		return false;
	for (size_t i = 0; i < a->nframes; i++) {
		const struct unwind_frame *x = &a->frames[i], *y = &b->frames[i];

		if (x->ip != y->ip || x->vaddr != y->vaddr || x->module != y->module ||
		    x->how != y->how || x->kernel != y->kernel)
			return false;
	}
	return true;
}

static void print_chain(const char *title, const struct unwind_chain *chain)
{
	for (size_t i = 0; i < chain->nframes; i++)
		printf("%s %4zu 0x%" PRIx64 " %s+0x%" PRIx64 " %s\n", title, i, chain->frames[i].ip,
		       chain->frames[i].module->path, chain->frames[i].vaddr,
		       unwind_how_name(chain->frames[i].how));
	printf("%s stop %s\n", title, unwind_stop_name(chain->stop));
}

static void count(struct bench *b, const struct unwind_chain *chain)
{
	uint64_t module = chain->stop_module ? chain->stop_module->id + 1 : 0;

	for (size_t i = 0; i < chain->nframes; i++) {
		b->hash = map_hash(b->hash ^ chain->frames[i].ip);
		b->hows[chain->frames[i].how]++;
	}
	b->hash = map_hash(b->hash + chain->stop);
	++*map_put(&b->stops, module << 8 | chain->stop, NULL);
}

static void take(struct bench *b, const struct event *ev)
{
	struct unwind_chain chain, reference;

	uint64_t start = now_ns();

	unwinder_walk(b->unwinder, ev, &chain);
	uint64_t spent = now_ns() - start;

	b->ns += spent > b->clock_ns ? spent - b->clock_ns : 0;
	b->stack_len += ev->sample.stack.end - ev->sample.stack.base;
	b->words += ev->sample.stack.nwords;
	if (!b->check)
		return;
	count(b, &chain);
	unwinder_walk(b->reference, ev, &reference);
	if (!same(&chain, &reference) && b->differences++ < 3) {
		print_chain("spliced", &chain);
		print_chain("in full", &reference);
	}
}

static int compare(const void *a, const void *b)
{
	const struct map_slot *x = a, *y = b;

	return x->value < y->value ? 1 : x->value > y->value ? -1 : x->key > y->key;
}

static void report(struct bench *b)
{
	const struct unwind_stats *s = unwinder_stats(b->unwinder);
	struct map_slot *stops = calloc(b->stops.len + 1, sizeof(*stops));
	const struct map_slot *slot;
	size_t pos = 0, n = 0;

	while ((slot = map_next(&b->stops, &pos)))
		stops[n++] = *slot;
	qsort(stops, n, sizeof(*stops), compare);
	for (size_t i = 0; i < n; i++) {
		uint64_t module = stops[i].key >> 8;

		printf("%8" PRIu64 "  %s%s%s\n", stops[i].value,
		       unwind_stop_name((enum unwind_stop)(stops[i].key & 0xff)),
		       module ? " in " : "",
		       module ? module_table_get(b->modules, (uint32_t)module - 1)->path : "");
	}
	for (size_t i = 0; i < 6; i++)
		printf("%8" PRIu64 "  frames by %s\n", b->hows[i],
		       unwind_how_name((enum unwind_how)i));
	printf("%" PRIu64 " stacks, %" PRIu64
	       " frames (%.0f %% spliced), %.1f words a stack, hash %016" PRIx64 "\n",
	       s->stacks, s->frames, 100.0 * (double)s->spliced_frames / (double)s->frames,
	       (double)b->words / (double)s->stacks, b->hash);
	printf("%.1f ms, %.1f ns a frame, %.0f MB/s of stack, %" PRIu64 " rules compiled\n",
	       (double)b->ns / 1e6, (double)b->ns / (double)s->frames,
	       (double)b->stack_len / ((double)b->ns / 1e3), s->memo_misses);
	if (b->check)
		printf("%" PRIu64 " chains differ from those walked in full\n", b->differences);
	free(stops);
}

static void walk_all(struct bench *b, struct event_source *source, struct space_table *spaces)
{
	struct event ev;

	while (event_source_next(source, &ev)) {
		if (ev.kind == EVENT_SAMPLE)
			take(b, &ev);
		else
			space_table_apply(spaces, &ev);
	}
}

/* Once more with all rules known, as in a longer recording. */
static void run_warm(struct bench *b, struct space_table *spaces)
{
	uint64_t frames = unwinder_stats(b->unwinder)->frames;
	struct event_source *source;

	err_free(trace_reader_open(b->path, &source));
	b->ns = 0;
	walk_all(b, source, spaces);
	frames = unwinder_stats(b->unwinder)->frames - frames;
	printf("again, with all rules known: %.1f ms, %.1f ns a frame\n", (double)b->ns / 1e6,
	       (double)b->ns / (double)frames);
	event_source_close(source);
}

static void run(struct bench *b, struct event_source *source)
{
	const struct recording *rec = event_source_recording(source);
	struct diag diag = { 0 };
	struct space_table *spaces;

	b->clock_ns = clock_cost();
	b->modules = module_table_new(rec, NULL, &diag);
	spaces = space_table_new(b->modules);
	b->unwinder = unwinder_new(b->modules, spaces,
				   &(struct unwind_options){ .no_splice = b->no_splice });
	b->reference =
		unwinder_new(b->modules, spaces, &(struct unwind_options){ .no_splice = true });
	walk_all(b, source, spaces);
	report(b);
	if (b->warm)
		run_warm(b, spaces);
	unwinder_free(b->unwinder);
	unwinder_free(b->reference);
	space_table_free(spaces);
	module_table_free(b->modules);
	map_deinit(&b->stops);
	diag_deinit(&diag);
}

int main(int argc, char **argv)
{
	struct bench b = { 0 };
	struct event_source *source;
	struct err *err;

	for (int i = 1; i < argc - 1; i++) {
		b.no_splice |= strcmp(argv[i], "--no-splice") == 0;
		b.check |= strcmp(argv[i], "--check") == 0;
		b.warm |= strcmp(argv[i], "--warm") == 0;
	}
	b.path = argc > 1 ? argv[argc - 1] : "precord.trace";
	err = trace_reader_open(b.path, &source);
	if (err) {
		fprintf(stderr, "unwind_bench: %s\n", err_message(err));
		err_free(err);
		return 1;
	}
	run(&b, source);
	err = event_source_finish(source);
	event_source_close(source);
	if (err) {
		fprintf(stderr, "unwind_bench: %s\n", err_message(err));
		err_free(err);
		return 1;
	}
	return b.differences != 0;
}
