/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_data_tracing.c - the number of a tracepoint is its event's config.
 */
#include "formats/perf/perf_data_tracing.h"

#include "formats/perf/tracing_data.h"

#include <linux/perf_event.h>

static void set_format(void *to, const struct tracing_data_format *format)
{
	struct perf_data_attrs *attrs = to;

	for (size_t i = 0; i < attrs->items.len; i++) {
		struct recording_event *event = &attrs->items.items[i].event;

		if (event->type != PERF_TYPE_TRACEPOINT || event->config != format->id)
			continue;
		event->format = arena_strdup(attrs->arena, format->text);
		event->name = arena_printf(attrs->arena, "%s:%s", format->system, format->name);
	}
}

static void leave_out(void *to, const struct tracing_data_format *format)
{
	(void)to;
	(void)format;
}

void perf_data_tracing_load(struct perf_data_attrs *attrs, struct reader *r)
{
	const struct tracing_data_taker taker = { attrs, set_format }, nobody = { NULL, leave_out };
	struct tracing_data_start start;
	struct tracing_data_page page;

	tracing_data_start(r, &start);
	if (start.big_endian) /* no architecture that is known here */
		reader_fail(r, "byte order of tracing data");
	tracing_data_headers(r, &page);
	tracing_data_ftrace(r, &nobody);
	tracing_data_systems(r, &taker);
}
