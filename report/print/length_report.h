/* SPDX-License-Identifier: Apache-2.0 */
/*
 * length_report.h - how long things took, for people and programs: quantiles of each group, and a histogram of all.
 */
#ifndef REPORT_LENGTH_REPORT_H
#define REPORT_LENGTH_REPORT_H

#include "report/load/session.h"
#include "report/print/terminal.h"
#include "report/view/wait_lengths.h"

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
