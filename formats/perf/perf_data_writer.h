/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_data_writer.h - events written as perf record (6.1) would have written them: perf.data for perf's own commands and
 * whatever else reads it. What is in a file, and where, is in perf_data_head.h.
 *
 *	err = perf_data_writer_open(&plan, out, &w);
 *	while (event_source_next(source, &ev))
 *		perf_data_writer_add(w, &ev, NULL);
 *	err = perf_data_writer_finish(w);
 *	perf_data_writer_free(w);
 *
 * The format has no place for some kinds of events (stacks of interpreters, command lines, the scheduler's account, BPF
 * programs' tags, changed code), which are left out, nor for values of a group's other events, which this writer leaves out.
 */
#ifndef FORMATS_PERF_DATA_WRITER_H
#define FORMATS_PERF_DATA_WRITER_H

#include "formats/event.h"
#include "formats/perf/perf_data_attr_writer.h"

#include <stdio.h>

/* Addresses from the leaf on, as in struct event_sample. */
struct perf_data_chain {
	const uint64_t *kernel, *user;
	size_t nkernel, nuser;
};

struct perf_data_writer;

/* Begin at the start of @out, which is the caller's and must be seekable. ERR_UNSUPPORTED: no event of @plan samples. */
MUST_USE struct err *perf_data_writer_open(const struct perf_data_plan *plan, FILE *out, struct perf_data_writer **ret);

/* In order of time. @chain instead of the sample's own; NULL: that. */
void perf_data_writer_add(struct perf_data_writer *w, const struct event *ev, const struct perf_data_chain *chain);

/* Words of snapshots that did not fit into a record, which has 64 KiB; so far. */
uint64_t perf_data_writer_cut(const struct perf_data_writer *w);

/* Write what stands behind the data, and the header. ERR_SYSTEM. */
MUST_USE struct err *perf_data_writer_finish(struct perf_data_writer *w);
void perf_data_writer_free(struct perf_data_writer *w);

#endif
