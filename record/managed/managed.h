/* SPDX-License-Identifier: Apache-2.0 */
/*
 * managed.h - the interface of an interpreter whose stacks are read from outside: one file each, listed in one table.
 *
 * To add a runtime: fill in a struct managed_runtime and list it in managed_table.c. All reading goes through a view
 * (managed_view.h), which bounds it; all names through managed_names.h. A process's memory is untrusted: reads are bounded, lengths are checked, lists are followed for a limited
 * number of steps.
 */
#ifndef RECORD_MANAGED_H
#define RECORD_MANAGED_H

#include "formats/event.h"
#include "record/managed/managed_names.h"
#include "record/managed/managed_view.h"

#define MANAGED_SYMBOLS_MAX 12

/* A symbol of the interpreter's binary. */
struct managed_symbol {
	uint64_t vaddr; /* link-time; of a thread-local variable its offset in the module's block */
	uint64_t word;	/* the first eight bytes that the file has there, 0 if it has none */
	bool found;
};

/* The binary that holds the interpreter. */
struct managed_binary {
	const char *path; /* as in the mapping */
	const char *name; /* last part of it */
	struct managed_symbol symbols[MANAGED_SYMBOLS_MAX]; /* as in managed_runtime.symbols */
	uint64_t zeroed_vaddr, zeroed_len; /* memory for variables without a value (.bss); length 0 if there is none */
	char banner[16]; /* what follows managed_runtime.banner in the file, as a string; "" if that is not there */
	size_t nloops;
	struct event_managed_loop loops[EVENT_MANAGED_LOOPS];
};

/* A process that runs it. */
struct managed_host {
	const struct managed_binary *binary;
	uint64_t bias; /* from a link-time address to one in the process */
	uint32_t pid; /* in its own PID namespace */
	struct managed_names *names;
	bool locals; /* read the names and types of variables, too */
};

/* A thread of it, which does not run while it is read. */
struct managed_thread {
	uint32_t tid; /* in the process's own namespace */
	const struct event_regs *regs; /* when it was sampled, which may be some 20 us ago; NULL: not known */
};

struct managed_stack {
	enum event_managed_state state;
	size_t nframes;
	struct event_managed_frame frames[EVENT_MANAGED_FRAMES_MAX]; /* innermost first; strings from names */
	size_t nlabels;
	struct event_managed_label labels[EVENT_MANAGED_LABELS]; /* keys are constants, texts from names */
};

struct managed_runtime {
	enum event_managed_runtime id;
	const char *const *symbols; /* variables to look up, NULL at the end */
	const char *section;	    /* of the binary, that begins with the first of them; NULL if it is in none of its own */
	const char *banner;	    /* text in the binary that its version follows, NULL if none is looked for */
	const char *const *loops;   /* functions that run frames; "name.cold" and the like belong to them */

	bool wants_regs; /* of the sample */

	/* May the file with this name, the last part of a path, hold the interpreter? */
	bool (*is_file)(const char *name);

	/*
	 * Prepare to read stacks of @host. NULL if not possible: *@ret_why, NULL before, is the reason, to follow the file's
	 * name. Does not read the process yet.
	 */
	void *(*open)(const struct managed_host *host, const char **ret_why);
	void (*close)(void *state);

	/*
	 * The stack of @thread; one call at a time for each state. Names and lines of
	 * functions are read once and kept with a cookie, by which a new function at the same address is noticed.
	 */
	void (*read)(void *state, const struct managed_thread *thread, struct managed_view *view, struct managed_stack *ret);
};

extern const struct managed_runtime managed_python, managed_php, managed_ruby;

#endif
