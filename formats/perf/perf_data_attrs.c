/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_data_attrs.c - struct perf_event_attr (linux/perf_event.h), field by field: files have it in any of its sizes.
 */
#include "formats/perf/perf_data_attrs.h"

#include "formats/perf/perf_record_place.h"

#include <inttypes.h>
#include <linux/perf_event.h>

#define ATTR_LEN_MIN PERF_ATTR_SIZE_VER0
#define FORMAT_LOST  (1U << 4) /* PERF_FORMAT_LOST, Linux 6.0 */

/* Bits of the word of flags, in the order of the structure. */
#define FLAG_EXCLUDE_USER   (1ULL << 4)
#define FLAG_EXCLUDE_KERNEL (1ULL << 5)
#define FLAG_EXCLUDE_HV	    (1ULL << 6)
#define FLAG_FREQ	    (1ULL << 10)
#define PRECISE_SHIFT	    15
#define PRECISE_MASK	    3
#define FLAG_SAMPLE_ID_ALL  (1ULL << 18)
#define FLAG_USE_CLOCKID    (1ULL << 25)
#define FLAG_BUILD_ID       (1ULL << 34)

/* What perf calls them, for files that do not say. */
static const char *const hardware_names[] = {
	"cycles",	 "instructions",  "cache-references",	     "cache-misses",
	"branches",	 "branch-misses", "bus-cycles",		     "stalled-cycles-frontend",
	"stalled-cycles-backend", "ref-cycles",
};
static const char *const software_names[] = {
	"cpu-clock",	"task-clock",	    "page-faults",	"context-switches",
	"cpu-migrations", "minor-faults",   "major-faults",	"alignment-faults",
	"emulation-faults", "dummy",	    "bpf-output",	"cgroup-switches",
};

void perf_data_attrs_deinit(struct perf_data_attrs *attrs)
{
	vec_deinit(&attrs->items);
	map_deinit(&attrs->by_id);
	map_deinit(&attrs->cpu_by_id);
}

static const char *default_name(struct arena *arena, const struct recording_event *event)
{
	if (event->type == PERF_TYPE_HARDWARE && event->config < ARRAY_LEN(hardware_names))
		return hardware_names[event->config];
	if (event->type == PERF_TYPE_SOFTWARE && event->config < ARRAY_LEN(software_names))
		return software_names[event->config];
	return arena_printf(arena, "type %" PRIu32 " config %#" PRIx64, event->type, event->config);
}

static bool is_clock(const struct recording_event *event)
{
	return event->type == PERF_TYPE_SOFTWARE && (event->config == PERF_COUNT_SW_CPU_CLOCK ||
						     event->config == PERF_COUNT_SW_TASK_CLOCK);
}

static void read_flags(struct perf_data_attr *attr, uint64_t flags)
{
	struct recording_event *event = &attr->event;
	bool dummy = event->type == PERF_TYPE_SOFTWARE && event->config == PERF_COUNT_SW_DUMMY;

	event->is_freq = flags & FLAG_FREQ;
	event->precise = (uint8_t)(flags >> PRECISE_SHIFT & PRECISE_MASK);
	event->exclude_user = flags & FLAG_EXCLUDE_USER;
	event->exclude_kernel = flags & FLAG_EXCLUDE_KERNEL;
	event->exclude_hv = flags & FLAG_EXCLUDE_HV;
	event->samples = event->rate && !dummy;
	attr->layout.sample_id_all = flags & FLAG_SAMPLE_ID_ALL;
	attr->layout.build_ids = flags & FLAG_BUILD_ID;
	/* Samples without a period are one of @rate events; how many they represent at a frequency is not known. */
	attr->layout.period = event->is_freq ? 1 : event->rate;
}

/* What follows the size. */
static void read_attr(struct reader *r, struct perf_data_attr *attr)
{
	struct perf_layout *layout = &attr->layout;
	struct recording_event *event = &attr->event;

	event->config = reader_u64(r, "config");
	event->rate = reader_u64(r, "sample period");
	layout->sample_type = reader_u64(r, "sample type");
	layout->read_format = reader_u64(r, "read format");
	uint64_t flags = reader_u64(r, "flags");

	read_flags(attr, flags);
	reader_skip(r, 8, "wake-up, breakpoint type");
	event->config1 = reader_u64(r, "config1");
	if (reader_left(r))
		event->config2 = reader_u64(r, "config2");
	if (reader_left(r))
		layout->branch_sample_type = reader_u64(r, "branch sample type");
	if (reader_left(r)) {
		layout->regs_user = reader_u64(r, "user registers");
		attr->stack_len = reader_u32(r, "stack size");
		uint32_t clock = reader_u32(r, "clock");

		if (flags & FLAG_USE_CLOCKID)
			attr->clock = clock;
	}
	if (reader_left(r))
		layout->regs_intr = reader_u64(r, "interrupt registers");
	if (!(layout->sample_type & PERF_SAMPLE_STACK_USER))
		attr->stack_len = 0;
	attr->tells_losses = layout->read_format & FORMAT_LOST;
	attr->chain_in_branches = layout->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK;
}

struct err *perf_data_attrs_add(struct perf_data_attrs *attrs, struct reader *r)
{
	struct perf_data_attr attr = { .clock = UINT32_MAX };
	struct recording_event *event = &attr.event;

	event->type = reader_u32(r, "event type");
	uint32_t len = reader_u32(r, "size of attributes");

	if (len < ATTR_LEN_MIN)
		reader_fail(r, "size of attributes");

	struct reader rest = reader_slice(r, len - MIN(len, 8), "attributes");

	if (attrs->items.len == PERF_DATA_ATTRS_MAX)
		reader_fail(&rest, "number of events");
	read_attr(&rest, &attr);
	event->name = default_name(attrs->arena, event);
	event->unit = is_clock(event) ? "ns" : "events";
	event->format = "";
	event->leader = (uint32_t)attrs->items.len;

	struct err *err = reader_check(&rest);

	if (err)
		return err;
	vec_push(&attrs->items, attr);
	/* Records that perf made up are laid out as those of the first, and have build IDs if any event asked for them. */
	attrs->items.items[0].layout.build_ids |= attr.layout.build_ids;
	return NULL;
}

void perf_data_attrs_add_ids(struct perf_data_attrs *attrs, struct reader *r, uint32_t number)
{
	while (reader_left(r) >= 8)
		*map_put(&attrs->by_id, reader_u64(r, "event id"), NULL) = number;
}

uint32_t perf_data_attrs_by_id(const struct perf_data_attrs *attrs, uint64_t id)
{
	const uint64_t *number = map_get(&attrs->by_id, id);

	return number ? (uint32_t)*number : PERF_DATA_NO_ATTR;
}

void perf_data_attrs_set_cpu(struct perf_data_attrs *attrs, uint64_t id, uint32_t cpu)
{
	*map_put(&attrs->cpu_by_id, id, NULL) = cpu;
}

uint32_t perf_data_attrs_cpu(const struct perf_data_attrs *attrs, uint64_t id)
{
	const uint64_t *cpu = map_get(&attrs->cpu_by_id, id);

	return cpu ? (uint32_t)*cpu : EVENT_NO_CPU;
}

uint32_t perf_data_attrs_owner(const struct perf_data_attrs *attrs, const uint8_t *data, size_t len)
{
	if (attrs->items.len < 2)
		return attrs->items.len ? 0 : PERF_DATA_NO_ATTR;
	/* All have it at the same place: perf_data_attrs_check(). */
	uint64_t id = perf_record_place_id(&attrs->items.items[0].layout, data, len);
	uint32_t number = id ? perf_data_attrs_by_id(attrs, id) : 0;

	return number;
}

/* Fields that decide where ids are. */
static uint64_t id_fields(const struct perf_data_attr *attr)
{
	uint64_t type = attr->layout.sample_type;

	if (type & PERF_SAMPLE_IDENTIFIER)
		return PERF_SAMPLE_IDENTIFIER;
	return type & (PERF_SAMPLE_ID | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
		       PERF_SAMPLE_ADDR | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU);
}

struct err *perf_data_attrs_check(const struct perf_data_attrs *attrs)
{
	if (!attrs->items.len)
		return err_new(ERR_CORRUPT, "it names no event");

	const struct perf_data_attr *first = &attrs->items.items[0];
	bool tells = first->layout.sample_type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID);

	for (size_t i = 1; i < attrs->items.len; i++) {
		const struct perf_data_attr *attr = &attrs->items.items[i];

		if (tells && id_fields(attr) == id_fields(first))
			continue;
		return err_remedy(err_new(ERR_UNSUPPORTED,
					  "its %zu events do not say which event a record belongs to",
					  attrs->items.len),
				  "record with perf record --sample-identifier");
	}
	return NULL;
}
