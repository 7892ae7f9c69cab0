/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_data_trace_formats.c - each event is a system of its own: names may come twice.
 */
#include "formats/perf/perf_data_trace_formats.h"

#include <string.h>

#define PAGE_LEN 4096

/* perf has it parsed, though no page of a ring follows. */
static const char page_format[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				  "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
				  "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
				  "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";
static const char event_format[] = "# compressed entry header\n";

static void put_part(struct writer *to, const char *text, size_t len)
{
	writer_u64(to, len);
	writer_bytes(to, text, len);
}

static void put_event(struct writer *to, const struct recording_event *event)
{
	size_t len = strcspn(event->name, ":");

	writer_bytes(to, event->name, len);
	writer_u8(to, 0);
	writer_u32(to, 1);
	put_part(to, event->format, strlen(event->format));
}

void perf_data_trace_formats_write(const struct recording *rec, struct writer *to)
{
	uint32_t count = 0;

	for (size_t i = 0; i < rec->nevents; i++)
		count += *rec->events[i].format != 0;
	if (!count)
		return;
	writer_bytes(to, "\x17\x08\x44tracing", 10);
	writer_string(to, "0.5");
	writer_u8(to, 0);
	writer_u8(to, 8);
	writer_u32(to, PAGE_LEN);
	writer_string(to, "header_page");
	put_part(to, page_format, sizeof(page_format) - 1);
	writer_string(to, "header_event");
	put_part(to, event_format, sizeof(event_format) - 1);
	writer_u32(to, 0);
	writer_u32(to, count);
	for (size_t i = 0; i < rec->nevents; i++)
		if (*rec->events[i].format)
			put_event(to, &rec->events[i]);
	writer_u32(to, 0);
	writer_u32(to, 0);
}
