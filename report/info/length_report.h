/* SPDX-License-Identifier: Apache-2.0 */
/*
 * length_report.h - how long things took, for people and programs: quantiles of each group, and a histogram of all.
 */
#ifndef REPORT_LENGTH_REPORT_H
#define REPORT_LENGTH_REPORT_H

#include "formats/profile/facts.h"
#include "report/load/session.h"
#include "report/print/terminal.h"
#include "report/view/view.h"

#define WAIT_BUCKETS 48 /* bucket i holds what is at least 2^i ns and less than 2^(i+1) */

struct wait_group {
	const char *fields[VIEW_FIELDS_MAX];
	uint64_t total_ns;
	uint64_t errors; /* of system calls: that failed */
	VEC(uint64_t) lengths_ns; /* ascending */
	uint64_t buckets[WAIT_BUCKETS];
};

struct wait_lengths {
	struct arena arena;
	VEC(struct wait_group) groups; /* most time first */
	struct wait_group all;
};

/* Which waits of a profile, which has times, and into which groups. */
struct wait_lengths_request {
	uint32_t event; /* whose samples they are */
	struct view_level level;
	bool native; /* from the innermost frame on */
	bool idle;   /* waits of threads without work where they wait, not in a group of their own (idle_waits.h) */
};

/* The arguments of a command that prints lengths begin with these; its .defaults and .release are given them. */
struct length_args {
	struct session_args session;
	struct filter filter;
	struct terminal_args terminal;
	struct view_levels by; /* --by is the command's: its help lists the levels that make sense */
	uint64_t limit; /* groups, 0: all */
	const char *format;
};

/* -n, --format, terminal_opts, filter_opts and session_opts. */
extern const struct opt length_opts[];

/* @by: the level unless --by says otherwise. */
void length_args_init(struct length_args *args, enum view_by by);

/* Which lengths, and what they are called. */
struct length_report {
	struct wait_lengths_request request;
	const char *noun; /* what was counted: "waits"; also the key of the count */
	bool errors;	  /* say how many failed */
	/* Text only: the lines above the table. */
	void (*head)(const struct length_args *args, const struct session *s, const struct wait_lengths *lengths);
};

/* Print the lengths of @s, which is loaded with times: a table and, but for CSV, histograms. */
MUST_USE struct err *length_report_print(const struct length_report *report, const struct length_args *args,
					 const struct session *s);

#endif
