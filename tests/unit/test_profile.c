/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_profile.c - the profile's tables: equal entries are one, numbers stay, sums are right.
 */
#include "formats/profile/profile.h"
#include "tests/unit/test.h"

static uint32_t add_module(struct profile *p, const char *path, const char *build_id)
{
	struct profile_module mod = { .name = profile_string(p, path),
				      .path = profile_string(p, path),
				      .build_id = profile_string(p, build_id) };

	return profile_add_module(p, &mod);
}

TEST(profile_finds_equal_entries_again)
{
	struct profile *p = profile_new();
	uint32_t libc = add_module(p, "/lib/libc.so.6", "aa");

	CHECK_UINT(add_module(p, "/lib/libc.so.6", "aa"), libc);
	CHECK(add_module(p, "/lib/libc.so.6", "bb") != libc);

	uint32_t here = profile_add_location(p, libc, 0x1000, PROFILE_FRAME_NATIVE);

	CHECK_UINT(profile_add_location(p, libc, 0x1000, PROFILE_FRAME_NATIVE), here);
	CHECK(profile_add_location(p, libc, 0x1001, PROFILE_FRAME_NATIVE) != here);
	CHECK(profile_add_location(p, libc + 1, 0x1000, PROFILE_FRAME_NATIVE) != here);

	uint32_t stack = profile_add_stack(p, 0, here, PROFILE_HOW_SURE);

	CHECK(stack != 0);
	CHECK_UINT(profile_add_stack(p, 0, here, PROFILE_HOW_SURE), stack);
	CHECK(profile_add_stack(p, 0, here, PROFILE_HOW_GUESS) != stack);
	CHECK(profile_add_stack(p, stack, here, PROFILE_HOW_SURE) != stack);
	profile_free(p);
}

TEST(profile_functions_and_threads_differ_by_every_field)
{
	struct profile *p = profile_new();
	struct profile_function function = { .name = profile_string(p, "f"), .line = 3 };
	struct profile_thread thread = { .pid = 1, .tid = 2, .comm = profile_string(p, "sh") };
	uint32_t first = profile_add_function(p, &function);
	uint32_t first_thread = profile_add_thread(p, &thread);

	CHECK_UINT(profile_add_function(p, &function), first);
	function.line = 4;
	CHECK(profile_add_function(p, &function) != first);
	CHECK_UINT(profile_add_thread(p, &thread), first_thread);
	thread.comm = profile_string(p, "make"); /* the same thread after exec */
	CHECK(profile_add_thread(p, &thread) != first_thread);
	profile_free(p);
}

TEST(profile_samples_that_are_equal_become_one_row_with_sums)
{
	struct profile *p = profile_new();
	struct profile_sample sample = { .stack = 0, .count = 1, .weight = 3, .weight_sq = 9 };

	for (int i = 0; i < 1000; i++)
		profile_add_sample(p, &sample);
	CHECK_UINT(p->samples.len, 1);
	sample.type = 1;
	profile_add_sample(p, &sample);
	CHECK_UINT(p->samples.len, 2);

	struct profile_sum sum = profile_total(p, 0);

	CHECK_UINT(sum.count, 1000);
	CHECK_UINT(sum.weight, 3000);
	CHECK(sum.weight_sq == 9000.0);
	CHECK_UINT(profile_total(p, PROFILE_NONE).count, 1001);
	profile_free(p);
}

TEST(profile_calls_added_together_are_those_added_one_by_one)
{
	struct profile *p = profile_new();
	uint32_t calls[PROFILE_DEPTH_MAX + 40], together[PROFILE_DEPTH_MAX + 40], stack = 0;

	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		struct profile_function function = { .name = profile_string(p, "f"), .line = (uint32_t)(i * i % 50) };
		struct profile_line line = { .function = profile_add_function(p, &function) };

		calls[i] = profile_add_named_location(p, PROFILE_FRAME_NATIVE, PROFILE_NONE, &line, 1);
	}
	CHECK_UINT(profile_add_calls(p, 0, calls, 0, NULL), 0);
	stack = profile_add_calls(p, 0, calls, 20, together);
	CHECK_UINT(together[19], stack);
	stack = profile_add_calls(p, stack, calls + 20, ARRAY_LEN(calls) - 20, together + 20);
	CHECK_UINT(together[ARRAY_LEN(calls) - 1], stack);
	stack = 0;
	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		stack = profile_add_stack(p, stack, calls[i], PROFILE_HOW_SURE);
		CHECK_UINT(together[i], stack);
	}
	profile_free(p);
}

TEST(profile_rows_from_a_queue_are_those_of_samples_added_one_by_one)
{
	struct profile *one = profile_new(), *many = profile_new();
	struct profile_queue queue = { 0 };

	for (uint32_t i = 0; i < 3 * PROFILE_QUEUE_LEN + 5; i++) {
		struct profile_sample sample = { .stack = i * i % 23, .labels = i % 3, .count = 1, .weight = i % 2 ? (int64_t)i : -5, .weight_sq = i };

		profile_add_sample(one, &sample);
		profile_queue_sample(many, &queue, &sample);
		CHECK_UINT(many->weight_used, one->weight_used); /* at once: the next sample must fit, too */
	}
	profile_queue_flush(many, &queue);
	profile_queue_flush(many, &queue);
	CHECK_UINT(many->samples.len, one->samples.len);
	for (size_t i = 0; i < one->samples.len; i++) {
		const struct profile_sample *a = &one->samples.items[i], *b = &many->samples.items[i];

		CHECK_UINT(b->stack, a->stack);
		CHECK_UINT(b->labels, a->labels);
		CHECK_UINT(b->count, a->count);
		CHECK(b->weight == a->weight && b->weight_sq == a->weight_sq);
	}
	profile_free(one);
	profile_free(many);
}

TEST(profile_keeps_numbers_while_its_tables_grow)
{
	struct profile *p = profile_new();
	uint32_t stack = 0;

	for (uint32_t i = 0; i < 20000; i++) {
		if (i % 1000 == 0)
			stack = 0;
		uint32_t location = profile_add_location(p, 0, i * 16u, PROFILE_FRAME_NATIVE);

		CHECK_UINT(location, i);
		uint32_t next = profile_add_stack(p, stack, location, PROFILE_HOW_SURE);

		CHECK(next > stack); /* a parent is smaller than its children */
		stack = next;
	}
	for (uint32_t i = 0; i < 20000; i++)
		CHECK_UINT(profile_add_location(p, 0, i * 16u, PROFILE_FRAME_NATIVE), i);
	profile_free(p);
}

TEST(profile_keeps_root_and_leaf_of_a_stack_that_is_too_deep)
{
	struct profile *p = profile_new();
	uint32_t stack = 0, full = 0, depth = 0;

	for (uint32_t i = 0; i < 3 * PROFILE_DEPTH_MAX; i++) {
		stack = profile_add_stack(p, stack, profile_add_location(p, 0, i + 1, PROFILE_FRAME_NATIVE), PROFILE_HOW_SURE);
		full = i + 1 == PROFILE_DEPTH_MAX ? stack : full;
	}
	CHECK_UINT(p->locations.items[p->stacks.items[full].location].vaddr, PROFILE_DEPTH_MAX);
	CHECK_UINT(p->locations.items[p->stacks.items[stack].location].vaddr, 3 * PROFILE_DEPTH_MAX);
	CHECK_UINT(p->locations.items[p->stacks.items[p->stacks.items[stack].parent].location].kind,
		   PROFILE_FRAME_MARKER);
	for (; stack; stack = p->stacks.items[stack].parent)
		depth++;
	CHECK_UINT(depth, PROFILE_DEPTH_MAX);
	CHECK_UINT(p->stacks_cut, 2 * PROFILE_DEPTH_MAX);
	profile_free(p);
}

TEST(profile_names_are_set_at_a_location_innermost_first)
{
	struct profile *p = profile_new();
	uint32_t at = profile_add_location(p, 0, 0x10, PROFILE_FRAME_NATIVE);
	struct profile_line lines[] = { { .function = 7, .line = 1 },
					{ .function = 8, .line = 2 } };

	CHECK_UINT(p->locations.items[at].nlines, 0);
	profile_set_lines(p, at, lines, 2);
	CHECK_UINT(p->locations.items[at].nlines, 2);
	CHECK_UINT(p->lines.items[p->locations.items[at].first_line].function, 7);
	profile_free(p);
}

TEST(profile_locations_without_address_are_equal_by_kind_module_and_lines)
{
	struct profile *p = profile_new();
	uint32_t libc = add_module(p, "/lib/libc.so.6", "aa");
	struct profile_line lines[] = { { .function = 7, .line = 1 }, { .function = 8, .line = 2 } };
	uint32_t first = profile_add_named_location(p, PROFILE_FRAME_INTERPRETED, PROFILE_NONE, lines, 2);

	CHECK(!p->locations.items[first].has_vaddr);
	CHECK_UINT(p->locations.items[first].nlines, 2);
	CHECK_UINT(profile_add_named_location(p, PROFILE_FRAME_INTERPRETED, PROFILE_NONE, lines, 2),
		   first);
	CHECK(profile_add_named_location(p, PROFILE_FRAME_JIT, PROFILE_NONE, lines, 2) != first);
	CHECK(profile_add_named_location(p, PROFILE_FRAME_INTERPRETED, libc, lines, 2) != first);
	CHECK(profile_add_named_location(p, PROFILE_FRAME_INTERPRETED, PROFILE_NONE, lines, 1) != first);
	lines[1].line = 3;
	CHECK(profile_add_named_location(p, PROFILE_FRAME_INTERPRETED, PROFILE_NONE, lines, 2) != first);
	CHECK_STR(profile_text(p, profile_module(p, PROFILE_NONE)->path), "");
	profile_free(p);
}

TEST(profile_labels_are_sets)
{
	struct profile *p = profile_new();
	struct profile_label labels[] = {
		{ .key = profile_string(p, "bytes"), .is_number = true, .number = -3 },
		{ .key = profile_string(p, "tag"), .text = profile_string(p, "x") },
		{ .key = profile_string(p, "tag"), .text = profile_string(p, "x") },
	};
	uint32_t set = profile_add_labels(p, labels, 3);
	struct profile_label turned[] = { labels[1], labels[0] };

	CHECK_UINT(profile_add_labels(p, NULL, 0), 0);
	CHECK(set != 0);
	CHECK_UINT(profile_add_labels(p, turned, 2), set);
	CHECK_UINT(p->label_sets.items[set].count, 2);
	CHECK(profile_add_labels(p, turned, 1) != set);
	labels[0].number = 3;
	CHECK(profile_add_labels(p, labels, 3) != set);
	profile_free(p);
}

TEST(profile_values_may_be_negative)
{
	struct profile *p = profile_new();
	struct profile_sample sample = { .count = 1, .weight = -30, .weight_sq = 900 };

	profile_add_sample(p, &sample);
	sample.stack = 1;
	sample.weight = 10;
	profile_add_sample(p, &sample);
	CHECK(profile_total(p, 0).weight == -20);
	CHECK(profile_fits(p, INT64_MAX - 40));
	CHECK(!profile_fits(p, INT64_MAX - 39));
	CHECK(!profile_fits(p, INT64_MIN));
	profile_free(p);
}

TEST(profile_processes_have_names_in_time)
{
	struct profile *p = profile_new();
	uint32_t one = profile_add_process(p, &(struct profile_process){ .pid = 7 });
	uint32_t two = profile_add_process(p, &(struct profile_process){ .pid = 8, .parent = one });

	profile_add_process_name(p, one, 1, profile_string(p, "sh"));
	profile_add_process_name(p, two, 2, profile_string(p, "sh"));
	profile_add_process_name(p, one, 3, profile_string(p, "make"));
	CHECK_UINT(p->processes.items[0].pid, PROFILE_NONE);

	const struct profile_process_name *name =
		&p->process_names.items[p->processes.items[one].first_name];

	CHECK_STR(profile_text(p, name->name), "sh");
	name = &p->process_names.items[name->next];
	CHECK_STR(profile_text(p, name->name), "make");
	CHECK_UINT(name->time_ns, 3);
	CHECK_UINT(name->next, 0);
	profile_free(p);
}
