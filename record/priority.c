/* SPDX-License-Identifier: Apache-2.0 */
/*
 * priority.c - sched_setscheduler(2), round robin, so that two recorders share.
 */
#include "record/priority.h"

#include <sched.h>

bool priority_raise(int level)
{
	const struct sched_param param = { .sched_priority = level };

	return sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &param) == 0;
}

void priority_lower(void)
{
	const struct sched_param param = { 0 };

	sched_setscheduler(0, SCHED_OTHER, &param);
}
