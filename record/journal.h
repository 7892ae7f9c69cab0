/* SPDX-License-Identifier: Apache-2.0 */
/*
 * journal.h - where events go: to one trace, or to a new one every now and then, each with a beginning that makes
 * it readable by itself.
 *
 * A journal that is never turned costs nothing over its trace writer. Not thread-safe.
 */
#ifndef RECORD_JOURNAL_H
#define RECORD_JOURNAL_H

#include "formats/trace_writer.h"
#include "record/landscape.h"

#include <stdbool.h>
#include <stdint.h>

struct journal {
	struct trace_writer *writer; /* the caller's */
	struct landscape *landscape; /* NULL: it will not be turned */
	uint64_t max_age_ns;         /* write a block that is older */
};

/* Write to @writer from now on. @turns: it may be turned later. */
void journal_init(struct journal *j, struct trace_writer *writer, bool turns, uint64_t max_age_ns);
void journal_deinit(struct journal *j);

/* Errors of these are those of the trace writer. */
MUST_USE struct err *journal_event(struct journal *j, const struct event *ev);

/* A pass over the rings begins, a pass ends: trace_writer_round(). */
void journal_begin_pass(struct journal *j);
MUST_USE struct err *journal_end_pass(struct journal *j, uint64_t finished_ns);

/* Between two passes: go on in @writer, which has its header, with what is there told first. */
MUST_USE struct err *journal_turn(struct journal *j, struct trace_writer *writer);

#endif
