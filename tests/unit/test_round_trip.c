/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_round_trip.c - a profile in every format that is written, read again: sums, and what the table of formats claims.
 */
#include "formats/base/proto_reader.h"
#include "formats/profile/folded.h"
#include "formats/profile/import/import_build.h"
#include "report/export/export_format.h"
#include "tests/unit/import_case.h"

#include <stdlib.h>
#include <string.h>

static const char profile_text_[] =
	"app    10/10 [000] 1.000000: 1000000 cpu-clock: \n\t 10 leaf (/bin/app)\n\t 20 inner (inlined)\n\t 20 main (/bin/app)\n\n"
	"app    10/10 [000] 1.001000: 1000000 cpu-clock: \n\t 10 leaf (/bin/app)\n\t 20 inner (inlined)\n\t 20 main (/bin/app)\n\n"
	"worker 10/11 [001] 1.000500: 3000000 cpu-clock: \n\t ff sys_read ([kernel.kallsyms])\n\t 30 work (/bin/app)\n\n"
	"worker 10/11 [001] 1.002500: 2000000 cpu-clock: \n\t 30 work (/bin/app)\n\n";

static const struct trip {
	const char *importer; /* the format is called like it */
	const char *type; /* what the value is called then */
	uint64_t count;	  /* of samples; speedscope has one for each row, others with 0 do not tell */
	bool inlined;
	const char *reader; /* the importer, if it is called otherwise */
} trips[] = {
	{ "firefox", "cpu-clock", 4, true, NULL },
	{ "chrome", "cpu-clock", 4, false, NULL },
	{ "speedscope", "cpu-clock", 3, false, NULL },
	{ "perf-script", "cpu-clock", 4, true, NULL },
	{ "callgrind", "cpu_clock", 0, false, NULL },
	{ "pprof", "cpu-clock", 4, true, NULL },
	{ "folded", "value", 0, false, NULL },
	{ "otlp", "cpu-clock", 4, true, NULL },
	{ "otlp-json", "cpu-clock", 4, true, "otlp" },
	{ "perfetto", "cpu-clock", 4, false, NULL },
};

static const struct trip *trip_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(trips); i++)
		if (strcmp(trips[i].importer, name) == 0)
			return &trips[i];
	CHECK_STR("a row in trips[]", name);
	return NULL;
}

/* What @format makes of @from, read again. */
static void pass_through(const struct export_format *format, const char *name, const struct import_case *from,
			 struct import_case *ret)
{
	char *data = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&data, &len);

	CHECK_OK(format->write(from->p, &from->facts, out));
	fclose(out);
	CHECK(!memmem(data, len, "4294967295", 10)); /* PROFILE_NONE is no number of anything */
	CHECK_OK(import_case_read(ret, data, len, name));
	free(data);
}

static bool carries(const struct import_case *c, enum import_carries what)
{
	return c->importer->carries & what;
}

/* Threads by their numbers and names, where the format has them. */
static void check_threads(const struct import_case *c, const struct trip *trip)
{
	if (!carries(c, IMPORT_THREADS) || strcmp(trip->importer, "folded") == 0)
		return;
	CHECK_INT(import_case_part(c, trip->type, NULL, "worker").weight, 5000000);
	CHECK_INT(import_case_part(c, trip->type, NULL, "app").weight, 2000000);
	for (size_t i = 0; i < c->p->threads.len; i++)
		CHECK(c->p->threads.items[i].tid == 10 || c->p->threads.items[i].tid == 11);
}

/* From the first of @count samples to the last; 0 where there are others. */
static uint64_t times_span(const struct profile *p, size_t count)
{
	struct time_cursor cursor = time_series_begin(&p->times);
	uint64_t first = UINT64_MAX, last = 0;
	struct profile_time time;

	while (time_series_next(&cursor, &time)) {
		first = MIN(first, time.time_ns);
		last = MAX(last, time.time_ns);
	}
	return p->times.len == count ? last - first : 0;
}

/* Differences between times: where they begin is the format's own. */
static void check_times(const struct import_case *c)
{
	if (c->p->times.len)
		CHECK_UINT(times_span(c->p, 4), 2500000);
}

static void check_inlined(const struct import_case *c)
{
	bool found = false;

	for (size_t i = 0; i < c->p->samples.len; i++)
		found = found || strcmp(import_case_stack(c, i), "leaf<inner+main") == 0;
	CHECK(found);
}

/* Each sample's CPU; @c's rows are in the order of @from's. */
static void check_cpus(const struct import_case *c, const struct import_case *from)
{
	CHECK_UINT(c->p->samples.len, from->p->samples.len);
	for (size_t i = 0; i < c->p->samples.len; i++)
		CHECK_UINT(c->p->samples.items[i].cpu, from->p->samples.items[i].cpu);
}

static void check_trip(const struct trip *trip, const struct export_format *format, const struct import_case *from)
{
	struct import_case c;

	pass_through(format, trip->importer, from, &c);
	CHECK_STR(c.importer->name, trip->reader ? trip->reader : trip->importer);
	CHECK_INT(import_case_sum(&c, trip->type).weight, 7000000);
	CHECK_INT(import_case_part(&c, trip->type, "leaf", NULL).weight, 2000000);
	CHECK_INT(import_case_part(&c, trip->type, "sys_read", NULL).weight, 3000000);
	CHECK_INT(import_case_part(&c, trip->type, "work", NULL).weight, 2000000);
	if (trip->count)
		CHECK_UINT(import_case_sum(&c, trip->type).count, trip->count);
	check_threads(&c, trip);
	if (format->times && strcmp(trip->importer, "speedscope") != 0)
		check_times(&c);
	if (trip->inlined)
		check_inlined(&c);
	if (strncmp(trip->importer, "otlp", 4) == 0)
		check_cpus(&c, from);
	import_case_close(&c);
}

TEST(profiles_come_back_from_every_format_that_is_written)
{
	struct import_case c;

	import_case_text(&c, profile_text_);
	CHECK_UINT(c.p->samples.len, 3);
	for (const struct export_row *row = export_table; row->name; row++)
		check_trip(trip_of(row->name), row->format, &c);
	import_case_close(&c);
}

static const char folded_text[] = "main;parse 7\nmain;parse;scan 60\nmain;x<b> y;z 30\nserve;scan 5\n";

static void print_folded(FILE *out, void *context)
{
	const struct import_case *c = context;

	CHECK_OK(export_folded.write(c->p, &c->facts, out));
}

/* Nothing but names and weights was in the input. */
static void check_no_numbers(const struct import_case *c)
{
	for (size_t i = 0; i < c->p->threads.len; i++)
		CHECK(c->p->threads.items[i].pid == PROFILE_NONE && c->p->threads.items[i].tid == PROFILE_NONE);
	for (size_t i = 0; i < c->p->locations.len; i++)
		CHECK(!c->p->locations.items[i].has_vaddr);
	for (size_t i = 0; i < c->p->lines.len; i++)
		CHECK_UINT(c->p->lines.items[i].line, 0);
	for (size_t i = 0; i < c->p->samples.len; i++)
		CHECK_UINT(c->p->samples.items[i].cpu, PROFILE_NONE);
	for (size_t i = 0; i < c->p->types.len; i++)
		CHECK_UINT(c->p->types.items[i].rate, 0);
	CHECK(!c->p->times.len || times_span(c->p, c->p->times.len) == 0); /* formats that cannot do without times have all samples at the beginning */
	CHECK(!c->facts.has_wall && !c->facts.ncpus && !c->facts.arch);
	CHECK_STR(c->facts.hostname, "");
}

TEST(folded_stacks_come_back_from_every_format_as_they_were)
{
	struct import_case c, back;

	import_case_text(&c, folded_text);
	for (const struct export_row *row = export_table; row->name; row++) {
		pass_through(row->format, row->name, &c, &back);
		check_no_numbers(&back);
		if (strcmp(row->name, "callgrind") == 0) { /* it has no stacks and no processes */
			CHECK_INT(import_case_part(&back, "samples", "scan", NULL).weight, 65);
			CHECK_INT(import_case_part(&back, "samples", "parse", NULL).weight, 7);
			CHECK_INT(import_case_part(&back, "samples", "z", NULL).weight, 30);
		} else {
			CHECK_STR(test_printed(print_folded, &back), folded_text);
		}
		import_case_close(&back);
	}
	import_case_close(&c);
}

/* A heap profile of Go: two values in bytes, no threads, and a stack that is empty. */
TEST(values_of_one_unit_are_kept_apart_and_empty_stacks_are_kept)
{
	struct import_case c, back;

	import_case_text(&c, "heap profile: 1: 100 [3: 300] @ heapprofile\n1: 100 [2: 200] @ 0x1001\n0: 0 [1: 100] @ 0x0\n");
	for (const struct export_row *row = export_table; row->name; row++) {
		if (strcmp(row->name, "speedscope") != 0 && strcmp(row->name, "callgrind") != 0 && strcmp(row->name, "pprof") != 0 &&
		    strcmp(row->name, "firefox") != 0)
			continue;
		pass_through(row->format, row->name, &c, &back);
		CHECK_INT(import_case_sum(&back, "inuse_space").weight, 100);
		CHECK_INT(import_case_sum(&back, "alloc_space").weight, 300);
		CHECK_INT(import_case_sum(&back, "alloc_objects").weight, 3);
		import_case_close(&back);
	}
	import_case_close(&c);
}

/* Does a location of @c have @vaddr? */
static bool has_address(const struct import_case *c, uint64_t vaddr)
{
	for (size_t i = 0; i < c->p->locations.len; i++)
		if (c->p->locations.items[i].has_vaddr && c->p->locations.items[i].vaddr == vaddr)
			return true;
	return false;
}

static void add_kernel_sample(struct import_case *c, uint64_t vaddr)
{
	uint32_t name = profile_string(c->p, "[kernel.kallsyms]");
	struct profile_module mod = { .name = name, .path = name, .kind = PROFILE_KERNEL };
	struct profile_function function = { .name = profile_string(c->p, "do_poll"), .module = profile_add_module(c->p, &mod) };
	struct profile_line line = { .function = profile_add_function(c->p, &function) };
	uint32_t location = profile_add_location(c->p, function.module, vaddr, PROFILE_FRAME_KERNEL);
	struct profile_sample sample = c->p->samples.items[0];

	profile_set_lines(c->p, location, &line, 1);
	sample.stack = profile_add_stack(c->p, 0, location, PROFILE_HOW_SURE);

	struct profile_time time = { .time_ns = 1003000000, .weight = sample.weight, .row = profile_add_sample(c->p, &sample) };

	time_series_add(&c->p->times, &time);
}

/* They are beyond what fits a signed number of 64 bits. */
TEST(addresses_of_the_kernel_come_back_from_every_format_that_has_addresses)
{
	const uint64_t vaddr = 0xffffffff81000ab0;
	unsigned tried = 0;
	struct import_case c, back;

	import_case_text(&c, profile_text_);
	add_kernel_sample(&c, vaddr);
	for (const struct export_row *row = export_table; row->name; row++) {
		char *data = NULL;
		size_t len = 0;
		FILE *out = open_memstream(&data, &len);

		CHECK_OK(row->format->write(c.p, &c.facts, out));
		fclose(out);
		CHECK(!strstr(data, "-2130703696")); /* the same as a signed number */
		free(data);
		pass_through(row->format, row->name, &c, &back);
		if (carries(&back, IMPORT_ADDRESSES) && strcmp(row->name, "firefox") != 0) { /* no number of JavaScript holds them */
			CHECK_STR(has_address(&back, vaddr) ? row->name : "", row->name);
			tried++;
		}
		import_case_close(&back);
	}
	CHECK(tried >= 4);
	import_case_close(&c);
}

/* Waits are recorded each, "one in 1", and last as long as they do: that is no number of samples. */
TEST(waits_come_back_as_many_as_they_were)
{
	struct import_case c, back;

	import_case_text(&c, "app 10/10 [000] 1.0: 500000 off-cpu: \n\t 10 leaf (/bin/app)\n\n"
			     "app 10/10 [000] 1.5: 700000 off-cpu: \n\t 10 leaf (/bin/app)\n\n");
	c.p->types.items[0].rate = 1;
	c.p->types.items[0].unit = profile_string(c.p, "ns");
	for (const struct export_row *row = export_table; row->name; row++) {
		if (!row->format->times || strcmp(row->name, "speedscope") == 0) /* which sums up */
			continue;
		pass_through(row->format, row->name, &c, &back);
		CHECK_UINT(import_case_sum(&back, "off-cpu").count, 2);
		CHECK_INT(import_case_sum(&back, "off-cpu").weight, 1200000);
		import_case_close(&back);
	}
	import_case_close(&c);
}

/* ---- what threads did when ---- */

static void add_span(struct import_case *c, uint8_t state, uint64_t from_ns, uint64_t len_ns, uint32_t count)
{
	bool waits = state == PROFILE_STATE_BLOCKED;
	const struct profile_span span = { .thread = c->p->samples.items[0].thread, .waker = PROFILE_NONE, .count = count, .state = state,
					   .stack = waits ? c->p->samples.items[0].stack : 0, .from_ns = from_ns, .len_ns = len_ns };

	span_list_add(&c->p->spans, &span);
}

/* One of them before the beginning of the recording, one that overlaps another, a gap, and several that became one. */
static void add_spans(struct import_case *c)
{
	c->facts.start_ns = 1000;
	add_span(c, PROFILE_STATE_EARLIER, 200, 900, 1);
	add_span(c, PROFILE_STATE_BLOCKED, 1100, 500, 1);
	add_span(c, PROFILE_STATE_ON_CPU, 1500, 400, 1);
	add_span(c, PROFILE_STATE_RUNNABLE, 2000, 70, 1);
	add_span(c, PROFILE_STATE_BLOCKED, 2070, 30, 4);
	add_span(c, PROFILE_STATE_BLOCKED, 2100, 8, 1);
}

TEST(states_of_threads_come_back_from_speedscope)
{
	struct import_case c, back;

	import_case_text(&c, profile_text_);
	add_spans(&c);
	pass_through(&export_speedscope, "speedscope", &c, &back);
	CHECK(!back.diag.entries);
	CHECK_INT(import_case_sum(&back, "cpu-clock").weight, 7000000);
	CHECK_INT(import_case_sum(&back, "states").weight, 1008);
	CHECK_INT(import_case_part(&back, "states", "[waits since before the recording]", "app").weight, 100);
	CHECK_INT(import_case_part(&back, "states", "leaf", "app").weight, 508);
	CHECK_INT(import_case_part(&back, "states", "[on a CPU]", "app").weight, 300);
	CHECK_INT(import_case_part(&back, "states", "[run queue]", "app").weight, 70);
	CHECK_INT(import_case_part(&back, "states", "[several]", "app").weight, 30);
	import_case_close(&back);
	import_case_close(&c);
}

/* "begins 1100 ends 1600 …": the slices of the packet that @r is over. */
static void print_slice(struct reader r, FILE *out)
{
	struct proto_field field, inner;
	uint64_t time_ns = 0, type = 0;

	while (proto_next(&r, &field)) {
		if (field.number == 8)
			time_ns = field.value;
		while (field.number == 11 && proto_next(&field.bytes, &inner))
			if (inner.number == 9)
				type = inner.value;
	}
	if (type)
		fprintf(out, "%s %u ", type == 1 ? "begins" : "ends", (unsigned)time_ns);
}

static void print_slices(FILE *out, void *context)
{
	const struct import_case *c = context;
	struct proto_field packet;
	struct reader r;
	char *data = NULL;
	size_t len = 0;
	FILE *file = open_memstream(&data, &len);

	CHECK_OK(export_perfetto.write(c->p, &c->facts, file));
	fclose(file);
	reader_init(&r, data, len, /* big_endian= */ false);
	while (proto_next(&r, &packet))
		print_slice(packet.bytes, out);
	free(data);
}

TEST(states_of_threads_are_slices_of_perfetto_that_do_not_overlap)
{
	struct import_case c;

	import_case_text(&c, profile_text_);
	add_spans(&c);
	CHECK_STR(test_printed(print_slices, &c), "begins 200 ends 1100 begins 1100 ends 1600 begins 1600 ends 1900 begins 2000 ends 2070 "
						  "begins 2070 ends 2100 begins 2100 ends 2108 ");
	import_case_close(&c);
}

/* "10:0.100000, 0.500000" for each track: where its markers begin. */
static void print_markers(FILE *out, void *context)
{
	const struct import_case *c = context;
	char *data = NULL, *at;
	size_t len = 0;
	FILE *file = open_memstream(&data, &len);

	CHECK_OK(export_firefox.write(c->p, &c->facts, file));
	fclose(file);
	for (at = data; (at = strstr(at, "\"tid\": \"")); at++) {
		const char *markers = strstr(strstr(at, "\"markers\""), "\"startTime\": [") + 14;

		fprintf(out, "%.*s:", (int)strcspn(at + 8, "\""), at + 8);
		for (size_t i = 0; i < strcspn(markers, "]"); i++)
			if (markers[i] != '\n')
				fputc(markers[i], out);
		fputc('\n', out);
	}
	free(data);
}

static uint32_t named_thread(struct import_case *c, uint32_t tid, const char *name)
{
	const struct profile_thread thread = { .pid = 10, .tid = tid, .comm = profile_string(c->p, name), .process = profile_string(c->p, name) };

	return profile_add_thread(c->p, &thread);
}

static void span_of(struct import_case *c, uint32_t thread, uint64_t from_ns)
{
	const struct profile_span span = { .thread = thread, .waker = PROFILE_NONE, .count = 1, .state = PROFILE_STATE_ON_CPU,
					   .from_ns = from_ns, .len_ns = 100 };

	span_list_add(&c->p->spans, &span);
}

TEST(firefox_has_what_a_thread_did_under_all_its_names_and_threads_without_samples)
{
	static const char text[] = "app    10/10 [000] 1.000000: 1000000 cpu-clock: \n\t 10 leaf (/bin/app)\n\n"
				   "shell  10/10 [000] 0.900000: 7000000 cpu-clock: \n\t 10 leaf (/bin/app)\n\n";
	struct import_case c;

	import_case_text(&c, text);
	c.facts.start_ns = 1000;
	span_of(&c, named_thread(&c, 10, "shell"), 1000);
	span_of(&c, named_thread(&c, 10, "app"), 1100);
	span_of(&c, named_thread(&c, 12, "quiet"), 1500);
	CHECK_STR(test_printed(print_markers, &c), "10:0.000000, 0.000100\n10.1:\n12:0.000500\n");
	import_case_close(&c);
}

/* ---- what the table of formats claims ---- */

static uint32_t function(struct profile *p, const char *name, uint32_t module)
{
	const struct profile_function made = { .name = profile_string(p, name), .module = module, .file = profile_string(p, "/src/a.c"), .line = 3 };

	return profile_add_function(p, &made);
}

/* leaf, at a line, inlined into main, in a thread at a time with a label. */
static struct profile *full(void)
{
	struct profile *p = profile_new();
	const struct profile_module mod = {
		.name = profile_string(p, "app"), .path = profile_string(p, "/bin/app"), .build_id = profile_string(p, "abcd"),
	};
	const struct profile_value_type types[] = { { .name = profile_string(p, "cpu-clock"), .unit = profile_string(p, "ns") },
						    { .name = profile_string(p, "faults"), .unit = profile_string(p, "events") } };
	const struct profile_label label = { .key = profile_string(p, "url"), .text = profile_string(p, "/cart") };
	uint32_t module = profile_add_module(p, &mod), file = profile_string(p, "/src/a.c");
	const struct profile_line lines[] = { { function(p, "leaf", module), file, 7 }, { function(p, "main", module), file, 9 } };
	uint32_t location = profile_add_location(p, module, 0x1234, PROFILE_FRAME_NATIVE);

	profile_set_lines(p, location, lines, 2);
	for (uint32_t i = 0; i < 2; i++) {
		struct import_sample sample = {
			.stack = profile_add_stack(p, 0, location, PROFILE_HOW_SURE),
			.type = profile_add_value_type(p, &types[i]),
			.thread = import_thread(p, 10, 11, profile_string(p, "app"), profile_string(p, "worker")),
			.labels = profile_add_labels(p, &label, 1),
			.count = 1, .weight = 1000, .has_time = true, .time_ns = 5000000000,
		};

		import_sample(p, &sample);
		sample.time_ns += 2000000000;
		import_sample(p, &sample);
	}
	return p;
}

static bool has_label(const struct profile *p)
{
	for (size_t i = 0; i < p->samples.len; i++) {
		const struct profile_label_set *set = &p->label_sets.items[p->samples.items[i].labels];

		for (uint32_t j = 0; j < set->count; j++)
			if (strcmp(profile_text(p, p->labels.items[set->first + j].key), "url") == 0)
				return true;
	}
	return false;
}

static unsigned lines_of(const struct profile *p)
{
	unsigned found = 0;

	for (size_t i = 0; i < p->lines.len; i++)
		if (p->lines.items[i].line == 7 && strcmp(profile_text(p, p->lines.items[i].file), "/src/a.c") == 0)
			found |= IMPORT_LINES;
	for (size_t i = 0; i < p->locations.len; i++) {
		found |= p->locations.items[i].nlines == 2 ? IMPORT_INLINED : 0;
		found |= p->locations.items[i].has_vaddr && p->locations.items[i].vaddr == 0x1234 ? IMPORT_ADDRESSES : 0;
	}
	return found;
}

/* Which of it is in @p. */
static unsigned carried(const struct import_case *c)
{
	const struct profile *p = c->p;
	unsigned found = lines_of(p), types = 0;

	for (size_t i = 0; i < p->threads.len; i++)
		if (p->threads.items[i].tid == 11)
			found |= IMPORT_THREADS;
	for (uint32_t i = 0; i < p->types.len; i++)
		types += profile_total(p, i).weight != 0;
	found |= types > 1 ? IMPORT_TYPES : 0;
	found |= has_label(p) ? IMPORT_LABELS : 0;
	return found | (times_span(p, 4) == 2000000000 ? IMPORT_TIMES : 0);
}

static void print_annotated(FILE *out, void *context)
{
	const struct import_case *c = context;
	const struct folded_options options = { .lines = true, .suffixes = true, .module = true };

	CHECK_OK(folded_write(c->p, &options, out));
}

TEST(folded_lines_and_marks_are_read_as_what_they_say)
{
	static const char text[] = "app;main (/src/a.c:9) [app];leaf (/src/a.c:7)_[i] [app] 2000\n";
	struct import_case from = { .p = full() }, back;

	profile_facts_init(&from.facts);
	CHECK_STR(test_printed(print_annotated, &from), text);
	import_case_text(&back, text);
	CHECK_STR(import_case_stack(&back, 0), "leaf:7<main:9");
	CHECK(lines_of(back.p) & IMPORT_LINES);
	CHECK_STR(profile_text(back.p, profile_module(back.p, back.p->functions.items[0].module)->name), "app");
	import_case_close(&back);
	profile_free(from.p);
	profile_facts_deinit(&from.facts);
}

/* Neither less nor more, so that `preport formats` is right. */
TEST(what_a_written_format_carries_comes_back)
{
	struct import_case from = { .p = full() }, back;

	profile_facts_init(&from.facts);
	for (const struct export_row *row = export_table; row->name; row++) {
		pass_through(row->format, row->name, &from, &back);
		CHECK_UINT(carried(&back), row->format->carries);
		CHECK_UINT(row->format->carries & ~back.importer->carries, 0);
		import_case_close(&back);
	}
	profile_free(from.p);
	profile_facts_deinit(&from.facts);
}
