/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listing.h - what all listings of annotated functions say, on a terminal, a page or as data: options, words, metrics.
 */
#ifndef REPORT_LISTING_H
#define REPORT_LISTING_H

#include "report/code/annotate.h"
#include "report/metric/metrics.h"
#include "report/print/table.h"

enum listing_source {
	LISTING_SOURCE_NONE,
	LISTING_SOURCE_BETWEEN, /* rows of their own between the instructions */
	LISTING_SOURCE_BESIDE,  /* to the right of each instruction */
};

struct listing_options {
	enum table_format format;
	bool all; /* long stretches without samples too */
	enum listing_source source;
	bool bytes;
	bool global;          /* shares of all samples instead of the function's */
	const struct metrics *metrics; /* beside the shares; NULL: none. The annotation has their measures */
	struct terminal term; /* for text */
};

/* What shares of @listing are shares of, for the event of @column. */
const struct profile_sum *listing_whole(const struct annotate *a,
					const struct annotate_listing *listing, size_t column,
					bool global);

/* How many metrics there are, and what one comes to at instruction @line, in a loop, and in the whole listing. */
size_t listing_nmetrics(const struct listing_options *options);
struct measure_value listing_metric(const struct listing_options *options,
				    const struct annotate_listing *listing, size_t line,
				    size_t which);
struct measure_value listing_loop_metric(const struct listing_options *options,
					 const struct annotate_listing *listing, uint32_t loop,
					 size_t which);
struct measure_value listing_function_metric(const struct listing_options *options,
					     const struct annotate_listing *listing, size_t which);

/* What is known of the branches from one instruction, "-" where too few tell; all "" if none was recorded. */
struct listing_branch_text {
	const char *taken, *missed, *cycles;
};

struct listing_branch_text listing_branch_text(struct arena *arena,
					       const struct annotate_branch *branch);

/* "1,234 of 5,678 recorded branches leave from here, 2.1 % (1.7-2.6) of them mispredicted"; "" if none were recorded. */
const char *listing_branches_text(struct arena *arena, const struct annotate *a,
				  const struct annotate_listing *listing);

/* "inner loop from 1a2b to 1a5c, entered elsewhere too" */
const char *listing_loop_text(struct arena *arena, const struct annotate_listing *listing,
			      uint32_t loop);

/* "push_back(int), called at vector.h:12"; of the function that frame @frame of @line is. Not escaped. */
const char *listing_call_text(struct arena *arena, const struct annotate_line *line, uint32_t frame);

/* "only the first 64 of 90 bytes of code are in the recording" and the like; "" if nothing is missing. */
const char *listing_missing_text(struct arena *arena, const struct annotate *a,
				 const struct annotate_listing *listing);

#endif
