/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_groups.h - the groups of one level over all merged recordings: what each recording has of each, and how that is
 * spread over its time.
 */
#ifndef REPORT_DIFF_GROUPS_H
#define REPORT_DIFF_GROUPS_H

#include "report/diff/diff_merge.h"
#include "report/diff/diff_stats.h"
#include "report/view/view.h"
#include "report/view/view_keys.h"

struct diff_groups {
	struct view_keys *keys;
	struct arena arena;
	uint32_t count, nsides;
	struct profile_sum *sums;   /* [group * nsides + side] */
	struct profile_sum *wholes; /* [side] */
	bool *has_times;            /* [side] */
	float *blocks;       /* [(group * nsides + side) * DIFF_BLOCKS + block]: weight */
	double *whole_blocks; /* [side * DIFF_BLOCKS + block] */
	double *by_threads;   /* [group * nsides + side]: variance of the weight, by threads of one name */
	double *outside;      /* [group]: weight that ran within hardware interrupts */
	uint32_t *by_function; /* VIEW_TOTAL only: group of the first function that looks the same; PROFILE_NONE */
};

/* Group by @by. The profile of each recording gives the times, if it has them. */
void diff_groups_init(struct diff_groups *groups, const struct diff_merge *merge,
		      const struct diff_input *inputs, enum view_by by);
void diff_groups_deinit(struct diff_groups *groups);

static inline const struct profile_sum *diff_groups_sum(const struct diff_groups *groups,
							uint32_t group, uint32_t side)
{
	return &groups->sums[(size_t)group * groups->nsides + side];
}

/* Is what the group is made of the work of interrupts, which come whether the program changed or not? */
bool diff_groups_is_outside(const struct diff_groups *groups, uint32_t group);

/* The design effect of @group in recording @side, 1 where it is not known; see diff_stats.h. */
double diff_groups_effect(const struct diff_groups *groups, uint32_t group, uint32_t side);

#endif
