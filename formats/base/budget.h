/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget.h - so much CPU time and no more, on average.
 *
 * It fills as time passes, up to what two seconds bring, and empties by what is used: a burst is fine, a habit
 * is not.
 */
#ifndef BASE_BUDGET_H
#define BASE_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#define BUDGET_PERCENT 30 /* of one CPU */
#define BUDGET_NS      (2000000000ULL * BUDGET_PERCENT / 100) /* when it is full */

struct budget {
	uint64_t time_ns, used_ns; /* when it was charged last */
	uint64_t left_ns;
};

/* Full, at @time_ns, with @used_ns of CPU time used before. */
void budget_init(struct budget *b, uint64_t time_ns, uint64_t used_ns);

/* It is @time_ns now, and @used_ns have been used in all. True if something is left. */
bool budget_charge(struct budget *b, uint64_t time_ns, uint64_t used_ns);

bool budget_is_full(const struct budget *b);

#endif
