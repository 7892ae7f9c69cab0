/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_table.h - the processes of a machine, from their events: which are alive, their parents, their mappings.
 *
 * One table serves pruning, what is embedded, and the beginnings of output files. Events may come ahead of the samples that
 * need the state before them: rings are drained one after another. So what an exec, an exit or a new mapping ends is kept
 * until all of that is through: for two rounds. Memory is bounded: maps are shared after forks, and there are limits for one
 * process and for all.
 *
 * Not thread-safe, but several threads may ask while nothing changes.
 */
#ifndef FORMATS_PROCESS_TABLE_H
#define FORMATS_PROCESS_TABLE_H

#include "formats/base/map.h"
#include "formats/base/vec.h"
#include "formats/event.h"
#include "formats/process/addr_map.h"
#include "formats/process/mapped_file.h"

#include <stdbool.h>
#include <stdint.h>

#define PROCESS_ROUNDS_KEPT 2 /* see above */

/* Limits of the maps: executable mappings of one process, and of all. */
#define PROCESS_MAPS_MAX     (1U << 15)
#define PROCESS_MAPS_ALL_MAX (1U << 20)

/* The process itself and those it descends from, nearest first; 0 ends the list early. */
#define PROCESS_LINEAGE 8

/* An item of a process's map. */
struct process_map {
	uint64_t start, end;
	uint64_t offset; /* of @start in the file */
	struct mapped_file *file;
	uint32_t flags; /* EVENT_MMAP_* */
};

/* The map of a program that is no more, and a mapping that another one has replaced. */
struct process_past {
	struct addr_map *maps;
	uint64_t until; /* the round after which it is forgotten */
};

struct process_replaced {
	struct process_map map;
	uint64_t until;
};

#define PROCESS_REPLACED_MAX 64

struct process_comm; /* a name that several threads share */

struct process_thread {
	uint32_t tid;
	struct process_comm *comm; /* NULL if it is not known */
};

struct process {
	uint32_t pid, parent_pid;
	uint32_t lineage[PROCESS_LINEAGE];
	uint32_t serial;   /* new with each change of mappings */
	uint32_t nthreads; /* 0: ended */
	bool counted;      /* @nthreads is the truth: its beginning was seen */
	bool inherits;     /* its fork was seen and it has not called exec: mappings may be its parent's */
	bool fading;       /* in the list of those with a past */
	uint64_t ended_round;
	/*
	 * Code that a runtime's interpreter runs in, of HotSpot where it lies, of V8 where in its file, since that may be mapped several
	 * times; 0: none is known. The recorder says so.
	 */
	uint64_t interpreter, interpreter_len;
	bool runs_v8;
	struct addr_map *maps; /* of struct process_map; never NULL */
	VEC(struct process_past) past;
	VEC(struct process_replaced) replaced;
	VEC(struct process_thread) threads; /* if the table follows them */
};

struct process_table {
	struct map by_pid; /* to struct process * */
	struct addr_map_pool pool;
	struct addr_map *none; /* an empty map that all share who have nothing */
	struct process nobody; /* has nothing */
	VEC(struct process *) fading; /* those with a past or at their end, to be swept */
	uint64_t round;
	uint32_t last_serial;
	uint64_t left_out;    /* mappings for which there was no room */
	bool follows_threads; /* with their names */
	void (*forget)(void *context, uint32_t pid); /* a process is freed; may be NULL */
	void *context;
};

void process_table_init(struct process_table *table);
void process_table_deinit(struct process_table *table);

/* NULL if it is not known. */
struct process *process_table_find(const struct process_table *table, uint32_t pid);

/* The same, but one without mappings if it is not known. */
const struct process *process_table_look(const struct process_table *table, uint32_t pid);

/* The process, made if it is new. Valid until process_table_round(). */
struct process *process_table_get(struct process_table *table, uint32_t pid);

/* A process that runs already, with so many threads. */
void process_table_add_existing(struct process_table *table, uint32_t pid, uint32_t nthreads);

/* @file is mapped at @map in process @pid from now on. False if nothing changes by that. */
bool process_table_map(struct process_table *table, uint32_t pid, const struct event_mmap *map,
		       struct mapped_file *file);

/* What lies in the mappings of @pid is other than it was: it gets a new serial. */
void process_table_changed(struct process_table *table, uint32_t pid);

/*
 * Follow a fork, name, exec or exit; others are ignored. A fork at time 0 tells of a process that ran before, and inherits no
 * mappings. True if it ended the last thread of a process.
 */
bool process_table_event(struct process_table *table, const struct event *ev);

/* All rings have been drained once more: forget what ended two rounds ago. */
void process_table_round(struct process_table *table);

/* The name of @thread, NULL if it is not known. */
const char *process_thread_name(const struct process_thread *thread);

/* Is process @pid the process @of, or was it seen to be forked from that one and runs the same program? */
bool process_table_is_copy(const struct process_table *table, uint32_t pid, uint32_t of);

/* Look @addr up in the maps of programs that are no more. */
bool process_had_code(const struct process *proc, uint64_t addr);

/* Is @addr in a mapping of @proc, now or lately? */
static inline bool process_is_code(const struct process *proc, uint64_t addr)
{
	return addr_map_find(proc->maps, addr) || (proc->past.len && process_had_code(proc, addr));
}

/* Where the first mapping that begins above @addr begins; UINT64_MAX if there is none. */
uint64_t process_next_code(const struct process *proc, uint64_t addr);

/* All code, past programs' included, is in [*@ret_low, *@ret_high). */
void process_code_span(const struct process *proc, uint64_t *ret_low, uint64_t *ret_high);

/*
 * The mappings that may hold @addr: the one that does now, those that did lately, and if there are none and the process has
 * not called exec, its parent's. At most @max; returns how many.
 */
size_t process_table_meanings(const struct process_table *table, const struct process *proc,
			      uint64_t addr, const struct process_map **ret, size_t max);

#endif
