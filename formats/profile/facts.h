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
#include "formats/profile/profile.h"
#include "formats/recording_note.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What the scheduler itself has counted for threads between two readings, and what the records of switches say of the same
 * stretches. Of the latter, interrupts and what a hypervisor took are a part.
 */
struct profile_account {
	uint32_t threads; /* 0: it was not read, or only a part of the recording is looked at */
	uint64_t ns;	  /* how long all stretches are */
	uint64_t run_ns, wait_ns; /* on a CPU; ready to run before it got one, also after it was woken */
	uint64_t own_run_ns;	  /* on a CPU, by switches */
};

/* How the time of all threads together was spent, in the window. */
struct profile_lives {
	uint32_t threads;
	bool switches;	    /* were recorded: otherwise only @life_ns is known */
	uint64_t life_ns;   /* sum over threads */
	uint64_t window_ns; /* how long was recorded, within the window */
	uint64_t by_state[PROFILE_STATES];
	uint64_t estimated_ns; /* of waits, whose stacks are estimated from those of others of the same thread */
	struct profile_account account;
	uint64_t thinned;      /* at most one switch in so many had its stack; 0: each */
	bool stacks_lost;      /* samples were lost: of some waits, perhaps */
	uint64_t unwatched_ns; /* of the window, in which switches were not recorded since there were too many */
};

struct profile_facts {
	struct arena arena;
	const char *input;    /* the file, as it was named; "standard input" */
	bool piped;           /* read from standard input */
	const char *tool;     /* what made it, or its format: "precord 0.1.0", "perf 6.1", "pprof" */
	const char *cmdline;  /* of the recorder */
	const char *comment;  /* what its maker wrote into it for people; lines, '\n' between them */
	const char *hostname, *os_release, *cpu_model, *container;
	const struct arch *arch; /* NULL if not known */

	bool has_wall, has_duration;
	uint64_t wall_ns;     /* when it began, since 1970 */
	uint64_t duration_ns; /* how long was recorded */
	uint64_t start_ns;    /* when it began on the clock of the samples' times; 0 if that is where they begin */
	bool has_utc_offset;
	int32_t utc_offset_s; /* of the recorder's time zone, east of UTC */
	uint32_t ncpus;	      /* of the machine; 0 if not known */

	/* Samples that are there, before filters, and that are missing; of the latter 0 also where the input counts none. */
	uint64_t samples, lost_by_kernel, lost_by_recorder;
	uint64_t lost_side_band; /* records of mappings, names and forks */
	uint64_t throttled;	 /* times that the kernel stopped an event */
	uint64_t cut, shortened; /* stacks: by the snapshot's size; by the recorder */
	/* Stacks of interpreters: that were asked for; that are not there, torn, late or unreadable; that do not fit the native ones. */
	uint64_t managed, managed_unread, managed_mismatched;
	uint64_t with_branches;	 /* samples that came with branches, whether or not they are kept */
	bool sums_only;		 /* the input does not say what is missing */
	bool leaves_only;	 /* stacks were not recorded */

	uint32_t recorder_pid; /* 0 if not known */
	int32_t exit_status; /* of the command that was recorded, as from wait(2); -1 if not known */
	bool complete;	       /* the input has its end and no damage */
	bool system_wide;      /* all CPUs were sampled, not only some tasks */
	uint32_t cpus_sampled; /* how many those are; 0 if not known */

	/* Which of its samples were chosen. */
	const char *filter;	 /* the options that chose, as the user wrote them; "": all samples */
	uint64_t from_ns, to_ns; /* on the samples' clock; @to_ns is the first moment outside */
	uint32_t first_type;	 /* the value type that is shown first */
	struct profile_lives lives; /* 0 threads: not known */

	const struct recording_note *notes; /* in @arena */
	size_t nnotes;
};

static inline void profile_facts_init(struct profile_facts *facts)
{
	*facts = (struct profile_facts){
		.input = "",
		.filter = "",
		.to_ns = UINT64_MAX,
		.tool = "",
		.cmdline = "",
		.comment = "",
		.hostname = "",
		.os_release = "",
		.cpu_model = "",
		.container = "",
		.complete = true,
		.exit_status = -1,
	};
}

/* What the samples' times say of when @p began and how long it took, where its input does not. */
void profile_facts_from_times(struct profile_facts *facts, const struct profile *p);

static inline void profile_facts_deinit(struct profile_facts *facts)
{
	arena_deinit(&facts->arena);
}

#endif
