/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_table.h - what "precord stat" has counted: a row for each event of each CPU, core, thread or all.
 *
 * Rows add up over the runs of a command (-r) and then know their mean and its spread.
 */
#ifndef RECORD_STAT_TABLE_H
#define RECORD_STAT_TABLE_H

#include "formats/base/arena.h"
#include "formats/base/vec.h"
#include "record/stat/counter_set.h"

#include <stdbool.h>
#include <stdint.h>

enum stat_by { STAT_BY_ALL, STAT_BY_CPU, STAT_BY_CORE, STAT_BY_SOCKET, STAT_BY_THREAD };

enum stat_state {
	STAT_COUNTED,
	STAT_NOT_COUNTED,   /* it never had a counter, or its task never ran */
	STAT_IMPOSSIBLE,    /* more than any processor can do in the time: a fault of the PMU */
	STAT_NOT_SUPPORTED, /* this machine does not have it */
};

struct stat_row {
	const char *place; /* "3", "0/1" (package/core), "1234 name"; "" for all */
	uint64_t key;      /* of the place */
	uint32_t event;
	enum stat_state state;
	struct counter_value value; /* summed over the counters of this place, and over all runs */
	double sum, sum_sq;         /* of what each run gave, scaled */
	double run;                 /* what this run has given so far, scaled */
	unsigned runs;
};

struct stat_table {
	struct arena arena;
	const struct event_list *list;
	enum stat_by by;
	VEC(struct stat_row) rows; /* by place, then by event: as many for each place as @list has */
	size_t at;                 /* private: the place that was found last */
};

void stat_table_init(struct stat_table *t, const struct event_list *list, enum stat_by by);
void stat_table_deinit(struct stat_table *t);

/* Make the rows for the counters of @set, while the threads that they are named after still live. */
void stat_table_prepare(struct stat_table *t, const struct counter_set *set);

/* Forget all counts: a new interval begins. */
void stat_table_reset(struct stat_table *t);

/* Add what the counters of @set counted since they were read last. */
void stat_table_add(struct stat_table *t, struct counter_set *set);

/* Sort places by the first event, largest first. */
void stat_table_sort(struct stat_table *t);

/* A run is over. */
void stat_table_end_run(struct stat_table *t);

/* The mean over the runs; @row was counted. */
double stat_row_mean(const struct stat_row *row);

/* The standard error of that mean, in per cent of it; 0 for a single run. */
double stat_row_spread(const struct stat_row *row);

/* The share of time that it had a counter, 0 to 1. */
double stat_row_share(const struct stat_row *row);

/* The row of the same place with a hardware or software event; NULL if it is not counted. */
const struct stat_row *stat_table_find(const struct stat_table *t, const struct stat_row *row,
				       uint32_t type, uint64_t config);

#endif
