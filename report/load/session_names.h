/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_names.h - which addresses of the profile are to be named, for session.c only.
 *
 * Each distinct one is named once. With several threads they are asked for (name_ahead.h) as soon as a sample needs them,
 * so that names are looked up while stacks are still being walked.
 */
#ifndef REPORT_SESSION_NAMES_H
#define REPORT_SESSION_NAMES_H

#include "formats/base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct session;

/* Which of some numbers have come up. */
struct session_marks {
	VEC(bool) of;
};

/* Empty when zeroed. */
struct session_wanted {
	struct session_marks stacks, locations;
	VEC(uint32_t) order; /* the locations, as they came up */
};

void session_wanted_deinit(struct session_wanted *wanted);

/* A sample with @stack was added to the profile of @s, which has .ahead; of one that @waits all frames matter. */
void session_name_ahead(struct session *s, uint32_t stack, bool waits);

#endif
