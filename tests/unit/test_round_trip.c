/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_round_trip.c - a profile in every format that is written, read again: sums, and what the table of formats claims.
 */
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
	{ "firefox", "wall", 4, true, NULL },
	{ "chrome", "cpu-clock", 4, false, NULL },
	{ "speedscope", "cpu-clock", 3, false, NULL },
	{ "perf-script", "cpu-clock", 4, true, NULL },
	{ "callgrind", "cpu_clock", 0, false, NULL },
	{ "pprof", "cpu-clock", 4, true, NULL },
	{ "folded", "samples", 0, false, NULL },
	{ "otlp", "cpu-clock", 4, true, NULL },
	{ "otlp-json", "cpu-clock", 4, true, "otlp" },
};

static const struct {
	const char *name;
	const struct export_format *format;
} formats[] = {
#define ROW(id, name) { name, &export_##id },
	EXPORT_FORMATS(ROW)
#undef ROW
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

/* Differences between times: where they begin is the format's own. */
static void check_times(const struct import_case *c)
{
	struct time_cursor cursor = time_series_begin(&c->p->times);
	uint64_t first = UINT64_MAX, last = 0;
	struct profile_time time;

	if (!c->p->times.len)
		return;
	CHECK_UINT(c->p->times.len, 4);
	while (time_series_next(&cursor, &time)) {
		first = MIN(first, time.time_ns);
		last = MAX(last, time.time_ns);
	}
	CHECK_UINT(last - first, 2500000);
}

static void check_inlined(const struct import_case *c)
{
	bool found = false;

	for (size_t i = 0; i < c->p->samples.len; i++)
		found = found || strcmp(import_case_stack(c, i), "leaf<inner+main") == 0;
	CHECK(found);
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
	import_case_close(&c);
}

TEST(profiles_come_back_from_every_format_that_is_written)
{
	struct import_case c;

	import_case_text(&c, profile_text_);
	CHECK_UINT(c.p->samples.len, 3);
	for (size_t i = 0; i < ARRAY_LEN(formats); i++)
		check_trip(trip_of(formats[i].name), formats[i].format, &c);
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
	CHECK(!c->facts.has_wall && !c->facts.ncpus && !c->facts.arch);
	CHECK_STR(c->facts.hostname, "");
}

TEST(folded_stacks_come_back_from_every_format_as_they_were)
{
	struct import_case c, back;

	import_case_text(&c, folded_text);
	for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
		pass_through(formats[i].format, formats[i].name, &c, &back);
		check_no_numbers(&back);
		if (strcmp(formats[i].name, "callgrind") == 0) { /* it has no stacks and no processes */
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
