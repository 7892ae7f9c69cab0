/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_data_side.c - pipes have as records what files have as tables; some records both have.
 */
#include "formats/perf/perf_data_side.h"

#include <linux/perf_event.h>
#include <string.h>

/* Kinds of EVENT_UPDATE. */
#define UPDATE_UNIT 0
#define UPDATE_NAME 2

/* What perf appends to the name of the kernel: the symbol whose address is in the mapping's offset. */
#define KERNEL_PATH "[kernel.kallsyms]"
#define KERNEL_TEXT "[kernel.kallsyms]_text"

/* There is no number for the scheduler's clock, which no program can read. */
#define CLOCK_UNKNOWN UINT32_MAX

#define NOTES_MAX 6

void perf_data_side_init(struct recording *rec)
{
	rec->tool = "perf";
	rec->cmdline = rec->hostname = rec->os_release = "";
	rec->cpu_model = rec->container = "";
	rec->exit_status = -1;
}

static struct err *take_attr(const struct perf_data_facts *facts, struct reader *r)
{
	struct perf_data_attrs *attrs = facts->attrs;
	struct err *err = perf_data_attrs_add(attrs, r);

	if (!err)
		perf_data_attrs_add_ids(attrs, r, (uint32_t)attrs->items.len - 1);
	return err;
}

static struct err *take_update(const struct perf_data_facts *facts, struct reader *r)
{
	uint64_t kind = reader_u64(r, "kind of update");
	uint32_t number = perf_data_attrs_by_id(facts->attrs, reader_u64(r, "event id"));

	if (number == PERF_DATA_NO_ATTR || (kind != UPDATE_NAME && kind != UPDATE_UNIT))
		return reader_check(r);

	struct recording_event *event = &facts->attrs->items.items[number].event;
	const char *text = reader_string(r, "text");

	if (text && *text && kind == UPDATE_NAME)
		event->name = arena_strdup(&facts->rec->arena, text);
	return reader_check(r);
}

/* Which CPU and thread each id is of: with no thread, it is everybody's on that CPU. */
static struct err *take_index(const struct perf_data_facts *facts, struct reader *r)
{
	uint64_t count = reader_u64(r, "number of ids");
	bool by_cpu = count, all = count;

	for (uint64_t i = 0; i < count && !r->failed; i++) {
		uint64_t id = reader_u64(r, "id");

		reader_skip(r, 8, "index");
		uint64_t cpu = reader_u64(r, "CPU");
		uint64_t tid = reader_u64(r, "thread");

		if (!r->failed && (uint32_t)cpu != UINT32_MAX)
			perf_data_attrs_set_cpu(facts->attrs, id, (uint32_t)cpu);
		by_cpu &= (uint32_t)cpu != UINT32_MAX && (uint32_t)tid == UINT32_MAX;
		all &= (uint32_t)tid == UINT32_MAX;
	}
	facts->rec->by_cpu = by_cpu;
	facts->rec->system_wide = all;
	return reader_check(r);
}

static struct err *take_feature(const struct perf_data_facts *facts, struct reader *r)
{
	uint64_t number = reader_u64(r, "feature");

	if (!reader_left(r) || number >= PERF_DATA_FEATURES_MAX)
		return reader_check(r);
	return perf_data_feature_load(facts, (unsigned)number, r);
}

static void take_hardware(const struct perf_data_facts *facts, struct reader *r)
{
	static const char *const names[] = { "hardware trace", "Intel PT", "Intel BTS", "CoreSight", "Arm SPE",
					     "s390 sampling", "HiSilicon PTT" };
	uint32_t kind = reader_u32(r, "kind of hardware trace");

	facts->gaps->hardware = names[kind < ARRAY_LEN(names) ? kind : 0];
}

struct err *perf_data_side_take(const struct perf_data_facts *facts,
				const struct perf_data_record *record)
{
	struct err *err = NULL;
	struct reader r;

	reader_init(&r, record->data, record->len, /* big_endian= */ false);
	r.offset = record->offset;
	if (record->type == PERF_DATA_BUILD_ID)
		return perf_data_build_ids_add(facts->build_ids, &r);
	reader_skip(&r, PERF_DATA_HEADER_LEN, "record header");
	switch (record->type) {
	case PERF_DATA_ATTR:
		err = take_attr(facts, &r);
		break;
	case PERF_DATA_EVENT_UPDATE:
		err = take_update(facts, &r);
		break;
	case PERF_DATA_ID_INDEX:
		err = take_index(facts, &r);
		break;
	case PERF_DATA_FEATURE:
		err = take_feature(facts, &r);
		break;
	case PERF_DATA_AUXTRACE_INFO:
		take_hardware(facts, &r);
		break;
	default:
		break;
	}
	return err;
}

void perf_data_side_kernel(struct recording *rec, const struct event_mmap *map)
{
	if (!(map->flags & EVENT_MMAP_KERNEL) ||
	    strncmp(map->path, KERNEL_PATH, strlen(KERNEL_PATH)) != 0)
		return;
	if (map->build_id_len) {
		rec->kernel_build_id_len = map->build_id_len;
		memcpy(rec->kernel_build_id, map->build_id, map->build_id_len);
	}
	if (strcmp(map->path, KERNEL_TEXT) != 0)
		return;
	rec->kernel_text = map->file_offset;
	rec->kernel_text_end = map->end;
}

static void describe_event(struct recording *rec, struct perf_data_attr *attr)
{
	attr->layout.arch = rec->arch;
	if (attr->stack_len) {
		rec->chain = RECORDING_CHAIN_DWARF;
		rec->raw_stacks = true;
		rec->stack_len = MAX(rec->stack_len, attr->stack_len);
	} else if (rec->chain == RECORDING_CHAIN_NONE &&
		   attr->layout.sample_type & PERF_SAMPLE_CALLCHAIN) {
		rec->chain = RECORDING_CHAIN_FP;
	}
	if (attr->event.samples)
		rec->clock = attr->clock;
}

static void add_note(struct recording *rec, const char *text)
{
	rec->notes[rec->nnotes++] = (struct recording_note){ .subject = "", .text = text };
}

/* What a reader would otherwise take for 0. */
static void note_unknown(struct recording *rec, const struct perf_data_attrs *attrs)
{
	bool tells_losses = true, has_cpus = true, has_times = true;

	for (size_t i = 0; i < attrs->items.len; i++) {
		const struct perf_data_attr *attr = &attrs->items.items[i];

		tells_losses &= !attr->event.samples || attr->tells_losses;
		has_cpus &= !attr->event.samples || attr->layout.sample_type & PERF_SAMPLE_CPU;
		has_times &= !attr->event.samples || attr->layout.sample_type & PERF_SAMPLE_TIME;
	}
	if (!tells_losses)
		add_note(rec, "losses after the last lost record are not known: perf.data of "
			      "Linux before 6.0 has no counts of them");
	if (!has_cpus)
		add_note(rec, "samples have no CPU: perf record --sample-cpu");
	if (!has_times)
		add_note(rec, "samples have no times and are in file order: perf record -T");
}

void perf_data_side_describe(const struct perf_data_facts *facts)
{
	struct recording *rec = facts->rec;
	const struct perf_data_attrs *attrs = facts->attrs;
	const struct perf_data_build_id *kernel =
		perf_data_build_ids_find(facts->build_ids, KERNEL_PATH);

	rec->notes = ARENA_ARRAY(&rec->arena, struct recording_note, NOTES_MAX);
	if (!rec->arch) {
		rec->arch = arch_native();
		add_note(rec, "the file does not say on which architecture it was recorded: this machine's is assumed");
	}
	rec->clock = CLOCK_UNKNOWN;
	if (kernel) {
		rec->kernel_build_id_len = kernel->len;
		memcpy(rec->kernel_build_id, kernel->id, kernel->len);
	}
	rec->nevents = attrs->items.len;
	rec->events = ARENA_ARRAY(&rec->arena, struct recording_event, rec->nevents);
	for (size_t i = 0; i < rec->nevents; i++) {
		describe_event(rec, &attrs->items.items[i]);
		rec->events[i] = attrs->items.items[i].event;
	}
	note_unknown(rec, attrs);
	if (facts->gaps->files)
		add_note(rec, arena_printf(&rec->arena, "files of the folder are missing: %s", facts->gaps->files));
	if (facts->gaps->hardware)
		add_note(rec, arena_printf(&rec->arena, "%s data is in the file and is not read: perf script --itrace decodes it",
					   facts->gaps->hardware));
}
