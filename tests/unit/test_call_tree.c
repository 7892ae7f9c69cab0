/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_call_tree.c - trees of profiles whose stacks are known.
 */
#include "report/view/call_tree.h"
#include "report/table/tree_table.h"
#include "tests/unit/synthetic.h"
#include "tests/unit/test.h"

#include <string.h>

static struct profile *mixed(void)
{
	static const struct synthetic_sample samples[] = {
		{ "main;run;hot", 1, 1, 30, 10 },      { "main;run;libc:malloc", 1, 2, 20, 10 },
		{ "main;rec;rec;rec;leaf", 1, 1, 10, 10 }, { "main;outer+inner", 2, 2, 25, 10 },
		{ "main;rec;rec", 2, 3, 10, 10 },      { "", 3, 3, 5, 10 },
	};
	struct profile *p = synthetic_new();

	for (size_t i = 0; i < ARRAY_LEN(samples); i++)
		synthetic_add(p, &samples[i]);
	return p;
}

/* The node that @path, "main;run", leads to from the top; it must be there. */
static const struct call_node *at(const struct call_tree *tree, const char *path)
{
	const struct call_node *node = &tree->nodes.items[0];
	char copy[128], *rest = copy;

	snprintf(copy, sizeof(copy), "%s", path);
	while (rest) {
		const char *name = strsep(&rest, ";");
		const struct call_node *found = NULL;

		for (uint32_t i = 0; i < node->count; i++) {
			const struct call_node *child =
				&tree->nodes.items[tree->order.items[node->first + i]];

			if (strcmp(call_tree_name(tree, child), name) == 0)
				found = child;
		}
		CHECK(found);
		node = found;
	}
	return node;
}

TEST(call_tree_of_calls_begins_at_the_root_and_keeps_recursion)
{
	const struct view_spec spec = { .event = 0 };
	struct profile *p = mixed();
	struct call_tree tree;

	call_tree_build(&tree, p, &spec, CALL_TREE_CALLEES);
	CHECK_UINT(tree.nodes.items[0].sum.count, 100);
	CHECK_UINT(tree.nodes.items[0].own.count, 5); /* without a stack */
	CHECK_UINT(at(&tree, "main")->sum.count, 95);
	CHECK_UINT(at(&tree, "main;run")->sum.weight, 500);
	CHECK_UINT(at(&tree, "main;run")->own.count, 0);
	CHECK_UINT(at(&tree, "main;rec;rec")->sum.count, 20);
	CHECK_UINT(at(&tree, "main;rec;rec")->own.count, 10);
	CHECK_UINT(at(&tree, "main;outer;inner")->own.count, 25);
	CHECK_STR(call_tree_module(&tree, at(&tree, "main;run;malloc")), "libc");
	call_tree_deinit(&tree);
	profile_free(p);
}

TEST(call_tree_of_callers_begins_with_what_ran)
{
	const struct view_spec spec = { .event = 0 };
	struct profile *p = mixed();
	struct call_tree tree;

	call_tree_build(&tree, p, &spec, CALL_TREE_CALLERS);
	CHECK_UINT(at(&tree, "hot")->sum.count, 30);
	CHECK_UINT(at(&tree, "hot;run;main")->own.count, 30);
	CHECK_UINT(at(&tree, "inner;outer")->sum.count, 25);
	CHECK_UINT(at(&tree, "rec;rec;main")->sum.count, 10);
	CHECK_STR(call_tree_name(&tree, &tree.nodes.items[tree.order.items[1]]), "hot");
	call_tree_deinit(&tree);
	profile_free(p);
}

TEST(call_tree_sums_are_those_of_the_children_and_its_own)
{
	const struct view_spec spec = { .event = 0 };
	struct profile *p = mixed();

	for (int direction = CALL_TREE_CALLEES; direction <= CALL_TREE_CALLERS; direction++) {
		struct call_tree tree;

		call_tree_build(&tree, p, &spec, (enum call_tree_direction)direction);
		for (size_t n = 0; n < tree.nodes.len; n++) {
			const struct call_node *node = &tree.nodes.items[n];
			uint64_t weight = node->own.weight;

			for (uint32_t i = 0; i < node->count; i++)
				weight += tree.nodes.items[tree.order.items[node->first + i]]
						  .sum.weight;
			CHECK_UINT(weight, node->sum.weight);
		}
		call_tree_deinit(&tree);
	}
	profile_free(p);
}

/* The text of the column "function", line by line. */
static const char *drawn(const struct profile *p, const struct tree_table_options *options,
			 struct arena *arena)
{
	const struct view_spec spec = { .event = 0 };
	const char *text = "";
	struct call_tree tree;
	struct table table;

	call_tree_build(&tree, p, &spec, CALL_TREE_CALLEES);
	table_init(&table, arena);
	tree_table_fill(&table, &tree, options);
	for (size_t row = 0; row < table_rows(&table); row++)
		text = arena_printf(arena, "%s%s\n", text,
				    table.cells.items[row * table.columns.len + 4].text);
	table_deinit(&table);
	call_tree_deinit(&tree);
	return text;
}

TEST(call_tree_folds_what_is_rare_and_says_so)
{
	const struct tree_table_options options = { .limit = UINT64_MAX, .min_share = 0.25 };
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct profile *p = mixed();

	CHECK_STR(drawn(p, &options, &arena), "[no stack]\n"
					      "main\n"
					      "  + run\n"
					      "  | hot\n"
					      "  + outer\n"
					      "    inner\n");
	const struct tree_table_options two = { .limit = 2, .min_share = 0.01 };

	CHECK_STR(drawn(p, &two, &arena), "[no stack]\n"
					  "main\n"
					  "  + run\n"
					  "  | + hot\n"
					  "  | + malloc\n"
					  "  + outer\n"
					  "  | inner\n"
					  "  + (1 more)\n");
	profile_free(p);
}

/* Exact sums of a tracing profiler, a heap's bytes: no column is full of dashes. */
TEST(call_tree_without_counts_shows_what_was_summed_up)
{
	const struct tree_table_options options = { .limit = UINT64_MAX, .min_share = 0.01, .event = "wall", .unit = "ns" };
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct profile *p = synthetic_new();
	struct call_tree tree;
	struct table table;

	synthetic_add(p, &(struct synthetic_sample){ "main;work", 1, 1, 1, 2000000000 });
	p->samples.items[0].weight_sq = PROFILE_UNCOUNTED;
	call_tree_build(&tree, p, &(struct view_spec){ .event = 0 }, CALL_TREE_CALLEES);
	table_init(&table, &arena);
	tree_table_fill(&table, &tree, &options);
	CHECK_UINT(table.columns.len, 5);
	CHECK_STR(table.columns.items[1].title, "time");
	CHECK_STR(table.cells.items[1].text, "2.00 s");
	CHECK_STR(table.cells.items[3].text, "main");
	table_deinit(&table);
	call_tree_deinit(&tree);
	profile_free(p);
}

TEST(call_tree_folds_the_middle_of_a_long_chain_and_no_other)
{
	const struct synthetic_sample sample = { "a;b;c;d;e;f;g;h;i;j;k", 1, 1, 30, 10 };
	struct tree_table_options options = { .limit = UINT64_MAX, .min_share = 0.01 };
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct profile *p = synthetic_new();

	synthetic_add(p, &sample);
	CHECK_STR(drawn(p, &options, &arena), "a\n  b\n  c\n  d\n  (5 in between)\n  j\n  k\n");
	options.min_share = 0;
	CHECK_STR(drawn(p, &options, &arena), "a\n  b\n  c\n  d\n  e\n  f\n  g\n  h\n  i\n  j\n  k\n");
	profile_free(p);
}
