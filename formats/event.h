/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event.h - the event stream: everything that was recorded, one event after another in time order.
 *
 * This is the first of the two contracts of the program: trace files and perf.data are read into it,
 * unwinding and every report start from it. Pointers in an event belong to the source and last until the
 * next event_source_next().
 */
#ifndef FORMATS_EVENT_H
#define FORMATS_EVENT_H

#include "formats/arch.h"
#include "formats/base/err.h"
#include "formats/base/vec.h"
#include "formats/event_branch.h"
#include "formats/recording.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum event_kind {
	EVENT_SAMPLE,
	EVENT_MMAP,	  /* a mapping appeared */
	EVENT_COMM,	  /* a thread has a new name, perhaps by exec */
	EVENT_FORK,	  /* a process or thread began */
	EVENT_EXIT,	  /* a thread ended */
	EVENT_SWITCH,	  /* a thread got or lost a CPU */
	EVENT_LOST,	  /* the kernel found no room for records of any kind */
	EVENT_LOST_SAMPLES, /* samples that never made it into a ring, or that the recorder dropped */
	EVENT_THROTTLE,	  /* the kernel, or the recorder, stopped an event for a while, or let it go on */
	EVENT_KSYMBOL,	  /* kernel code appeared or went (BPF, ftrace trampolines) */
	EVENT_BPF,	  /* a BPF program was loaded or unloaded */
	EVENT_CGROUP,	  /* a cgroup has a path */
	EVENT_TEXT_POKE,  /* kernel code was changed in place */
	EVENT_MANAGED,	  /* the stack that an interpreter keeps, read for one sample */
	EVENT_PROCESS,	  /* what else is known of a process: command line, cgroup, user */
	EVENT_TASK_TIMES, /* what the scheduler itself has counted for a thread so far */
	EVENT_DESCRIPTOR, /* what a descriptor of a process referred to when it was looked at */
	EVENT_KINDS	  /* how many there are */
};

/* The level at which the CPU was running (PERF_RECORD_MISC_CPUMODE_MASK). */
enum event_mode {
	EVENT_MODE_UNKNOWN,
	EVENT_MODE_KERNEL,
	EVENT_MODE_USER,
	EVENT_MODE_HYPERVISOR,
	EVENT_MODE_GUEST_KERNEL,
	EVENT_MODE_GUEST_USER,
};

/* User registers at the moment of the sample, by DWARF number; those not in @mask are not known. */
struct event_regs {
	uint64_t mask;
	uint64_t values[ARCH_REGS_MAX];
};

/*
 * A snapshot of the user stack, as sparse words.
 *
 *	base                                    end
 *	 |  .  .  w  .  w  w  .  .  .  w  .  .   |      each character one 8-byte word
 *	 ^ stack pointer, rounded up to 8         ^ first address that was not captured
 *
 * Words that are not listed held nothing an unwinder can use; they read as zero. With all words kept
 * (precord --raw-stacks) the words that are zero are still left out.
 */
#define EVENT_STACK_MAX	   65536ULL	/* bytes of a snapshot: the kernel's limit is a little less */
#define EVENT_STACK_BEYOND (8ULL << 20) /* bytes of own stack that are believed to follow one that was cut */

struct event_stack {
	uint64_t base, end;     /* multiples of 8; equal if there is no snapshot */
	size_t nwords;
	const uint32_t *slots;  /* ascending; the word's address is base + 8 * slot */
	const uint64_t *words;
	bool cut;	        /* the copy was ended by the size limit, not by the end of readable stack */
	bool shortened;	        /* the recorder was pressed for room and kept, or had the kernel copy, less than usual */

	/*
	 * Known from decoding a trace, so that words need not be compared: from @same_from up to the lower of both ends,
	 * this snapshot and @previous hold the same. That is the one of the same thread (pid and tid) that stands in
	 * front of this in the same block of the file, in the order of the file and whatever events are handed out, and
	 * it lasts as long as this does. NULL: this is the first, or they have nothing in common.
	 */
	const struct event_stack *previous;
	uint64_t same_from; /* an address, not below either base */
	uint64_t number;    /* no other snapshot of the trace has it; 0: not decoded, not known */
};

/* What lies from the end of @stack up to here may be more of it; beyond, pruning has left no word that points there. */
static inline uint64_t event_stack_reach(const struct event_stack *stack)
{
	uint64_t more = stack->cut ? EVENT_STACK_BEYOND : stack->shortened ? EVENT_STACK_MAX : 0;

	return more < UINT64_MAX - stack->end ? stack->end + more : UINT64_MAX;
}

/* The value of one event of a group that is read with the sample (PERF_SAMPLE_READ). */
struct event_count {
	uint32_t event;	 /* index in recording.events */
	/*
	 * Counted so far by what is recorded, not the difference: on this CPU, or by this thread on this
	 * CPU where events follow tasks (not recording.by_cpu): see report/view/group_deltas.h.
	 */
	uint64_t value;
	uint64_t enabled_ns, running_ns; /* 0 and 0: not known */
};

#define EVENT_COUNT_A_NS  1000	  /* no event of a core happens more often */
#define EVENT_COUNT_SLACK 1000000 /* times are less exact than counts */

/* PMUs of some hypervisors count 2^50 and the like where events are multiplexed. */
static inline bool event_count_is_possible(uint64_t value, uint64_t running_ns)
{
	return value <= EVENT_COUNT_SLACK || value / EVENT_COUNT_A_NS <= running_ns;
}

#define EVENT_IP_ASTRAY 1 /* stands for an address that is no code and was not kept */

struct event_sample {
	uint32_t event;	 /* index in recording.events */
	enum event_mode mode;
	uint64_t ip;
	uint64_t period; /* the sample's weight, in the unit of the event */

	/*
	 * Call chains from the leaf on, without context markers. User addresses are return addresses but the first;
	 * where the last one is EVENT_IP_ASTRAY or no code, the kernel's walk went astray there.
	 */
	size_t nkernel_ips, nuser_ips;
	const uint64_t *kernel_ips, *user_ips;

	const struct event_regs *regs; /* NULL: none were taken (kernel thread, or not asked for) */
	struct event_stack stack;

	/*
	 * Data address or breakpoint address; 0 if not recorded. Of a stack of a wait (off-cpu): 1 + the first argument of the
	 * system call that the thread waits in.
	 */
	uint64_t addr;
	uint64_t weight; /* latency or the like, as the PMU defines it; 0 if not recorded */
	uint64_t data_src; /* union perf_mem_data_src; 0 if not recorded */
	uint64_t cgroup; /* id, see EVENT_CGROUP; 0 if not recorded */

	size_t raw_len;	 /* tracepoint payload */
	const uint8_t *raw;
	size_t nbranches;
	const struct event_branch *branches;
	size_t ncounts;
	const struct event_count *counts;

	/*
	 * The stack that the thread had before it switched to @stack, from where it left it: below a signal handler with a
	 * stack of its own, or C code that Go called. NULL: none was read.
	 */
	const struct event_stack *other;
};

#define EVENT_OTHER_STACK_MAX 65536u /* bytes of it */

/* Flags of a mapping. */
#define EVENT_MMAP_EXEC	  0x1u
#define EVENT_MMAP_KERNEL 0x2u /* kernel text or a module, in every address space */

struct event_mmap {
	uint64_t start, end;  /* addresses in the process */
	uint64_t file_offset; /* of @start in the file, in bytes */
	uint64_t device, inode, generation; /* 0 if not known */
	uint32_t flags;	      /* EVENT_MMAP_* */
	uint8_t build_id_len; /* 0 if not known */
	uint8_t build_id[20];
	const char *path;     /* as the kernel gave it; "//anon", "[vdso]", "[stack]" and so on included */
};

struct event_comm {
	const char *comm;
	bool exec;
};

struct event_process {
	const char *cmdline; /* its words with spaces in between; "" if not known */
	const char *cgroup;  /* path, "" if not known */
	uint32_t uid;	     /* UINT32_MAX if not known */
};

/* Since the thread began. */
struct event_task_times {
	uint64_t run_ns;  /* on a CPU; of a thread that is on one right now, as of its last tick */
	uint64_t wait_ns; /* ready to run, before it got one */
	uint64_t turns;	  /* on a CPU */
};

/* Closed and opened anew in between, a number may have been something else. */
struct event_descriptor {
	uint32_t number;
	const char *name; /* "/var/log/x", "pipe:[1234]", "tcp to 10.0.0.1:5432"; "" if it could not be read */
};

struct event_fork {
	uint32_t parent_pid, parent_tid;
};

struct event_switch {
	bool in, preempted;
};

struct event_lost {
	uint32_t event; /* index in recording.events, or RECORDING_NO_EVENT if not known */
	uint64_t count;
	bool by_recorder; /* dropped under pressure by precord, not by the kernel */
};

struct event_throttle {
	uint32_t event;
	bool stopped; /* false: it goes on */
	bool by_recorder; /* and records of switches with it, since there were too many; on all CPUs */
};

struct event_ksymbol {
	uint64_t addr, len;
	uint32_t type; /* PERF_RECORD_KSYMBOL_TYPE_* */
	bool removed;
	const char *name;
};

struct event_bpf {
	uint32_t id, type; /* type: PERF_BPF_EVENT_* */
	uint8_t tag[8];
};

struct event_cgroup {
	uint64_t id;
	const char *path;
};

struct event_text_poke {
	uint64_t addr;
	size_t old_len, new_len;
	const uint8_t *old_code, *new_code;
};

/* Whose frames they are. Numbers in files. */
enum event_managed_runtime {
	EVENT_MANAGED_PYTHON = 1,
	EVENT_MANAGED_PHP,
	EVENT_MANAGED_RUBY,
};

/* What came of reading an interpreter's stack. Numbers in files. */
enum event_managed_state {
	EVENT_MANAGED_WHOLE,	 /* all frames, as they were when the sample was taken */
	EVENT_MANAGED_NO_FRAMES, /* the thread runs no code of the language: native code that the program started */
	EVENT_MANAGED_CUT,	 /* whole, but only the innermost frames: there were too many */
	EVENT_MANAGED_TORN,	 /* the thread ran while it was read; there are no frames */
	EVENT_MANAGED_LATE,	 /* the reader came too late; there are no frames */
	EVENT_MANAGED_FAILED,	 /* the memory could not be read, or made no sense; there are no frames */
	EVENT_MANAGED_STATES
};

#define EVENT_MANAGED_FRAMES_MAX 1024

struct event_managed_frame {
	const char *name;    /* of the function, with its class if the runtime knows it; "" if it could not be read */
	const char *file;    /* "" if not known */
	uint32_t first_line; /* of the function; 0 if not known */
	uint32_t line : 31;  /* that runs; 0 if not known */
	bool entry : 1;      /* the outermost frame that one call of the interpreter's loop ran */
	const char *locals;  /* its variables and their types, "n: int, text: str"; NULL or "" unless they were asked for */
};

#define EVENT_MANAGED_LOOPS 4

/* Code of the interpreter's loop, by link-time address. */
struct event_managed_loop {
	uint64_t vaddr, len;
};

#define EVENT_MANAGED_LABELS 6

/* What the interpreter says of what the thread does: which request, how much memory. */
struct event_managed_label {
	const char *key;
	const char *text; /* NULL: it is a number */
	uint64_t number;
};

/* Belongs to the sample of the same thread one nanosecond later, so that it comes first wherever events are in order. */
struct event_managed {
	enum event_managed_runtime runtime;
	enum event_managed_state state;
	const char *module; /* path of the binary that the interpreter is in, as in its mapping */
	size_t nloops;
	struct event_managed_loop loops[EVENT_MANAGED_LOOPS]; /* each function, or part of one, that runs frames */
	size_t nframes;
	const struct event_managed_frame *frames; /* innermost first */
	size_t nlabels;
	const struct event_managed_label *labels;
};

/* Does any frame have local variables? */
static inline bool event_managed_has_locals(const struct event_managed *managed)
{
	for (size_t i = 0; i < managed->nframes; i++)
		if (managed->frames[i].locals && *managed->frames[i].locals)
			return true;
	return false;
}

struct event {
	enum event_kind kind;
	uint64_t time_ns; /* on the recording's clock, see recording.clock */
	uint32_t cpu;	  /* EVENT_NO_CPU if not known */
	uint32_t pid, tid; /* in the recorder's PID namespace; (uint32_t)-1 if there is none */
	union {
		struct event_sample sample;
		struct event_mmap mmap;
		struct event_comm comm;
		struct event_fork fork; /* pid and tid are the child's */
		struct event_switch cpu_switch;
		struct event_lost lost; /* LOST and LOST_SAMPLES */
		struct event_throttle throttle;
		struct event_ksymbol ksymbol;
		struct event_bpf bpf;
		struct event_cgroup cgroup;
		struct event_text_poke text_poke;
		struct event_managed managed;
		struct event_process process;
		struct event_task_times task_times;
		struct event_descriptor descriptor;
	};
};

#define EVENT_NO_CPU UINT32_MAX

/* A reader of some format. Embedded as the first member of the format's own reader. */
struct event_source {
	const struct event_source_ops *ops;
};

struct pool;
struct trace_chunk;

/*
 * Some events of a source, in time order, that outlast its next ones. A zeroed one is ready; it may be filled again
 * after it was released, and keeps its memory until event_batch_deinit().
 */
struct event_batch {
	VEC(const struct event *) events;
	VEC(struct trace_chunk *) chunks; /* the source's: what the events lie in */
};

struct event_source_ops {
	const struct recording *(*recording)(struct event_source *source);
	bool (*next)(struct event_source *source, struct event *ret);
	struct err *(*finish)(struct event_source *source);
	void (*close)(struct event_source *source);
	void (*progress)(struct event_source *source, uint64_t *ret_done, uint64_t *ret_len); /* may be NULL */

	/* NULL, all three, if the source cannot work ahead. */
	void (*use_pool)(struct event_source *source, struct pool *pool);
	bool (*next_batch)(struct event_source *source, size_t max, struct event_batch *ret);
	void (*release)(struct event_source *source, struct event_batch *batch);
};

/* What was recorded, how and where; complete from the start on. Lives as long as the source. */
static inline const struct recording *event_source_recording(struct event_source *source)
{
	return source->ops->recording(source);
}

/* The next event in time order; false at the end and on failure, event_source_finish() tells which. */
static inline bool event_source_next(struct event_source *source, struct event *ret)
{
	return source->ops->next(source, ret);
}

/* How much of how many bytes was read; 0 of 0 if the source does not know. */
static inline void event_source_progress(struct event_source *source, uint64_t *ret_done,
					 uint64_t *ret_len)
{
	*ret_done = *ret_len = 0;
	if (source->ops->progress)
		source->ops->progress(source, ret_done, ret_len);
}

/* Can it work ahead with a pool, and hand out events that last? */
static inline bool event_source_has_batches(const struct event_source *source)
{
	return source->ops->next_batch;
}

/* Read ahead by way of @pool from now on; NULL, at the latest before @pool goes: no longer. */
static inline void event_source_use_pool(struct event_source *source, struct pool *pool)
{
	source->ops->use_pool(source, pool);
}

/*
 * The next events, at most @max and at least 1; false if there are none, event_source_finish() tells why. The same
 * events in the same order as by event_source_next(). Any thread may read them; release them in the one that got them.
 */
static inline bool event_source_next_batch(struct event_source *source, size_t max,
					   struct event_batch *ret)
{
	return source->ops->next_batch(source, max, ret);
}

static inline void event_source_release(struct event_source *source, struct event_batch *batch)
{
	source->ops->release(source, batch);
}

static inline void event_batch_deinit(struct event_batch *batch)
{
	vec_deinit(&batch->events);
	vec_deinit(&batch->chunks);
}

/* NULL at a clean end. */
MUST_USE static inline struct err *event_source_finish(struct event_source *source)
{
	return source->ops->finish(source);
}

static inline void event_source_close(struct event_source *source)
{
	if (source)
		source->ops->close(source);
}

#endif
