/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trust.h - how far the numbers of a session can be believed, and what would make them better.
 */
#ifndef REPORT_TRUST_H
#define REPORT_TRUST_H

#include "report/load/session.h"

struct trust {
	uint64_t samples;   /* that the report is made of, all events */
	uint64_t lost;      /* samples that are not in the file */
	uint64_t side_band; /* records of mappings, names and forks that are not */
	uint64_t throttled; /* times that the kernel stopped an event */
	uint64_t cut,
		shortened; /* stacks of the whole recording: by the snapshot's size; by the recorder */
	uint64_t broken, complete; /* stacks that should have gone on; that reach their root */
	uint64_t stops[UNWIND_STOPS];
	struct profile_sum named, unnamed; /* by leaf */
	uint32_t worst_module; /* profile module with the most unnamed weight; PROFILE_NONE */
	bool complete_file;
	bool sums_only; /* the input was a profile, which does not tell what is missing */
};

/* After session_load() that named at least the leaves. */
void trust_judge(struct trust *trust, const struct session *s);

/* "lost 0, throttled 0, cut 1.2 %, broken 0.3 %, unnamed 0.1 %", in the arena. */
const char *trust_line(const struct trust *trust, struct arena *arena);

#define TRUST_LOST 2.0 /* the weight, at least, of what is not in the file; before everything that is a share */

/* What is not as it should be: reason and remedy in one sentence. */
struct trust_remark {
	const char *text;
	double weight; /* how bad it is; comparable */
};

struct trust_remarks {
	VEC(struct trust_remark) list; /* worst first */
};

/* Texts live in @arena; the list is released with vec_deinit(). */
void trust_remark(const struct trust *trust, const struct session *s, struct arena *arena,
		  struct trust_remarks *ret);

#endif
