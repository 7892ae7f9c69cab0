/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.c - the input is opened, the loader walks it, and what came of it is the profile and its facts.
 */
#include "report/load/session.h"

#include "formats/base/path.h"
#include "formats/event_multiplexing.h"
#include "formats/profile/same_names.h"
#include "report/load/imported_code.h"
#include "report/load/imported_names.h"
#include "report/load/input.h"
#include "report/load/profile_filter.h"
#include "report/print/number.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>

/* ---- what the recording says of itself ---- */

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

/* The first event that was on and never had a counter; NULL if there is none. */
static const char *unheard_event(const struct session *s)
{
	for (uint32_t i = 0; s->recording && i < s->recording->nevents; i++) {
		struct event_multiplexing multiplexing = event_multiplexing_of(s->recording, i);

		if (event_multiplexing_never(&multiplexing))
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

/* What is known before it is read. */
static void set_origin(struct session *s)
{
	const struct recording *rec = s->recording;
	struct profile_facts *ret = &s->facts;

	profile_facts_init(ret);
	ret->input = path_shown(s->args->input);
	ret->piped = strcmp(s->args->input, "-") == 0;
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

/* The event that tables are about unless the user says otherwise: the first with samples that passes the filter. */
static uint32_t default_event(const struct session *s)
{
	uint32_t first = PROFILE_NONE;

	for (uint32_t i = 0; i < s->profile->types.len; i++) {
		/* What transformers add has no place in the filter, which was bound before. */
		bool recorded = s->imported || i < s->recording->nevents;

		if (s->profile->types.items[i].counts_only ||
		    (recorded && s->filter && !filter_passes_kind(s->filter, i)))
			continue;
		if (profile_total(s->profile, i).count)
			return i;
		if (first == PROFILE_NONE)
			first = i;
	}
	return first == PROFILE_NONE ? 0 : first;
}

/* How many CPUs an event was sampled on for all tasks; 0 if that is not known. */
static uint32_t cpus_sampled(const struct recording *rec)
{
	uint32_t cpus = 0;

	for (size_t i = 0; i < rec->ncounts; i++)
		cpus += rec->counts[i].event == rec->counts[0].event && rec->counts[i].cpu != EVENT_NO_CPU;
	return rec->system_wide && rec->complete ? cpus : 0;
}

static void set_facts(struct session *s)
{
	struct profile_facts *ret = &s->facts;

	if (!s->imported) { /* known only after reading: the end, damage */
		set_origin(s);
		set_losses(s, ret);
		ret->duration_ns = session_duration_ns(s);
		ret->has_duration = ret->duration_ns != 0;
		ret->cpus_sampled = cpus_sampled(s->recording);
		ret->lives = loader_lives(s->loader);
		ret->managed_mismatched = loader_managed_mismatched(s->loader);
	}
	ret->samples = s->stream.samples;
	ret->filter = filter_describe(s->filter, &s->arena);
	ret->from_ns = s->filter->from_ns;
	ret->to_ns = s->filter->to_ns;
	ret->first_type = default_event(s);
}

/* ---- opening ---- */

static void add_events(struct session *s)
{
	for (size_t i = 0; s->recording && i < s->recording->nevents; i++) {
		const struct recording_event *from = &s->recording->events[i];
		struct profile_value_type event = {
			.name = profile_string(s->profile, from->name),
			.unit = profile_string(s->profile, from->unit),
			.rate = from->rate,
			.is_freq = from->is_freq,
			.counts_only = !from->samples,
		};

		profile_add_value_type(s->profile, &event);
	}
}

void session_open_source(struct session *s, const struct session_args *args,
			 struct event_source *source)
{
	*s = (struct session){ .args = args, .names = NAMER_ALL, .source = source, .profile = profile_new() };
	s->recording = event_source_recording(source);
	binaries_open(&s->binaries, args, s->recording, &s->diag);
	s->loader = loader_new(&(struct loader_input){ .args = args,
						       .source = source,
						       .recording = s->recording,
						       .binaries = &s->binaries,
						       .profile = s->profile,
						       .stream = &s->stream,
						       .diag = &s->diag });
	add_events(s);
	set_origin(s);
}

/* The session of @input, whose profile and facts are its from now on. */
static void open_profile(struct session *s, const struct session_args *args, const struct input *input,
			 const struct diag *diag)
{
	*s = (struct session){ .args = args, .imported = true, .diag = *diag, .profile = input->profile, .facts = input->facts };
	binaries_open(&s->binaries, args, NULL, &s->diag);
	s->imported_modules = imported_code_name(s->profile, &s->binaries, &s->arena);
	imported_names_demangle(s->profile, args->demangle);
	s->facts.input = path_shown(args->input);
	s->facts.piped = strcmp(args->input, "-") == 0;
	for (size_t i = 0; i < s->profile->samples.len; i++)
		s->stream.samples += s->profile->samples.items[i].count;
}

struct err *session_open(struct session *s, const struct session_args *args)
{
	struct input input;
	struct diag diag = { 0 };
	struct err *err = input_open(args->input, args->kallsyms, &diag, &input);

	if (err)
		*s = (struct session){ .args = args, .diag = diag };
	else if (input.profile)
		open_profile(s, args, &input, &diag);
	else
		session_open_source(s, args, input.source);
	return err;
}

void session_close(struct session *s)
{
	loader_free(s->loader);
	profile_facts_deinit(&s->facts);
	profile_free(s->profile);
	binaries_close(&s->binaries);
	event_source_close(s->source);
	diag_deinit(&s->diag);
	arena_deinit(&s->arena);
	*s = (struct session){ 0 };
}

/* ---- loading ---- */

struct err *session_need(const struct session *s, const char *what, const char *who)
{
	if (!s->imported)
		return NULL;
	return err_remedy(err_new(ERR_UNSUPPORTED,
				  "'%s' is a profile (%s) and holds no %s, which %s needs", s->facts.input,
				  s->facts.tool, what, who),
			  "name a recording of precord or perf");
}

static struct err *bind_filter(struct session *s, struct filter *filter)
{
	struct err *err = filter_bind(filter, s->profile, &s->facts);

	return err ? err : filter_bind_fields(filter, s->recording);
}

struct err *session_each(struct session *s, struct filter *filter, struct loader_listener *listener)
{
	struct err *err = session_need(s, "events", "this command");

	if (!err)
		err = bind_filter(s, filter);
	if (!err && reshape_is_given(&filter->reshape))
		err = err_remedy(err_new(ERR_USAGE, "single events and stacks are shown as they are, without "
						    "--focus, --hide and the like"),
				 "they go with tables, trees, pages and exports");
	if (err)
		return err;
	s->filter = filter;
	return loader_each(s->loader, filter, listener);
}

/* The most samples a second that one busy thread would have given on a clock; 0 if nothing sampled by a clock's rate. */
static uint64_t clock_rate(const struct recording *rec)
{
	uint64_t most = 0;

	for (size_t i = 0; i < rec->nevents; i++) {
		const struct recording_event *event = &rec->events[i];

		if (event->samples && event->is_freq && strcmp(event->unit, "ns") == 0)
			most = MAX(most, event->rate);
	}
	return most;
}

#define EXPECTED_MIN 10 /* samples of threads that had always run: of fewer, that none came says little */

/* Threads were there, and a clock would have met them on a CPU: they waited. NULL: that is not known. */
static struct err *only_waits(const struct session *s)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct profile_lives lives = loader_lives(s->loader);
	struct session_losses losses = session_losses(s);
	double expected = (double)lives.life_ns / 1e9 * (double)clock_rate(s->recording);

	if (s->recording->system_wide || losses.by_kernel || losses.by_recorder || !lives.threads || expected < EXPECTED_MIN)
		return NULL;
	/* None of n independent ones: at 95 % the share is below 3/n (J. A. Hanley, A. Lippman-Hand, JAMA 249, 1983). */
	return err_remedy(err_new(ERR_UNSUPPORTED, "'%s' holds no samples: %s, %s in all: less than %s on a CPU, the rest waiting",
				  s->facts.input, number_of(&arena, lives.threads, "thread"),
				  number_time(&arena, lives.life_ns), number_share(&arena, 3 / expected)),
			  "record with --off-cpu to see what for; a higher rate (precord -F) samples short work");
}

/* Why a recording has no samples. */
static struct err *no_samples(const struct session *s)
{
	struct err *waits;
	const char *input = s->facts.input;

	if (!s->recording->complete || s->recording->damaged_at)
		return err_remedy(err_new(ERR_CORRUPT,
					  "'%s' ends or is damaged before the first sample", input),
				  "copy it again, or wait until precord has ended");
	if (unheard_event(s))
		return err_remedy(err_new(ERR_UNSUPPORTED,
					  "'%s' holds no samples: '%s' never had a counter", input,
					  unheard_event(s)),
				  "others hold the counters ('preport info' says who may); a clock needs "
				  "none: precord -e cpu-clock");
	waits = only_waits(s);
	if (waits)
		return waits;
	return err_remedy(err_new(ERR_UNSUPPORTED, "'%s' holds no samples", input),
			  "was the command idle, or over before the first sample? A higher "
			  "rate (precord -F) samples shorter ones; if others hold the "
			  "counters, a clock needs none (-e cpu-clock)");
}

/* Why there is nothing to report. */
static struct err *nothing_there(struct session *s)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const char *input = s->facts.input;

	if (s->stream.samples == 0)
		return s->imported ? err_new(ERR_UNSUPPORTED, "'%s' holds no samples", input) : no_samples(s);
	if (filter_is_empty(s->filter))
		return err_new(ERR_CORRUPT, "'%s': its samples belong to events that it does not list",
			       input);
	return err_remedy(err_new(ERR_UNSUPPORTED,
				  "none of the %" PRIu64 " samples in '%s' passes %s",
				  s->stream.samples, input, filter_describe(s->filter, &arena)),
			  "'preport --by process' and '--by module' list what there is");
}

static struct err *load_events(struct session *s, struct filter *filter)
{
	struct err *err = bind_filter(s, filter);

	if (err)
		return err;
	if (filter_has_late(filter))
		s->names = MAX(s->names, NAMER_LEAVES);
	err = loader_load(s->loader, filter, s->names, &(struct loader_keep){ s->keep_times, s->keep_spans }, &s->matched);
	/* Who asked for events by name asked for those that were added. */
	while (filter->event_passes.len && filter->event_passes.len < s->profile->types.len)
		vec_push(&filter->event_passes, true);
	return err;
}

/* Give what was loaded its names and labels. */
static struct err *name_rows(struct session *s, struct filter *filter)
{
	if (s->imported) {
		same_names_tell_apart(s->profile);
		return NULL;
	}
	loader_name_rows(s->loader, s->names);
	loader_label_waits(s->loader);
	return profile_filter_by_labels(s->profile, filter, &s->matched);
}

/* --not-mine: files that are to be taken for a library's. */
static void mark_what_is_not_mine(struct session *s)
{
	struct profile *p = s->profile;

	for (size_t i = 0; s->args->not_mine.len && i < p->locations.len; i++) {
		const struct profile_module *mod = profile_module(p, p->locations.items[i].module);

		for (size_t k = 0; k < s->args->not_mine.len; k++) {
			const char *glob = s->args->not_mine.items[k];

			if (fnmatch(glob, profile_text(p, mod->name), 0) == 0 || fnmatch(glob, profile_text(p, mod->path), 0) == 0)
				p->locations.items[i].kind = PROFILE_FRAME_RUNTIME;
		}
	}
}

struct err *session_load(struct session *s, struct filter *filter)
{
	struct err *err;

	s->filter = filter;
	err = s->imported ? profile_filter_apply(s->profile, filter, &s->facts, &s->matched) : load_events(s, filter);
	if (err)
		return err;
	if (s->matched.count == 0)
		return nothing_there(s);
	set_facts(s);
	err = name_rows(s, filter);
	mark_what_is_not_mine(s);
	return !err && s->matched.count == 0 ? nothing_there(s) : err;
}

void session_name_all(struct session *s)
{
	s->names = NAMER_ALL;
	loader_name_rows(s->loader, s->names);
}

struct module *session_module(const struct session *s, uint32_t profile_module)
{
	struct module *mod = s->imported && profile_module != PROFILE_NONE ? s->imported_modules[profile_module] : NULL;

	if (s->loader)
		return loader_module(s->loader, profile_module);
	return mod ? mod : module_table_unknown(s->binaries.modules);
}

void session_warn(struct session *s)
{
	binaries_settle(&s->binaries, &s->diag);
	diag_print(&s->diag, "preport", stderr);
}

/* ---- the life of a command's session ---- */

/*
 * The process ends with its command, and the kernel takes back in one piece what would be released one by one: a twentieth
 * of a report's time, in which no other thread has anything to do. Sanitizers are to see that nothing else is lost, so for
 * them it is released.
 */
#if defined(__has_feature)
#define IS_BUILT_WITH(sanitizer) __has_feature(sanitizer)
#else
#define IS_BUILT_WITH(sanitizer) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
	IS_BUILT_WITH(address_sanitizer) || IS_BUILT_WITH(thread_sanitizer)
static const bool leaks_are_looked_for = true;
#else
static const bool leaks_are_looked_for = false;
#endif

static struct err *check_needs(const struct session *s, const struct command *command)
{
	char who[64];

	if (!command->needs)
		return NULL;
	snprintf(who, sizeof(who), "'preport %s'", command->name);
	return session_need(s, command->needs, who);
}

struct err *session_run(const struct command *command, const struct session_args *session,
			session_fn *work, void *args)
{
	struct session s;
	struct err *err = session_open(&s, session);

	if (!err)
		err = check_needs(&s, command);
	if (!err)
		err = work(&s, args);
	session_warn(&s); /* also when the work failed: they may be why */
	if (leaks_are_looked_for)
		session_close(&s);
	return err;
}
