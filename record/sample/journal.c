/* SPDX-License-Identifier: Apache-2.0 */
/*
 * journal.c - side-band events are tracked only if a new trace may have to begin.
 */
#include "record/sample/journal.h"

#define AGE_SHARE   8 /* at most this part of the recording is lost with the open block */
#define AGE_MOST_NS 10000000000ULL

void journal_init(struct journal *j, struct trace_writer *writer, bool turns, uint64_t min_age_ns)
{
	*j = (struct journal){
		.writer = writer,
		.process_snapshot = turns ? process_snapshot_new() : NULL,
		.min_age_ns = min_age_ns,
	};
}

void journal_deinit(struct journal *j)
{
	process_snapshot_free(j->process_snapshot);
	j->process_snapshot = NULL;
}

struct err *journal_event(struct journal *j, const struct event *ev)
{
	if (j->process_snapshot && ev->kind != EVENT_SAMPLE)
		process_snapshot_event(j->process_snapshot, ev);
	return trace_writer_event(j->writer, ev);
}

struct err *journal_add(const struct journal *j, size_t stream, const struct event *ev)
{
	return trace_writer_add(j->writer, stream, ev);
}

void journal_begin_pass(struct journal *j)
{
	if (j->process_snapshot)
		process_snapshot_round(j->process_snapshot);
}

struct err *journal_end_pass(struct journal *j, uint64_t finished_ns)
{
	uint64_t age_ns = 0;

	if (!j->begun_ns)
		j->begun_ns = finished_ns;
	else if (finished_ns > j->begun_ns)
		age_ns = MIN((finished_ns - j->begun_ns) / AGE_SHARE, AGE_MOST_NS);
	return trace_writer_round(j->writer, finished_ns, MAX(age_ns, j->min_age_ns));
}

static struct err *tell(void *context, const struct event *ev)
{
	return trace_writer_event(context, ev);
}

struct err *journal_turn(struct journal *j, struct trace_writer *writer)
{
	j->writer = writer;
	return process_snapshot_tell(j->process_snapshot, tell, writer);
}
