/* SPDX-License-Identifier: Apache-2.0 */
/*
 * derive_kind.h - what a transformer is: its rows, what is wanted of it, what it hands out.
 *
 * A new one is a file derive_<name>.c with a struct derive_kind, and a row in DERIVE_KINDS.
 */
#ifndef REPORT_DERIVE_KIND_H
#define REPORT_DERIVE_KIND_H

#include "formats/event.h"
#include "formats/profile/facts.h"
#include "formats/profile/profile.h"

#define DERIVE_OFF_CPU "off-cpu" /* the events that transformers add to the profile, unless they were recorded */
#define DERIVE_IDLE    "idle" /* threads that wait, looked at at a steady rate: precord --idle */
#define DERIVE_WALL    "wall"
#define DERIVE_SYSCALLS "syscalls"
#define DERIVE_OFF_WAKE "off-wake" /* waits, with the stack of who ended them behind the one that waited */
#define DERIVE_WAKER_STACK "[waker stack]" /* the label of its number, until all is named */
#define DERIVE_WAKER_FUNCTION "waker_function"
#define DERIVE_WAKER   "waker" /* the label of a wait that says who ended it */
#define DERIVE_LOCK    "lock"  /* of a wait: what for */
#define DERIVE_PLACE   "[lock]" /* the same as a place of wait_labels.h, until that is settled */
#define DERIVE_FILE    "file"  /* of a wait: what its descriptor was */
#define DERIVE_BLOCK	    "block-io"	  /* requests to block devices */
#define DERIVE_KERNEL_LOCK  "kernel-lock" /* waits for locks of the kernel */
#define DERIVE_OPERATION    "operation"	  /* of a request to a device: "read" */
#define DERIVE_SCHED_SWITCH "sched:sched_switch" /* a tracepoint of which waits are made */
#define DERIVE_CALL    "syscall" /* of a system call: its name */
#define DERIVE_ERROR   "error"	 /* of one that failed: "ENOENT" */

/* An event on its way. */
struct derive_event {
	const struct event *ev;
	uint32_t thread; /* of the profile, under its name as of now; samples and switches only, else PROFILE_NONE */
	uint32_t stack;	 /* of the profile, samples only */
	uint8_t stop;	 /* samples only: enum stack_stop */
	uint32_t place;	 /* of stacks of waits: what their system call's argument points to (wait_labels.h); 0: nothing */
	bool passes;	 /* the filter's window and events; others come because derive_wants() them */
};

/* One weighted sample. */
struct derived {
	uint32_t event, thread, stack; /* of the profile */
	uint32_t cpu;		       /* EVENT_NO_CPU if not known */
	enum profile_state state;
	uint32_t waker;		       /* thread of the profile that ended a wait, PROFILE_NONE if not known */
	uint32_t waker_stack;	       /* of the profile: where it did; 0 if not known */
	uint32_t call, error;	       /* strings of the profile: of a system call; 0: none */
	uint32_t place, file;	       /* of a wait: as in derive_event, and a string of the profile; 0: none */
	uint32_t lock, operation;      /* strings: of the kernel, that is waited for; of a request to a device; 0: none */
	uint8_t stop;
	bool user;		       /* the leaf ran in user space */
	uint64_t time_ns, weight;      /* @time_ns: when it began, where it has a length */
	bool more;		       /* more weight for one that was handed out, not one more: an estimate */
	double variance;	       /* of that, see stand_ins.h */
	bool sampled;		       /* put together, but of samples: @weight was not measured */
	const struct event *ev;	       /* the sample that it is, NULL if it was put together */
};

struct derive_out {
	void (*add)(void *context, const struct derived *derived);
	/* The thread of the profile for one that had neither a sample nor a switch. */
	uint32_t (*thread)(void *context, uint32_t pid, uint32_t tid);
	/* Is @thread of the profile one of those that are looked at? Names change, so that who was may not be later. NULL: all. */
	bool (*wanted)(void *context, uint32_t thread);
	/*
	 * What a thread did from when to when, whatever samples stand for others; not @is_single: a sum, whose parts may have
	 * been in any order. NULL: not wanted.
	 */
	void (*span)(void *context, const struct derived *derived, bool is_single);
	void *context;
};

#define DERIVE_ADDED_MAX 7

struct derive_window {
	uint64_t from_ns, to_ns; /* @to_ns is the first moment outside */
};

/* What is wanted of the chain. */
struct derive_request {
	struct profile *profile; /* has the recording's events, same numbers */
	const struct recording *recording;
	uint64_t from_ns, to_ns; /* the part of the recording that is looked at */
	const struct derive_window *windows; /* in it, apart and ascending: what lies between them is not looked at */
	size_t nwindows;		     /* 0: all of it is */
	const char *added[DERIVE_ADDED_MAX + 1]; /* names of derived events that are wanted; NULL after the last */
	uint64_t min_wait_ns, max_wait_ns; /* of waits and system calls, whole; max 0: no limit */
	/* Each wait by itself, with its own length, though stacks were thinned; else those without one add to those with one. */
	bool each_wait;
};

struct derive_pieces {
	struct derive_window at;
	size_t next; /* window */
};

/*
 * The pieces of @from_ns to @to_ns that are looked at, one after another, into @pieces->at; *@pieces begins as all 0. False after
 * the last one. What has no length is one piece where it is looked at.
 */
bool derive_next_piece(const struct derive_request *request, uint64_t from_ns, uint64_t to_ns, struct derive_pieces *pieces);

/* The sum of their lengths. */
uint64_t derive_looked_at(const struct derive_request *request, uint64_t from_ns, uint64_t to_ns);

/* Is the derived event @name wanted? */
bool derive_is_wanted(const struct derive_request *request, const char *name);

/* Is event @index of @rec, which need not be there, off-cpu, whose samples are stacks of threads that leave a CPU? */
bool derive_is_off_cpu(const struct recording *rec, uint32_t index);

/* Is event @index of @rec idle, whose samples are of threads that wait, with the time that they stand for? */
bool derive_is_idle(const struct recording *rec, uint32_t index);

/* Is event @index of @rec the entry or exit of system calls? */
bool derive_is_syscall(const struct recording *rec, uint32_t index);

/* Does @rec have the entry and exit of each system call? */
bool derive_has_syscalls(const struct recording *rec);

/* Is event @index of @rec, which need not be there, the tracepoint @name ("sched:sched_switch"), of which samples are taken? */
bool derive_is_tracepoint(const struct recording *rec, uint32_t index, const char *name);

/* Does it come each time that it happens? */
bool derive_is_every(const struct recording *rec, uint32_t index);

/* The tracepoint @name that comes each time; PROFILE_NONE: there is none. */
uint32_t derive_find_every(const struct recording *rec, const char *name);

/* The name of the error that @result is ("ENOENT"), a string of @p; 0: it is none. */
uint32_t derive_error_text(struct profile *p, int64_t result);

/* Does @stack say more than the place in the kernel where a tracepoint lies? */
bool derive_has_callers(const struct profile *p, uint32_t stack);

/* Does @ev say that samples were lost? Of which event of its ring is not said. */
bool derive_is_loss(const struct event *ev);

/* An event that a transformer adds to the profile. */
struct derive_added {
	const char *name; /* NULL: no more */
	bool unasked;	  /* also when no event is named, or by a pattern; others take their own name to ask for */
};

/* Is wall time of @p, whose events are those of its recording, made of samples: of a clock, and of threads that wait? */
bool derive_has_sampled_wall(const struct profile *p);

/* The number in @p of the event @name, which counts nanoseconds and is added unless it is there. */
uint32_t derive_add_type(struct profile *p, const char *name);

struct derive_kind {
	const char *name;
	struct derive_added adds[4]; /* up to one without a name */

	/* NULL: there is nothing for it to do. @request and @out outlast it. */
	void *(*begin)(const struct derive_request *request, const struct derive_out *out);
	/* NULL: what passes the filter is enough. */
	bool (*wants)(const void *state, const struct event *ev);
	/* NULL: none. */
	bool (*wants_anyones)(const void *state, const struct event *ev);
	void (*event)(void *state, const struct derive_event *event);
	/* NULL: nothing is left at the end. */
	void (*finish)(void *state);
	/* NULL: it does not know. */
	void (*lives)(const void *state, struct profile_lives *ret);
	void (*free)(void *state);
};

/* Each is derive_<name> of the file derive_<name>.c. */
#define DERIVE_KINDS(X) \
	X(period)       \
	X(switches)     \
	X(syscalls)     \
	X(block)        \
	X(kernel_locks)

#define DERIVE_DECLARE(name) extern const struct derive_kind derive_##name;
DERIVE_KINDS(DERIVE_DECLARE)
#undef DERIVE_DECLARE

#endif
