/* SPDX-License-Identifier: Apache-2.0 */
/*
 * journal.h - writes events to one trace, or to a series of traces, each of which begins with a process snapshot so that
 * it is readable by itself.
 *
 * A journal with one trace costs nothing over its trace writer. Not thread-safe.
 */
#ifndef RECORD_JOURNAL_H
#define RECORD_JOURNAL_H

#include "formats/trace/trace_writer.h"
#include "record/task/process_snapshot.h"

#include <stdbool.h>
#include <stdint.h>

struct journal {
	struct trace_writer *writer; /* the caller's */
	struct process_snapshot *process_snapshot; /* NULL: it will not be turned */
	uint64_t min_age_ns;         /* of a block that is written before it is full */
	uint64_t begun_ns;           /* end of the first pass, 0 before */
};

/*
 * Write to @writer from now on. @turns: another trace may follow. A block that is not full is written when it is as old as
 * an eighth of the recording so far, between @min_age_ns and ten seconds: this much is lost if the recorder is killed.
 * Longer blocks make smaller files: each thread's stacks are coded against the last one in the block.
 */
void journal_init(struct journal *j, struct trace_writer *writer, bool turns, uint64_t min_age_ns);
void journal_deinit(struct journal *j);

/* Errors of these are those of the trace writer. */
MUST_USE struct err *journal_event(struct journal *j, const struct event *ev);

/* Add a sample or another record of a sample ring to its stream: see trace_writer_add(). */
MUST_USE struct err *journal_add(const struct journal *j, size_t stream, const struct event *ev);

/* A pass over the rings begins, a pass ends: trace_writer_round(). */
void journal_begin_pass(struct journal *j);
MUST_USE struct err *journal_end_pass(struct journal *j, uint64_t finished_ns);

/* Between two passes: continue in @writer, which has its header, with a process snapshot first. */
MUST_USE struct err *journal_turn(struct journal *j, struct trace_writer *writer);

#endif
