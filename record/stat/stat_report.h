/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_report.h - the rows of a stat_table for people, as CSV and as JSON.
 */
#ifndef RECORD_STAT_REPORT_H
#define RECORD_STAT_REPORT_H

#include "formats/base/json_writer.h"
#include "record/stat/stat_table.h"

#include <stdbool.h>
#include <stdio.h>

enum stat_format { STAT_TEXT, STAT_CSV, STAT_JSON, STAT_FIELDS };

struct stat_report {
	FILE *out;
	enum stat_format format;
	const char *separator; /* for STAT_FIELDS, the layout of perf stat -x */
	double elapsed_s; /* that the rows are of; set before stat_report_rows() */
	const struct stat_table *table;
	const struct event_list *list;
	struct err *const *refusals; /* by event, as in counter_set; valid in stat_report_end() */
	bool is_default;             /* these events were not requested: absent ones are left out */
	const char *subject; /* "'sleep 1'", "the whole system" */
	unsigned runs;
	bool hide_idle;      /* leave places that counted nothing out of the text */
	int place_width;     /* private: columns of text */
	struct json json;    /* private */
};

/* What a run of a command took, averaged over the runs. */
struct stat_times {
	double elapsed_s, user_s, system_s;
	double elapsed_spread; /* in per cent */
	bool has_command;
};

/* The head, before the first rows. */
void stat_report_begin(struct stat_report *r);

/* All rows, as they are at @at_s seconds (negative: at the end, once). */
void stat_report_rows(struct stat_report *r, double at_s);

/* The times, and why events were not counted. */
void stat_report_end(struct stat_report *r, const struct stat_times *times);

#endif
