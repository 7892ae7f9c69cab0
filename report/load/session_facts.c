/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_facts.c - what a session that was read can say about the recording as a whole.
 */
#include "formats/base/text.h"
#include "formats/event_multiplexing.h"
#include "report/load/session.h"

#include <string.h>

struct session_losses session_losses(const struct session *s)
{
	const struct recording *rec = s->recording;
	struct session_losses losses = { 0 };

	for (size_t i = 0; i < rec->ncounts; i++) {
		losses.by_kernel += rec->counts[i].lost_kernel;
		losses.by_recorder += rec->counts[i].lost_recorder;
	}
	if (losses.by_kernel || losses.by_recorder)
		return losses;
	return (struct session_losses){ s->stream.lost_records + s->stream.lost_samples,
					s->stream.dropped_samples };
}

uint64_t session_duration_ns(const struct session *s)
{
	const struct recording *rec = s->recording;
	uint64_t end_ns = rec->end_ns ? rec->end_ns : s->stream.last_ns;
	uint64_t start_ns = rec->start_ns ? rec->start_ns : s->stream.first_ns;

	return end_ns > start_ns ? end_ns - start_ns : 0;
}

const char *session_command(const struct session *s, struct arena *arena)
{
	if (strcmp(s->args->input, "precord.trace") == 0)
		return "preport";
	return arena_printf(arena, "preport -i %s", text_shell_word(arena, s->args->input));
}

uint64_t session_unverified(const struct session *s)
{
	uint64_t count = 0;

	for (uint32_t id = 0; id < module_table_len(s->modules); id++)
		count += module_is_unverified(module_table_get(s->modules, id));
	return count;
}

const char *session_unheard_event(const struct session *s)
{
	for (uint32_t i = 0; i < s->recording->nevents; i++) {
		struct event_multiplexing turns = event_multiplexing_of(s->recording, i);

		if (event_multiplexing_never(&turns))
			return s->recording->events[i].name;
	}
	return NULL;
}

void session_facts(const struct session *s, struct profile_facts *ret)
{
	const struct recording *rec = s->recording;
	struct session_losses losses = session_losses(s);

	profile_facts_init(ret);
	ret->tool = rec->tool;
	ret->cmdline = rec->cmdline;
	ret->hostname = rec->hostname;
	ret->os_release = rec->os_release;
	ret->cpu_model = rec->cpu_model;
	ret->container = rec->container;
	ret->arch = rec->arch;
	ret->start_ns = rec->start_ns;
	ret->has_wall = rec->wall_ns != 0;
	ret->wall_ns = ret->has_wall ? rec->wall_ns + (rec->start_ns - rec->clock_ns) : 0;
	ret->duration_ns = session_duration_ns(s);
	ret->has_duration = ret->duration_ns != 0;
	ret->ncpus = rec->ncpus_online;
	ret->samples = s->stream.samples;
	ret->lost_by_kernel = losses.by_kernel;
	ret->lost_by_recorder = losses.by_recorder;
	if (rec->recorder_pid)
		ret->recorder_pid = rec->recorder_pid;
	ret->complete = rec->complete && !rec->damaged_at;
}
