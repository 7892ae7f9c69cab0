/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorder.h - one recording from the first descriptor to the end of the file.
 *
 *	recorder_open()    find the target, open events and rings, write the head and what runs already
 *	recorder_run()     start the command, sample and drain until something ends it
 *	recorder_finish()  the last records, counts, images, symbols; the file is complete
 */
#ifndef RECORD_RECORDER_H
#define RECORD_RECORDER_H

#include "formats/base/diag.h"
#include "record/embed/attach.h"
#include "record/sample/mmap_wakeup.h"
#include "record/sample/drain.h"
#include "record/sample/hotplug.h"
#include "record/record_args.h"
#include "record/status_line.h"
#include "record/sample/sampling_switch.h"
#include "record/output/output_files.h"
#include "record/sample/watch.h"
#include "record/system/stop_time.h"
#include "record/task/foreign_reader.h"
#include "record/task/task_times.h"
#include "record/task/workload.h"

/* Why sampling ended. */
enum recorder_end {
	RECORDER_COMMAND_ENDED,
	RECORDER_TIME_UP,
	RECORDER_SIGNAL,
	RECORDER_SIZE_REACHED,
	RECORDER_STOPPED, /* by a command */
	RECORDER_TARGETS_GONE,
	RECORDER_WRITE_FAILED,
};

struct recorder {
	struct record_args *args;
	struct watch watch;
	struct workload workload;
	struct target target;
	struct task_filter tasks;
	struct task_times task_times;
	struct switch_guard guard;
	struct switch_scope scope;
	struct event_plan plan;
	struct perf_fds perf_fds;
	struct mmap_wakeup bell;
	struct err *no_bell; /* why there is none */
	struct hotplug hotplug;
	struct managed_readers *managed; /* NULL: interpreters' stacks are not read */
	struct attach *attach;
	uint64_t jit_news, jit_until_ns; /* until then passes come more often, because code may be freed */
	uint64_t jit_wakeups; /* that came early because of it */
	struct output_files output_files;
	struct drain *drain;
	struct recording recording;
	struct foreign_reader *reader; /* of files and processes of others */
	struct process_info process_info; /* reads command lines and the like */
	struct diag diag; /* for the user's eyes and the recording's notes */
	struct status_line status;
	uint64_t deadline_ns; /* UINT64_MAX: none */
	uint64_t asked_ns;    /* when it was last looked whether the targets live */
	struct sampling_switch sampling_switch;
	bool shy; /* events follow tasks for lack of permission */
	bool no_topdown; /* nothing to count was found for --topdown */
	struct ring_hand *hands; /* threads that read rings, ours first */
	size_t nreaders;
	uint64_t noted_given_up; /* times that it was said in @diag */
	enum recorder_end end;
	int signal; /* that ended it */
	struct stop_time stop; /* the end of what is done after it */
};

/* @command is NULL-terminated, NULL for none. On failure recorder_close() is all that may be called. */
MUST_USE struct err *recorder_open(struct recorder *s, struct record_args *args, char **command);
MUST_USE struct err *recorder_run(struct recorder *s);
MUST_USE struct err *recorder_finish(struct recorder *s);

/* How often threads of the recorder gave up their real-time priority. */
uint64_t recorder_given_up(const struct recorder *s);

/* Release everything; the command, if it still runs, goes on. */
void recorder_close(struct recorder *s);

#endif
