/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_metric.h - metrics from counts: instructions per cycle, miss ratios, CPUs utilized, rates.
 */
#ifndef RECORD_STAT_METRIC_H
#define RECORD_STAT_METRIC_H

#include "record/stat/stat_table.h"

/* For the help of -M. */
#define STAT_METRIC_NAMES \
	"ipc, ghz, cpus, branch-miss-rate, cache-miss-rate, l1d-miss-rate, llc-miss-rate, dtlb-miss-rate, " \
	"frontend-stalls, backend-stalls"

struct stat_metric {
	double value;
	const char *unit; /* "a cycle", "% of branches", "K/sec" */
	bool apart; /* the two counts cover different times: an estimate */
};

/* The metric of @row, from the other rows of its place and @elapsed_s seconds; false if there is none. */
bool stat_metric_of(const struct stat_table *t, const struct stat_row *row, double elapsed_s,
		    struct stat_metric *ret);

/* -M: add the events that the named metrics need to the struct event_list at @field. ERR_USAGE, near names as the remedy. */
MUST_USE struct err *stat_metric_parse(void *field, const char *value);

#endif
