/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drain.h - moves records from the rings to the trace, pass by pass.
 *
 *	heads of the sample rings | all side-band rings, to their ends | samples, up to those heads
 *
 * In this order a mapping is always read before the samples that need it, because the kernel wrote it first. A pass
 * allocates memory only for new processes and code. Several threads may share the samples of a pass and are idle
 * after it. Not thread-safe.
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
	uint32_t skip_pid;   /* drop samples of this process and its forks; 0: keep all */
	struct managed_readers *managed; /* NULL: interpreters' stacks are not read */
	enum idle_scope idle_scope; /* if idle is an event */
	size_t nreaders;     /* threads that read sample rings, the caller's included */
	struct switch_guard *guard; /* limits records of switches by rate */
	struct switch_scope *scope; /* limits them to the recorded tasks */
	struct process_info *process_info; /* reads command lines and the like after an exec */
	struct stop_time *stop; /* NULL: none */
	struct ring_hand *hands; /* of the readers, the caller's first; owned by the caller */
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

/* Add an event that comes from another source, as if from the side-band. */
MUST_USE struct err *drain_event(struct drain *d, const struct event *ev);

/* The number of threads of a process that runs already. */
void drain_existing_process(struct drain *d, uint32_t pid, uint32_t nthreads);

/* At @now_ns: start recording switches, stacks of waits and wakers or, @on false, stop. Failures go to @diag. Events must follow CPUs. */
void drain_set_waits(struct drain *d, bool on, uint64_t now_ns, struct diag *diag);

/* At @now_ns: record switches and stacks of waits only of the tasks that @scope added or, not @narrow, of all CPUs. */
void drain_narrow(struct drain *d, bool narrow, uint64_t now_ns, struct diag *diag);

/* The event whose samples are stacks of waits; RECORDING_NO_EVENT: none. */
uint32_t drain_off_cpu_event(const struct drain *d);

/* The largest N of "one stack in N switches" on any CPU; 0: never thinned. */
uint64_t drain_thinned(const struct drain *d);

/* Before the events are disabled: look a last time at what threads wait for. */
MUST_USE struct err *drain_look_last(struct drain *d);

/* Are waits being probed (wait_probe.h)? Then passes should be frequent. */
bool drain_probes_waits(const struct drain *d);

/* All zero where they are not. */
struct wait_probe_totals drain_probe_totals(const struct drain *d);

/* If idle is an event: start looking at waiting threads or, @on false, stop. False: it is not. */
bool drain_follow_idle(struct drain *d, bool on);

/* The last round of idle; its stacks come with the next pass. */
void drain_end_idle(struct drain *d);

/* All zero where there is none. */
struct idle_totals drain_idle_totals(const struct drain *d);

const struct drain_totals *drain_totals(const struct drain *d);

/*
 * When all rings are empty: report the last lost records of mappings, names and forks. The kernel reports a loss with the next record of
 * that CPU, and none came.
 */
MUST_USE struct err *drain_tell_side_losses(struct drain *d);

/* Counts for each event and CPU, including the counters' values of now; in @arena. */
struct recording_count *drain_counts(const struct drain *d, struct arena *arena, size_t *ret_count);

#endif
