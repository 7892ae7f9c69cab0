/* SPDX-License-Identifier: Apache-2.0 */
/*
 * space.h - what is mapped where in each process, and what its threads are called, as time goes by.
 *
 * Fed with the events of a stream in time order; answers for the moment of the last event fed. Kernel
 * mappings are shared by all processes.
 */
#ifndef SYMBOLIZE_SPACE_H
#define SYMBOLIZE_SPACE_H

#include "formats/event.h"
#include "symbolize/module/module.h"

#include <stdbool.h>
#include <stdint.h>

/* One mapping of an address space. Begins as struct addr_range does. */
struct space_map {
	uint64_t start, end; /* addresses in the process */
	uint64_t file_offset; /* of @start */
	uint64_t bias; /* vaddr = ip - bias; if not @mapped this gives the offset in the file */
	struct module *module;
	bool mapped; /* the bias is known: the image has a segment there */
	bool exec;
	bool looked_up; /* private: @mapped and @bias are final */
};

struct space_table;
struct space; /* the address space of one process */

/* A thread of execution that samples are attributed to; lives as long as the table. */
struct space_thread {
	uint32_t index; /* numbers threads from 0; a reused tid gets a new one */
	uint32_t pid, tid;
	const char *comm; /* its name now, its runtime's where that is known (thread_names.h) */
	const char
		*process; /* the name of its process's leader, at the last space_table_thread() */
};

struct space_table *space_table_new(struct module_table *modules);
void space_table_free(struct space_table *table);

/*
 * Take in a mapping, fork, exec, name or exit; other kinds are ignored. A fork at time 0 tells of a process
 * that ran before, and inherits no mappings.
 */
void space_table_apply(struct space_table *table, const struct event *ev);

/* The address space of process @pid now; one that was never heard of is empty. Never NULL. */
struct space *space_table_get(struct space_table *table, uint32_t pid);

/* Thread @tid of process @pid now; one that was never heard of is named "PID". Never NULL. */
const struct space_thread *space_table_thread(struct space_table *table, uint32_t pid,
					      uint32_t tid);

/* The mapping that holds user address @ip, NULL if none does. */
const struct space_map *space_find(struct space *space, uint64_t ip);

/* The mapping of a file that holds @addr or is the next one below it; NULL if there is none. Its bias need not be known. */
const struct space_map *space_at_or_below(const struct space *space, uint64_t addr);

/* The mapping that holds kernel address @ip: the kernel, a module or code from EVENT_KSYMBOL; NULL if none does. */
const struct space_map *space_table_find_kernel(struct space_table *table, uint64_t ip);

/* A mapping of code that the process made at run time, NULL if there is none. */
const struct space_map *space_find_jit(struct space *space);

/* Where the first mapping of code above @addr begins; UINT64_MAX if there is none. */
uint64_t space_next_code(const struct space *space, uint64_t addr);

/* All mappings of @space lie below; 0 if it has none. */
uint64_t space_end(const struct space *space);

/* Changes whenever the mappings of @space do. */
uint64_t space_generation(const struct space *space);

/* Code that was made at run time there has been replaced so often: when that has changed, so has the generation. */
void space_set_changes(struct space *space, size_t changes);


#endif
