/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facts.h - what is known of a profile as a whole: who made it, where, when, and what it lacks.
 *
 * Plain data; strings are never NULL after profile_facts_init() but "" when a thing is not known, and live as long as
 * @arena, or longer. What is not known is never 0 or this machine's.
 */
#ifndef FORMATS_PROFILE_FACTS_H
#define FORMATS_PROFILE_FACTS_H

#include "formats/arch.h"
#include "formats/base/arena.h"
#include "formats/recording_note.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile_facts {
	struct arena arena;
	const char *tool;     /* what made it, or its format: "precord 0.1.0", "perf 6.1", "pprof" */
	const char *cmdline;  /* of the recorder */
	const char *hostname, *os_release, *cpu_model, *container;
	const struct arch *arch; /* NULL if not known */

	bool has_wall, has_duration;
	uint64_t wall_ns;     /* when it began, since 1970 */
	uint64_t duration_ns; /* how long was recorded */
	uint64_t start_ns;    /* when it began on the clock of the samples' times; 0 if that is where they begin */
	uint32_t ncpus;	      /* of the machine; 0 if not known */

	/* Samples that are there, before filters, and that are missing; of the latter 0 also where the input counts none. */
	uint64_t samples, lost_by_kernel, lost_by_recorder;

	uint32_t recorder_pid; /* UINT32_MAX if not known */
	bool complete;	       /* the input has its end */

	struct recording_note *notes; /* in @arena */
	size_t nnotes;
};

static inline void profile_facts_init(struct profile_facts *facts)
{
	*facts = (struct profile_facts){
		.tool = "",
		.cmdline = "",
		.hostname = "",
		.os_release = "",
		.cpu_model = "",
		.container = "",
		.recorder_pid = UINT32_MAX,
		.complete = true,
	};
}

static inline void profile_facts_deinit(struct profile_facts *facts)
{
	arena_deinit(&facts->arena);
}

#endif
