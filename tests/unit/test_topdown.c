/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_topdown.c - every row of the top-down tables against counts worked out by hand.
 */
#include "formats/topdown.h"
#include "report/topdown/topdown_text.h"
#include "report/topdown/topdown_tree.h"
#include "tests/unit/test.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLES 40 /* of the same counts: enough to be known, and without spread */

struct pair {
	const char *key;
	double value;
};

struct row {
	const char *model;
	struct pair counts[TOPDOWN_EVENTS_MAX];
	struct pair parts[TOPDOWN_NODES_MAX];
};

#define ZEN_LEVEL2 \
	{ "cycles2", 500 }, { "no-ops-at-all", 60 }, { "mispredicted", 30 }, { "resyncs", 10 }, \
	{ "load-waits", 600 }, { "waits", 1000 }, { "cycles3", 700 }, { "retired3", 1000 }, { "microcode-ops", 50 }
#define ZEN_PARTS                                                                                \
	{ "frontend", .2 }, { "bad-spec", .1 }, { "retiring", .4 }, { "backend", .25 }, { "smt", .05 }, \
	{ "fetch-latency", .12 }, { "fetch-bandwidth", .08 }, { "mispredict", .075 }, { "clears", .025 }, \
	{ "memory", .15 }, { "core", .1 }, { "heavy", .02 }, { "light", .38 }
#define SKL_COUNTS                                                                               \
	{ "not-delivered", 800 }, { "issued", 2400 }, { "retired", 2000 }, { "none-delivered", 100 }, \
	{ "mispredicted", 30 }, { "cleared", 10 }, { "cycles3", 1000 }, { "memory-stalls", 300 }, \
	{ "store-stalls", 50 }, { "stalls", 500 }, { "ports1", 100 }, { "ports2", 60 }, { "retired4", 2000 }, \
	{ "fused", 100 }, { "instructions4", 1900 }
#define SKL_PARTS                                                                                \
	{ "frontend", .2 }, { "bad-spec", .15 }, { "retiring", .5 }, { "backend", .15 }, { "fetch-latency", .1 }, \
	{ "fetch-bandwidth", .1 }, { "mispredict", .1125 }, { "clears", .0375 }, { "memory", .15 * 350 / 680 }, \
	{ "core", .15 - .15 * 350 / 680 }, { "heavy", .05 }, { "light", .45 }

static const struct row rows[] = {
	{ "skl", { { "cycles", 1000 }, { "recovery", 50 }, { "cycles2", 1000 }, { "cycles4", 1000 }, SKL_COUNTS }, { SKL_PARTS } },
	{ "skl-smt", { { "cycles", 2000 }, { "recovery", 100 }, { "cycles2", 2000 }, { "cycles4", 2000 }, SKL_COUNTS }, { SKL_PARTS } },
	{ "icl",
	  { { "slots", 5000 }, { "cycles", 1000 }, { "m-retiring", 2000 }, { "m-bad-spec", 500 }, { "m-frontend", 1000 },
	    { "m-backend", 1500 }, { "dropping", 50 }, { "clears-count", 10 }, { "none-delivered", 150 },
	    { "mispredicted", 30 }, { "cleared", 10 }, { "cycles3", 900 }, { "memory-stalls", 300 },
	    { "store-stalls", 50 }, { "stalls", 500 }, { "ports1", 100 }, { "ports2", 50 } },
	  { { "frontend", .19 }, { "bad-spec", .1 }, { "retiring", .4 }, { "backend", .31 }, { "fetch-latency", .14 },
	    { "fetch-bandwidth", .05 }, { "mispredict", .075 }, { "clears", .025 }, { "memory", .31 * 350 / 670 },
	    { "core", .31 - .31 * 350 / 670 } } },
	{ "icl-gp",
	  { { "cycles", 1000 }, { "slots", 5000 }, { "backend-slots", 1500 }, { "retired", 2000 }, { "bubbles", 1000 },
	    { "dropping", 50 }, { "clears-count", 10 }, { "slots2", 2500 }, { "none-delivered", 75 },
	    { "mispredicted", 30 }, { "cleared", 10 }, { "cycles3", 900 }, { "memory-stalls", 300 },
	    { "store-stalls", 50 }, { "stalls", 500 }, { "ports1", 100 }, { "ports2", 50 } },
	  { { "frontend", .19 }, { "bad-spec", .1 }, { "retiring", .4 }, { "backend", .31 }, { "fetch-latency", .14 },
	    { "fetch-bandwidth", .05 }, { "mispredict", .075 }, { "clears", .025 }, { "memory", .31 * 350 / 670 },
	    { "core", .31 - .31 * 350 / 670 } } },
	{ "icl-gp", /* four counters: nothing is corrected for */
	  { { "cycles", 1000 }, { "slots", 5000 }, { "backend-slots", 1500 }, { "retired", 2000 }, { "bubbles", 1000 } },
	  { { "frontend", .2 }, { "bad-spec", .1 }, { "retiring", .4 }, { "backend", .3 } } },
	{ "spr",
	  { { "slots", 6000 }, { "cycles", 1000 }, { "m-retiring", 2400 }, { "m-bad-spec", 600 }, { "m-frontend", 1200 },
	    { "m-backend", 1800 }, { "m-heavy", 300 }, { "m-mispredict", 480 }, { "m-latency", 720 }, { "m-memory", 1200 },
	    { "dropping", 60 } },
	  { { "frontend", .19 }, { "bad-spec", .11 }, { "retiring", .4 }, { "backend", .3 }, { "fetch-latency", .11 },
	    { "fetch-bandwidth", .08 }, { "mispredict", .08 }, { "clears", .03 }, { "memory", .2 }, { "core", .1 },
	    { "heavy", .05 }, { "light", .35 } } },
	{ "spr-gp",
	  { { "cycles", 1000 }, { "slots", 6000 }, { "backend-slots", 1800 }, { "retired", 2400 }, { "bubbles", 1260 },
	    { "dropping", 60 }, { "slots2", 3000 }, { "memory-slots", 600 }, { "mispredict-slots", 210 },
	    { "heavy-slots", 150 }, { "none-delivered", 75 } },
	  { { "frontend", .2 }, { "bad-spec", .1 }, { "retiring", .4 }, { "backend", .3 }, { "fetch-latency", .14 },
	    { "fetch-bandwidth", .06 }, { "mispredict", .07 }, { "clears", .03 }, { "memory", .2 }, { "core", .1 },
	    { "heavy", .05 }, { "light", .35 } } },
	{ "zen4",
	  { { "cycles", 1000 }, { "no-ops", 1200 }, { "backend-stalls", 1500 }, { "dispatched", 3000 }, { "retired", 2400 },
	    { "smt-stalls", 300 }, ZEN_LEVEL2 },
	  { ZEN_PARTS } },
	{ "zen4", /* a counter is gone: contention is the remainder */
	  { { "cycles", 1000 }, { "no-ops", 1200 }, { "backend-stalls", 1500 }, { "dispatched", 3000 }, { "retired", 2400 }, ZEN_LEVEL2 },
	  { ZEN_PARTS } },
	{ "zen5",
	  { { "cycles", 1000 }, { "no-ops", 1600 }, { "backend-stalls", 2000 }, { "dispatched", 4000 }, { "retired", 3200 },
	    { "smt-stalls", 400 }, ZEN_LEVEL2 },
	  { ZEN_PARTS } },
	{ "neoverse-n1",
	  { { "cycles", 1000 }, { "stall-frontend", 200 }, { "stall-backend", 300 } },
	  { { "frontend", .2 }, { "backend", .3 }, { "retiring", .5 } } },
	{ "neoverse-v1",
	  { { "cycles", 1000 }, { "stall-slot", 4000 }, { "stall-slot-frontend", 2000 }, { "stall-slot-backend", 2000 },
	    { "op-spec", 1000 }, { "op-retired", 900 }, { "mispredicted", 10 }, { "cycles2", 1 }, { "stall-backend", 400 },
	    { "stall-backend-mem", 300 } },
	  { { "frontend", .21 }, { "bad-spec", .09 }, { "retiring", .45 }, { "backend", .25 }, { "memory", .1875 }, { "core", .0625 } } },
	{ "neoverse-v2",
	  { { "cycles", 1000 }, { "stall-slot", 4000 }, { "stall-slot-frontend", 2000 }, { "stall-slot-backend", 2000 },
	    { "op-spec", 1000 }, { "op-retired", 900 }, { "mispredicted", 10 }, { "cycles2", 1 }, { "stall-backend", 400 },
	    { "stall-backend-mem", 300 } },
	  { { "frontend", .24 }, { "bad-spec", .09 }, { "retiring", .45 }, { "backend", .22 }, { "memory", .165 }, { "core", .055 } } },
	{ "neoverse-n2",
	  { { "cycles", 1000 }, { "stall-slot", 2500 }, { "stall-slot-frontend", 1250 }, { "stall-slot-backend", 1250 },
	    { "op-spec", 1000 }, { "op-retired", 900 }, { "mispredicted", 10 }, { "cycles2", 1 }, { "stall-backend", 400 },
	    { "stall-backend-mem", 300 } },
	  { { "frontend", .24 }, { "bad-spec", .09 }, { "retiring", .45 }, { "backend", .22 }, { "memory", .165 }, { "core", .055 } } },
	{ "neoverse-n2-r0p2",
	  { { "cycles", 1000 }, { "stall-slot", 3500 }, { "stall-slot-frontend", 2250 }, { "stall-slot-backend", 1250 },
	    { "op-spec", 1000 }, { "op-retired", 900 }, { "mispredicted", 10 }, { "cycles2", 1 }, { "stall-backend", 400 },
	    { "stall-backend-mem", 300 } },
	  { { "frontend", .24 }, { "bad-spec", .09 }, { "retiring", .45 }, { "backend", .22 }, { "memory", .165 }, { "core", .055 } } },
};

/* A tree whose recording has the events of @counts, and what it comes to. */
struct built {
	struct arena arena;
	struct profile *profile;
	struct counting counting;
	struct topdown_tree tree;
	struct topdown_value values[TOPDOWN_NODES_MAX];
};

static void build(struct built *b, const char *model, const struct pair *counts)
{
	struct group_delta deltas[TOPDOWN_EVENTS_MAX];
	double *sums;
	size_t n = 0;

	*b = (struct built){ 0 };
	b->profile = profile_new();
	for (; n < TOPDOWN_EVENTS_MAX && counts[n].key; n++) {
		const struct profile_value_type type = {
			.name = profile_string(b->profile, arena_printf(&b->arena, "%s.%s", model, counts[n].key)),
			.counts_only = n > 0,
		};

		profile_add_value_type(b->profile, &type);
		deltas[n] = (struct group_delta){ (uint32_t)n, counts[n].value };
	}
	topdown_tree_open(&b->tree, b->profile, &b->counting);
	for (int i = 0; i < SAMPLES; i++)
		measures_add_deltas(&b->tree.measures, 0, deltas, n);
	sums = ARENA_ARRAY(&b->arena, double, measures_len(&b->tree.measures));
	measures_sum_row(&b->tree.measures, 0, sums);
	topdown_tree_judge(&b->tree, sums, b->values);
}

static void destroy(struct built *b)
{
	topdown_tree_close(&b->tree);
	counting_close(&b->counting);
	profile_free(b->profile);
	arena_deinit(&b->arena);
}

static void check_row(const struct row *row)
{
	struct built b;
	unsigned nparts = 0;

	build(&b, row->model, row->counts);
	CHECK_STR(b.tree.model->name, row->model);
	for (; nparts < TOPDOWN_NODES_MAX && row->parts[nparts].key; nparts++) {
		bool found = false;

		for (unsigned i = 0; i < b.tree.nnodes; i++) {
			if (strcmp(b.tree.nodes[i].node->key, row->parts[nparts].key) != 0)
				continue;
			found = true;
			if (fabs(b.values[i].value.value - row->parts[nparts].value) > 1e-9)
				printf("# %s %s: %f\n", row->model, row->parts[nparts].key,
				       b.values[i].value.value);
			CHECK(fabs(b.values[i].value.value - row->parts[nparts].value) < 1e-9);
		}
		CHECK(found);
	}
	CHECK_UINT(b.tree.nnodes, nparts);
	CHECK(fabs(topdown_tree_sum(&b.tree, b.values) - 1) < 1e-9);
	destroy(&b);
}

TEST(topdown_formulas_give_what_was_worked_out_by_hand)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		check_row(&rows[i]);
	for (size_t i = 0; i < topdown_models_len; i++) {
		bool tested = false;

		for (size_t k = 0; k < ARRAY_LEN(rows); k++)
			tested |= strcmp(rows[k].model, topdown_models[i].name) == 0;
		CHECK(tested);
	}
}

/* Every event moves by up to @spread; parts stay parts. */
static void check_random(const struct row *row, unsigned *seed, double spread)
{
	struct pair counts[TOPDOWN_EVENTS_MAX];
	struct built b;
	bool clamped = false;

	memcpy(counts, row->counts, sizeof(counts));
	for (size_t i = 0; i < TOPDOWN_EVENTS_MAX && counts[i].key; i++)
		counts[i].value *= 1 + spread * ((double)rand_r(seed) / RAND_MAX - 0.5);
	build(&b, row->model, counts);
	for (unsigned i = 0; i < b.tree.nnodes; i++) {
		CHECK(b.values[i].value.known);
		CHECK(b.values[i].value.value >= 0);
		CHECK(b.values[i].value.low <= b.values[i].value.value);
		clamped |= b.values[i].value.value == 0;
	}
	/* What one part is the rest of sums up to one, or a part was held at 0. */
	if (strncmp(row->model, "skl", 3) == 0 || strncmp(row->model, "icl", 3) == 0 ||
	    strncmp(row->model, "spr", 3) == 0 || strcmp(row->model, "neoverse-n1") == 0)
		CHECK(clamped || fabs(topdown_tree_sum(&b.tree, b.values) - 1) < 1e-9);
	/* Where each is counted, the sum is off by no more than the counts are: all of them too high, slots too low. */
	CHECK(fabs(topdown_tree_sum(&b.tree, b.values) - 1) <
	      fmax(1.5 * spread, (1 + spread / 2) / (1 - spread / 2) - 1) + 1e-9);
	destroy(&b);
}

TEST(topdown_parts_of_random_counts_sum_up_or_are_held_at_nothing)
{
	unsigned seed = 5;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		for (int k = 0; k < 50; k++)
			check_random(&rows[i], &seed, k < 25 ? 0.02 : 1);
}

TEST(topdown_level_two_is_left_out_where_it_was_not_recorded)
{
	static const struct pair level1[TOPDOWN_EVENTS_MAX] = {
		{ "cycles", 1000 }, { "no-ops", 1200 }, { "backend-stalls", 1500 }, { "dispatched", 3000 }, { "retired", 2400 }
	};
	struct built b;

	build(&b, "zen4", level1);
	CHECK_UINT(b.tree.nnodes, 5);
	destroy(&b);
}

static const char *verdict(struct built *b, const struct row *row, const char *function)
{
	build(b, row->model, row->counts);
	return topdown_text_verdict(&b->tree, b->values, function, "preport", &b->arena);
}

TEST(topdown_children_are_flagged_only_below_flagged_parents)
{
	static const struct row starved = {
		"spr-gp",
		{ { "cycles", 1000 }, { "slots", 6000 }, { "backend-slots", 600 }, { "retired", 1200 }, { "bubbles", 3660 },
		  { "dropping", 60 }, { "slots2", 3000 }, { "memory-slots", 900 }, { "mispredict-slots", 300 },
		  { "heavy-slots", 600 }, { "none-delivered", 200 } },
		{ { 0 } },
	};
	static const struct row busy = { "neoverse-n1",
					 { { "cycles", 1000 }, { "stall-frontend", 50 }, { "stall-backend", 150 } },
					 { { 0 } } };
	struct built b;
	const char *text = verdict(&b, &starved, "hot'loop");

	/* 60 % front end, of it 39 % latency; the back end's 10 % are no bottleneck, whatever memory says. */
	CHECK(strstr(text, "surely: fetch latency 39 % (39-39) of slots, the most of front end bound"));
	CHECK(strstr(text, "preport annotate 'hot'\\''loop'"));
	for (unsigned i = 0; i < b.tree.nnodes; i++) {
		const char *key = b.tree.nodes[i].node->key;
		bool expected = strcmp(key, "frontend") == 0 || strcmp(key, "fetch-latency") == 0 ||
				strcmp(key, "fetch-bandwidth") == 0;

		CHECK(b.values[i].flagged == expected);
	}
	destroy(&b);
	text = verdict(&b, &busy, NULL);
	CHECK(strstr(text, "the processor is not stalled: 80 % (80-80) of cycles do useful work"));
	destroy(&b);
}

static const char *model_for(struct topdown_cpu cpu)
{
	const struct topdown_model *model = topdown_for_cpu(&cpu);

	return model ? model->name : NULL;
}

TEST(topdown_models_are_found_by_processor)
{
	CHECK_STR(model_for((struct topdown_cpu){ .intel = true, .family = 6, .model = 0x55 }), "skl");
	CHECK_STR(model_for((struct topdown_cpu){ .intel = true, .family = 6, .model = 0x55, .smt = true }), "skl-smt");
	CHECK_STR(model_for((struct topdown_cpu){ .intel = true, .family = 6, .model = 0x6a, .has_slots = true }), "icl");
	CHECK_STR(model_for((struct topdown_cpu){ .intel = true, .family = 6, .model = 0x6a }), "icl-gp");
	CHECK_STR(model_for((struct topdown_cpu){ .intel = true, .family = 6, .model = 0x8f, .has_slots = true }), "spr");
	CHECK_STR(model_for((struct topdown_cpu){ .intel = true, .family = 6, .model = 0xad }), "spr-gp");
	CHECK_STR(model_for((struct topdown_cpu){ .intel = true, .family = 6, .model = 0x2d }), NULL);
	CHECK_STR(model_for((struct topdown_cpu){ .amd = true, .family = 0x19, .model = 0x01 }), NULL);
	CHECK_STR(model_for((struct topdown_cpu){ .amd = true, .family = 0x19, .model = 0x50 }), NULL);
	CHECK_STR(model_for((struct topdown_cpu){ .amd = true, .family = 0x19, .model = 0x11 }), "zen4");
	CHECK_STR(model_for((struct topdown_cpu){ .amd = true, .family = 0x1a, .model = 0x02 }), "zen5");
	CHECK_STR(model_for((struct topdown_cpu){ .amd = true, .family = 0x17, .model = 0x31 }), NULL);
	CHECK_STR(model_for((struct topdown_cpu){ .arm = true, .part = 0xd0c }), "neoverse-n1");
	CHECK_STR(model_for((struct topdown_cpu){ .arm = true, .part = 0xd40 }), "neoverse-v1");
	CHECK_STR(model_for((struct topdown_cpu){ .arm = true, .part = 0xd49, .revision = 2 }), "neoverse-n2-r0p2");
	CHECK_STR(model_for((struct topdown_cpu){ .arm = true, .part = 0xd49, .revision = 3 }), "neoverse-n2");
	CHECK_STR(model_for((struct topdown_cpu){ .arm = true, .part = 0xd4f }), "neoverse-v2");
	CHECK_STR(model_for((struct topdown_cpu){ .arm = true, .part = 0xd03 }), NULL);
}
