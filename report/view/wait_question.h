/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_question.h - whether a recording's question is where its threads wait rather than what they compute.
 */
#ifndef REPORT_WAIT_QUESTION_H
#define REPORT_WAIT_QUESTION_H

#include "formats/profile/facts.h"
#include "report/view/wait_frames.h"

struct wait_question {
	uint32_t event;  /* the value type of waits; PROFILE_NONE: none were recorded, all else is 0 */
	bool *idle;	 /* by sample row: waits of threads without work (idle_waits.h) */
	uint64_t idle_ns;
	uint64_t by_kind[WAIT_KINDS]; /* nanoseconds, without those */

	/*
	 * Waits with work to do, but for those for a child (its own waits or CPU time say more) and those that began before
	 * the recording, are clearly longer than the time on a CPU; and where all CPUs were recorded, which have many threads
	 * that wait, less than half a CPU was in use.
	 */
	bool comes_first;
	bool alone; /* nothing was sampled but switches of threads, so that nothing else is asked */
};

/* @p must be named. To be released with wait_question_deinit(). */
void wait_question_init(struct wait_question *question, const struct profile *p,
			const struct profile_facts *facts);
void wait_question_deinit(struct wait_question *question);

#endif
