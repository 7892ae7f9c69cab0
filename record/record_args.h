/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_args.h - the options of a recording.
 */
#ifndef RECORD_RECORD_ARGS_H
#define RECORD_RECORD_ARGS_H

#include "formats/base/opt.h"
#include "formats/recording.h"
#include "record/system/affinity.h"
#include "record/sample/control.h"
#include "record/sample/delay.h"
#include "record/event/event_spec.h"
#include "record/event/sample_extras.h"
#include "record/embed/attach.h"
#include "record/task/target.h"
#include "record/event/topdown_events.h"
#include "record/output/output_files_args.h"

#include <stdbool.h>
#include <stdint.h>

#define RECORD_NOT_REALTIME UINT64_MAX

struct record_chain {
	enum recording_chain kind;
	uint32_t stack_len; /* 0: the largest that the kernel takes */
};

struct record_args {
	struct target_args target;
	struct event_list events;
	struct topdown_args topdown;
	struct event_rate rate;
	struct record_chain chain;
	struct sample_extras extras;
	const char *output;
	struct output_files_args output_files;
	uint64_t max_len; /* stop after writing SIZE; UINT64_MAX: no limit */
	uint64_t ring_len;    /* bytes for each CPU, 0: by rate and memory */
	struct delay delay;
	struct control_args control;
	uint64_t duration_ns; /* 0: until the command ends or a signal comes */
	const char *bundle;
	struct embed_limits embed; /* of reading files and memory of recorded processes at the end */
	const char *build_ids; /* who reads them: "files" or "kernel" */
	uint64_t realtime; /* priority; 0: the lowest if that is permitted; RECORD_NOT_REALTIME: none */
	uint64_t reader_threads; /* that share the rings; 0: one */
	struct affinity_args affinity;
	bool all_user, all_kernel, switch_events, all_switches;
	bool quiet, verbose, no_cmdline, raw_stacks, exclude_self, jvm_perfmap, off_cpu, wakers, trace_syscalls, block_io, kernel_locks;
	bool managed; /* read interpreters' stacks */
	bool locals;  /* and the names and types of their variables; precord dump wants them */
	uint64_t idle_rate; /* stacks of threads that wait, times a second; 0: none are read */
};

extern const struct opt record_opts[];

void record_args_defaults(void *args);
void record_args_release(void *args);

/* Resolve combinations of options, before anything is opened. ERR_USAGE: they exclude each other. */
MUST_USE struct err *record_args_settle(struct record_args *args);

#endif
