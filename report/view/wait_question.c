/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_question.c - sums of waits by kind, weighed against the time on a CPU.
 *
 * A quarter more than the CPU time, because a main thread that joins one busy worker waits as long as that computes.
 */
#include "report/view/wait_question.h"

#include "report/load/derive/derive_kind.h"
#include "report/view/idle_waits.h"

#include <stdlib.h>
#include <string.h>

static uint32_t event_of_waits(const struct profile *p)
{
	for (uint32_t i = 0; i < p->types.len; i++)
		if (strcmp(profile_text(p, p->types.items[i].name), DERIVE_OFF_CPU) == 0 &&
		    profile_total(p, i).count)
			return i;
	return PROFILE_NONE;
}

/*
 * Waits of threads that would go on if they could, and whose reason is not another thread's work that is seen itself. Waiting for a CPU
 * is said in the first line, and what the CPUs do is the question then.
 */
static uint64_t telling_ns(const struct wait_question *question)
{
	uint64_t sum = 0;

	for (enum wait_kind kind = 0; kind < WAIT_KINDS; kind++)
		if (kind != WAIT_ON_CPU && kind != WAIT_CPU && kind != WAIT_CHILD && kind != WAIT_KERNEL_WORK &&
		    kind != WAIT_EARLIER && kind != WAIT_LOST && kind != WAIT_LEFT_OUT)
			sum += question->by_kind[kind];
	return sum;
}

void wait_question_init(struct wait_question *question, const struct profile *p,
			const struct profile_facts *facts)
{
	const struct profile_lives *lives = &facts->lives;
	uint64_t cpu_ns = lives->by_state[PROFILE_STATE_ON_CPU];

	*question = (struct wait_question){ .event = lives->switches ? event_of_waits(p) : PROFILE_NONE };
	if (question->event == PROFILE_NONE)
		return;
	question->idle = idle_waits_find(p, lives->window_ns);
	for (size_t i = 0; i < p->samples.len; i++) {
		const struct profile_sample *row = &p->samples.items[i];
		uint64_t ns = row->weight > 0 ? (uint64_t)row->weight : 0;

		if (row->type == question->event)
			*(question->idle[i] ? &question->idle_ns : &question->by_kind[wait_frames_kind(p, row)]) += ns;
	}
	question->alone = strncmp(profile_text(p, p->types.items[facts->first_type].name), DERIVE_SCHED_SWITCH,
				  strlen(DERIVE_SCHED_SWITCH)) == 0;
	question->comes_first = question->alone ||
				(telling_ns(question) > cpu_ns + cpu_ns / 4 &&
				 (!facts->system_wide || cpu_ns < lives->window_ns / 2));
}

void wait_question_deinit(struct wait_question *question)
{
	free(question->idle);
}
