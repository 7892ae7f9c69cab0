/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.c - the loader: one pass over the events: mappings feed the address spaces, samples are unwound and put into the
 * profile (walked_stacks.h). Names come last, each distinct address once.
 */
#include "report/load/session.h"

#include "formats/base/text.h"
#include "formats/perf/perf_data.h"
#include "formats/profile/same_names.h"
#include "report/load/input.h"
#include "report/load/managed_stacks.h"
#include "report/load/derive/derive.h"
#include "report/load/namer.h"
#include "report/load/process_log.h"
#include "report/load/profile_filter.h"
#include "report/load/session_walk.h"
#include "report/load/wait_labels.h"
#include "report/load/walked_stacks.h"
#include "report/print/progress.h"
#include "symbolize/name/cache_folder.h"
#include "symbolize/name/name_ahead.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* More threads would wait for the one that puts everything in order, and cost memory. */
#define THREADS_MAX 8

/* What walks the events and names what it finds; nothing of it is left to look at afterwards. */
struct loader {
	const struct module_search *search;
	struct unwinder *unwinder;
	struct reshape *reshape;	    /* of session_load(): NULL unless the filter changes stacks */
	struct derive *derive;		    /* the transformers at work; NULL outside session_load() */
	struct pool *pool;		    /* NULL: one thread is to do everything */
	struct namer namer;
	struct process_log processes;	    /* fills the profile's */
	struct progress progress;	    /* on standard error */
	struct managed_stacks *managed;
	struct wait_labels *wait_labels;
	VEC(uint32_t) places;		    /* of stacks of waits between passes() and take(), from @first_place on */
	size_t first_place;
	struct walked_stacks stacks;
	bool too_much;			    /* periods add up to more than fits */
};

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

static struct loader *loader_new(struct session *s, const struct module_search *search)
{
	struct loader *loader = memory_zeroed(1, sizeof(*loader));

	loader->search = search;
	loader->unwinder = unwinder_new(s->modules, s->spaces, &(struct unwind_options){ 0 });
	loader->processes.profile = s->profile;
	loader->namer.profile = s->profile;
	loader->namer.symbolizer = s->symbolizer;
	loader->namer.depth = UINT_MAX;
	loader->stacks = (struct walked_stacks){ .namer = &loader->namer, .modules = s->modules, .spaces = s->spaces };
	loader->wait_labels = wait_labels_new();
	loader->managed = managed_stacks_new(&loader->namer, module_table_unknown(s->modules), s->args->native);
	return loader;
}

static void loader_free(struct loader *loader)
{
	if (!loader)
		return;
	walked_stacks_deinit(&loader->stacks);
	reshape_free(loader->reshape);
	managed_stacks_free(loader->managed);
	wait_labels_free(loader->wait_labels);
	vec_deinit(&loader->places);
	process_log_deinit(&loader->processes);
	name_ahead_free(loader->namer.ahead);
	namer_deinit(&loader->namer);
	unwinder_free(loader->unwinder);
	pool_free(loader->pool);
	free(loader);
}

/* From whichever thread asks: a line is one write. */
static void show_asking(void *context, uint64_t got, uint64_t len)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct session *s = context;
	const char *of = len ? arena_printf(&arena, " of %s", text_size(&arena, len)) : "";

	if (progress_due(&s->asking))
		progress_show(&s->asking, arena_printf(&arena, "debuginfod: %s%s", text_size(&arena, got), of));
}

static struct module_search *search_of(struct session *s)
{
	size_t ndirs = s->args->debug_dirs.len;
	const char **dirs = ARENA_ARRAY(&s->arena, const char *, ndirs + 1);
	struct module_search *search = ARENA_NEW(&s->arena, struct module_search);

	if (ndirs)
		memcpy(dirs, s->args->debug_dirs.items, ndirs * sizeof(*dirs));
	*search = (struct module_search){
		.symfs = s->args->symfs,
		.debug_dirs = dirs,
		.vmlinux = s->args->vmlinux,
		.debuginfod = &s->debuginfod,
	};
	progress_begin(&s->asking, stderr, s->args->progress);
	s->debuginfod.time_ns = s->args->debuginfod_time_ns;
	s->debuginfod.progress = show_asking;
	s->debuginfod.context = s;
	return search;
}

/* Everything that events are turned into a profile with; of a profile that was read, it stays idle. */
static void make_parts(struct session *s, struct profile *profile)
{
	struct module_search *search = search_of(s);
	struct symbolizer_options naming = {
		.no_inline = !s->args->inlines,
		.demangle = s->args->demangle,
		.cache = s->args->cache ? cache_folder_path(&s->arena) : NULL,
	};

	s->modules = module_table_new(s->recording, search, &s->diag);
	module_table_unknown(s->modules); /* the same number however many threads there are */
	s->spaces = space_table_new(s->modules);
	s->symbolizer = symbolizer_new(s->modules, &naming);
	s->profile = profile;
	s->loader = loader_new(s, search);
}

void session_open_source(struct session *s, const struct session_args *args,
			 struct event_source *source)
{
	*s = (struct session){ .args = args, .source = source };
	s->recording = event_source_recording(source);
	make_parts(s, profile_new());
	add_events(s);
	session_set_origin(s);
}

/* The session of @input, whose profile and facts are its from now on. */
static void open_profile(struct session *s, const struct session_args *args, const struct input *input,
			 const struct diag *diag)
{
	struct module *unknown;

	*s = (struct session){ .args = args, .imported = true, .diag = *diag, .facts = input->facts };
	make_parts(s, input->profile);
	s->facts.input = args->input;
	unknown = module_table_unknown(s->modules);
	for (uint32_t i = 0; i < s->profile->modules.len; i++)
		namer_set_module(&s->loader->namer, i, unknown);
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
	symbolizer_free(s->symbolizer);
	space_table_free(s->spaces);
	module_table_free(s->modules);
	event_source_close(s->source);
	diag_deinit(&s->diag);
	arena_deinit(&s->arena);
	*s = (struct session){ 0 };
}

struct module *session_module(const struct session *s, uint32_t profile_module)
{
	struct module *mod = profile_module < s->loader->namer.modules.len
				     ? s->loader->namer.modules.items[profile_module]
				     : NULL;

	return mod ? mod : module_table_unknown(s->modules); /* the file of an interpreter's function */
}

uint32_t session_profile_module(struct session *s, struct module *mod)
{
	return walked_stacks_module(&s->loader->stacks, mod);
}

uint32_t session_locate(struct session *s, uint32_t pid, uint64_t ip)
{
	return walked_stacks_locate(&s->loader->stacks, pid, ip);
}

/* ---- the walk ---- */

static void show_progress(struct session *s)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const char *slash = strrchr(s->args->input, '/');
	uint64_t done, len;

	event_source_progress(s->source, &done, &len);
	progress_show(&s->loader->progress,
		      progress_text(&arena, slash ? slash + 1 : s->args->input, done, len,
				    s->stream.samples, progress_elapsed_ns(&s->loader->progress)));
}

static void count_event(void *context, const struct event *ev)
{
	struct session *s = context;

	process_log_event(&s->loader->processes, ev);
	if (progress_due(&s->loader->progress))
		show_progress(s);
	for (struct session_listener *l = s->listeners; l; l = l->next)
		if (l->heard)
			l->heard(l->context, ev);
	managed_stacks_event(s->loader->managed, ev);
	stream_counts_add(&s->stream, s->recording, ev);
}

static bool passes_stack(struct session *s, uint32_t stack)
{
	if (!filter_needs_stacks(s->filter))
		return true;
	if (stack)
		session_name(s, s->profile->stacks.items[stack].location);
	return filter_passes_stack(s->filter, s->profile, stack);
}

/* Is @ev the stack of a wait whose system call has an argument? */
static bool has_place(const struct session *s, const struct event *ev)
{
	return s->loader->derive && ev->kind == EVENT_SAMPLE && ev->sample.addr && ev->sample.event < s->recording->nevents &&
	       derive_is_off_cpu(s->recording, ev->sample.event);
}

/* Address spaces are as of now; when the stack is there, they may be ahead. */
static void push_place(struct session *s, const struct event *ev)
{
	struct loader *loader = s->loader;

	if (loader->first_place == loader->places.len)
		loader->first_place = loader->places.len = 0;
	vec_push(&loader->places, wait_labels_place(loader->wait_labels, space_table_get(s->spaces, ev->pid), ev->sample.addr - 1));
}

static bool passes(void *context, const struct event *ev, const struct space_thread **ret_thread)
{
	struct session *s = context;
	bool anyones = s->loader->derive && derive_wants_anyones(s->loader->derive, ev);

	space_table_apply(s->spaces, ev);
	if (!anyones && !filter_passes_event(s->filter, ev) &&
	    !(s->loader->derive && filter_passes_task(s->filter, ev) && derive_wants(s->loader->derive, ev)))
		return false;
	*ret_thread = space_table_thread(s->spaces, ev->pid, ev->tid);
	/* Transformers follow threads that have other names now and then. */
	if (!anyones && !(s->loader->derive && derive_wants(s->loader->derive, ev)) &&
	    !filter_passes_names(s->filter, (*ret_thread)->comm, (*ret_thread)->process))
		return false;
	if (has_place(s, ev))
		push_place(s, ev);
	return true;
}

static struct err *take(void *context, const struct session_event *event)
{
	struct session *s = context;
	struct session_event merged = *event;
	struct unwind_chain whole;
	struct err *err = NULL;

	if (has_place(s, event->ev))
		merged.place = s->loader->places.items[s->loader->first_place++];
	if (event->chain)
		merged.stack = managed_stacks_merge(s->loader->managed, event->ev, event->stack,
						    unwind_stop_is_complete(event->chain->stop));
	if (event->chain && managed_stacks_completed(s->loader->managed, event->ev)) {
		whole = *event->chain;
		whole.stop = UNWIND_ROOT;
		whole.stop_module = NULL;
		merged.chain = &whole;
	}
	/* Of the transformers' samples it is judged what comes out. */
	if (merged.chain && !s->loader->derive && !passes_stack(s, merged.stack))
		return NULL;
	s->stream.folded += event->chain && event->chain->folded;
	for (struct session_listener *l = s->listeners; l && !err; l = l->next)
		if (l->event)
			err = l->event(l->context, s, &merged);
	return err;
}

static struct err *walk_alone(struct session *s, bool flat)
{
	struct unwind_chain chain;
	struct event ev;

	while (event_source_next(s->source, &ev)) {
		struct session_event event = { .ev = &ev };
		struct err *err;

		count_event(s, &ev);
		if (!passes(s, &ev, &event.thread))
			continue;
		if (ev.kind == EVENT_SAMPLE && !flat) {
			unwinder_walk(s->loader->unwinder, &ev, &chain);
			event.chain = &chain;
			event.stack = walked_stacks_add_chain(&s->loader->stacks, &chain);
		}
		err = take(s, &event);
		if (err)
			return err;
	}
	return NULL;
}

void session_listen(struct session *s, struct session_listener *listener)
{
	struct session_listener **last = &s->listeners;

	while (*last)
		last = &(*last)->next;
	listener->next = NULL;
	*last = listener;
}

static bool any_listens_alone(const struct session *s)
{
	for (const struct session_listener *l = s->listeners; l; l = l->next)
		if (l->alone)
			return true;
	return false;
}

struct err *session_need(const struct session *s, const char *what, const char *who)
{
	if (!s->imported)
		return NULL;
	return err_remedy(err_new(ERR_UNSUPPORTED,
				  "'%s' is a profile (%s) and holds no %s, which %s needs", s->args->input,
				  s->facts.tool, what, who),
			  "name a recording of precord or perf");
}

struct err *session_need_blocks(const struct session *s)
{
	struct err *err = session_need(s, "blocks", "--sizes");

	if (err || !perf_data_is_source(s->source))
		return err;
	return err_new(ERR_UNSUPPORTED,
		       "'%s' is perf.data: its bytes cannot be split by part",
		       s->args->input);
}

static unsigned walk_threads(const struct session *s)
{
	if (!event_source_has_batches(s->source) || any_listens_alone(s))
		return 1;
	return (unsigned)MIN(MAX(s->args->threads, 1), THREADS_MAX);
}

static void add_stacks(void *context, struct session_stacks *stacks, const struct chain_node *nodes, size_t count)
{
	struct session *s = context;

	walked_stacks_add(&s->loader->stacks, stacks, nodes, count);
}

static struct err *walk_all(struct session *s, bool flat)
{
	unsigned nthreads = flat ? 1 : walk_threads(s);

	if (nthreads == 1)
		return walk_alone(s, flat);
	if (!s->loader->pool)
		s->loader->pool = pool_new(nthreads, memory_keep_thread);

	struct session_walk walk = { .source = s->source,
				     .modules = s->modules,
				     .search = s->loader->search,
				     .pool = s->loader->pool,
				     .context = s,
				     .passes = passes,
				     .take = take,
				     .count = count_event,
				     .add_stacks = add_stacks };

	return session_walk(&walk);
}

static struct err *bind_filter(struct session *s, struct filter *filter)
{
	struct err *err = filter_bind(filter, s->profile, &s->facts);

	return err ? err : filter_bind_fields(filter, s->recording);
}

struct err *session_each(struct session *s, struct filter *filter, struct session_listener *listener)
{
	struct err *err = session_need(s, "events", "this command");

	if (!err)
		err = bind_filter(s, filter);
	if (!err && reshape_is_given(&filter->reshape) && !s->loader->reshape)
		err = err_remedy(err_new(ERR_USAGE, "single events and stacks are shown as they are, without "
						    "--focus, --hide and the like"),
				 "they go with tables, trees, pages and exports");
	if (err)
		return err;
	s->filter = filter;
	session_listen(s, listener);
	progress_begin(&s->loader->progress, stderr, s->args->progress && !listener->prints);
	err = walk_all(s, listener->flat);
	progress_end(&s->loader->progress);
	s->listeners = NULL;
	if (err)
		return err;
	err = event_source_finish(s->source);
	if (err && s->stream.events) {
		diag_err(&s->diag, err_wrap(err, s->recording->bad_records ? "'%s' is read but for what is damaged" :
									     "'%s' is read as far as it goes", s->args->input));
		return NULL;
	}
	return err;
}

/* ---- the profile ---- */

/* Unless the filter asks for names on the way. */
static void begin_ahead(struct session *s, const struct filter *filter)
{
	unsigned nthreads = walk_threads(s);

	if (nthreads == 1 || s->names == SESSION_NAME_NONE || filter_needs_stacks(filter) ||
	    s->loader->reshape)
		return;
	s->loader->pool = pool_new(nthreads, memory_keep_thread);
	s->loader->namer.ahead = name_ahead_new(s->symbolizer, s->loader->pool);
}

static uint32_t add_thread(struct session *s, const struct space_thread *from)
{
	struct profile *p = s->profile;
	struct profile_thread thread = {
		.pid = from->pid,
		.tid = from->tid,
		.comm = profile_string(p, from->comm),
		.process = profile_string(p, from->process),
		.life = process_log_life(&s->loader->processes, from->pid),
	};

	return profile_add_thread(p, &thread);
}

/* Of those that neither ran nor switched, under the last name they had. */
static uint32_t find_thread(void *context, uint32_t pid, uint32_t tid)
{
	struct session *s = context;

	return add_thread(s, space_table_thread(s->spaces, pid, tid));
}

/* Sums of periods fit in 64 bits but in damaged files. */
static int64_t weight_of(struct session *s, const struct derived *from)
{
	int64_t weight = (int64_t)MIN(from->weight, (uint64_t)INT64_MAX);

	if (profile_fits(s->profile, weight))
		return weight;
	if (!s->loader->too_much)
		diag_warn(&s->diag, "'%s': periods add up to more than 2^63; the rest count as 0",
			  s->args->input);
	s->loader->too_much = true;
	return 0;
}

/* What stands for @stack in the profile, if the filter changes stacks; false: samples with it are left out. */
static bool session_reshape(struct session *s, uint32_t stack, uint32_t *ret)
{
	if (!s->loader->reshape) {
		*ret = stack;
		return true;
	}
	for (uint32_t at = stack; at && !reshape_knows(s->loader->reshape, stack);
	     at = s->profile->stacks.items[at].parent)
		session_name(s, s->profile->stacks.items[at].location);
	return reshape_stack(s->loader->reshape, s->profile, stack, ret);
}

/* What comes out of the transformers. */
static void add_derived(void *context, const struct derived *from)
{
	struct session *s = context;
	struct profile *p = s->profile;
	int64_t weight = weight_of(s, from);
	uint32_t stack;

	if (!session_reshape(s, from->stack, &stack))
		return;

	struct profile_sample sample = {
		.stack = stack,
		.type = from->event,
		.thread = from->thread,
		.cpu = from->cpu,
		.stop = from->stop,
		.user = from->user,
		.state = (uint8_t)from->state,
		.labels = derive_labels(p, from),
		.count = !from->more,
		.weight = weight,
		.weight_sq = (double)weight * (double)weight,
	};

	if (!passes_stack(s, from->stack) || !filter_passes_cpu(s->filter, from->cpu))
		return;
	for (struct session_listener *l = s->listeners; l && from->ev; l = l->next)
		if (l->sample)
			l->sample(l->context, s, from->ev, &sample);
	if (s->matched.count == 0 || from->time_ns < p->start_ns)
		p->start_ns = from->time_ns;
	p->end_ns = MAX(p->end_ns, from->time_ns);
	s->matched.count += !from->more;
	s->matched.weight += weight;
	s->matched.weight_sq += sample.weight_sq;

	uint32_t row = profile_add_sample(p, &sample);

	if (s->loader->namer.ahead)
		namer_want(&s->loader->namer, sample.stack, sample.state != PROFILE_STATE_NONE);
	if (s->keep_times)
		time_series_add(&p->times, &(struct profile_time){ .time_ns = from->time_ns,
								   .duration_ns = !from->ev && !from->more ? from->weight : 0,
								   .has_duration = !from->ev && !from->more,
								   .weight = weight,
								   .row = row });
	for (struct session_listener *l = s->listeners; l && from->ev; l = l->next)
		if (l->row)
			l->row(l->context, s, from->ev, row);
}

static struct err *transform(void *context, struct session *s, const struct session_event *event)
{
	const struct event *ev = event->ev;
	struct derive_event from = {
		.ev = ev,
		.thread = PROFILE_NONE,
		.stack = event->stack,
		.stop = event->chain ? (uint8_t)event->chain->stop : 0,
		.place = event->place,
		.passes = filter_passes_event(s->filter, ev) &&
			  filter_passes_names(s->filter, event->thread->comm, event->thread->process),
	};

	(void)context;
	if (ev->kind == EVENT_SAMPLE || (ev->kind == EVENT_SWITCH && derive_wants(s->loader->derive, ev)))
		from.thread = add_thread(s, event->thread);
	derive_event(s->loader->derive, &from);
	return NULL;
}

static bool wants_thread(void *context, uint32_t thread)
{
	const struct session *s = context;
	const struct profile_thread *of = &s->profile->threads.items[thread];

	return filter_passes_names(s->filter, profile_text(s->profile, of->comm), profile_text(s->profile, of->process));
}

/* Waits can be asked for by name like an event that was sampled. */
static void begin_transformers(struct session *s, const struct filter *filter)
{
	struct derive_out out = { add_derived, find_thread, wants_thread, s };
	struct derive_request request = {
		.profile = s->profile,
		.recording = s->recording,
		.from_ns = MAX(filter->from_ns, s->recording->start_ns),
		/* Switches go on for a moment after samples have ended. */
		.to_ns = MIN(filter->to_ns, s->recording->end_ns ? s->recording->end_ns : UINT64_MAX),
		.waits = filter->waits,
		.wall = filter->wall,
		.syscalls = filter->syscalls,
		.min_wait_ns = filter->min_wait_ns,
		.max_wait_ns = filter->max_wait_ns,
		.each_wait = filter->each_wait,
	};

	s->loader->derive = derive_new(&request, &out);
}

/* Why a recording has no samples. */
static struct err *no_samples(const struct session *s)
{
	const char *input = s->args->input;

	if (!s->recording->complete || s->recording->damaged_at)
		return err_remedy(err_new(ERR_CORRUPT,
					  "'%s' ends or is damaged before the first sample", input),
				  "copy it again, or wait until precord has ended");
	if (session_unheard_event(s))
		return err_remedy(err_new(ERR_UNSUPPORTED,
					  "'%s' holds no samples: '%s' never had a counter", input,
					  session_unheard_event(s)),
				  "others hold the counters ('preport info' says who may); a clock needs "
				  "none: precord -e cpu-clock");
	return err_remedy(err_new(ERR_UNSUPPORTED, "'%s' holds no samples", input),
			  "was the command idle, or over before the first sample? A higher "
			  "rate (precord -F) samples shorter ones; if others hold the "
			  "counters, a clock needs none (-e cpu-clock)");
}

/* Why there is nothing to report. */
static struct err *nothing_there(struct session *s)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const char *input = s->args->input;

	if (s->stream.samples == 0)
		return s->imported ? err_new(ERR_UNSUPPORTED, "'%s' holds no samples", input) : no_samples(s);
	if (filter_is_empty(s->filter))
		return err_new(ERR_CORRUPT, "'%s': its samples are of events that it does not name",
			       input);
	return err_remedy(err_new(ERR_UNSUPPORTED,
				  "none of the %" PRIu64 " samples in '%s' passes %s",
				  s->stream.samples, input, filter_describe(s->filter, &arena)),
			  "'preport --by process' and '--by module' list what there is");
}

static unsigned depth_of(enum session_names names)
{
	switch (names) {
	case SESSION_NAME_ALL:
		return UINT_MAX;
	case SESSION_NAME_CALLERS:
		return 2;
	default:
		return names == SESSION_NAME_LEAVES;
	}
}

static struct err *load_events(struct session *s, struct filter *filter)
{
	struct session_listener listener = { .event = transform };
	struct err *err = bind_filter(s, filter);

	if (err)
		return err;
	if (reshape_is_given(&filter->reshape))
		s->loader->reshape = reshape_new(&filter->reshape);
	if (filter_has_late(filter) && s->names == SESSION_NAME_NONE)
		s->names = SESSION_NAME_LEAVES;
	s->loader->namer.depth = depth_of(s->names);
	begin_ahead(s, filter);
	begin_transformers(s, filter);
	err = session_each(s, filter, &listener);
	if (!err)
		derive_finish(s->loader->derive);
	s->facts.lives = derive_lives(s->loader->derive);
	derive_free(s->loader->derive);
	s->loader->derive = NULL;
	/* Who asked for events by name asked for those that were added. */
	while (filter->event_passes.len && filter->event_passes.len < s->profile->types.len)
		vec_push(&filter->event_passes, true);
	return err;
}

static struct err *load_profile(struct session *s, struct filter *filter)
{
	s->filter = filter;
	return profile_filter_apply(s->profile, filter, &s->facts, &s->matched);
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
	struct err *err = s->imported ? load_profile(s, filter) : load_events(s, filter);

	if (err)
		return err;
	if (s->matched.count == 0)
		return nothing_there(s);
	session_set_facts(s);
	s->facts.managed_mismatched = managed_stacks_counts(s->loader->managed).mismatched;
	if (!s->imported)
		namer_name_samples(&s->loader->namer, &s->loader->progress);
	same_names_tell_apart(s->profile);
	if (!s->imported) {
		wait_labels_settle(s->loader->wait_labels, s->profile, s->modules, s->symbolizer);
		err = profile_filter_by_labels(s->profile, filter, &s->matched);
	}
	mark_what_is_not_mine(s);
	return !err && s->matched.count == 0 ? nothing_there(s) : err;
}

bool session_managed_label(struct session *s, const struct event *ev, const char *key, struct profile_label *ret)
{
	return s->loader && managed_stacks_label(s->loader->managed, ev, key, ret);
}

void session_name_all(struct session *s)
{
	s->names = SESSION_NAME_ALL;
	s->loader->namer.depth = UINT_MAX;
	namer_name_samples(&s->loader->namer, &s->loader->progress);
	same_names_tell_apart(s->profile);
}

void session_name(struct session *s, uint32_t location)
{
	namer_name(&s->loader->namer, location);
}

uint32_t session_default_event(const struct session *s)
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

/* What was not asked for to its end would look as if nobody had it. */
static void warn_of_servers(struct session *s)
{
	unsigned late = atomic_load(&s->debuginfod.late), refused = atomic_load(&s->debuginfod.refused);

	progress_end(&s->asking);
	if (late)
		diag_warn(&s->diag, "debuginfod took more than %" PRIu64 " s: %u files were given up or not asked for; "
			  "--debuginfod-time=SECONDS gives more", s->debuginfod.time_ns / 1000000000u, late);
	if (refused)
		diag_warn(&s->diag, "debuginfod: %u files are larger than 4 GB and were given up", refused);
}

void session_warn(struct session *s)
{
	if (s->symbolizer)
		symbolizer_keep(s->symbolizer, &s->diag);
	if (s->modules)
		module_table_warn_defects(s->modules);
	warn_of_servers(s);
	diag_print(&s->diag, "preport", stderr);
}
