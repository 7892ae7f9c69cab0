/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.h - the profile's samples, grouped by one level or by several inside each other.
 *
 * Each sample row falls into one group at each level; only "total" puts it into several, one for every function on
 * its stack, each counted once however often it recurses. So the groups of all other levels sum up to the whole.
 */
#ifndef REPORT_VIEW_H
#define REPORT_VIEW_H

#include "formats/base/map.h"
#include "formats/base/err.h"
#include "formats/profile/profile.h"
#include "report/view/latency.h"
#include "report/view/measures.h"
#include "report/view/view_levels.h"

#include <stdbool.h>
#include <stdint.h>

struct view_spec {
	struct view_levels levels;
	uint32_t event;
	enum view_cut cut;
	const bool *cut_at; /* by function */
	bool native;	    /* waits begin at the very leaf, in the scheduler; otherwise at the program's own frame */
	const bool *idle;   /* by sample row: waits of threads without work (idle_waits.h), a group of their own; NULL: none */
	const bool *rows;   /* by sample row of the profile: which are looked at; NULL: all */
	uint32_t *group_of; /* filled by sample row of the event: its group at the outermost level, the last of several; NULL: not wanted */
	const struct measures *const *measures; /* @nmeasures of them, summed up for each group */
	unsigned nmeasures;
	const struct latency *latencies; /* by row, @nlatencies of them; NULL: none */
	size_t nlatencies;
};

struct view_group {
	uint32_t parent; /* group, PROFILE_NONE at the outermost level */
	uint32_t level;  /* index in the levels */
	uint32_t key;    /* in the keys of the level */
	struct profile_sum sum;
	struct profile_sum self; /* total only: where it was the leaf */
	struct profile_sum
		within; /* total only: all samples of the processes (the parent group) that it is seen in */
	int64_t lost_weight;   /* of @sum: time of threads whose switches were lost */
	int64_t bare_weight;   /* of @sum: waits whose stack is not known, which is a row of its own */
	uint32_t first, count; /* its children in view.order; set by view_sort() */
};

enum view_sort_by {
	VIEW_SORT_WEIGHT,
	VIEW_SORT_SAMPLES,
	VIEW_SORT_SELF,
	VIEW_SORT_NAME,
};

struct view {
	const struct profile *profile;
	struct view_spec spec;
	struct profile_sum
		whole; /* that shares are of: with a cut, the samples that have the function */
	struct profile_sum all; /* of the event */
	int64_t lost_weight;	/* of @whole, see view_group */
	VEC(struct view_group) groups;
	VEC(uint32_t) order; /* groups, those of one parent together and sorted; outermost first */
	uint32_t ntop;       /* how many of them have no parent */
	VEC(struct latency) latencies; /* by group; empty without spec.latencies */
	VEC(double) measured; /* by group, all that spec.measures sum up; see view_measured() */
	struct arena arena;
	struct view_keys *keys; /* private */
};

/* Group the samples of @p, which must be named and outlive the view. */
void view_build(struct view *view, const struct profile *p, const struct view_spec *spec);
void view_deinit(struct view *view);

/* Sort each parent's children; ties by name. Must come before view.order is used. */
void view_sort(struct view *view, enum view_sort_by by);

/* The sums of spec.measures[@which] for @group. */
const double *view_measured(const struct view *view, const struct view_group *group, unsigned which);

/* How long the accesses of @group took; NULL if the view has no latencies. */
const struct latency *view_latency(const struct view *view, const struct view_group *group);

const struct view_key *view_key(const struct view *view, const struct view_group *group);

/*
 * The share of @group in the whole. What a thread did while records of its switches are lost, and what a wait without a stack was
 * for, may belong to any group but those of tasks, so that the interval reaches as far up.
 */
struct stats_share view_share(const struct view *view, const struct view_group *group);

/* Is @group a process, or a thread, of @pid, which is not 0? */
bool view_group_is_of(const struct view *view, const struct view_group *group, uint32_t pid);

#define VIEW_RECORDER_MARK ", the recorder"

/*
 * What is to be read behind the name of @group if process @pid recorded: "" if it has no part in the group, or if @pid is
 * 0. A group of programs or of names is looked up by name, so that samples that do not pass the view's filter count too.
 */
const char *view_recorder_mark(const struct view *view, const struct view_group *group,
			       uint32_t pid);

/* Total only: is it on nearly every stack (90 %) of the processes it is seen in, without time of its own? */
bool view_is_passed_through(const struct view *view, const struct view_group *group);

#endif
