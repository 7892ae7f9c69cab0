/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_import_jfr.c - what HotSpot wrote, against the JDK's own jfr (tests/data/import/make prints what that says).
 */
#include "formats/base/gzip.h"
#include "tests/unit/import_case.h"

#include <stdlib.h>
#include <string.h>

TEST(jfr_sums_are_those_of_the_jdk)
{
	static const struct {
		const char *type;
		uint64_t count;
		int64_t weight;
	} expected[] = {
		{ "cpu", 50, 50 },
		{ "alloc-tlab", 72, 9009680 },
		{ "alloc-outside-tlab", 234, 35180744 },
		{ "alloc", 121, 59261184 },
		{ "lock", 20, 167341820 },
		{ "wait", 37, 1490108338 },
		{ "park", 45, 1498108586 },
		{ "sleep", 179, 1414265206 },
	};
	struct import_case c;

	import_case_file(&c, "hotspot.jfr.gz");
	CHECK_STR(c.importer->name, "jfr");
	CHECK_UINT(c.p->types.len, ARRAY_LEN(expected));
	for (size_t i = 0; i < ARRAY_LEN(expected); i++) {
		CHECK_STR(profile_text(c.p, c.p->types.items[i].name), expected[i].type);
		CHECK_UINT(import_case_sum(&c, expected[i].type).count, expected[i].count);
		CHECK_INT(import_case_sum(&c, expected[i].type).weight, expected[i].weight);
	}
	CHECK_UINT(import_case_part(&c, "cpu", NULL, "burner-1").count, 27);
	CHECK_UINT(import_case_part(&c, "cpu", NULL, "burner-2").count, 23);
	CHECK_UINT(import_case_part(&c, "cpu", "W.fib", NULL).count, 48);
	CHECK_UINT(c.p->times.len, 758);
	CHECK(c.facts.has_wall && c.facts.has_duration);
	import_case_close(&c);
}

TEST(jfr_frames_have_lines_and_labels)
{
	struct import_case c;
	size_t row = 0;

	import_case_file(&c, "hotspot.jfr.gz");
	while (strcmp(profile_text(c.p, c.p->types.items[c.p->samples.items[row].type].name), "wait") != 0)
		row++;
	CHECK(strncmp(import_case_stack(&c, row), "java.lang.Object.wait<W.lambda$main$1:12<W$$Lambda", 50) == 0);

	const struct profile_label_set *set = &c.p->label_sets.items[c.p->samples.items[row].labels];

	CHECK_UINT(set->count, 1);
	CHECK_STR(profile_text(c.p, c.p->labels.items[set->first].key), "class");
	CHECK_STR(profile_text(c.p, c.p->labels.items[set->first].text), "java.lang.Object");
	import_case_close(&c);
}

/* Samples of @type whose leaf runs the bytecode at @offset of its method. */
static uint64_t at_bytecode(const struct import_case *c, const char *type, int64_t offset)
{
	uint64_t count = 0;

	for (size_t i = 0; i < c->p->samples.len; i++) {
		const struct profile_sample *row = &c->p->samples.items[i];
		const struct profile_label_set *set = &c->p->label_sets.items[row->labels];

		for (uint32_t j = 0; j < set->count; j++) {
			const struct profile_label *label = &c->p->labels.items[set->first + j];

			if (strcmp(profile_text(c->p, label->key), "bytecode") == 0 && label->number == offset &&
			    strcmp(profile_text(c->p, c->p->types.items[row->type].name), type) == 0)
				count += row->count;
		}
	}
	return count;
}

TEST(jfr_leaves_have_the_bytecodes_that_the_jdk_prints)
{
	struct import_case c;

	import_case_file(&c, "hotspot.jfr.gz");
	CHECK_UINT(at_bytecode(&c, "cpu", 13), 30);
	CHECK_UINT(at_bytecode(&c, "cpu", 19), 8);
	CHECK_UINT(at_bytecode(&c, "cpu", 0), 4);
	CHECK_UINT(at_bytecode(&c, "cpu", -1), 0); /* six are not known */
	import_case_close(&c);
}

static uint8_t *unpacked(size_t *ret_len)
{
	size_t packed_len;
	uint8_t *packed = import_case_bytes("hotspot.jfr.gz", &packed_len);
	struct writer plain = { 0 };

	CHECK_OK(gzip_decode(packed, packed_len, (size_t)64 << 20, &plain));
	free(packed);
	*ret_len = plain.len;
	return plain.data;
}

TEST(jfr_chunks_of_other_versions_are_refused_by_name)
{
	size_t len;
	uint8_t *data = unpacked(&len);
	struct import_case c;

	data[5] = 1;
	CHECK_ERR(import_case_read(&c, data, len, "old"), ERR_UNSUPPORTED, "version 1.");
	import_case_close(&c);
	free(data);
}

TEST(jfr_chunk_without_an_end_is_read_as_far_as_it_goes)
{
	size_t len;
	uint8_t *data = unpacked(&len);
	struct import_case c;

	memset(data + 8, 0, 24); /* length and offsets, as while it is written */
	CHECK_OK(import_case_read(&c, data, len, "open"));
	CHECK_UINT(import_case_sum(&c, "cpu").count, 50);
	CHECK(c.diag.entries && strstr(c.diag.entries->message, "is not finished"));
	import_case_close(&c);
	free(data);
}

TEST(jfr_files_of_several_chunks_add_up)
{
	size_t len;
	uint8_t *data = unpacked(&len), *twice = malloc(2 * len);
	struct import_case c;

	memcpy(twice, data, len);
	memcpy(twice + len, data, len);
	CHECK_OK(import_case_read(&c, twice, 2 * len, "two"));
	CHECK_UINT(import_case_sum(&c, "alloc").count, 242);
	CHECK_UINT(c.p->types.len, 8);
	import_case_close(&c);
	CHECK_OK(import_case_read(&c, twice, len + 40, "cut")); /* the second one's header is cut */
	CHECK_UINT(import_case_sum(&c, "alloc").count, 121);
	CHECK(c.diag.entries && strstr(c.diag.entries->message, "the rest of the file is left out"));
	import_case_close(&c);
	free(twice);
	free(data);
}

/* Three chunks, of which the second calls its samples otherwise. */
TEST(jfr_chunks_with_other_metadata_have_other_classes)
{
	static const char name[] = "jdk.ExecutionSample";
	struct import_case c;
	size_t len;
	uint8_t *one = unpacked(&len), *three = malloc(3 * len);
	char *at;

	for (int i = 0; i < 3; i++)
		memcpy(three + (size_t)i * len, one, len);
	at = memmem(three + len, len, name, strlen(name));
	CHECK(at);
	at[strlen(name) - 1] = 'X';
	CHECK_OK(import_case_read(&c, three, 3 * len, "x.jfr"));
	CHECK_UINT(import_case_sum(&c, "cpu").count, 100);
	CHECK_UINT(import_case_sum(&c, "sleep").count, 3 * 179);
	import_case_close(&c);
	free(three);
	free(one);
}

/* Call the string of the metadata that is @old @new, which is longer by 7, as the room for it is: @data has that much behind it. */
static void rename_string(uint8_t *data, size_t len, const char *old, const char *new)
{
	char counted[64];
	size_t old_len = strlen(old), new_len = strlen(new);
	uint8_t *at;

	snprintf(counted, sizeof(counted), "%c%s", (int)old_len, old);
	at = memmem(data, len, counted, old_len + 1);
	CHECK(at);
	memmove(at + 1 + new_len, at + 1 + old_len, (size_t)(data + len - (at + 1 + old_len)));
	*at = (uint8_t)new_len;
	memcpy(at + 1, new, new_len);
}

/* Number @value in the four bytes that HotSpot leaves for the length of an event. */
static void put_len(uint8_t *at, uint32_t value)
{
	for (int i = 0; i < 4; i++, value >>= 7)
		at[i] = (uint8_t)(value & 0x7f) | (i < 3 ? 0x80 : 0);
}

/* JDK 25's event of lost samples has two fields of the names that the class and a field of another event are given here. */
TEST(jfr_says_how_many_samples_the_jvm_lost)
{
	enum { METADATA = 8111, METADATA_LEN = 96269, GROWN = 14 };
	struct import_case c;
	size_t len;
	uint8_t *data = unpacked(&len), *longer = calloc(1, len + GROWN);

	memcpy(longer, data, len);
	rename_string(longer, len, "jdk.ThreadSleep", "jdk.CPUTimeSamplesLost");
	rename_string(longer, len + GROWN / 2, "time", "lostSamples");
	put_len(longer + METADATA, METADATA_LEN + GROWN);
	for (unsigned i = 0; i < 8; i++)
		longer[8 + i] = (uint8_t)((uint64_t)(len + GROWN) >> (56 - 8 * i));
	CHECK_OK(import_case_read(&c, longer, len + GROWN, "x.jfr"));
	CHECK(c.diag.entries && strstr(c.diag.entries->message, "samples of cpu-time that the JVM lost: 895"));
	CHECK_UINT(import_case_sum(&c, "cpu").count, 50);
	import_case_close(&c);
	free(longer);
	free(data);
}

TEST(jfr_files_survive_damage)
{
	size_t len;
	uint8_t *data = unpacked(&len);

	import_case_damage(data, len, "damaged.jfr");
	free(data);
}
