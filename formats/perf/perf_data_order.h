/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_data_order.h - records of perf.data in order of time.
 *
 * perf empties the ring of one CPU after the other and then says that a round is finished; no record behind that is older
 * than the youngest that was there when the round before was finished. So what is older than that may go. A file without
 * such promises, or with larger rounds than fit in memory, gives its records in order as far as memory reaches.
 */
#ifndef FORMATS_PERF_DATA_ORDER_H
#define FORMATS_PERF_DATA_ORDER_H

#include "formats/base/vec.h"
#include "formats/perf/perf_data_stream.h"

#include <stdbool.h>
#include <stdint.h>

/* A record that waits. */
struct perf_data_waiting {
	uint64_t time_ns;
	uint64_t number; /* in the file, among those that wait */
	uint32_t attr;	 /* whose it is, see perf_data_attrs.h; the caller's */
	struct perf_data_record record;
};

/* A zeroed one is ready. The caller holds the records. */
struct perf_data_order {
	VEC(struct perf_data_waiting) heap; /* the oldest first, children of i at 2i + 1 and 2i + 2 */
	uint64_t number;
	uint64_t youngest_ns;	   /* of all that were put */
	uint64_t round_youngest_ns; /* when the last round was finished */
	uint64_t final_ns;	   /* nothing as old as this is to come */
	uint64_t taken_ns;	   /* of the youngest that was taken */
	uint64_t nlate;		   /* taken after a younger one */
};

void perf_data_order_put(struct perf_data_order *order, const struct perf_data_waiting *waiting);

/* A round is finished. */
void perf_data_order_round(struct perf_data_order *order);

/* Nothing is to come. */
void perf_data_order_end(struct perf_data_order *order);

/* Take the oldest if no older one can come, or in any case if @pressed. False: there is none. */
bool perf_data_order_take(struct perf_data_order *order, bool pressed,
			  struct perf_data_waiting *ret);

void perf_data_order_deinit(struct perf_data_order *order);

#endif
