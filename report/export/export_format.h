/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_format.h - the formats of other tools that preport export writes, one file each.
 */
#ifndef REPORT_EXPORT_FORMAT_H
#define REPORT_EXPORT_FORMAT_H

#include "formats/event.h"
#include "formats/profile/facts.h"
#include "formats/profile/profile.h"

#include <stdio.h>

/* The branches that samples carry, in the order of profile.times. */
struct export_branches {
	VEC(uint32_t) counts; /* of each sample */
	VEC(struct event_branch) all;
};

/* What a format is made of. */
struct export_input {
	const struct profile *profile; /* named */
	const struct profile_facts *facts;
	uint32_t first_type; /* the value type that is shown first */
	const struct export_branches *branches; /* NULL: there are none, or the format wants none */
};

struct export_format {
	const char *file;    /* where a terminal's user finds it; NULL: a terminal can show it */
	const char *with;    /* what looks at it, in front of the file's name */
	const char *missing; /* what the format cannot hold: "holds no ..." */
	bool times;          /* it wants every sample's time (profile.times) */
	bool branches;       /* it wants their branches too */
	bool gzip;           /* its tool opens compressed files */
	/* A failed write is seen in @out. */
	void (*write)(const struct export_input *in, FILE *out);
};

/* Each is export_<id> of the file export_<id>.c, and called by its name with --to; help and messages list them from here. */
#define EXPORT_FORMATS(X)           \
	X(firefox, "firefox")       \
	X(speedscope, "speedscope") \
	X(chrome, "chrome")         \
	X(callgrind, "callgrind")   \
	X(perf_script, "perf-script")

#define EXPORT_DECLARE(id, name) extern const struct export_format export_##id;
EXPORT_FORMATS(EXPORT_DECLARE)
#undef EXPORT_DECLARE

/* For EXPORT_FORMATS: elements of an array of names, and words of a text. */
#define EXPORT_NAME(id, name) name,
#define EXPORT_WORD(id, name) " " name

#endif
