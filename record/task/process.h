/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.h - which addresses are code in each process: what pruning asks of every word of every stack.
 *
 * The answer may be yes for code that is gone, never no for code that a sample may still need: rings are
 * drained CPU by CPU, so an exec or exit is seen before samples that came earlier. What it ends is
 * kept until all of those are through (two rounds). Not thread-safe.
 */
#ifndef RECORD_PROCESS_H
#define RECORD_PROCESS_H

#include "formats/base/map.h"
#include "formats/base/vec.h"
#include "formats/event.h"

#include <stdbool.h>
#include <stdint.h>

struct process_range {
	uint64_t start, end;
};

/* Ascending and apart. */
struct process_ranges {
	struct process_range *items;
	size_t len, cap;
};

#define PROCESS_REGION_SHIFT \
	21 /* regions of 2 MiB, hashed into a filter that sits in two cache lines */
#define PROCESS_FILTER_BITS 4096

struct process {
	uint32_t pid;
	uint64_t low, high;                        /* all code is in [low, high) */
	uint64_t filter[PROCESS_FILTER_BITS / 64]; /* regions that hold code, by their low bits */
	struct process_ranges code;                /* of the program that runs now */
	struct process_ranges past; /* of the program before an exec, or before the end */
	uint64_t past_until;        /* the round after which @past is forgotten */
	uint32_t nthreads;          /* 0: ended */
	bool counted;               /* @nthreads is the truth: its beginning was seen */
	size_t slot;                /* in the table */
};

struct process_table {
	struct map by_pid;            /* to struct process * */
	VEC(struct process *) fading; /* those with a past, to be swept */
	uint64_t round;
};

/* The process, made if it is new. Valid until process_table_round(). */
struct process *process_get(struct process_table *table, uint32_t pid);

/* The process, or one without code if it is not known. Several threads may ask while nothing changes. */
const struct process *process_find(const struct process_table *table, uint32_t pid);

/* A process that runs already, with so many threads. */
struct process *process_add_existing(struct process_table *table, uint32_t pid, uint32_t nthreads);

/*
 * Follow a side-band event: mappings, fork, exec, exit; others are ignored. True if it ended the last
 * thread of a process whose beginning was seen.
 */
bool process_table_event(struct process_table *table, const struct event *ev);

/* All rings have been drained once more: forget what ended two rounds ago. */
void process_table_round(struct process_table *table);

void process_table_deinit(struct process_table *table);

/* Look @addr up in the ranges, without the filter. */
bool process_ranges_have(const struct process_ranges *ranges, uint64_t addr);

/* Where the first code that begins above @addr begins; UINT64_MAX if there is none. */
uint64_t process_next_code(const struct process *proc, uint64_t addr);

/* Is @addr code of @proc, now or lately? */
static inline bool process_is_code(const struct process *proc, uint64_t addr)
{
	uint64_t region = addr >> PROCESS_REGION_SHIFT;
	uint64_t bit = region & (PROCESS_FILTER_BITS - 1);

	if (!(proc->filter[bit / 64] >> (bit % 64) & 1))
		return false;
	return process_ranges_have(&proc->code, addr) ||
	       (proc->past.len && process_ranges_have(&proc->past, addr));
}

#endif
