/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remarks.h - what keeps a session's numbers from being believed, and what would make them better.
 */
#ifndef REPORT_REMARKS_H
#define REPORT_REMARKS_H

#include "report/load/session.h"
#include "report/view/trust.h"

#define REMARK_LOST 2.0 /* the weight, at least, of what is not in the file; before everything that is a share */

/* What is not as it should be: reason and remedy in one sentence. */
struct remark {
	const char *text;
	double weight; /* how bad it is; comparable */
};

struct remarks {
	VEC(struct remark) list; /* worst first */
};

/* Of @s, which is loaded. Texts live in @arena. */
void remarks_init(struct remarks *remarks, const struct session *s, struct arena *arena);
void remarks_deinit(struct remarks *remarks);

#endif
