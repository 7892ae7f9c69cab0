/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_import_limits.c - files that are made to cost an importer more than they hold, or to have it mix things up.
 */
#include "formats/base/proto_reader.h"
#include "formats/profile/import/import_build.h"
#include "formats/profile/import/import_ids.h"
#include "formats/profile/import/import_profile.h"
#include "tests/unit/import_case.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

TEST(import_ids_of_a_large_number_cost_little)
{
	struct import_ids ids = { 0 };

	import_ids_put(&ids, 4194303, 7);
	CHECK(ids.dense.cap < 1000);
	for (uint32_t i = 0; i < 1000; i++)
		import_ids_put(&ids, i * 3, i);
	CHECK(ids.dense.cap < 10000);
	CHECK_UINT(import_ids_get(&ids, 4194303), 7);
	CHECK_UINT(import_ids_get(&ids, 2997), 999);
	CHECK_UINT(import_ids_get(&ids, 2998), PROFILE_NONE);
	import_ids_deinit(&ids);
}

TEST(import_ids_put_twice_have_the_last_number)
{
	struct import_ids ids = { 0 };

	import_ids_put(&ids, 500, 1); /* too far off for the array */
	for (uint32_t i = 0; i < 200; i++)
		import_ids_put(&ids, i, i);
	import_ids_put(&ids, 500, 2);
	CHECK_UINT(import_ids_get(&ids, 500), 2);
	import_ids_deinit(&ids);
}

TEST(proto_fields_are_empty_after_a_failure)
{
	static const uint8_t cut[] = { 0x0a, 0x7f };
	struct proto_field field;
	struct reader r;

	memset(&field, 0x55, sizeof(field));
	reader_init(&r, guarded(cut, sizeof(cut)), sizeof(cut), /* big_endian= */ false);
	CHECK(!proto_next(&r, &field));
	CHECK_UINT(field.value, 0);
	CHECK_UINT(reader_left(&field.bytes), 0);
	CHECK(!field.bytes.pos);
}

TEST(chrome_events_that_begin_together_are_sorted_fast)
{
	struct writer w = { 0 };
	struct import_case c;
	char text[128];

	writer_bytes(&w, "[", 1);
	for (int i = 0; i < 100000; i++)
		writer_bytes(&w, text, (size_t)snprintf(text, sizeof(text),
			"{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":5,\"dur\":%d,\"name\":\"f\"},\n", i + 1));
	for (int i = 0; i < 100000; i++) /* and open calls that none of the ends is of */
		writer_bytes(&w, text, (size_t)snprintf(text, sizeof(text),
			"{\"ph\":\"%c\",\"pid\":1,\"tid\":2,\"ts\":%d,\"name\":\"%s\"},\n", i < 50000 ? 'B' : 'E', i,
			i < 50000 ? "a" : "b"));
	writer_bytes(&w, "]", 1);
	CHECK_OK(import_case_read(&c, w.data, w.len, "many.json"));
	CHECK_INT(import_case_sum(&c, "wall").weight, 100000000 + 99999000);
	CHECK(c.p->stacks_cut > 0);
	import_case_close(&c);
	writer_deinit(&w);
}

TEST(chrome_processes_with_names_for_numbers_are_told_apart)
{
	struct import_case c;

	/* "Aa" and "BB" are equal to a common hash, and so is 2112. */
	import_case_text(&c, "[{\"ph\":\"X\",\"pid\":\"Aa\",\"tid\":1,\"ts\":0,\"dur\":10,\"name\":\"a\"},"
			     "{\"ph\":\"X\",\"pid\":\"BB\",\"tid\":1,\"ts\":2,\"dur\":3,\"name\":\"b\"},"
			     "{\"ph\":\"X\",\"pid\":2112,\"tid\":1,\"ts\":2,\"dur\":3,\"name\":\"c\"}]");
	CHECK_UINT(c.p->threads.len, 3);
	CHECK_STR(profile_text(c.p, c.p->threads.items[0].process), "Aa");
	CHECK_UINT(c.p->threads.items[0].pid, PROFILE_NONE);
	CHECK_UINT(c.p->threads.items[2].pid, 2112);
	CHECK_INT(import_case_part(&c, "wall", "a", NULL).weight, 10000);
	import_case_close(&c);
}

TEST(folded_stacks_that_are_too_deep_keep_their_leaf)
{
	struct writer w = { 0 };
	struct import_case c;

	for (int i = 0; i < 10000; i++)
		writer_bytes(&w, i ? ";f" : "p", i ? 2 : 1);
	writer_bytes(&w, ";leaf 3\n", 8);
	CHECK_OK(import_case_read(&c, w.data, w.len, "deep"));
	CHECK_UINT(import_case_part(&c, "samples", "leaf", NULL).count, 3);
	CHECK_UINT(c.p->stacks.items[c.p->samples.items[0].stack].depth, PROFILE_DEPTH_MAX);
	CHECK(c.diag.entries && strstr(c.diag.entries->message, "deeper than 4096 frames"));
	import_case_close(&c);
	writer_deinit(&w);
}

TEST(cpuprofile_with_an_end_that_is_no_time)
{
	struct import_case c;

	import_case_text(&c, "{\"nodes\":[{\"id\":1,\"callFrame\":{\"functionName\":\"f\",\"url\":\"a.js\",\"lineNumber\":1}}],"
			     "\"samples\":[1,1],\"timeDeltas\":[100,50],\"startTime\":-9223372036854775808,"
			     "\"endTime\":-9223372036854775808,\"startTime\":7}");
	CHECK_INT(import_case_sum(&c, "wall").weight, 50000);
	import_case_close(&c);
}

TEST(sums_that_do_not_fit_are_refused)
{
	static const char text[] = "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"shared\":{\"frames\":[{\"name\":\"a\"}]},"
				   "\"profiles\":[{\"type\":\"sampled\",\"unit\":\"nanoseconds\",\"samples\":[[0],[0]],"
				   "\"weights\":[8e18,8e18]}]}";
	struct import_case c;

	CHECK_ERR(import_case_read(&c, text, strlen(text), "x"), ERR_CORRUPT, "add up to more than 64 bits");
	import_case_close(&c);
}

TEST(speedscope_without_profiles_has_no_samples)
{
	static const char text[] = "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"shared\":{\"frames\":[]},"
				   "\"profiles\":null,\"name\":\"x\"}";
	struct import_case c;

	CHECK_ERR(import_case_read(&c, text, strlen(text), "x"), ERR_UNSUPPORTED, "it holds no samples");
	import_case_close(&c);
}

TEST(texts_of_perf_script_have_few_events)
{
	struct writer w = { 0 };
	struct import_case c;
	char text[128];

	for (int i = 0; i < 10000; i++)
		writer_bytes(&w, text, (size_t)snprintf(text, sizeof(text), "a 1/1 %d.5: 1 event%d: \n\t 1f f (/a)\n\n", i, i));
	CHECK_ERR(import_case_read(&c, w.data, w.len, "x"), ERR_UNSUPPORTED, "more than 256 events");
	import_case_close(&c);
	writer_deinit(&w);
}

TEST(profiles_of_others_do_not_have_this_machines_architecture)
{
	int fd = memfd_create("profile", MFD_CLOEXEC);
	struct profile *p;
	struct profile_facts facts;
	struct diag diag = { 0 };

	CHECK(write(fd, "a;b 1\n", 6) == 6);
	CHECK_OK(import_profile(fd, "x", &diag, &p, &facts));
	CHECK(!facts.arch);
	profile_free(p);
	profile_facts_deinit(&facts);
	diag_deinit(&diag);
	close(fd);
}

TEST(value_types_have_one_name_for_each_unit)
{
	struct profile *p = profile_new();
	uint32_t cpu = import_type(p, "cpu", "nanoseconds"), calls = import_type(p, "calls", "count"), space = import_type(p, "space", "bytes");

	CHECK_STR(profile_text(p, p->types.items[cpu].unit), "ns");
	CHECK_UINT(import_type(p, "cpu", "ns"), cpu);
	CHECK_STR(profile_text(p, p->types.items[calls].unit), "events");
	CHECK_STR(profile_text(p, p->types.items[space].unit), "bytes");
	profile_free(p);
}
