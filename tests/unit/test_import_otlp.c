/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_import_otlp.c - files that OpenTelemetry's own classes wrote, as protobuf and as JSON (tests/data/import/otlp.py).
 */
#include "tests/unit/import_case.h"

#include <stdlib.h>
#include <string.h>

static const struct profile_thread *thread_of_row(const struct import_case *c, size_t row)
{
	return &c->p->threads.items[c->p->samples.items[row].thread];
}

static void check(const char *file)
{
	struct import_case c;
	struct time_cursor cursor;
	struct profile_time first;

	import_case_file(&c, file);
	CHECK_STR(c.importer->name, "otlp");
	CHECK_UINT(import_case_sum(&c, "samples").count, 4);
	CHECK_UINT(import_case_part(&c, "samples", "work", "worker").count, 3);
	CHECK_INT(import_case_sum(&c, "cpu").weight, 70000000);
	CHECK_UINT(import_case_sum(&c, "cpu").count, 7); /* of one period each */
	CHECK_STR(import_case_stack(&c, 0), "work:11<inner:21+main:31");
	CHECK_STR(import_case_stack(&c, 1), "sys_read<work:11<inner:21+main:31");
	CHECK_STR(import_case_stack(&c, 2), "[app+0x1030]");
	CHECK_UINT(thread_of_row(&c, 0)->pid, 4711);
	CHECK_UINT(thread_of_row(&c, 0)->tid, 4712);
	CHECK_STR(profile_text(c.p, thread_of_row(&c, 0)->process), "app");
	CHECK_UINT(c.p->label_sets.items[c.p->samples.items[1].labels].count, 1);
	CHECK_STR(profile_text(c.p, c.p->modules.items[0].build_id), "abcdef0123");
	CHECK_UINT(c.facts.wall_ns, 1790000000000000000);
	CHECK_UINT(c.facts.duration_ns, 2000000000);
	CHECK_UINT(c.p->times.len, 4);
	cursor = time_series_begin(&c.p->times);
	CHECK(time_series_next(&cursor, &first));
	CHECK_UINT(first.time_ns, 1790000000000000005);
	import_case_close(&c);
}

TEST(otlp_is_the_same_from_protobuf_and_json)
{
	check("../fuzz/import/otlp");
	check("../fuzz/import/otlp.json");
}

TEST(otlp_survives_damage)
{
	size_t len;
	uint8_t *data = import_case_bytes("../fuzz/import/otlp.json", &len);

	import_case_damage(data, len, "x.json");
	free(data);
}

/* Of async-profiler 4.1, with ctimer, interval=10ms, threads: each sample has a number and nanoseconds. */
TEST(otlp_of_version_1_7_is_read)
{
	struct import_case c;
	uint8_t *data;
	size_t len;

	import_case_file(&c, "../fuzz/import/otlp-1.7");
	CHECK_STR(c.importer->name, "otlp");
	CHECK_INT(import_case_sum(&c, "ctimer").weight, 24);
	CHECK_INT(import_case_sum(&c, "ctimer-ns").weight, 240000000);
	CHECK_UINT(import_case_sum(&c, "ctimer-ns").count, 24);
	CHECK_INT(import_case_part(&c, "ctimer", "W.fib", "burner").weight, 10);
	CHECK_INT(import_case_part(&c, "ctimer", NULL, "DestroyJavaVM").weight, 14);
	import_case_close(&c);
	data = import_case_bytes("../fuzz/import/otlp-1.7", &len);
	import_case_damage(data, len, "x.otlp");
	free(data);
}

TEST(otlp_of_older_versions_is_refused_by_name)
{
	static const char old[] = "{\"resourceProfiles\":[{\"scopeProfiles\":[{\"profiles\":[{\"sampleType\":{},\"sample\":[{}],"
				  "\"locationIndices\":[0]}]}]}],\"dictionary\":{\"stringTable\":[\"\"]}}";
	struct import_case c;

	CHECK_ERR(import_case_read(&c, old, sizeof(old) - 1, "x"), ERR_UNSUPPORTED, "JSON before 1.9");
	import_case_close(&c);
}
