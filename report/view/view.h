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

#include <stdbool.h>
#include <stdint.h>

enum view_by {
	VIEW_LEAF,   /* the function that ran */
	VIEW_CALLER, /* the function that ran with the one that called it */
	VIEW_TOTAL,  /* every function on the stack */
	VIEW_MODULE, /* of the leaf */
	VIEW_THREAD,
	VIEW_PROCESS,
	VIEW_PROGRAM, /* all processes of one name */
	VIEW_COMM,    /* all threads of one name */
	VIEW_CPU,
	VIEW_LINE,    /* source line of the leaf */
	VIEW_ADDRESS, /* instruction of the leaf */
	VIEW_DEPTH,   /* the function at depth N from the root, which is 1 */
	VIEW_DATA_SYMBOL,  /* memory that was accessed, see data_places.h: variable, heap, stack, ... */
	VIEW_DATA_ADDRESS,
	VIEW_DATA_LINE,    /* cache line */
	VIEW_DATA_SOURCE,  /* which cache or memory it came from */
	VIEW_DATA_TYPE,	   /* of what the instruction accesses, see data_types.h */
	VIEW_DATA_FIELD,   /* its type and member */
	VIEW_ENTRY,	   /* which way it came there: entry.h */
	VIEW_MINE,	   /* the innermost function that is neither kernel, C library nor runtime: own_code.h */
	VIEW_BYS
};

#define VIEW_LEVELS_MAX 6
#define VIEW_FIELDS_MAX 3

struct view_level {
	enum view_by by;
	uint32_t depth; /* for VIEW_DEPTH */
};

struct view_levels {
	struct view_level items[VIEW_LEVELS_MAX];
	unsigned len;
};

/* "process,leaf" or "depth=2", for OPT_PARSE: @field is a struct view_levels, which is replaced. ERR_USAGE. */
MUST_USE struct err *view_parse_levels(void *field, const char *value);

/* What names a group of a level: function and module, comm and pid, ... */
struct view_field {
	const char *title; /* "function" */
	const char *key;   /* in CSV and JSON */
	bool number;
	bool is_path; /* the end says more than the beginning */
};

const struct view_field *view_fields(enum view_by by, unsigned *ret_count);
const char *view_by_name(enum view_by by);

/* Which part of each stack is looked at. */
enum view_cut {
	VIEW_WHOLE,
	VIEW_CALLERS, /* of the stacks with such a function, what lies towards the root of the outermost one */
	VIEW_CALLEES, /* ... what lies towards the leaf of the innermost one */
};

struct view_spec {
	struct view_levels levels;
	uint32_t event;
	enum view_cut cut;
	const bool *cut_at; /* by function */
	const bool *rows;   /* by sample row of the profile: which are looked at; NULL: all */
	const struct measures *const *measures; /* @nmeasures of them, summed up for each group */
	unsigned nmeasures;
	const struct latency *latencies; /* by row, @nlatencies of them; NULL: none */
	size_t nlatencies;
};

/* One group's name; fields that the level does not have are NULL. */
struct view_key {
	const char *fields[VIEW_FIELDS_MAX];
	bool unnamed;
};

struct view_group {
	uint32_t parent; /* group, PROFILE_NONE at the outermost level */
	uint32_t level;  /* index in the levels */
	uint32_t key;    /* in the keys of the level */
	struct profile_sum sum;
	struct profile_sum self; /* total only: where it was the leaf */
	struct profile_sum
		within; /* total only: all samples of the processes (the parent group) that it is seen in */
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
