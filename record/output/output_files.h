/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output_files.h - the files that a recording is written to.
 *
 *	always             FILE.part while it grows, FILE when it is complete
 *	--switch-output    FILE.part while it grows, FILE.2026112119301507 when it is complete; then the next one begins
 *	--overwrite        memory only; FILE.2026... for each snapshot, and FILE at the end
 *
 * Each file is complete by itself: it begins with the processes and mappings of that time, ends with images, counts and
 * notes, and its counts cover its own time. Not thread-safe.
 */
#ifndef RECORD_OUTPUT_FILES_H
#define RECORD_OUTPUT_FILES_H

#include "formats/base/diag.h"
#include "record/embed/attach.h"
#include "record/sample/drain.h"
#include "record/output/flight_log.h"
#include "record/sample/journal.h"
#include "record/output/trace_output.h"
#include "record/output/output_files_args.h"

#include <stdbool.h>
#include <stdint.h>

struct output_files {
	struct output_files_args args;
	const char *path;
	const struct event_plan *plan;
	struct recording *recording; /* what all files share, and the start and end of all */
	struct diag *diag;
	struct attach *attach;
	const struct drain *drain; /* for the counts; set when there is one */
	struct journal journal;

	struct trace_output output;
	struct trace_writer *writer; /* to the output; NULL: no file is being written */
	struct flight_log *log;      /* NULL: files only */
	struct trace_writer *log_writer;

	uint64_t start_ns; /* of the file that is being written */
	struct recording_count *base; /* counts at that time, NULL: all 0 */
	VEC(char *) names;            /* of the complete files with a time in their names, oldest first; in the folder */
	struct trace_sizes finished;  /* of the complete files together */
	struct attach_report attached;
	bool complete; /* the last file was written to its end */
	bool placed;   /* it has its name */
};

/*
 * Create the file at @path. @recording, @plan, @attach and @diag must outlive the output files.
 * ERR_SYSTEM: it cannot be created.  ERR_USAGE: @path cannot be written to, or is a pipe and several files are to be written.
 */
MUST_USE struct err *output_files_open(struct output_files *v, const struct output_files_args *args,
				  const char *path, struct recording *recording,
				  const struct event_plan *plan, struct attach *attach,
				  struct diag *diag);
void output_files_close(struct output_files *v);

/* Between two passes: begin the next file if the time or size for it is reached. ERR_SYSTEM: that failed. */
MUST_USE struct err *output_files_tick(struct output_files *v, uint64_t now_ns);

/* When time makes the next file begin; UINT64_MAX: never. */
uint64_t output_files_next_ns(const struct output_files *v);

/* Are there snapshots? */
bool output_files_can_snapshot(const struct output_files *v);

/* Write a snapshot to a file with @now_ns in its name. ERR_SYSTEM: that failed. */
MUST_USE struct err *output_files_snapshot(struct output_files *v, uint64_t now_ns);

/* False after an error that leaves no file to write to. */
bool output_files_can_go_on(const struct output_files *v);

/* The last file is complete at recording->end_ns. ERR_SYSTEM: it could not be written, or not to its end. */
MUST_USE struct err *output_files_finish(struct output_files *v);

/* Out of memory: complete the file, if it was begun, with @why as a note, and rename it. No other call may follow. */
void output_files_abandon(struct output_files *v, const char *why);

/* After an error: rename what was written to FILE. ERR_SYSTEM: that file is gone. */
MUST_USE struct err *output_files_salvage(struct output_files *v);

/* Bytes written to all files so far. */
struct trace_sizes output_files_sizes(const struct output_files *v);

/* The file that was completed last; lasts as long as @arena and @v. */
const char *output_files_last_path(const struct output_files *v, struct arena *arena);

#endif
