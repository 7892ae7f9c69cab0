/* SPDX-License-Identifier: Apache-2.0 */
/*
 * payload.c - libtraceevent trusts formats and records, so every field is checked against the bytes first.
 */
#include "report/page/payload.h"

#include "formats/base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <traceevent/event-parse.h>
#include <traceevent/trace-seq.h>

#define SYSTEM_MAX 64 /* bytes of "sched" in "sched:sched_switch" */

struct payload_printer {
	struct tep_handle *tep;
	struct tep_event **by_event; /* by index in recording.events; NULL: not known */
	size_t nevents;
	struct trace_seq text;
};

/* "ID: 372", which stands in the payload too. A probe's is made up: the library would not find it again. */
static bool has_own_id(const struct recording_event *event)
{
	const char *line = strstr(event->format, "ID:");
	uint64_t id;

	return line && sscanf(line, "ID: %" SCNu64, &id) == 1 && id == event->config;
}

static void parse_format(struct payload_printer *printer, size_t index,
			 const struct recording_event *event)
{
	char system[SYSTEM_MAX];
	const char *colon = strchr(event->name, ':');
	size_t len = colon ? (size_t)(colon - event->name) : 0;

	if (!*event->format || !has_own_id(event) || !len || len >= sizeof(system))
		return;
	memcpy(system, event->name, len);
	system[len] = 0;
	if (tep_parse_event(printer->tep, event->format, strlen(event->format), system) ==
	    TEP_ERRNO__SUCCESS)
		printer->by_event[index] = tep_find_event(printer->tep, (int)event->config);
}

struct payload_printer *payload_printer_new(const struct recording *rec)
{
	struct payload_printer *printer = memory_zeroed(1, sizeof(*printer));

	tep_set_loglevel(TEP_LOG_NONE); /* what it cannot read is left out */
	printer->tep = tep_alloc();
	if (!printer->tep)
		memory_exhausted(sizeof(*printer));
	tep_set_long_size(printer->tep, sizeof(uint64_t));
	tep_set_page_size(printer->tep, (int)rec->page_size);
	tep_set_file_bigendian(printer->tep, TEP_LITTLE_ENDIAN);
	tep_set_local_bigendian(printer->tep, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	printer->nevents = rec->nevents;
	printer->by_event = memory_zeroed(rec->nevents, sizeof(struct tep_event *));
	for (size_t i = 0; i < rec->nevents; i++)
		parse_format(printer, i, &rec->events[i]);
	trace_seq_init(&printer->text);
	return printer;
}

void payload_printer_free(struct payload_printer *printer)
{
	if (!printer)
		return;
	trace_seq_destroy(&printer->text);
	tep_free(printer->tep);
	free(printer->by_event);
	free(printer);
}

/* Do the bytes that @field stands for lie within the record? */
static bool field_fits(const struct tep_format_field *field, const struct event_sample *sample)
{
	uint32_t where;

	if (field->offset < 0 || field->size < 0 ||
	    (size_t)field->offset + (size_t)field->size > sample->raw_len)
		return false;
	if (!(field->flags & TEP_FIELD_IS_DYNAMIC) || field->size != sizeof(where))
		return true;
	/* __data_loc: where in the record, and how much, in 16 bits each (trace_events.txt) */
	memcpy(&where, sample->raw + field->offset, sizeof(where));
	return (size_t)(where & 0xffff) + (where >> 16) <= sample->raw_len;
}

static bool fields_fit(const struct tep_event *event, const struct event_sample *sample)
{
	const struct tep_format_field *field;

	for (field = event->format.common_fields; field; field = field->next)
		if (!field_fits(field, sample))
			return false;
	for (field = event->format.fields; field; field = field->next)
		if (!field_fits(field, sample))
			return false;
	return true;
}

const char *payload_text(struct payload_printer *printer, const struct event *ev)
{
	const struct event_sample *sample = &ev->sample;
	struct tep_event *event =
		sample->event < printer->nevents ? printer->by_event[sample->event] : NULL;

	if (!event || !sample->raw_len || !fields_fit(event, sample))
		return "";

	struct tep_record record = { .ts = ev->time_ns,
				     .data = (void *)sample->raw,
				     .size = (int)sample->raw_len,
				     .cpu = (int)ev->cpu };

	trace_seq_reset(&printer->text);
	tep_print_event(printer->tep, &printer->text, &record, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&printer->text);
	return printer->text.buffer;
}
