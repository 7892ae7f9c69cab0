/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_metric.c - formulas, what defines them, differences of counts, and how sure ratios of them are.
 */
#include "report/view/measures.h"
#include "report/view/measures.h"
#include "report/metric/metric_set.h"
#include "report/metric/metrics.h"
#include "tests/unit/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const terms[] = { "a", "b-c", "x.y:z" };
static const double counts[] = { 6, 3, 0.5 };

static struct err *bind_term(void *context, struct metric_expr *name)
{
	(void)context;
	for (uint32_t i = 0; i < ARRAY_LEN(terms); i++)
		if (strcmp(terms[i], name->name) == 0)
			name->term = i;
	return NULL;
}

static double value_of(const char *text)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct metric_expr *e;

	CHECK_OK(metric_expr_parse(text, &arena, &e));
	CHECK_OK(metric_expr_each_name(e, bind_term, NULL));
	return metric_expr_value(metric_expr_copy(e, &arena), counts);
}

TEST(metric_formulas_have_the_usual_order)
{
	CHECK(value_of("1 + 2 * 3 - 4 / 2") == 5);
	CHECK(value_of("10 - 3 - 2") == 5);
	CHECK(value_of("16 / 4 / 2") == 2);
	CHECK(value_of("-(1 - 3)*1e1") == 20);
	CHECK(value_of("a/b-c") == 2); /* one name */
	CHECK(value_of("a / 'b-c' + x.y:z") == 2.5);
	CHECK(value_of("min(a, 4) + max(0, 1 - a)") == 4);
	CHECK(isnan(value_of("a / (b-c - b-c)")));
	CHECK(isnan(value_of("max(0, a / (b-c - b-c))")));
}

static struct err *parse(const char *text)
{
	static struct arena arena;
	struct metric_expr *e;
	struct err *err = metric_expr_parse(text, &arena, &e);

	arena_deinit(&arena);
	return err;
}

TEST(metric_formulas_that_make_no_sense_say_where)
{
	char deep[400];

	CHECK_ERR(parse(""), ERR_USAGE, "neither number nor name at character 1");
	CHECK_ERR(parse("a +"), ERR_USAGE, "at character 4");
	CHECK_ERR(parse("(a"), ERR_USAGE, "closing bracket");
	CHECK_ERR(parse("a b"), ERR_USAGE, "left over at character 3");
	CHECK_ERR(parse("a / 0"), ERR_USAGE, "division by zero");
	CHECK_ERR(parse("min(a)"), ERR_USAGE, "comma");
	CHECK_ERR(parse("'a"), ERR_USAGE, "without an end");
	CHECK_ERR(parse("1.2.3"), ERR_USAGE, "no number");
	CHECK_ERR(parse("1e999"), ERR_USAGE, "no number");
	memset(deep, '(', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = 0;
	CHECK_ERR(parse(deep), ERR_USAGE, "too deep");
	memset(deep, '-', sizeof(deep) - 1);
	CHECK_ERR(parse(deep), ERR_USAGE, "too deep");
}

static struct err *check_text(const char *text)
{
	struct metric_set set;
	struct err *err;

	CHECK_OK(metric_set_init(&set));
	err = metric_set_add_text(&set, "mine", text, strlen(text));
	if (!err)
		err = metric_set_check(&set);
	metric_set_deinit(&set);
	return err;
}

TEST(metric_files_are_checked_when_they_are_read)
{
	char chain[8192] = "metric m0 = cycles\n";

	CHECK_OK(check_text("# words\n\nmetric cpi2 % = cpi / 2 ; half\nevent own\n"
			    "metric o = own + 'whatever it is' # more\n"));
	CHECK_ERR(check_text("metrik a = cycles"), ERR_USAGE, "mine:1: 'metrik'");
	CHECK_ERR(check_text("\nmetric a cycles"), ERR_USAGE, "mine:2: 'NAME = FORMULA'");
	CHECK_ERR(check_text("metric a/b = cycles"), ERR_USAGE, "not a valid metric name");
	CHECK_ERR(check_text("metric a = cycles /"), ERR_USAGE, "mine:1: metric 'a'");
	CHECK_ERR(check_text("metric a = cycels"), ERR_USAGE, "'cycels' is neither metric nor event");
	CHECK_ERR(check_text("metric a = b\nmetric b = c\nmetric c = a * 2"), ERR_USAGE,
		  "leads back to itself");
	CHECK_ERR(check_text("metric ipc = ipc"), ERR_USAGE, "leads back to itself");
	for (int i = 1; i < 80; i++)
		snprintf(chain + strlen(chain), sizeof(chain) - strlen(chain), "metric m%d = m%d\n", i,
			 i - 1);
	strcat(chain, "metric a0 = m79");
	CHECK_OK(check_text(chain)); /* from the first on, each is one step */
	chain[0] = 0;
	for (int i = 0; i < 200; i++)
		snprintf(chain + strlen(chain), sizeof(chain) - strlen(chain), "metric m%d = m%d\n", i,
			 i + 1);
	CHECK_ERR(check_text(chain), ERR_USAGE, "steps");
	strcpy(chain, "metric m0 = cycles\n");
	for (int i = 1; i < 40; i++)
		snprintf(chain + strlen(chain), sizeof(chain) - strlen(chain),
			 "metric m%d = m%d + m%d\n", i, i - 1, i - 1);
	CHECK_ERR(check_text(chain), ERR_USAGE, "too long");
}

TEST(metric_names_find_events_with_modifiers_and_pmus)
{
	CHECK(metrics_event_matches("cycles", "cycles"));
	CHECK(metrics_event_matches("cycles:u", "cycles"));
	CHECK(metrics_event_matches("cpu_core/cycles/", "cycles"));
	CHECK(metrics_event_matches("cpu-cycles", "cycles"));
	CHECK(metrics_event_matches("cpu/event=0x3c/", "cpu/event=0x3c/"));
	CHECK(metrics_event_matches("sched:sched_switch", "sched:sched_switch"));
	CHECK(!metrics_event_matches("ref-cycles", "cycles"));
	CHECK(!metrics_event_matches("cycles", "cycle"));
}

/* ---- differences ----------------------------------------------------------------------------------- */

struct reading {
	uint32_t cpu, tid;
	uint64_t value, enabled_ns, running_ns;
};

/* The difference that the last of @readings gives for event 0, negative if none. */
static double last_delta(bool by_cpu, const struct reading *readings, size_t n,
			 struct group_delta_tally *ret)
{
	struct recording rec = { .nevents = 2, .by_cpu = by_cpu, .start_ns = 1000 };
	struct group_deltas g;
	double delta = -1;

	group_deltas_init(&g, &rec);
	for (size_t i = 0; i < n; i++) {
		struct event_count count = { 0, readings[i].value, readings[i].enabled_ns,
					     readings[i].running_ns };
		struct event_count hostile = { 77, 1, 1, 1 };
		struct event_count all[] = { count, hostile };
		struct event ev = { .kind = EVENT_SAMPLE,
				    .time_ns = 10000000000,
				    .cpu = readings[i].cpu,
				    .tid = readings[i].tid };

		ev.sample = (struct event_sample){ .ncounts = 2, .counts = all };
		group_deltas_add(&g, &ev);
		delta = g.now.len ? g.now.items[0].value : -1;
	}
	*ret = g.unwind_quality;
	group_deltas_deinit(&g);
	return delta;
}

TEST(group_differences_are_of_one_cpu_or_of_one_thread)
{
	static const struct reading both[] = { { 0, 1, 100, 10, 10 },
					       { 1, 1, 9000, 10, 10 },
					       { 0, 2, 150, 20, 20 } };
	struct group_delta_tally unwind_quality;

	CHECK(last_delta(true, both, 3, &unwind_quality) == 50);
	CHECK_UINT(unwind_quality.first, 2);
	CHECK_UINT(unwind_quality.used, 1);
	CHECK(last_delta(false, both, 3, &unwind_quality) == 150); /* a thread begins at 0 */
	CHECK_UINT(unwind_quality.used, 3);
}

TEST(group_differences_that_cannot_be_are_refused)
{
	static const struct reading less[] = { { 0, 1, 100, 10, 10 }, { 0, 1, 90, 20, 20 } };
	static const struct reading much[] = { { 0, 1, 0, 10, 10 },
					       { 0, 1, 1ULL << 50, 1000010, 1000010 } };
	static const struct reading never[] = { { 0, 1, 5, 10, 0 }, { 0, 1, 5, 30, 0 } };
	static const struct reading shared[] = { { 0, 1, 100, 10, 10 }, { 0, 1, 200, 50, 20 } };
	static const struct reading reborn[] = { { 0, 1, 100, 1000, 1000 }, { 0, 1, 30, 10, 10 } };
	struct group_delta_tally unwind_quality;

	CHECK(last_delta(true, less, 2, &unwind_quality) < 0);
	CHECK_UINT(unwind_quality.impossible, 1);
	CHECK(last_delta(true, much, 2, &unwind_quality) < 0);
	CHECK_UINT(unwind_quality.impossible, 1);
	CHECK(last_delta(true, never, 2, &unwind_quality) < 0);
	CHECK_UINT(unwind_quality.not_counted, 1);
	CHECK(last_delta(true, shared, 2, &unwind_quality) == 400); /* ran a quarter of the time */
	CHECK(last_delta(false, reborn, 2, &unwind_quality) == 30); /* another thread */
}

/* ---- intervals ------------------------------------------------------------------------------------- */

static double uniform(unsigned *seed)
{
	return (double)rand_r(seed) / RAND_MAX;
}

/* Draw samples whose ratio is known many times: about 95 % of the intervals must hold it. */
static void check_coverage(enum measures_method method)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	uint32_t term_of[] = { 1, 2 };
	struct metric_expr *e;
	unsigned held = 0, trials = 1000, seed = 99;

	CHECK_OK(metric_expr_parse("a / b-c", &arena, &e));
	CHECK_OK(metric_expr_each_name(e, bind_term, NULL));
	for (unsigned t = 0; t < trials; t++) {
		struct measures m = { .method = method, .nterms = 2, .term_of = term_of };
		double sums[7] = { 0 };

		for (unsigned i = 0; i < 300; i++) {
			double cycles = 50 + 100 * uniform(&seed);
			struct group_delta deltas[] = {
				{ 0, cycles * (1 + 2 * uniform(&seed)) }, { 1, cycles }
			};

			if (method == MEASURES_GROUP)
				measures_add_deltas(&m, i % 3, deltas, 2);
			else
				measures_add_period(&m, i % 3, uniform(&seed) < 2.0 / 3 ? 0 : 1, 100);
		}
		for (uint32_t row = 0; row < 4; row++)
			measures_sum_row(&m, row, sums);
		struct measure_value value = measures_value(&m, sums, e);

		CHECK(value.known);
		held += value.low <= 2 && 2 <= value.high;
		measures_deinit(&m);
	}
	CHECK(held > trials * 92 / 100 && held < trials * 98 / 100);
}

TEST(measures_intervals_hold_the_truth_at_their_rate)
{
	check_coverage(MEASURES_GROUP);
	check_coverage(MEASURES_APART);
}

TEST(measures_say_nothing_of_few_samples)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	uint32_t term_of[] = { 1, 2 };
	struct measures m = { .nterms = 2, .term_of = term_of };
	struct group_delta deltas[] = { { 0, 30 }, { 1, 10 } };
	double sums[7] = { 0 };
	struct metric_expr *e;

	CHECK_OK(metric_expr_parse("a / b-c", &arena, &e));
	CHECK_OK(metric_expr_each_name(e, bind_term, NULL));
	for (int i = 0; i < MEASURES_LEAST - 1; i++)
		measures_add_deltas(&m, 0, deltas, 2);
	measures_sum_row(&m, 0, sums);
	CHECK_UINT(measures_value(&m, sums, e).n, MEASURES_LEAST - 1);
	CHECK(!measures_value(&m, sums, e).known);
	measures_add_deltas(&m, 1, deltas, 2);
	measures_sum_row(&m, 1, sums);
	CHECK(measures_value(&m, sums, e).known);
	CHECK(measures_value(&m, sums, e).value == 3);
	CHECK(measures_value(&m, sums, e).high - 3 < 1e-6); /* always the same: no doubt */
	measures_deinit(&m);
}
