/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_merge.h - several recordings as one profile, in which what has the same name is the same.
 *
 * Event number i of the merged profile is recording i. Functions, modules and files have the names of match.h; addresses,
 * process and thread ids are gone, as they are others in each run.
 */
#ifndef REPORT_DIFF_MERGE_H
#define REPORT_DIFF_MERGE_H

#include "formats/base/map.h"
#include "formats/base/opt.h"
#include "formats/profile/facts.h"

/* One of the recordings that are compared. */
struct diff_input {
	const struct profile *profile;
	const struct profile_facts *facts;
	double counted; /* the share of the time that the event had a counter, 1 if not known */
};

/* A name with a number, and how many recordings have it. */
struct diff_merge_number {
	uint64_t without;      /* name without the number, and module */
	uint32_t last, nsides; /* the last recording that has it */
};

struct diff_merge {
	struct profile *profile;
	const struct opt_list *same; /* "OLD=NEW" modules that count as one, in that order of recordings or not; may be empty */
	struct map builds;           /* name of a module -> its build ID in all recordings, 0 if they differ */
	struct strtab build_ids;
	struct map apart;            /* plain name and module of functions that some recording tells apart -> 1 */
	VEC(struct diff_merge_number) numbers; /* functions that have but a number, such as lambdas: "main::{lambda#2}" */
	struct map number_of;	     /* name with its number and module -> index in @numbers + 1 */
	struct map renumbered;	     /* name without it and module -> 1: the recordings do not have the same numbers */
	struct map kernel_places;    /* plain name and module of functions of the first recording's kernel -> address */
	struct map kernel_slides;    /* recording and module -> how far its kernel code lies from the first one's (KASLR) */
	uint32_t nlooked;            /* recordings so far */
	struct arena arena;
	VEC(uint32_t) rows;          /* one after another: row of the recording -> row of the merged profile */
	VEC(uint32_t) events;        /* by recording: which of its events */
	VEC(size_t) first_row;       /* by recording: where its rows begin */
};

void diff_merge_init(struct diff_merge *merge, const struct opt_list *same);
void diff_merge_deinit(struct diff_merge *merge);

/*
 * Look at the modules and names of @from. Of all recordings before any is added: where a module is the same build in all of
 * them, functions without a symbol are distinguished by their addresses. Lambdas of one function are distinguished by their
 * numbers if all recordings have the same ones: a build with one more may have given the others new numbers.
 */
void diff_merge_look(struct diff_merge *merge, const struct profile *from);

/* Add the samples of @event of @from as the next recording. */
void diff_merge_add(struct diff_merge *merge, const struct profile *from, uint32_t event);

/* The merged row of @row of recording @side; PROFILE_NONE if it is of another event. */
uint32_t diff_merge_row(const struct diff_merge *merge, uint32_t side, uint32_t row);

#endif
