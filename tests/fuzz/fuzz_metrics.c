/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_metrics.c - files of metrics: whatever is taken is bounded, has a value or none, and refers to nothing but events.
 */
#include "tests/fuzz/fuzz.h"

#include "report/metric/metric_set.h"

static struct err *check_name(void *context, struct metric_expr *name)
{
	unsigned *names = context;

	CHECK(name->op == METRIC_NAME && *name->name);
	name->term = 0;
	++*names;
	return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct metric_set set;
	struct err *err = metric_set_init(&set);
	double count = 3;

	CHECK(!err);
	err = metric_set_add_text(&set, "fuzz", (const char *)data, len);
	if (!err)
		err = metric_set_check(&set);
	for (size_t i = 0; i < set.defs.len && !err; i++) {
		struct metric_expr *e = metric_expr_copy(set.defs.items[i]->expr, &set.arena);
		unsigned names = 0;

		CHECK(set.defs.items[i]->expr->parts <= METRIC_EXPR_PARTS_MAX);
		err = metric_expr_each_name(e, check_name, &names);
		CHECK(!err && names <= METRIC_EXPR_PARTS_MAX);
		metric_expr_value(e, &count);
	}
	err_free(err);
	metric_set_deinit(&set);
	return 0;
}
