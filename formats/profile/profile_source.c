/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_source.c - what the importer says of the file becomes a recording.
 */
#include "formats/profile/profile_source.h"

#include "formats/profile/import/import_file.h"
#include "formats/profile/import/import_table.h"

#include <stdlib.h>

struct profile_source {
	struct event_source source; /* first */
	struct recording recording;
};

static struct profile_source *of(struct event_source *source)
{
	return (struct profile_source *)source;
}

static const struct recording *source_recording(struct event_source *source)
{
	return &of(source)->recording;
}

static bool source_next(struct event_source *source, struct event *ret)
{
	(void)source;
	(void)ret;
	return false;
}

static struct err *source_finish(struct event_source *source)
{
	(void)source;
	return NULL;
}

static void source_close(struct event_source *source)
{
	arena_deinit(&of(source)->recording.arena);
	free(source);
}

static const struct event_source_ops ops = {
	.recording = source_recording,
	.next = source_next,
	.finish = source_finish,
	.close = source_close,
};

/* From when to when samples were taken, as far as the file says, on the profile's clock. */
static void set_times(struct recording *rec, const struct profile *p, const struct profile_facts *facts)
{
	struct time_cursor cursor = time_series_begin(&p->times);
	struct profile_time at;
	uint64_t first = UINT64_MAX, last = 0;

	while (time_series_next(&cursor, &at)) {
		first = MIN(first, at.time_ns);
		last = MAX(last, at.time_ns);
	}
	rec->wall_ns = facts->wall_ns;
	rec->start_ns = facts->start_ns ? facts->start_ns : p->times.len ? first : 0;
	rec->clock_ns = rec->start_ns;
	rec->end_ns = facts->has_duration ? rec->start_ns + facts->duration_ns : last;
}

/* Texts live in the profile's table, which may go before the recording. */
static void set_recording(struct recording *rec, const struct profile *p, const char *tool,
			  const struct profile_facts *facts)
{
	*rec = (struct recording){
		.tool = tool,
		.cmdline = "",
		.hostname = "",
		.os_release = "",
		.cpu_model = "",
		.container = "",
		.exit_status = -1,
		.complete = true,
		.nevents = p->types.len,
	};
	set_times(rec, p, facts);
	rec->events = ARENA_ARRAY(&rec->arena, struct recording_event, p->types.len + 1);
	for (uint32_t i = 0; i < p->types.len; i++) {
		const struct profile_value_type *event = &p->types.items[i];

		rec->events[i] = (struct recording_event){
			.name = arena_strdup(&rec->arena, profile_text(p, event->name)),
			.unit = arena_strdup(&rec->arena, profile_text(p, event->unit)),
			.samples = true,
			.leader = i,
			.format = "",
		};
	}
}

static struct err *read_file(int fd, const char *name, struct diag *diag, struct profile *p,
			     struct profile_facts *facts, const struct importer **ret)
{
	struct import_file file;
	struct err *err = import_file_open(fd, name, &file);

	if (err)
		return err;
	err = import_table_find(&file.input, ret);
	if (!err)
		err = import_table_read(*ret, &file.input, p, facts, diag);
	if (!err)
		err = import_file_check(&file);
	import_file_close(&file);
	return err;
}

struct err *profile_source_open(int fd, const char *name, struct diag *diag,
				struct event_source **ret, struct profile **ret_profile,
				struct profile_facts *ret_facts)
{
	struct profile *p = profile_new();
	struct profile_facts facts;
	const struct importer *importer = NULL;
	struct profile_source *source;
	struct err *err;

	profile_facts_init(&facts);
	err = read_file(fd, name, diag, p, &facts, &importer);
	if (err) {
		profile_free(p);
		profile_facts_deinit(&facts);
		return err;
	}
	source = memory_zeroed(1, sizeof(*source));
	source->source.ops = &ops;
	set_recording(&source->recording, p, importer->name, &facts);
	if (!*facts.tool)
		facts.tool = importer->name;
	*ret = &source->source;
	*ret_profile = p;
	*ret_facts = facts;
	return NULL;
}
