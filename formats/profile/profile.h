/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile.h - the profile: what every view and exporter consumes and every importer produces.
 *
 * The second of the two contracts. Call stacks are one parent-pointer tree (a calling-context trie):
 *
 *	samples ──► stack ──► parent ──► … ──► 0 (the root, no location)
 *	              │
 *	              └► location (module, address) ──► lines: inlined functions, innermost first
 *
 * Numbers 0 are: string "", stack the root, data nothing. All else counts from 0. Everything is append-only; ids
 * stay valid until profile_free(). Equal samples (same stack, event, thread, CPU, data) are one row with counts, so size
 * grows with distinct stacks, not with samples.
 */
#ifndef FORMATS_PROFILE_H
#define FORMATS_PROFILE_H

#include "formats/base/strtab.h"
#include "formats/base/vec.h"

#include <stdbool.h>
#include <stdint.h>

#define PROFILE_NONE UINT32_MAX

enum profile_module_kind {
	PROFILE_USER,
	PROFILE_KERNEL,
	PROFILE_JIT,
	PROFILE_UNKNOWN,
};

struct profile_module {
	uint32_t name, path; /* strings */
	uint32_t build_id;   /* string of hex digits, "" if not known */
	enum profile_module_kind kind;
};

struct profile_function {
	uint32_t name;	       /* string: demangled */
	uint32_t linkage_name; /* string: as in the file, "" if not known */
	uint32_t module;
	uint32_t file;	       /* string: source path, "" if not known */
	uint32_t line;	       /* where it is declared, 0 if not known */
	bool unnamed;	       /* no symbol was found: "[module+0xSTART]" or "[module]" stands for it */
};

/* One function at a location. */
struct profile_line {
	uint32_t function;
	uint32_t file; /* string */
	uint32_t line; /* 0 if not known */
};

struct profile_location {
	uint32_t module;
	uint64_t vaddr;	     /* link-time; for return addresses, inside the call instruction */
	uint32_t first_line; /* index in profile.lines */
	uint32_t nlines;     /* 0 until it is symbolized, then at least 1; the last one is not inlined */
};

/* How the frame was found; the order is from sure to less sure (see unwind.h, which it is taken from). */
enum profile_how {
	PROFILE_HOW_SURE,    /* leaf, call frame information, checked frame pointer, importer's word */
	PROFILE_HOW_CHAIN,   /* kernel's frame-pointer walk */
	PROFILE_HOW_GUESS,   /* frame pointer, unchecked */
};

struct profile_stack {
	uint32_t parent;   /* towards the root; smaller than its own number */
	uint32_t location;
	uint8_t how;	   /* enum profile_how */
};

struct profile_thread {
	uint32_t pid, tid;
	uint32_t comm;	  /* string: the thread's name */
	uint32_t process; /* string: its process's name */
};

struct profile_event {
	uint32_t name; /* string */
	uint32_t unit; /* string: "ns", "events" */
	uint64_t rate; /* samples a second or period, 0 if not known */
	bool is_freq;
};

/* Memory that samples accessed; what they are not told apart by is 0. */
struct profile_data {
	uint32_t object;  /* string: a variable, or "[heap]" and the like */
	uint32_t module;  /* string: where that is */
	uint64_t addr;    /* in the process; of a cache line, where it begins */
	uint64_t source;  /* union perf_mem_data_src */
};

/* What a thread was doing, where that is known: samples with a length. */
enum profile_state {
	PROFILE_STATE_NONE,	/* an ordinary sample: it ran */
	PROFILE_STATE_ON_CPU,
	PROFILE_STATE_RUNNABLE, /* it waited for a CPU */
	PROFILE_STATE_BLOCKED,	/* it waited for something else */
	PROFILE_STATE_EARLIER,	/* the same, since before the recording began */
	PROFILE_STATE_LOST,	/* records of its switches were lost */
	PROFILE_STATES
};

/* Samples that are the same in everything but time. */
struct profile_sample {
	uint32_t stack;
	uint32_t event;
	uint32_t thread;
	uint32_t cpu;	   /* UINT32_MAX if not known */
	uint8_t stop;	   /* why the chain ended: enum unwind_stop, 0 for complete */
	bool user;	   /* the leaf ran in user space */
	uint8_t state;	   /* enum profile_state */
	uint32_t data;	   /* what memory it accessed; 0: not told apart by that */
	uint64_t count;	   /* how many samples */
	uint64_t weight;   /* sum of their periods */
	double weight_sq;  /* sum of the squares of their periods */
};

struct profile {
	struct strtab strings;
	VEC(struct profile_module) modules;
	VEC(struct profile_function) functions;
	VEC(struct profile_location) locations;
	VEC(struct profile_line) lines;
	VEC(struct profile_stack) stacks; /* [0] is the root */
	VEC(struct profile_thread) threads;
	VEC(struct profile_event) events;
	VEC(struct profile_data) data; /* [0] is nothing */
	VEC(struct profile_sample) samples;
	uint64_t start_ns, end_ns; /* of the time that the samples cover, after filters */

	struct profile_index *index; /* hash tables that find equal entries; private to profile.c */
};

struct profile *profile_new(void);
void profile_free(struct profile *p);

/* The number of a string. */
uint32_t profile_string(struct profile *p, const char *text);
const char *profile_text(const struct profile *p, uint32_t string);

/* Each finds the equal entry or adds one. */
uint32_t profile_add_module(struct profile *p, const struct profile_module *mod); /* equal: path, build ID */
uint32_t profile_add_function(struct profile *p, const struct profile_function *function); /* equal: module, name, linkage name, file, line */
uint32_t profile_add_location(struct profile *p, uint32_t module, uint64_t vaddr);
uint32_t profile_add_stack(struct profile *p, uint32_t parent, uint32_t location, enum profile_how how);
uint32_t profile_add_thread(struct profile *p, const struct profile_thread *thread); /* equal: all fields */
uint32_t profile_add_data(struct profile *p, const struct profile_data *data); /* equal: all fields */
uint32_t profile_add_event(struct profile *p, const struct profile_event *event); /* always new */

/* Set what is at @location, once; innermost first, at least one. */
void profile_set_lines(struct profile *p, uint32_t location, const struct profile_line *lines,
		       uint32_t count);

/* Add @sample to the row that is the same but for count and weights; the row's number. */
uint32_t profile_add_sample(struct profile *p, const struct profile_sample *sample);

/* Sums over all samples of @event (PROFILE_NONE: of every event). */
struct profile_sum {
	uint64_t count, weight;
	double weight_sq;
};
struct profile_sum profile_total(const struct profile *p, uint32_t event);

#endif
