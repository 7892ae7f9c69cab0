/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile.h - the profile: what every importer produces and every view and exporter consumes.
 *
 * Call stacks are one parent-pointer tree (a calling-context trie):
 *
 *	samples ──► stack ──► parent ──► … ──► 0 (the root, no location)
 *	              │
 *	              └► location: a kind, lines (inlined functions, innermost first), perhaps a module and an address
 *
 * What is not known is absent: PROFILE_NONE, or the bool beside it is false, or the string is "". It is never a number
 * that the input did not have. An importer of names and lines, without addresses, does this for each frame:
 *
 *	struct profile_function function = { .name = profile_string(p, "f"), .module = PROFILE_NONE };
 *	struct profile_line line = { .function = profile_add_function(p, &function), .line = 7 };
 *	uint32_t location = profile_add_named_location(p, PROFILE_FRAME_INTERPRETED, PROFILE_NONE, &line, 1);
 *
 *	stack = profile_add_stack(p, stack, location, PROFILE_HOW_SURE);
 *
 * Numbers 0 are: string "", stack the root, process not known, data nothing, labels none. All else counts from 0.
 * Everything is append-only; ids stay valid until profile_free(). Equal samples (same stack, value type, thread, CPU,
 * data, labels) are one row with counts, so size grows with distinct stacks, not with samples; when they happened is
 * in a series beside the rows (time_series.h).
 */
#ifndef FORMATS_PROFILE_H
#define FORMATS_PROFILE_H

#include "formats/code_place.h"
#include "formats/base/strtab.h"
#include "formats/base/vec.h"
#include "formats/event_branch.h"
#include "formats/profile/span_list.h"
#include "formats/profile/time_series.h"

#include <math.h>
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
	bool by_offset; /* addresses are offsets in its file: what those are at link time was not known */
};

struct profile_function {
	uint32_t name;	       /* string: demangled */
	uint32_t linkage_name; /* string: as in the file, "" if not known */
	uint32_t module;       /* PROFILE_NONE if not known */
	uint32_t file;	       /* string: source path, "" if not known */
	uint32_t line;	       /* where it is declared, 0 if not known */
	uint32_t plain_name;   /* string: without what tells it apart from others of the name; "": it is the name (same_names.h) */
	uint64_t vaddr;	       /* where it begins, if nothing else tells it apart; 0 if not known */
	bool unnamed;	       /* no symbol was found: "[module+0xSTART]" or "[module]" stands for it */
};

/* One function at a location. */
struct profile_line {
	uint32_t function;
	uint32_t file; /* string */
	uint32_t line; /* 0 if not known */
};

/* What ran; a line's place among the lines of a location shows that it is inlined into the next one. */
enum profile_frame_kind {
	PROFILE_FRAME_NATIVE,
	PROFILE_FRAME_KERNEL,
	PROFILE_FRAME_INTERPRETED,
	PROFILE_FRAME_JIT,
	PROFILE_FRAME_RUNTIME, /* the inside of a runtime: its collector, compiler, interpreter loop */
	PROFILE_FRAME_MARKER,  /* no code: "(idle)", "[truncated]" */
};

struct profile_location {
	uint64_t vaddr;	     /* link-time; for return addresses, inside the call instruction; 0 without has_vaddr; see profile_address() */
	uint32_t module;     /* PROFILE_NONE if not known */
	uint32_t first_line; /* index in profile.lines */
	uint32_t nlines;     /* 0 until it is symbolized, then at least 1; the last one is not inlined */
	uint8_t kind;	     /* enum profile_frame_kind */
	bool has_vaddr;
	bool is_place;	     /* @vaddr is a place, code_place.h */
};

/* How the frame was found, from sure to less sure. */
enum profile_how {
	PROFILE_HOW_SURE,    /* leaf, call frame information, checked frame pointer, importer's word */
	PROFILE_HOW_CHAIN,   /* kernel's frame-pointer walk */
	PROFILE_HOW_GUESS,   /* frame pointer, unchecked */
};

struct profile_stack {
	uint32_t parent;   /* towards the root; smaller than its own number */
	uint32_t location;
	uint32_t first_child; /* 0: none yet. Private to profile.c, as the next two are */
	uint32_t last_child; /* that profile_add_stack() returned; 0: none yet */
	uint32_t hash;	   /* of all locations up to the root */
	uint16_t depth;	   /* frames from the root on, at most PROFILE_DEPTH_MAX */
	uint8_t how;	   /* enum profile_how */
};

/*
 * Frames of a stack at most. Of a deeper one the frames next to the root are kept, and its leaf; a marker between them stands
 * for the others.
 */
#define PROFILE_DEPTH_MAX  4096
#define PROFILE_CUT_MARKER "[frames left out]"

/* A name that a process had from a moment on. */
struct profile_process_name {
	uint64_t time_ns;
	uint32_t name; /* string */
	uint32_t next; /* number in profile.process_names; 0: it is the last */
};

/* One life of a process: its number may be used again by another. Times are on the clock of the samples. */
struct profile_process {
	uint32_t pid;	     /* PROFILE_NONE if not known */
	uint32_t parent;     /* number of its parent here; 0 if not known */
	uint32_t cmdline;    /* string, "" if not known */
	uint32_t cgroup;     /* string, "" if not known */
	uint32_t program;    /* string: path of what it executes, "" if not known */
	uint32_t user;	     /* string: its name or number, "" if not known */
	uint32_t first_name, last_name; /* numbers in profile.process_names; 0: it has none */
	bool has_start, has_exec, has_exit;
	uint64_t start_ns, exit_ns;
};

struct profile_thread {
	uint32_t pid, tid;   /* PROFILE_NONE if not known */
	uint32_t comm;	     /* string: the thread's name */
	uint32_t process;    /* string: its process's name */
	uint32_t life;	     /* number in profile.processes; 0: nothing more is known of its process */
};

/* What the numbers of samples count: "cycles" in "events", "alloc_space" in "bytes", "cpu-clock" in "ns". */
struct profile_value_type {
	uint32_t name; /* string */
	uint32_t unit; /* string: "ns", "events", "bytes", … */
	uint64_t rate; /* samples a second or period, 0 if not known */
	bool is_freq;
	bool counts_only; /* it never samples: its counts come with the samples of others */
};

/* A key with a text or with a number. */
struct profile_label {
	uint32_t key;	/* string */
	uint32_t text;	/* string; 0 if it is a number */
	uint32_t unit;	/* string, of the number; "" if not known */
	bool is_number;
	int64_t number;
};

/* Labels of a sample: an index in profile.labels, in order of their keys. */
struct profile_label_set {
	uint32_t first, count;
};

#define PROFILE_DATA_LINE_LEN 64 /* bytes of a cache line, on all processors that report data addresses so far */

/* Memory that samples accessed; fields that do not distinguish them are 0. */
struct profile_data {
	uint32_t object;  /* string: a variable, or "[heap]" and the like */
	uint32_t module;  /* string: where that is */
	uint64_t addr;    /* in the process; of a cache line, where it begins */
	uint64_t source;  /* union perf_mem_data_src */
	uint32_t type;	  /* string: of the variable that the leaf's instruction accesses, "struct list_head" */
	uint32_t field;	  /* string: its member, "next" */
};

/* What a thread was doing, where that is known: samples with a length. */
enum profile_state {
	PROFILE_STATE_NONE,	/* an ordinary sample: it ran */
	PROFILE_STATE_ON_CPU,
	PROFILE_STATE_RUNNABLE, /* it waited for a CPU */
	PROFILE_STATE_BLOCKED,	/* it waited for something else */
	PROFILE_STATE_EARLIER,	/* the same, since before the recording began */
	PROFILE_STATE_LOST,	/* records of its switches were lost */
	PROFILE_STATE_LEFT_OUT, /* they were left out, since there were too many, and no account says what it did */
	PROFILE_STATE_CALL,	/* it was in a system call, on a CPU or not */
	PROFILE_STATE_REQUEST,	/* a request of it to a device was under way, whatever it did */
	PROFILE_STATE_CONTENDED, /* it waited for a lock of the kernel, on a CPU or not */
	PROFILE_STATES
};

/* Was it on no CPU, or is not known to have been on one, though its time is known? */
static inline bool profile_state_waits(enum profile_state state)
{
	return state >= PROFILE_STATE_RUNNABLE && state < PROFILE_STATE_CALL;
}

/*
 * In place of a sum of squares, where an input has sums and does not say how many samples they are of, or none were taken (exact
 * counts, spans). What it is added to is not known either: profile_is_counted().
 */
#define PROFILE_UNCOUNTED ((double)NAN)

/* Samples that are the same in everything but time. */
struct profile_sample {
	uint32_t stack;
	uint32_t type;	   /* value type */
	uint32_t thread;
	uint32_t cpu;	   /* PROFILE_NONE if not known */
	uint8_t stop;	   /* why the stack stops: enum stack_stop, 0 for at its root */
	bool user;	   /* the leaf ran in user space */
	uint8_t state;	   /* enum profile_state */
	uint32_t data;	   /* what memory it accessed; 0: not distinguished by that */
	uint32_t labels;   /* set of labels; 0: none */
	uint64_t count;	   /* how many samples */
	int64_t weight;	   /* sum of their values, such as periods; may be negative in a difference of two profiles */
	double weight_sq;  /* sum of the squares of their values; PROFILE_UNCOUNTED: @count is not known, and 1 */
	int64_t exact;	   /* of @weight: measured, not estimated from samples; it has no part in @weight_sq */
};

/* The branches of one sample that has some, newest first. */
struct profile_branch_stack {
	size_t time;  /* entry of profile.times, the first is 0 */
	size_t first; /* index in profile_branches.all */
	size_t count; /* at least 1 */
};

struct profile_branches {
	VEC(struct profile_branch_stack) stacks; /* in the order of profile.times */
	VEC(struct event_branch) all;
};

struct profile {
	struct strtab strings;
	VEC(struct profile_module) modules;
	VEC(struct profile_function) functions;
	VEC(struct profile_location) locations;
	VEC(struct profile_line) lines;
	VEC(struct profile_stack) stacks; /* [0] is the root */
	VEC(struct profile_process) processes; /* [0] is not known */
	VEC(struct profile_process_name) process_names; /* [0] is none */
	VEC(struct profile_thread) threads;
	VEC(struct profile_value_type) types;
	VEC(struct profile_label_set) label_sets; /* [0] is none */
	VEC(struct profile_label) labels;
	VEC(struct profile_data) data; /* [0] is nothing */
	VEC(struct profile_sample) samples;
	struct time_series times;  /* of the samples, if the input has times and they were asked for; else empty */
	struct span_list spans;   /* what threads did when, if switches were recorded and it was asked for; else empty */
	struct profile_branches branches; /* of samples in @times, if they were asked for; else empty */
	uint64_t stacks_cut;  /* how often a frame was added to a stack that was deep enough */
	uint64_t weight_used; /* of 2^63: the absolute values of all samples added up; see profile_fits() */
	bool overflowed;      /* a value was left out because the sum would not fit; see import_fits() */
	uint64_t start_ns, end_ns; /* of the time that the samples cover, after filters; 0 and 0 without times */

	struct profile_index *index; /* hash tables that find equal entries; private to profile.c */
};

struct profile *profile_new(void);
void profile_free(struct profile *p);

/* The number of a string. */
uint32_t profile_string(struct profile *p, const char *text);
const char *profile_text(const struct profile *p, uint32_t string);

/* Each finds the equal entry or adds one. */
uint32_t profile_add_module(struct profile *p, const struct profile_module *mod); /* equal: path, build ID */
uint32_t profile_add_function(struct profile *p, const struct profile_function *function); /* equal: module, name, linkage name, file, line, address */
uint32_t profile_add_location(struct profile *p, uint32_t module, uint64_t vaddr,
			      enum profile_frame_kind kind); /* equal: module, address */

/*
 * A location without address, of @lines, innermost first, at least one. @module may be PROFILE_NONE. Equal: kind, module and
 * all lines.
 */
uint32_t profile_add_named_location(struct profile *p, enum profile_frame_kind kind, uint32_t module,
				    const struct profile_line *lines, uint32_t count);

/* @parent and one more call: its number, or, where @parent is too deep, that of a stack with the same leaf. */
uint32_t profile_add_stack(struct profile *p, uint32_t parent, uint32_t location, enum profile_how how);

/*
 * The same for @count more calls, in order from the root, of PROFILE_HOW_SURE: the number of the last one, or @parent if there is
 * none. Faster where a stack is one of very many. @ret_stacks: the numbers of all, or NULL.
 */
uint32_t profile_add_calls(struct profile *p, uint32_t parent, const uint32_t *locations, size_t count, uint32_t *ret_stacks);
uint32_t profile_add_thread(struct profile *p, const struct profile_thread *thread); /* equal: all fields */
uint32_t profile_add_data(struct profile *p, const struct profile_data *data); /* equal: all fields */
uint32_t profile_add_value_type(struct profile *p, const struct profile_value_type *type); /* always new */
uint32_t profile_add_process(struct profile *p, const struct profile_process *process); /* always new; it has no names yet */

/* The set of @count labels, in any order; a key may have several values. 0 if there are none. */
uint32_t profile_add_labels(struct profile *p, const struct profile_label *labels, uint32_t count);

/* The name of @process from @time_ns on; call it in order of time. */
void profile_add_process_name(struct profile *p, uint32_t process, uint64_t time_ns, uint32_t name);

/* What people and other tools see of @location's address. */
static inline uint64_t profile_address(const struct profile_location *location)
{
	return location->is_place ? code_place_address(location->vaddr) : location->vaddr;
}

/* Set what is at @location, which has an address, once; innermost first, at least one. */
void profile_set_lines(struct profile *p, uint32_t location, const struct profile_line *lines,
		       uint32_t count);

/*
 * Does any sum of values still fit in 64 bits after one of @weight is added? Where not, the input is wrong: refuse it, or
 * give the sample the value 0.
 */
static inline bool profile_fits(const struct profile *p, int64_t weight)
{
	return weight != INT64_MIN &&
	       (uint64_t)(weight < 0 ? -weight : weight) <= (uint64_t)INT64_MAX - p->weight_used;
}

/* Add @sample, whose weight fits, to the row that is the same but for count and weights; the row's number. */
uint32_t profile_add_sample(struct profile *p, const struct profile_sample *sample);

/* Ask for the memory of row @number, to which something is added soon. */
static inline void profile_fetch_row(const struct profile *p, uint32_t number)
{
	const struct profile_sample *row = &p->samples.items[number];

	__builtin_prefetch(row, 1);
	__builtin_prefetch(&row->exact, 1);
}

/*
 * Samples that are added together, in the order in which they come: rows lie far apart, and to wait for the memory of several
 * takes no longer than for that of one. Empty when zeroed.
 */
#define PROFILE_QUEUE_LEN 16
struct profile_queue {
	uint32_t len;
	struct profile_sample samples[PROFILE_QUEUE_LEN];
	uint64_t hashes[PROFILE_QUEUE_LEN];
};

/* As profile_add_sample(), now or later. */
void profile_queue_sample(struct profile *p, struct profile_queue *queue, const struct profile_sample *sample);

/* Add those that are left. */
void profile_queue_flush(struct profile *p, struct profile_queue *queue);

extern const struct profile_module profile_no_module;

/* A module by its number; of PROFILE_NONE one whose name, path and build ID are "". Never NULL. */
static inline const struct profile_module *profile_module(const struct profile *p, uint32_t number)
{
	return number == PROFILE_NONE ? &profile_no_module : &p->modules.items[number];
}

/* Sums over all samples of value type @type (PROFILE_NONE: of every one). */
struct profile_sum {
	uint64_t count;
	int64_t weight;
	double weight_sq;
	int64_t exact;
};
struct profile_sum profile_total(const struct profile *p, uint32_t type);

/* Is it known how many samples @sum is of? Where not, nothing is known of how sure a share of it is. */
static inline bool profile_is_counted(const struct profile_sum *sum)
{
	return !isnan(sum->weight_sq);
}

#endif
