/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_expr.c - DWARF expressions: they end, ask only for what may be asked for, give the same value
 * again, and leave the result alone when they fail.
 */
#include "tests/fuzz/fuzz.h"

#include "symbolize/unwind/expr.h"

#define NREGS 17

struct world {
	size_t asked;
};

static bool read_reg(void *data, uint64_t reg, uint64_t *ret)
{
	struct world *world = data;

	world->asked++;
	*ret = 0x1000 * reg;
	return reg < NREGS;
}

static bool read_word(void *data, uint64_t address, uint64_t *ret)
{
	struct world *world = data;

	world->asked++;
	*ret = address * 0x9e3779b97f4a7c15ULL;
	return address % 3;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct world world = { 0 };
	struct expr_context context = { read_reg, read_word, &world };

	for (int has_value = 0; has_value < 2; has_value++) {
		struct expr_start start = { has_value, 0x7fff0000 };
		uint64_t first = 42, again = 42;
		enum expr_status status = expr_eval(data, len, &context, start, &first);

		CHECK(expr_eval(data, len, &context, start, &again) == status);
		CHECK(first == again);
		CHECK(status == EXPR_OK || first == 42);
		CHECK(status <= EXPR_NO_MEMORY);
	}
	CHECK(world.asked <= 4 * 1000); /* steps are limited */
	return 0;
}
