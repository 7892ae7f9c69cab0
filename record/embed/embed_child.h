/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embed_child.h - reads files and memory of other users' programs in a separate process, within limits.
 *
 * At the end of a recording, binaries, perf maps, jitdumps and memory are read. Any user may have made them: sparse files of
 * terabytes, files that shrink while they are read, FUSE files whose server never answers. So a child reads them and
 * sends blocks of the trace and notes through a pipe. Whatever happens to it, the recorder completes the trace:
 *
 *	time or bytes used up        the child reports what it skipped
 *	SIGINT, SIGTERM              the same, at once
 *	stuck in one file            the child is killed, and another one goes on after that file
 *	memory used up, crash        the same
 *
 * The child has ordinary priority, only the descriptors that it needs, and after confine_reader() only the right to read.
 * A child in an uninterruptible wait cannot be killed at once; it is abandoned and ends when its file answers.
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

/* The child's work: everything slow, or that reads other processes' data, in steps (see embed_child_step()). */
struct embed_job {
	struct err *(*run)(void *context, struct embed_child *child, struct trace_writer *w,
			   struct diag *notes, struct attach_report *report);
	void *context;
	struct embed_fds fds; /* descriptors that it needs; -1 are none */
};

enum embed_step {
	EMBED_LOOK,  /* opens or reads something whose result is written later */
	EMBED_WRITE, /* writes a result; not repeated by the next child after a kill */
};

/*
 * In the child: call before each file or process. False: skip it, because it killed a child before, is already written, or the
 * limits are reached. Steps come in the same order in each child.
 */
bool embed_child_step(struct embed_child *child, enum embed_step kind, const char *name);

/*
 * One user's slow files must not take the time of all others'. In the child: the next step reads what belongs to user @owner. That user's steps have
 * taken an eighth of the time: the rest of them is to come last. With each user for whom that holds, what the others may take is
 * halved, and so is the longest for one step, so that several slow users leave half of the time.
 */
void embed_child_owner(struct embed_child *child, uint32_t owner);

/* In the child: has the user of embed_child_owner() taken less than that? If not, what the step would read is skipped. */
bool embed_child_has_share(struct embed_child *child);

/*
 * In the child, in a step of @kind: is file @index, of @owner, left to the last round? It stays so, for later children too. All are looked at before
 * one is written.
 */
bool embed_child_is_last(struct embed_child *child, enum embed_step kind, size_t index, uint32_t owner);

/* In the child: the last round begins; no more files are left to it. */
void embed_child_begin_last(struct embed_child *child);

/*
 * In the child: may the current step continue? Not when the limits are reached, a signal came, or it has taken half of the time after
 * which the child is killed; the rest of the step is then counted as skipped.
 */
bool embed_child_goes_on(struct embed_child *child);

/* In the child: charge @len bytes before reading them; false if the limit does not allow it. */
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
 * Run @job in one or more children and append their blocks to @w. Adds to the counts of @report. What was skipped is reported in
 * @notes, also that there can be no child. ERR_SYSTEM: the trace cannot be written.
 */
MUST_USE struct err *embed_child_run(const struct embed_job *job, const struct embed_limits *limits,
				     struct trace_writer *w, struct diag *notes,
				     struct attach_report *report);

#endif
