/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring_reader.h - reads the samples of some of the rings: each is parsed in place, pruned, its code addresses passed to
 * the attachments, and written to a stream of the trace.
 *
 * While samples of a pass are read, shared state does not change, so several readers can run in parallel, each with its own
 * rings, stream and front:
 *
 *	ring 0, 2, 4 ... -> reader 0 -> stream 0     the side-band goes here as well
 *	ring 1, 3, 5 ... -> reader 1 -> stream 1
 */
#ifndef RECORD_RING_READER_H
#define RECORD_RING_READER_H

#include "formats/perf/perf_record.h"
#include "record/system/affinity.h"
#include "record/embed/attach.h"
#include "record/task/task_filter.h"
#include "record/event/group_counts.h"
#include "record/sample/journal.h"
#include "record/sample/loss_counts.h"
#include "record/sample/managed_reader.h"
#include "record/system/priority.h"
#include "record/system/stop_time.h"
#include "formats/process/process_table.h"
#include "record/sample/prune.h"
#include "record/sample/perf_fds.h"
#include "record/sample/stack_thinning.h"
#include "record/sample/wait_probe.h"
#include "record/task/descriptor_looks.h"

#include <stdbool.h>
#include <stdint.h>

/* So far. */
struct drain_totals {
	uint64_t samples;
	uint64_t
		lost; /* records the sample rings had no room for, as reported by the kernel on the way */
	uint64_t side_lost; /* records the side-band rings had no room for */
	uint64_t cut, shortened;
	uint64_t throttled;
	uint64_t broken;      /* records that could not be parsed */
	uint64_t side_band;   /* records other than samples */
	uint64_t renames;     /* names of threads that were left out, as they changed too often */
	uint64_t stack_bytes; /* copied by the kernel */
	uint64_t passes;
	uint64_t
		fullest; /* per cent of a sample ring that was in use at the beginning of a pass, at most */
};

/* Shared by all readers. Each changes only the entries of its own rings. */
struct ring_scene {
	struct perf_fds *perf_fds;
	const struct perf_layout *layouts; /* by event number, the side-band's last */
	const struct probe_args *const *probes; /* by event number; NULL: it has none */
	size_t nevents;
	uint32_t software_event; /* the only one that is a software event and no clock, or RECORDING_NO_EVENT */
	const struct process_table *processes;
	struct task_filter *tasks;
	struct loss_counts *loss_counts;
	struct group_counts *group;
	const struct journal *journal;
	uint64_t *heads;     /* of the sample rings, in this pass */
	uint32_t off_cpu_event; /* RECORDING_NO_EVENT: none */
	uint32_t waking_event;	/* who woke whom; the same */
	uint32_t waker_event;	/* the same with stacks, thinned beside each without; the same */
	uint64_t *wakings;	/* by sample ring: records of it in this pass */
	struct stack_thinning *thinning; /* by sample ring: of the stacks of waits */
	struct stack_thinning *waker_thinning; /* the same: of those that end them */
	struct wait_probe_seen *seen;    /* by sample ring: stacks of waits, where they are thinned */
	struct descriptor_uses *descriptors; /* by sample ring: that threads waited for */
	uint64_t *behind_ns; /* by sample ring: when its reader was last behind */
	bool by_cpu;         /* events follow CPUs, not tasks */
	bool raw_stacks;     /* keep application data */
	uint64_t code_mask;  /* as in the recording */
	uint32_t skip_pid;   /* leave samples of this process and of its copies out; 0: of none */
	struct managed_readers *managed; /* NULL: interpreters' stacks are not read */
	struct stop_time *stop; /* after that samples are left out, and count as lost; NULL: never */
};

/* Threads that left a CPU with a stack, and when. */
struct wait_probe_seen {
	struct wait_probe_sight {
		uint32_t tid;
		uint64_t time_ns;
	} *items;
	size_t len, cap;
};

/* Its thread. */
struct ring_hand {
	struct priority priority;
	struct affinity affinity;
};

struct ring_reader;

/* Reader number @number of @count; @scene and @front must outlive it. */
struct ring_reader *ring_reader_new(const struct ring_scene *scene, struct attach_front *front,
				    size_t number, size_t count);
void ring_reader_free(struct ring_reader *r);

/* Bytes that wait in its rings. */
uint64_t ring_reader_backlog(const struct ring_reader *r);

/* Empty its rings up to their heads. Errors are those of trace_writer_add(). */
MUST_USE struct err *ring_reader_run(struct ring_reader *r, struct ring_hand *hand);

/* A look at a waiting thread, to be written as a sample: its event and weight. */
struct ring_sight {
	const struct thread_sight *sight;
	uint32_t event;
	uint64_t period, time_ns;
};

MUST_USE struct err *ring_reader_take_sight(struct ring_reader *r, const struct ring_sight *at);

/* Add what was counted since the last call to @totals, and *@newest_ns becomes the time of the newest record. */
void ring_reader_tally(struct ring_reader *r, struct drain_totals *totals, uint64_t *newest_ns);

#endif
