/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_import_pprof.c - what pprof_write() writes comes back, and no cut copy does harm.
 */
#include "formats/profile/pprof.h"
#include "tests/unit/import_case.h"

#include "formats/base/gzip.h"
#include "formats/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* main calls work, 7 samples of 10 ns each, and is sampled itself once. */
static struct profile *example(void)
{
	struct profile *p = profile_new();
	struct profile_value_type event = { .name = profile_string(p, "cpu-clock"),
				       .unit = profile_string(p, "ns") };
	struct profile_module mod = { .name = profile_string(p, "prog"),
				      .path = profile_string(p, "/bin/prog") };
	struct profile_thread thread = { .pid = 4711,
					 .tid = 4712,
					 .comm = profile_string(p, "worker"),
					 .process = profile_string(p, "prog") };
	uint32_t module = profile_add_module(p, &mod), stack = 0;
	struct profile_sample sample = { .cpu = 3, .user = true };

	profile_add_value_type(p, &event);
	sample.thread = profile_add_thread(p, &thread);
	for (uint64_t i = 0; i < 2; i++) {
		struct profile_function function = { .name = profile_string(p, i ? "work" : "main"),
						     .module = module,
						     .file = profile_string(p, "/src/prog.c"),
						     .line = 10 };
		struct profile_line line = { profile_add_function(p, &function), function.file, 12 };
		uint32_t location = profile_add_location(p, module, 0x1000 + i, PROFILE_FRAME_NATIVE);

		profile_set_lines(p, location, &line, 1);
		stack = profile_add_stack(p, stack, location, PROFILE_HOW_SURE);
		sample.stack = stack;
		sample.count = i ? 7 : 1;
		sample.weight = 10 * (int64_t)sample.count;
		sample.weight_sq = 100 * (double)sample.count;
		profile_add_sample(p, &sample);
	}
	return p;
}

static char *written(size_t *ret_len)
{
	struct profile_facts facts;
	struct profile *p = example();
	char *data = NULL;
	FILE *out = open_memstream(&data, ret_len);

	profile_facts_init(&facts);
	facts.has_wall = facts.has_duration = true;
	facts.wall_ns = 5;
	facts.duration_ns = 6;
	CHECK_OK(pprof_write(p, &facts, out));
	fclose(out);
	profile_free(p);
	return data;
}

TEST(pprof_comes_back_as_it_was)
{
	size_t len;
	char *data = written(&len);
	struct import_case c;
	struct profile *p;

	CHECK_OK(import_case_read(&c, data, len, "x"));
	p = c.p;
	CHECK_STR(c.importer->name, "pprof");
	CHECK_UINT(c.facts.wall_ns, 5);
	CHECK_UINT(c.facts.duration_ns, 6);
	CHECK_UINT(p->types.len, 1);
	CHECK_STR(profile_text(p, p->types.items[0].name), "cpu-clock");
	CHECK_STR(profile_text(p, p->types.items[0].unit), "ns");
	CHECK_UINT(profile_total(p, 0).count, 8);
	CHECK_UINT(profile_total(p, 0).weight, 80);
	CHECK(profile_total(p, 0).weight_sq == 800);
	CHECK_UINT(p->samples.len, 2);
	CHECK_UINT(p->samples.items[1].cpu, 3);
	CHECK_UINT(p->threads.items[p->samples.items[1].thread].tid, 4712);
	CHECK_STR(profile_text(p, p->threads.items[p->samples.items[1].thread].comm), "worker");

	const struct profile_stack *stack = &p->stacks.items[p->samples.items[1].stack];
	const struct profile_location *at = &p->locations.items[stack->location];
	const struct profile_function *function =
		&p->functions.items[p->lines.items[at->first_line].function];

	CHECK_UINT(at->vaddr, 0x1001);
	CHECK_UINT(p->lines.items[at->first_line].line, 12);
	CHECK_STR(profile_text(p, function->name), "work");
	CHECK_STR(profile_text(p, function->file), "/src/prog.c");
	CHECK_STR(profile_text(p, p->modules.items[function->module].path), "/bin/prog");
	import_case_close(&c);
	free(data);
}

TEST(pprof_files_survive_damage)
{
	struct writer plain = { 0 };
	size_t len;
	char *data = written(&len);

	import_case_damage(data, len, "x.pb.gz");
	CHECK_OK(gzip_decode(data, len, (size_t)1 << 20, &plain));
	import_case_damage(plain.data, plain.len, "x.pb");
	writer_deinit(&plain);
	free(data);
}

/* Fields by hand: numbers below 128, and bytes. */
static void number(struct writer *w, unsigned field, uint64_t value)
{
	writer_uleb(w, field << 3);
	writer_uleb(w, value);
}

static void bytes(struct writer *w, unsigned field, const void *data, size_t len)
{
	writer_uleb(w, field << 3 | 2);
	writer_uleb(w, len);
	writer_bytes(w, data, len);
}

static void message(struct writer *w, unsigned field, struct writer *inner)
{
	bytes(w, field, inner->data, inner->len);
	writer_reset(inner);
}

static void value_type(struct writer *w, uint64_t name, uint64_t unit)
{
	struct writer inner = { 0 };

	number(&inner, 1, name);
	number(&inner, 2, unit);
	message(w, 1, &inner);
	writer_deinit(&inner);
}

/* A heap profile that another one was taken from, as `go tool pprof -base` makes it: four values, one of them negative. */
/* As Go writes threadcreate profiles: a function without a name at an address that is none. */
TEST(pprof_functions_without_name_are_unknown)
{
	static const char *const strings[] = { "", "threadcreate", "count" };
	struct writer w = { 0 }, inner = { 0 }, line = { 0 };
	struct import_case c;

	value_type(&w, 1, 2);
	number(&inner, 1, 1);
	number(&inner, 2, 5);
	message(&w, 2, &inner);
	number(&inner, 1, 1);
	number(&inner, 3, UINT64_MAX);
	number(&line, 1, 1);
	message(&inner, 4, &line);
	message(&w, 4, &inner);
	number(&inner, 1, 1);
	message(&w, 5, &inner);
	for (size_t i = 0; i < ARRAY_LEN(strings); i++)
		bytes(&w, 6, strings[i], strlen(strings[i]));
	CHECK_OK(import_case_read(&c, w.data, w.len, "go.pb"));
	CHECK_STR(import_case_stack(&c, 0), "[unknown]");
	import_case_close(&c);
	writer_deinit(&w);
	writer_deinit(&inner);
	writer_deinit(&line);
}

TEST(pprof_keeps_every_value_type_sign_and_label)
{
	static const char *const strings[] = { "", "alloc_objects", "count", "alloc_space", "bytes",
					       "f", "handler", "/cart", "bytes_each" };
	struct writer w = { 0 }, inner = { 0 }, label = { 0 };
	struct import_case c;

	bytes(&w, 13, "\x01", 1); /* comments first: any field may come first */
	value_type(&w, 1, 2);
	value_type(&w, 3, 4);
	number(&inner, 1, 1);
	number(&inner, 2, 3);
	number(&inner, 2, (uint64_t)-4096);
	number(&label, 1, 6);
	number(&label, 2, 7);
	message(&inner, 3, &label);
	number(&label, 1, 8);
	number(&label, 3, 512);
	message(&inner, 3, &label);
	message(&w, 2, &inner);
	number(&inner, 1, 1);
	number(&label, 1, 1);
	message(&inner, 4, &label);
	message(&w, 4, &inner);
	number(&inner, 1, 1);
	number(&inner, 2, 5);
	message(&w, 5, &inner);
	for (size_t i = 0; i < ARRAY_LEN(strings); i++)
		bytes(&w, 6, strings[i], strlen(strings[i]));
	CHECK_OK(import_case_read(&c, w.data, w.len, "heap"));
	CHECK_UINT(c.p->types.len, 2);
	CHECK_INT(import_case_sum(&c, "alloc_objects").weight, 3);
	CHECK_INT(import_case_sum(&c, "alloc_space").weight, -4096);
	CHECK_UINT(import_case_sum(&c, "alloc_space").count, 1); /* estimated objects are no samples */

	const struct profile_label_set *set = &c.p->label_sets.items[c.p->samples.items[0].labels];

	CHECK_UINT(set->count, 2);
	CHECK(!c.p->locations.items[0].has_vaddr && c.p->locations.items[0].module == PROFILE_NONE);
	import_case_close(&c);
	writer_deinit(&w);
	writer_deinit(&inner);
	writer_deinit(&label);
}

/* A sample of @count at the stack @ids, packed or one by one, whose label's text is string @label. */
static void put_sample(struct writer *w, const char *ids, bool packed, uint64_t count, uint64_t label)
{
	struct writer inner = { 0 }, text = { 0 };

	for (size_t i = 0; ids[i] && !packed; i++)
		number(&inner, 1, (uint8_t)ids[i]);
	if (packed)
		bytes(&inner, 1, ids, strlen(ids));
	number(&inner, 2, count);
	number(&text, 1, 1);
	number(&text, 2, label);
	message(&inner, 3, &text);
	message(w, 2, &inner);
	writer_deinit(&inner);
	writer_deinit(&text);
}

TEST(pprof_stacks_that_come_again_are_the_same_rows)
{
	static const char *const strings[] = { "", "samples", "count", "a", "b" };
	struct writer w = { 0 }, inner = { 0 };
	struct import_case c;

	value_type(&w, 1, 2);
	put_sample(&w, "\x01\x02", /* packed= */ true, 1, 3);
	put_sample(&w, "\x02", /* packed= */ true, 2, 3);
	put_sample(&w, "\x01\x02", /* packed= */ true, 4, 4); /* the same stack, of another label */
	put_sample(&w, "\x01\x02", /* packed= */ true, 8, 3);
	put_sample(&w, "\x01\x02", /* packed= */ false, 16, 4);
	for (uint64_t id = 1; id <= 2; id++) {
		number(&inner, 1, id);
		number(&inner, 3, 0x1000 * id);
		message(&w, 4, &inner);
	}
	for (size_t i = 0; i < ARRAY_LEN(strings); i++)
		bytes(&w, 6, strings[i], strlen(strings[i]));
	CHECK_OK(import_case_read(&c, w.data, w.len, "x"));
	CHECK_UINT(c.p->samples.len, 3);
	CHECK_UINT(c.p->samples.items[0].weight, 9);
	CHECK_UINT(c.p->samples.items[1].weight, 2);
	CHECK_UINT(c.p->samples.items[2].weight, 20);
	CHECK_UINT(c.p->samples.items[2].stack, c.p->samples.items[0].stack);
	import_case_close(&c);

	/* One whose locations are not there is refused, also the second time. */
	put_sample(&w, "\x07", /* packed= */ true, 1, 3);
	CHECK_ERR(import_case_read(&c, w.data, w.len, "x"), ERR_CORRUPT, "sample 6: location 7 is not there");
	import_case_close(&c);
	writer_deinit(&w);
	writer_deinit(&inner);
}

/* work is called by dropped, which is called by main; "keep" fits drop_frames but keep_frames too. */
TEST(pprof_leaves_out_the_frames_that_the_file_wants_dropped)
{
	static const char *const strings[] = { "", "alloc_space", "bytes", "work", "drop_it(int)", "main",
					       "drop_.*|other", "drop_not", "made by hand", "drop_not" };
	struct writer w = { 0 }, inner = { 0 }, label = { 0 };
	struct import_case c;

	value_type(&w, 2, 2);
	value_type(&w, 1, 2);
	for (uint64_t sample = 0; sample < 2; sample++) {
		number(&inner, 1, 1);
		number(&inner, 1, sample ? 4 : 2);
		number(&inner, 1, 3);
		number(&inner, 2, 1);
		number(&inner, 2, 10);
		message(&w, 2, &inner);
	}
	for (uint64_t i = 1; i <= 4; i++) {
		number(&inner, 1, i);
		number(&label, 1, i);
		message(&inner, 4, &label);
		message(&w, 4, &inner);
		number(&inner, 1, i);
		number(&inner, 2, i == 4 ? 9 : i + 2);
		message(&w, 5, &inner);
	}
	for (size_t i = 0; i < ARRAY_LEN(strings); i++)
		bytes(&w, 6, strings[i], strlen(strings[i]));
	number(&w, 7, 6);
	number(&w, 8, 7);
	number(&w, 13, 8);
	CHECK_OK(import_case_read(&c, w.data, w.len, "heap"));
	CHECK_STR(profile_text(c.p, c.p->types.items[0].name), "alloc_space"); /* no default: the last */
	CHECK_STR(import_case_stack(&c, 0), "main");
	CHECK_STR(import_case_stack(&c, 2), "work<drop_not<main");
	CHECK_STR(c.facts.comment, "made by hand");
	import_case_close(&c);
	writer_deinit(&w);
	writer_deinit(&inner);
	writer_deinit(&label);
}
