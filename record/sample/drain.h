/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drain.h - moves what the kernel wrote from the rings to the trace, pass by pass.
 *
 *	heads of the sample rings | all side-band rings, to their ends | samples, up to those heads
 *
 * In this order a mapping is always known before the samples that need it: the kernel wrote it first.
 * Nothing is allocated in a pass but what grows with processes and code seen. Several
 * threads may share the samples of a pass; when it ends they rest. Not thread-safe.
 */
#ifndef RECORD_DRAIN_H
#define RECORD_DRAIN_H

#include "formats/perf/perf_record.h"
#include "record/embed/attach.h"
#include "record/task/process_info.h"
#include "record/task/task_filter.h"
#include "record/sample/journal.h"
#include "record/sample/managed_reader.h"
#include "record/sample/idle_reader.h"
#include "record/sample/wait_probe.h"
#include "record/sample/ring_reader.h"
#include "record/sample/perf_fds.h"
#include "record/sample/switch_guard.h"
#include "record/sample/switch_scope.h"

#include <stdbool.h>
#include <stdint.h>

struct drain_options {
	bool by_cpu;         /* events follow CPUs, not tasks */
	bool raw_stacks;     /* keep application data */
	uint64_t code_mask;  /* as in the recording */
	uint32_t skip_pid;   /* leave samples of this process and of its copies out; 0: of none */
	struct managed_readers *managed; /* NULL: interpreters' stacks are not read */
	enum idle_scope idle_scope; /* where idle is an event */
	size_t nreaders;     /* threads that read sample rings, the caller's included */
	struct switch_guard *guard; /* counts records of switches */
	struct switch_scope *scope; /* the same, and of whom they are */
	struct process_info *process_info; /* to read command lines and the like with after an exec */
	struct ring_hand *hands; /* theirs, the caller's first; they are the caller's */
};

struct drain;

/*
 * Drain the records of @tasks from the rings of @perf_fds into @journal and pass them to @attach; all four must outlive
 * the drain.
 */
struct drain *drain_new(struct perf_fds *perf_fds, struct journal *journal, struct attach *attach,
			struct task_filter *tasks, const struct drain_options *options);
void drain_free(struct drain *d);

/* One pass over all rings. ERR_SYSTEM: the trace cannot be written. */
MUST_USE struct err *drain_pass(struct drain *d);

/* An event from elsewhere, as if it came from the side-band. */
MUST_USE struct err *drain_event(struct drain *d, const struct event *ev);

/* How many threads a process has that runs already. */
void drain_existing_process(struct drain *d, uint32_t pid, uint32_t nthreads);

/* It is @now_ns: from now on record switches, stacks of waits and who ended them or, @on false, none of these; what is not possible goes to @diag. Events must follow CPUs. */
void drain_set_waits(struct drain *d, bool on, uint64_t now_ns, struct diag *diag);

/* It is @now_ns: from now on record switches and stacks of waits of the tasks only that @scope added or, not @narrow, of CPUs. */
void drain_narrow(struct drain *d, bool narrow, uint64_t now_ns, struct diag *diag);

/* The event whose samples are stacks of waits; RECORDING_NO_EVENT: none. */
uint32_t drain_off_cpu_event(const struct drain *d);

/* Of how many switches one had its stack, where stacks of waits were thinned most; 0: nowhere. */
uint64_t drain_thinned(const struct drain *d);

/* Before the events go off: look once more at what threads wait for. */
MUST_USE struct err *drain_look_last(struct drain *d);

/* Are waits being looked at (wait_probe.h)? Passes should come often then. */
bool drain_probes_waits(const struct drain *d);

/* All zero where they are not. */
struct wait_probe_totals drain_probe_totals(const struct drain *d);

/* Where idle is an event: look at threads that wait from now on, or @on false, not any more; false: it is none. */
bool drain_follow_idle(struct drain *d, bool on);

/* The last round; what it finds comes with the next pass. */
void drain_end_idle(struct drain *d);

/* All zero where there is none. */
struct idle_totals drain_idle_totals(const struct drain *d);

const struct drain_totals *drain_totals(const struct drain *d);

/*
 * When all rings are empty: tell of the records of mappings, names and forks that were lost last. The kernel tells on the way what was
 * lost before the next record of that CPU, and there was none.
 */
MUST_USE struct err *drain_tell_side_losses(struct drain *d);

/* Counts for each event and CPU, with what the counters say now; they live in @arena. */
struct recording_count *drain_counts(const struct drain *d, struct arena *arena, size_t *ret_count);

#endif
