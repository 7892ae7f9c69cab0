/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_data_features.c - one function a feature, in a table. Strings are a length and so many bytes, zeros behind the end.
 */
#include "formats/perf/perf_data_features.h"

#include "formats/base/text.h"
#include "formats/base/writer.h"
#include "formats/perf/perf_data_tracing.h"
#include "formats/perf/simpleperf_files.h"

#include <linux/perf_event.h>
#include <string.h>


/* Always a string. */
static const char *read_text(struct reader *r, struct arena *arena)
{
	uint32_t len = reader_u32(r, "size of a text");
	const char *text = reader_bytes(r, len, "text");

	return text ? arena_memdup(arena, text, strnlen(text, len)) : "";
}

static void load_hostname(const struct perf_data_facts *facts, struct reader *r)
{
	facts->rec->hostname = read_text(r, &facts->rec->arena);
}

static void load_release(const struct perf_data_facts *facts, struct reader *r)
{
	facts->rec->os_release = read_text(r, &facts->rec->arena);
}

static void load_version(const struct perf_data_facts *facts, struct reader *r)
{
	const char *version = read_text(r, &facts->rec->arena);

	facts->rec->tool = arena_printf(&facts->rec->arena, "perf %s", version);
}

static struct err *load_arch(const struct perf_data_facts *facts, struct reader *r)
{
	const char *name = read_text(r, &facts->rec->arena);

	facts->rec->arch = arch_by_name(name);
	if (!facts->rec->arch && !r->failed)
		return err_new(ERR_UNSUPPORTED,
			       "recorded on '%s', only x86_64 and aarch64 are known", name);
	return reader_check(r);
}

static void load_ncpus(const struct perf_data_facts *facts, struct reader *r)
{
	facts->rec->ncpus_possible = reader_u32(r, "CPUs");
	facts->rec->ncpus_online = reader_u32(r, "CPUs on line");
}

static void load_cpu_model(const struct perf_data_facts *facts, struct reader *r)
{
	facts->rec->cpu_model = read_text(r, &facts->rec->arena);
}

static void load_memory(const struct perf_data_facts *facts, struct reader *r)
{
	facts->rec->memory_len = reader_u64(r, "memory") * 1024;
}

static void load_cmdline(const struct perf_data_facts *facts, struct reader *r)
{
	CLEANUP(writer_deinit) struct writer words = { 0 };
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	uint32_t count = reader_u32(r, "arguments"), i;

	for (i = 0; i < count && reader_left(r); i++) {
		const char *word = read_text(r, &arena);

		writer_bytes(&words, word, strlen(word) + 1);
	}
	writer_u8(&words, 0);
	/* preport perf-data writes its line as one word. */
	facts->rec->cmdline = i == 1 ? arena_strdup(&facts->rec->arena, (const char *)words.data)
				     : text_shell_line(&facts->rec->arena, (const char *)words.data, words.len - 1, false);
}

/* Waits have the names that preport perf-data and perf record --off-cpu give them; their periods are nanoseconds. */
static void set_name(struct perf_data_attr *attr, const char *name)
{
	struct recording_event *event = &attr->event;

	event->name = name;
	if (event->type != PERF_TYPE_SOFTWARE)
		return;
	attr->is_off_cpu = event->config == PERF_COUNT_SW_CONTEXT_SWITCHES && strcmp(name, "off-cpu") == 0;
	if (attr->is_off_cpu || (event->config == PERF_COUNT_SW_BPF_OUTPUT && strcmp(name, "offcpu-time") == 0))
		event->unit = "ns";
}

/* Attributes again, and names; the ids say of which event. */
static void load_event(const struct perf_data_facts *facts, struct reader *r, uint32_t attr_len,
		       uint32_t number)
{
	reader_skip(r, attr_len, "attributes");
	uint32_t nids = reader_u32(r, "number of ids");
	const char *name = read_text(r, &facts->rec->arena);

	if (nids > reader_left(r) / 8) {
		reader_fail(r, "number of ids");
		return;
	}
	struct reader ids = reader_slice(r, 8 * (size_t)nids, "ids");

	if (nids)
		number = perf_data_attrs_by_id(facts->attrs, reader_u64(&ids, "id"));
	if (number < facts->attrs->items.len && *name)
		set_name(&facts->attrs->items.items[number], name);
}

static void load_events(const struct perf_data_facts *facts, struct reader *r)
{
	uint32_t count = reader_u32(r, "number of events");
	uint32_t attr_len = reader_u32(r, "size of attributes");

	for (uint32_t i = 0; i < count && reader_left(r); i++)
		load_event(facts, r, attr_len, i);
}

static void load_groups(const struct perf_data_facts *facts, struct reader *r)
{
	uint32_t count = reader_u32(r, "number of groups");

	for (uint32_t i = 0; i < count && reader_left(r); i++) {
		read_text(r, &facts->rec->arena); /* its name */
		uint32_t leader = reader_u32(r, "leader of a group");
		uint32_t members = reader_u32(r, "members of a group");
		size_t nevents = facts->attrs->items.len;

		for (uint32_t j = 0; leader < nevents && j < members && j < nevents - leader; j++)
			facts->attrs->items.items[leader + j].event.leader = leader;
	}
}

static void load_build_ids(const struct perf_data_facts *facts, struct reader *r)
{
	while (reader_left(r)) {
		struct err *err = perf_data_build_ids_add(facts->build_ids, r);

		if (err)
			reader_fail(r, "build ID");
		err_free(err);
	}
}

static void load_sample_time(const struct perf_data_facts *facts, struct reader *r)
{
	facts->rec->start_ns = reader_u64(r, "time of the first sample");
	facts->rec->end_ns = reader_u64(r, "time of the last sample");
}

static void load_clock(const struct perf_data_facts *facts, struct reader *r)
{
	reader_u32(r, "version of clock data");
	reader_u32(r, "clock"); /* the attributes tell it, too */
	facts->rec->wall_ns = reader_u64(r, "wall time");
	facts->rec->clock_ns = reader_u64(r, "clock time");
}

static void load_tracing(const struct perf_data_facts *facts, struct reader *r)
{
	perf_data_tracing_load(facts->attrs, r);
}

static void load_files(const struct perf_data_facts *facts, struct reader *r)
{
	simpleperf_files_load(facts->rec, r, /* messages= */ false);
}

static void load_file_messages(const struct perf_data_facts *facts, struct reader *r)
{
	simpleperf_files_load(facts->rec, r, /* messages= */ true);
}

static void load_meta(const struct perf_data_facts *facts, struct reader *r)
{
	simpleperf_meta_load(facts->rec, facts->attrs, r);
}

static void (*const loaders[])(const struct perf_data_facts *facts, struct reader *r) = {
	[PERF_DATA_FEATURE_TRACING_DATA] = load_tracing,
	[PERF_DATA_FEATURE_BUILD_ID] = load_build_ids,
	[PERF_DATA_FEATURE_HOSTNAME] = load_hostname,
	[PERF_DATA_FEATURE_OSRELEASE] = load_release,
	[PERF_DATA_FEATURE_VERSION] = load_version,
	[PERF_DATA_FEATURE_NRCPUS] = load_ncpus,
	[PERF_DATA_FEATURE_CPUDESC] = load_cpu_model,
	[PERF_DATA_FEATURE_TOTAL_MEM] = load_memory,
	[PERF_DATA_FEATURE_CMDLINE] = load_cmdline,
	[PERF_DATA_FEATURE_EVENT_DESC] = load_events,
	[PERF_DATA_FEATURE_GROUP_DESC] = load_groups,
	[PERF_DATA_FEATURE_SAMPLE_TIME] = load_sample_time,
	[PERF_DATA_FEATURE_CLOCK_DATA] = load_clock,
	[PERF_DATA_FEATURE_SIMPLEPERF_FILE] = load_files,
	[PERF_DATA_FEATURE_SIMPLEPERF_META_INFO] = load_meta,
	[PERF_DATA_FEATURE_SIMPLEPERF_FILE2] = load_file_messages,
};

bool perf_data_feature_is_used(unsigned number)
{
	return number == PERF_DATA_FEATURE_ARCH || (number < ARRAY_LEN(loaders) && loaders[number]);
}

struct err *perf_data_feature_load(const struct perf_data_facts *facts, unsigned number,
				   struct reader *r)
{
	if (!perf_data_feature_is_used(number))
		return NULL;
	if (number == PERF_DATA_FEATURE_ARCH)
		return load_arch(facts, r);
	loaders[number](facts, r);
	return reader_check(r);
}
