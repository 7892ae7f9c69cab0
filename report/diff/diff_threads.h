/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_threads.h - how much a group's weight depends on which thread happened to do the work.
 *
 * Threads of one name do the same kind of work, and which of them does how much is chance. What a group has in each of
 * them, against what it would have if all were alike, is a variance of the group's weight; it is 0 where every name
 * belongs to one thread only.
 */
#ifndef REPORT_DIFF_THREADS_H
#define REPORT_DIFF_THREADS_H

#include "formats/base/map.h"
#include "formats/base/vec.h"
#include "formats/profile/profile.h"

struct diff_thread {
	uint32_t name;  /* index of its name among the names */
	double weight;  /* of all its samples */
};

struct diff_threads_name {
	uint32_t threads;
	double weight, weight_sq; /* sums over the threads */
};

struct diff_threads {
	VEC(struct diff_thread) threads; /* by thread of the profile */
	VEC(struct diff_threads_name) names;
	struct map parts; /* group and thread -> index in .weights */
	VEC(double) weights;
};

/* Of the threads of @p, as far as samples of @event go. */
void diff_threads_init(struct diff_threads *threads, const struct profile *p, uint32_t event);
void diff_threads_deinit(struct diff_threads *threads);

/* @group has @weight more in @thread. */
void diff_threads_add(struct diff_threads *threads, uint32_t group, uint32_t thread, double weight);

/* The variances of groups [0 .. count), into ret[group * stride]. */
void diff_threads_variances(const struct diff_threads *threads, uint32_t count, double *ret,
			    size_t stride);

#endif
