/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_bench.c - unwinds every stack of a trace and measures that alone, or checks it.
 *
 *	unwind_bench [--no-splice] [--check] [--warm] TRACE
 *
 * What is measured is unwinder_walk(): the reads of the stack are in it, decoding the trace and following mappings are
 * not. The clock (CPU time of the thread) and the counters of user code, where there are any, are read around each run of
 * samples without other events between them, a batch at most: a system call around every stack would cost as much as some
 * frames, and leave its own traces in the caches. A frame is one that was delivered, walked or taken over.
 *
 * --warm goes through the trace once more with all rules known. --check walks every stack twice, with and without taking
 * frames over from the last sample, and demands the same chains. Prints per module where and why stacks stopped, and a
 * hash of all chains.
 */
#include "formats/base/map.h"
#include "formats/trace/trace_reader.h"
#include "symbolize/unwind/unwind.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BATCH 256

/* What was spent so far. */
struct spent {
	uint64_t ns, cycles, instructions;
};

struct meter {
	int fd; /* of the counters, -1 without */
	struct spent least; /* what two readings measure when there is nothing between them */
};

struct bench {
	const char *path;
	bool no_splice, check, warm;
	struct unwinder *unwinder, *reference;
	struct meter meter;
	struct spent spent;
	uint64_t hash, differences, stack_len, words;
	uint64_t hows[UNWIND_EARLIER + 1]; /* frames by how they were found */
	struct map stops; /* module id, stop -> count */
	struct module_table *modules;
};

/* ---- the meter ---- */

static int open_counter(uint64_t config, int leader)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = config,
		.exclude_kernel = true,
		.exclude_hv = true,
		.read_format = PERF_FORMAT_GROUP,
		.pinned = leader < 0, /* always there or not at all */
	};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
}

static void give_up_counters(struct meter *m)
{
	close(m->fd);
	m->fd = -1;
}

static struct spent meter_read(struct meter *m)
{
	uint64_t counts[3] = { 0 }; /* how many, and they */
	struct spent now = { 0 };
	struct timespec t;

	if (m->fd >= 0 && read(m->fd, counts, sizeof(counts)) != sizeof(counts))
		give_up_counters(m); /* somebody else has them */
	now.cycles = counts[1];
	now.instructions = counts[2];
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	now.ns = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
	return now;
}

static struct spent between(struct spent start, struct spent end)
{
	return (struct spent){ end.ns - start.ns, end.cycles - start.cycles,
			       end.instructions - start.instructions };
}

static uint64_t less(uint64_t value, uint64_t least)
{
	return value > least ? value - least : 0;
}

/* To @sum, what has passed since @start. */
static void meter_add(struct meter *m, struct spent start, struct spent *sum)
{
	struct spent passed = between(start, meter_read(m));

	sum->ns += less(passed.ns, m->least.ns);
	sum->cycles += less(passed.cycles, m->least.cycles);
	sum->instructions += less(passed.instructions, m->least.instructions);
}

static struct meter meter_open(void)
{
	struct meter m = { .fd = open_counter(PERF_COUNT_HW_CPU_CYCLES, -1),
			   .least = { UINT64_MAX, UINT64_MAX, UINT64_MAX } };

	if (m.fd >= 0 && open_counter(PERF_COUNT_HW_INSTRUCTIONS, m.fd) < 0)
		give_up_counters(&m);
	for (int i = 0; i < 1000; i++) {
		struct spent start = meter_read(&m);
		struct spent passed = between(start, meter_read(&m));

		m.least.ns = MIN(m.least.ns, passed.ns);
		m.least.cycles = MIN(m.least.cycles, passed.cycles);
		m.least.instructions = MIN(m.least.instructions, passed.instructions);
	}
	return m;
}

static void print_spent(const struct bench *b, uint64_t frames)
{
	double n = (double)MAX(frames, 1);

	printf("%.1f ms, %.1f ns a frame", (double)b->spent.ns / 1e6, (double)b->spent.ns / n);
	if (b->meter.fd >= 0)
		printf(" (%.1f cycles, %.1f instructions)", (double)b->spent.cycles / n,
		       (double)b->spent.instructions / n);
}

/* ---- chains ---- */

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
	printf("%s stop %s\n", title, stack_stop_name(chain->stop));
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

static void check(struct bench *b, const struct event *ev, const struct unwind_chain *chain)
{
	struct unwind_chain reference;

	count(b, chain);
	unwinder_walk(b->reference, ev, &reference);
	if (!same(chain, &reference) && b->differences++ < 3) {
		print_chain("spliced", chain);
		print_chain("in full", &reference);
	}
}

/* Samples without anything else between them. */
static void walk_run(struct bench *b, const struct event *const *events, size_t count)
{
	struct spent start = meter_read(&b->meter);
	struct unwind_chain chain;

	for (size_t i = 0; i < count; i++) {
		const struct event_stack *stack = &events[i]->sample.stack;

		unwinder_walk(b->unwinder, events[i], &chain);
		b->stack_len += stack->end - stack->base;
		b->words += stack->nwords;
		if (b->check)
			check(b, events[i], &chain);
	}
	meter_add(&b->meter, start, &b->spent);
}

static void walk_batch(struct bench *b, struct space_table *spaces, const struct event *const *events, size_t count)
{
	for (size_t i = 0; i < count;) {
		size_t from = i;

		while (i < count && events[i]->kind == EVENT_SAMPLE)
			i++;
		if (i > from)
			walk_run(b, events + from, i - from);
		else
			space_table_apply(spaces, events[i++]);
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
		       stack_stop_name((enum stack_stop)(stops[i].key & 0xff)),
		       module ? " in " : "",
		       module ? module_table_get(b->modules, (uint32_t)module - 1)->path : "");
	}
	for (size_t i = 0; i < ARRAY_LEN(b->hows); i++)
		if (b->hows[i])
			printf("%8" PRIu64 "  frames by %s\n", b->hows[i], unwind_how_name((enum unwind_how)i));
	printf("%" PRIu64 " stacks, %" PRIu64
	       " frames (%.0f %% spliced), %.1f words a stack, hash %016" PRIx64 "\n",
	       s->stacks, s->frames, 100.0 * (double)s->spliced_frames / (double)s->frames,
	       (double)b->words / (double)s->stacks, b->hash);
	print_spent(b, s->frames);
	printf(", %.0f MB/s of stack, %" PRIu64 " rules compiled\n",
	       (double)b->stack_len / ((double)b->spent.ns / 1e3), s->memo_misses);
	if (b->check)
		printf("%" PRIu64 " chains differ from those walked in full\n", b->differences);
	free(stops);
}

static void walk_all(struct bench *b, struct event_source *source, struct space_table *spaces)
{
	struct event_batch batch = { 0 };

	while (event_source_next_batch(source, BATCH, &batch)) {
		walk_batch(b, spaces, batch.events.items, batch.events.len);
		event_source_release(source, &batch);
	}
	event_batch_deinit(&batch);
}

/* Once more with all rules known, as in a longer recording. */
static void run_warm(struct bench *b, struct space_table *spaces)
{
	uint64_t frames = unwinder_stats(b->unwinder)->frames;
	struct event_source *source;

	err_free(trace_reader_open(b->path, &source));
	b->spent = (struct spent){ 0 };
	walk_all(b, source, spaces);
	frames = unwinder_stats(b->unwinder)->frames - frames;
	printf("again, with all rules known: ");
	print_spent(b, frames);
	putchar('\n');
	event_source_close(source);
}

static void run(struct bench *b, struct event_source *source)
{
	const struct recording *rec = event_source_recording(source);
	struct diag diag = { 0 };
	struct space_table *spaces;

	b->meter = meter_open();
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
