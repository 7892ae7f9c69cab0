/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_facts.c - what a session that was read can say about the recording as a whole.
 */
#include "formats/event_multiplexing.h"
#include "report/load/session.h"
#include "symbolize/module/module.h"

struct session_losses session_losses(const struct session *s)
{
	const struct recording *rec = s->recording;
	struct session_losses losses = { .side_band = s->stream.lost_side_band };

	for (size_t i = 0; rec && i < rec->ncounts; i++) {
		losses.by_kernel += rec->counts[i].lost_kernel;
		losses.by_recorder += rec->counts[i].lost_recorder;
	}
	if (losses.by_kernel || losses.by_recorder)
		return losses;
	losses.by_kernel = s->stream.lost_records + s->stream.lost_samples;
	losses.by_recorder = s->stream.dropped_samples;
	return losses;
}

uint64_t session_duration_ns(const struct session *s)
{
	const struct recording *rec = s->recording;

	if (!rec)
		return s->facts.has_duration ? s->facts.duration_ns : 0;

	uint64_t end_ns = rec->end_ns ? rec->end_ns : s->stream.last_ns;
	uint64_t start_ns = rec->start_ns ? rec->start_ns : s->stream.first_ns;

	return end_ns > start_ns ? end_ns - start_ns : 0;
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
	for (uint32_t i = 0; s->recording && i < s->recording->nevents; i++) {
		struct event_multiplexing turns = event_multiplexing_of(s->recording, i);

		if (event_multiplexing_never(&turns))
			return s->recording->events[i].name;
	}
	return NULL;
}

/* The counts at the end of the file and the events on the way tell the same; one may be missing. */
static void set_losses(const struct session *s, struct profile_facts *ret)
{
	const struct recording *rec = s->recording;
	struct session_losses losses = session_losses(s);
	uint64_t throttled = 0, cut = 0, shortened = 0;

	for (size_t i = 0; i < rec->ncounts; i++) {
		throttled += rec->counts[i].throttled;
		cut += rec->counts[i].stacks_cut;
		shortened += rec->counts[i].stacks_shortened;
	}
	ret->lost_by_kernel = losses.by_kernel;
	ret->lost_by_recorder = losses.by_recorder;
	ret->lost_side_band = losses.side_band;
	ret->throttled = MAX(throttled, s->stream.throttles);
	ret->cut = MAX(cut, s->stream.cut);
	ret->shortened = MAX(shortened, s->stream.shortened);
	for (size_t i = 0; i < EVENT_MANAGED_STATES; i++)
		ret->managed += s->stream.managed[i];
	ret->with_branches = s->stream.with_branches;
	ret->managed_unread = s->stream.managed[EVENT_MANAGED_TORN] +
			      s->stream.managed[EVENT_MANAGED_LATE] +
			      s->stream.managed[EVENT_MANAGED_FAILED];
}

void session_set_origin(struct session *s)
{
	const struct recording *rec = s->recording;
	struct profile_facts *ret = &s->facts;
	struct profile_lives lives = ret->lives;

	profile_facts_init(ret);
	ret->lives = lives;
	ret->input = s->args->input;
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
	ret->has_utc_offset = rec->utc_offset != 0;
	ret->utc_offset_s = ret->has_utc_offset ? (int32_t)rec->utc_offset - RECORDING_UTC_OFFSET_ZERO : 0;
	ret->has_duration = rec->end_ns > rec->start_ns;
	ret->duration_ns = ret->has_duration ? rec->end_ns - rec->start_ns : 0;
	ret->ncpus = rec->ncpus_online;
	ret->system_wide = rec->system_wide;
	ret->leaves_only = rec->chain == RECORDING_CHAIN_NONE;
	ret->recorder_pid = rec->recorder_pid;
	ret->exit_status = rec->exit_status;
	ret->complete = rec->complete && !rec->damaged_at;
	ret->notes = rec->notes;
	ret->nnotes = rec->nnotes;
}

void session_set_facts(struct session *s)
{
	struct profile_facts *ret = &s->facts;

	if (!s->imported) { /* known only after reading: the end, damage */
		session_set_origin(s);
		set_losses(s, ret);
		ret->duration_ns = session_duration_ns(s);
		ret->has_duration = ret->duration_ns != 0;
	}
	ret->samples = s->stream.samples;
	ret->filter = filter_describe(s->filter, &s->arena);
	ret->from_ns = s->filter->from_ns;
	ret->to_ns = s->filter->to_ns;
	ret->first_type = session_default_event(s);
}
