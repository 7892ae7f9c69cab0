/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_data_attr_writer.h - the attribute (struct perf_event_attr) that each event of a recording gets in a perf.data file: with which
 * fields its samples are written.
 */
#ifndef FORMATS_PERF_DATA_ATTR_WRITER_H
#define FORMATS_PERF_DATA_ATTR_WRITER_H

#include "formats/base/writer.h"
#include "formats/event.h"

#include <linux/perf_event.h>

#define PERF_DATA_ATTR_LEN   PERF_ATTR_SIZE_VER7
#define PERF_DATA_RECORD_MAX 65528

/* What samples of one event have beside what all have: all samples of an event have the same fields in perf.data. */
struct perf_data_fields {
	bool addr, weight, data_src, cgroup, branches;
};

struct perf_data_plan {
	const struct recording *rec;	       /* outlives the writer */
	const struct perf_data_fields *fields; /* by event; outlives the writer */
	bool snapshots; /* samples have registers and stack; otherwise chains */
	bool switches;	/* there are context switches */
};

/* What @fields must have for @sample too. */
void perf_data_fields_add(struct perf_data_fields *fields, const struct event_sample *sample);

/* Has @event an attribute? Events that are only read with others have none. */
bool perf_data_has_attr(const struct recording_event *event);

/* How many have one. */
uint64_t perf_data_attr_count(const struct recording *rec);

/* What identifies records of event @number. */
static inline uint64_t perf_data_id(uint32_t number)
{
	return (uint64_t)number + 1;
}

/* The attribute of event @number, PERF_DATA_ATTR_LEN bytes. */
void perf_data_put_attr(const struct perf_data_plan *plan, struct writer *to, uint32_t number);

#endif
