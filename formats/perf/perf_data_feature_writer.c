/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_data_feature_writer.c - each feature is one function and one row of a table.
 */
#include "formats/perf/perf_data_feature_writer.h"

#include "formats/arch.h"
#include "formats/base/compiler.h"
#include "formats/perf/perf_data_types.h"
#include "formats/recording.h"

#include <limits.h>
#include <string.h>

#define NAME_ALIGN	   64	      /* texts are padded to */
#define MISC_BUILD_ID_SIZE (1U << 15) /* of perf's own record of build IDs */

/* ---- build IDs ---- */

void perf_data_ids_add(struct perf_data_ids *ids, const char *path, bool kernel, const uint8_t *id, size_t len)
{
	struct perf_data_file_id item = { .path = strtab_add(&ids->paths, path), .kernel = kernel, .len = (uint8_t)len };
	bool is_new;
	uint64_t *index = map_put(&ids->seen, item.path, &is_new);

	if (!len || !is_new)
		return;
	memcpy(item.id, id, len);
	vec_push(&ids->list, item);
	*index = ids->list.len;
}

void perf_data_ids_deinit(struct perf_data_ids *ids)
{
	strtab_deinit(&ids->paths);
	map_deinit(&ids->seen);
	vec_deinit(&ids->list);
}

/* ---- formats of tracepoints ---- */

/*
 * The formats of tracepoints as perf.data has them: the header of a trace-cmd file (trace-cmd.dat.v6(5)).
 *
 *	17 08 44 "tracing" "0.5" 0	byte order 0, bytes of a long 8, bytes of a page (32 bits)
 *	"header_page" 0	    length, text		of a ring's page; all lengths 64 bits, counts 32
 *	"header_event" 0    length, text
 *	count		    of ftrace's own events: none
 *	count		    of systems: name 0, count of events, for each length and text of its format
 *	length, length	    of kallsyms and of printk's texts: none; 32 bits
 *
 * Each event is a system of its own: names may come twice.
 */

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

static void put_trace_event(struct writer *to, const struct recording_event *event)
{
	size_t len = strcspn(event->name, ":");

	writer_bytes(to, event->name, len);
	writer_u8(to, 0);
	writer_u32(to, 1);
	put_part(to, event->format, strlen(event->format));
}

/* Nothing is written where no event has a format. */
static void put_trace_formats(const struct perf_data_features *f, struct writer *to)
{
	const struct recording *rec = f->plan->rec;
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
			put_trace_event(to, &rec->events[i]);
	writer_u32(to, 0);
	writer_u32(to, 0);
}

/* ---- all of them ---- */

static void put_feature_text(struct writer *to, const char *text)
{
	size_t len = strlen(text) + 1, padded = (len + NAME_ALIGN - 1) / NAME_ALIGN * NAME_ALIGN;

	writer_u32(to, (uint32_t)padded);
	writer_bytes(to, text, len);
	for (size_t i = len; i < padded; i++)
		writer_u8(to, 0);
}

static void put_hostname(const struct perf_data_features *f, struct writer *to)
{
	put_feature_text(to, f->plan->rec->hostname);
}

static void put_release(const struct perf_data_features *f, struct writer *to)
{
	put_feature_text(to, f->plan->rec->os_release);
}

static void put_version(const struct perf_data_features *f, struct writer *to)
{
	put_feature_text(to, f->plan->rec->tool);
}

static void put_arch(const struct perf_data_features *f, struct writer *to)
{
	put_feature_text(to, f->plan->rec->arch->name);
}

static void put_ncpus(const struct perf_data_features *f, struct writer *to)
{
	writer_u32(to, f->plan->rec->ncpus_possible);
	writer_u32(to, f->plan->rec->ncpus_online);
}

static void put_cpu_model(const struct perf_data_features *f, struct writer *to)
{
	put_feature_text(to, f->plan->rec->cpu_model);
}

static void put_memory(const struct perf_data_features *f, struct writer *to)
{
	writer_u64(to, f->plan->rec->memory_len / 1024);
}

static void put_cmdline(const struct perf_data_features *f, struct writer *to)
{
	writer_u32(to, 1);
	put_feature_text(to, f->plan->rec->cmdline);
}

static void put_events(const struct perf_data_features *f, struct writer *to)
{
	const struct recording *rec = f->plan->rec;

	writer_u32(to, (uint32_t)perf_data_attr_count(rec));
	writer_u32(to, PERF_DATA_ATTR_LEN);
	for (uint32_t i = 0; i < rec->nevents; i++) {
		if (!perf_data_has_attr(&rec->events[i]))
			continue;
		perf_data_put_attr(f->plan, to, i);
		writer_u32(to, 1);
		put_feature_text(to, rec->events[i].name);
		writer_u64(to, perf_data_id(i));
	}
}

static void put_build_ids(const struct perf_data_features *f, struct writer *to)
{
	for (size_t i = 0; i < f->ids->list.len; i++) {
		const struct perf_data_file_id *id = &f->ids->list.items[i];
		const char *path = strtab_get(&f->ids->paths, id->path);
		size_t len = strnlen(path, PATH_MAX - 1) + 1, padded = (len + NAME_ALIGN - 1) / NAME_ALIGN * NAME_ALIGN;

		writer_u32(to, PERF_DATA_BUILD_ID);
		writer_u16(to, (uint16_t)((id->kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER) | MISC_BUILD_ID_SIZE));
		writer_u16(to, (uint16_t)(8 + 4 + 24 + padded));
		writer_u32(to, UINT32_MAX); /* the machine that was recorded */
		writer_bytes(to, id->id, sizeof(id->id));
		writer_u8(to, id->len);
		writer_u8(to, 0);
		writer_u16(to, 0);
		writer_bytes(to, path, len - 1);
		for (size_t j = len - 1; j < padded; j++)
			writer_u8(to, 0);
	}
}

static void put_sample_time(const struct perf_data_features *f, struct writer *to)
{
	writer_u64(to, f->first_ns);
	writer_u64(to, f->last_ns);
}

static void put_clock(const struct perf_data_features *f, struct writer *to)
{
	const struct recording *rec = f->plan->rec;

	if (rec->clock == UINT32_MAX || !rec->wall_ns)
		return;
	writer_u32(to, 1); /* version */
	writer_u32(to, rec->clock);
	writer_u64(to, rec->wall_ns);
	writer_u64(to, rec->clock_ns);
}

/* In order of numbers. One that writes nothing is not there. */
static const struct feature {
	unsigned number;
	void (*put)(const struct perf_data_features *f, struct writer *to);
} features[] = {
	{ PERF_DATA_FEATURE_TRACING_DATA, put_trace_formats }, { PERF_DATA_FEATURE_BUILD_ID, put_build_ids },
	{ PERF_DATA_FEATURE_HOSTNAME, put_hostname },	       { PERF_DATA_FEATURE_OSRELEASE, put_release },
	{ PERF_DATA_FEATURE_VERSION, put_version },	       { PERF_DATA_FEATURE_ARCH, put_arch },
	{ PERF_DATA_FEATURE_NRCPUS, put_ncpus },	       { PERF_DATA_FEATURE_CPUDESC, put_cpu_model },
	{ PERF_DATA_FEATURE_TOTAL_MEM, put_memory },	       { PERF_DATA_FEATURE_CMDLINE, put_cmdline },
	{ PERF_DATA_FEATURE_EVENT_DESC, put_events },	       { PERF_DATA_FEATURE_SAMPLE_TIME, put_sample_time },
	{ PERF_DATA_FEATURE_CLOCK_DATA, put_clock },
};

uint64_t perf_data_features_write(const struct perf_data_features *f, uint64_t at, struct writer *to)
{
	CLEANUP(writer_deinit) struct writer bodies = { 0 };
	size_t starts[ARRAY_LEN(features) + 1];
	uint64_t count = 0, bits = 0;

	for (size_t i = 0; i < ARRAY_LEN(features); i++) {
		starts[i] = bodies.len;
		features[i].put(f, &bodies);
		count += bodies.len > starts[i];
	}
	starts[ARRAY_LEN(features)] = bodies.len;
	for (size_t i = 0; i < ARRAY_LEN(features); i++) {
		if (starts[i + 1] == starts[i])
			continue;
		bits |= 1ULL << features[i].number;
		writer_u64(to, at + 16 * count + starts[i]);
		writer_u64(to, starts[i + 1] - starts[i]);
	}
	writer_bytes(to, bodies.data, bodies.len);
	return bits;
}
