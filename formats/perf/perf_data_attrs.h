/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_data_attrs.h - the events of a perf.data file: their attributes, their ids, and the event that a record belongs to.
 */
#ifndef FORMATS_PERF_DATA_ATTRS_H
#define FORMATS_PERF_DATA_ATTRS_H

#include "formats/base/map.h"
#include "formats/base/reader.h"
#include "formats/base/vec.h"
#include "formats/perf/perf_record.h"

#define PERF_DATA_ATTRS_MAX 4096
#define PERF_DATA_NO_ATTR   UINT32_MAX

struct perf_data_attr {
	struct perf_layout layout; /* its arch is the caller's to set */
	struct recording_event event; /* strings in the arena; leader is its own number until someone knows better */
	uint32_t stack_len;	    /* bytes of a snapshot; 0: none are taken */
	uint32_t clock;		    /* as clock_gettime() counts them; UINT32_MAX: the kernel's scheduler clock */
	bool tells_losses;	    /* at the end, for each of its ids (PERF_FORMAT_LOST) */
	bool is_off_cpu;	    /* preport's: a thread leaves its CPU, and the period is how long it waited */
	bool chain_in_branches;	    /* branch records are those of calls not returned from: perf record --call-graph lbr */
};

/* Zeroed but for the arena, it is ready. */
struct perf_data_attrs {
	struct arena *arena;
	VEC(struct perf_data_attr) items;
	struct map by_id; /* -> number of the event */
	struct map cpu_by_id;
};

void perf_data_attrs_deinit(struct perf_data_attrs *attrs);

/*
 * Add the struct perf_event_attr at @r, up to its own size. ERR_CORRUPT: it is cut, or there are more than
 * PERF_DATA_ATTRS_MAX.
 */
MUST_USE struct err *perf_data_attrs_add(struct perf_data_attrs *attrs, struct reader *r);

/* All that @r has left are ids of event @number. */
void perf_data_attrs_add_ids(struct perf_data_attrs *attrs, struct reader *r, uint32_t number);

/* The event with @id; PERF_DATA_NO_ATTR if there is none. */
uint32_t perf_data_attrs_by_id(const struct perf_data_attrs *attrs, uint64_t id);

/* The counter with @id counts on @cpu. */
void perf_data_attrs_set_cpu(struct perf_data_attrs *attrs, uint64_t id, uint32_t cpu);

/* Where it counts; EVENT_NO_CPU if that is not known. */
uint32_t perf_data_attrs_cpu(const struct perf_data_attrs *attrs, uint64_t id);

/*
 * The event of the record of @len bytes at @data. Records that perf made up carry no id, and are laid out as those of the first;
 * a sample with an unknown id belongs to no event (PERF_DATA_NO_ATTR).
 */
uint32_t perf_data_attrs_owner(const struct perf_data_attrs *attrs, const uint8_t *data, size_t len);

/* ERR_UNSUPPORTED: there is no event, or records do not say which one they are of. */
MUST_USE struct err *perf_data_attrs_check(const struct perf_data_attrs *attrs);

#endif
