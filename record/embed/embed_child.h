/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embed_child.h - reads files and memory of other users' programs in a process of its own, within limits.
 *
 * At the end of a recording binaries, perf maps, dumps of JITs and memory are read that any user may have made: sparse
 * files of terabytes, files that shrink under the reader, FUSE files whose server never answers. A child does that. It
 * gives blocks of the trace and notes to the recorder through a pipe; whatever it runs into, the recorder goes on and
 * writes the end of the trace:
 *
 *	time or bytes used up        the child says what it left out
 *	SIGINT, SIGTERM              the same, at once
 *	stuck in one file            the child is killed, and another one goes on behind that file
 *	memory used up, crash        the same
 *
 * The child has an ordinary priority, no descriptors but those it needs, and after confine_reader() no rights but to read.
 * A child in an uninterruptible wait cannot be killed at once; it is left behind and ends when its file answers.
 */
#ifndef RECORD_EMBED_CHILD_H
#define RECORD_EMBED_CHILD_H

#include "formats/base/diag.h"
#include "formats/base/vec.h"
#include "formats/trace/trace_writer.h"
#include "record/embed/attach_report.h"

#include <stdbool.h>
#include <stdint.h>

struct embed_child; /* of the child: its job and what is left of it */

struct embed_fds {
	int *items;
	size_t len, cap;
};

/* What the child does: everything that takes long, or reads what is not ours, in steps (see embed_child_step()). */
struct embed_job {
	struct err *(*run)(void *context, struct embed_child *child, struct trace_writer *w,
			   struct diag *notes, struct attach_report *report);
	void *context;
	struct embed_fds fds; /* descriptors that it needs; -1 are none */
};

enum embed_step {
	EMBED_LOOK,  /* opens or reads something; what comes of it is still to be written */
	EMBED_WRITE, /* writes it; not done again by the child after one that was killed */
};

/*
 * In the child: before each file or process. False: leave it out, for it was fatal to a child before, or is written, or
 * the limits are reached. Steps come in the same order in each child.
 */
bool embed_child_step(struct embed_child *child, enum embed_step kind, const char *name);

/*
 * In the child: may the step that it is at go on? Not when the limits are reached, a signal came, or it has taken half as long as would
 * be fatal; then the rest of it counts as left out.
 */
bool embed_child_goes_on(struct embed_child *child);

/* In the child: @len bytes will be read, or are tried to be; false if that is more than is left: do not. */
bool embed_child_charge(struct embed_child *child, uint64_t len);

/* How much that may be. */
uint64_t embed_child_left(const struct embed_child *child);

/*
 * In the child: file @index is to be read in round @round, not in the one that goes on, for it costs more than others. A
 * later child knows it.
 */
void embed_child_put_off(struct embed_child *child, size_t index, uint8_t round);

/* The round in which it is read; 0, the first, unless it was put off. */
uint8_t embed_child_round(const struct embed_child *child, size_t index);

/*
 * Run @job in a child, or several, and append what they give to @w. Counts of @report are added to. What was left out
 * is reported in @notes. ERR_SYSTEM: the trace cannot be written.
 */
MUST_USE struct err *embed_child_run(const struct embed_job *job, const struct embed_limits *limits,
				     struct trace_writer *w, struct diag *notes,
				     struct attach_report *report);

#endif
