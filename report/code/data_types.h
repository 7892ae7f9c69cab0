/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_types.h - which type, and which member of it, the sampled instructions access (--by data-type, data-field).
 *
 * Derived from the instruction and from debug information, not from recorded addresses, so any event will do; but where an
 * event is not precise, a sample lands a little behind the instruction that it is about.
 */
#ifndef REPORT_DATA_TYPES_H
#define REPORT_DATA_TYPES_H

#include "report/load/session.h"
#include "report/view/view.h"

/* Samples by how far their type is known. */
struct data_types_count {
	uint64_t samples;
	uint64_t known;	    /* a type */
	uint64_t spilled;   /* the compiler's own room on the stack */
	uint64_t unknown;   /* accesses whose type is not known: no variable, or no debug information */
	uint64_t without_debug_info; /* of these */
};

bool data_types_wanted(const struct view_levels *levels);

/* Give the rows of the profile of @s, which is loaded and named, the type and member that their leaf accesses. */
void data_types_fill(struct session *s, struct data_types_count *ret);

#endif
