/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget.c - a leaky bucket; debts are forgiven, or one long burst would count for ever.
 */
#include "formats/base/budget.h"

#include "formats/base/compiler.h"

void budget_init(struct budget *b, uint64_t time_ns, uint64_t used_ns)
{
	*b = (struct budget){ time_ns, used_ns, BUDGET_NS };
}

bool budget_charge(struct budget *b, uint64_t time_ns, uint64_t used_ns)
{
	uint64_t come = MIN((time_ns - b->time_ns) / 100 * BUDGET_PERCENT, BUDGET_NS);
	uint64_t gone = used_ns - b->used_ns;

	b->left_ns = b->left_ns + come > gone ? MIN(b->left_ns + come - gone, BUDGET_NS) : 0;
	b->time_ns = time_ns;
	b->used_ns = used_ns;
	return b->left_ns;
}

bool budget_is_full(const struct budget *b)
{
	return b->left_ns == BUDGET_NS;
}
