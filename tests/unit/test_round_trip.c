/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_round_trip.c - a profile in every format that is written, read again: sums, and what the table of formats claims.
 */
#include "formats/profile/folded.h"
#include "formats/profile/pprof.h"
#include "report/export/export_format.h"
#include "tests/unit/import_case.h"

#include <stdlib.h>
#include <string.h>

static const char profile_text_[] =
	"app    10/10 [000] 1.000000: 1000000 cpu-clock: \n\t 10 leaf (/bin/app)\n\t 20 inner (inlined)\n\t 20 main (/bin/app)\n\n"
	"app    10/10 [000] 1.001000: 1000000 cpu-clock: \n\t 10 leaf (/bin/app)\n\t 20 inner (inlined)\n\t 20 main (/bin/app)\n\n"
	"worker 10/11 [001] 1.000500: 3000000 cpu-clock: \n\t ff sys_read ([kernel.kallsyms])\n\t 30 work (/bin/app)\n\n"
	"worker 10/11 [001] 1.002500: 2000000 cpu-clock: \n\t 30 work (/bin/app)\n\n";

static void write_folded(const struct export_input *in, FILE *out)
{
	static const struct folded_options options;

	CHECK_OK(folded_write(in->profile, &options, out));
}

static void write_pprof(const struct export_input *in, FILE *out)
{
	static const struct pprof_about about;

	CHECK_OK(pprof_write(in->profile, &about, out));
}

static const struct trip {
	const char *importer;
	void (*write)(const struct export_input *in, FILE *out); /* NULL: that of @format */
	const struct export_format *format;
	const char *type; /* what the value is called then */
	uint64_t count;	  /* of samples; speedscope has one for each row, others with 0 do not tell */
	bool inlined;
} trips[] = {
	{ "firefox", NULL, &export_firefox, "wall", 4, true },
	{ "chrome", NULL, &export_chrome, "cpu-clock", 4, false },
	{ "speedscope", NULL, &export_speedscope, "cpu-clock", 3, false },
	{ "perf-script", NULL, &export_perf_script, "cpu-clock", 4, true },
	{ "callgrind", NULL, &export_callgrind, "cpu_clock", 0, false },
	{ "pprof", write_pprof, NULL, "cpu-clock", 4, true },
	{ "folded", write_folded, NULL, "samples", 0, false },
};

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

static void check_trip(const struct trip *trip, const struct export_input *in)
{
	struct import_case c;
	char *data = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&data, &len);

	(trip->write ? trip->write : trip->format->write)(in, out);
	fclose(out);
	CHECK_OK(import_case_read(&c, data, len, trip->importer));
	CHECK_STR(c.importer->name, trip->importer);
	CHECK_INT(import_case_sum(&c, trip->type).weight, 7000000);
	CHECK_INT(import_case_part(&c, trip->type, "leaf", NULL).weight, 2000000);
	CHECK_INT(import_case_part(&c, trip->type, "sys_read", NULL).weight, 3000000);
	CHECK_INT(import_case_part(&c, trip->type, "work", NULL).weight, 2000000);
	if (trip->count)
		CHECK_UINT(import_case_sum(&c, trip->type).count, trip->count);
	check_threads(&c, trip);
	if (trip->format && trip->format->times && strcmp(trip->importer, "speedscope") != 0)
		check_times(&c);
	if (trip->inlined)
		check_inlined(&c);
	import_case_close(&c);
	free(data);
}

TEST(profiles_come_back_from_every_format_that_is_written)
{
	struct import_case c;
	struct export_input in = { 0 };

	import_case_text(&c, profile_text_);
	CHECK_UINT(c.p->samples.len, 3);
	in = (struct export_input){ .profile = c.p, .facts = &c.facts };
	for (size_t i = 0; i < ARRAY_LEN(trips); i++)
		check_trip(&trips[i], &in);
	import_case_close(&c);
}
