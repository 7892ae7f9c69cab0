/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loader.c - mappings feed the address spaces, samples are unwound, go through the transformers (derive/derive.h) and
 * become rows. Names come last, each distinct address once.
 */
#include "report/load/loader.h"

#include "formats/base/path.h"
#include "formats/profile/same_names.h"
#include "report/load/binaries.h"
#include "report/load/derive/derive.h"
#include "report/load/derive/derive_kind.h"
#include "report/load/event_walk.h"
#include "report/load/managed_stacks.h"
#include "report/load/namer.h"
#include "report/load/process_log.h"
#include "report/load/session_args.h"
#include "report/load/wait_labels.h"
#include "report/view/runtime_frames.h"
#include "report/view/runtime_work.h"
#include "symbolize/name/name_ahead.h"

#include <stdlib.h>
#include <string.h>

/* ---- modules, addresses and chains of processes as modules, locations and stacks of a profile ---- */

/*
 * Modules, locations and stacks get their numbers in the order in which they come up. Chains go into a trie of modules
 * and addresses first (chain_trie.h), where most of each is found at once; only what is new there is looked up in the
 * profile.
 */

/* The first three are the caller's; the rest starts out zeroed. */
struct walked_stacks {
	struct namer *namer; /* of the profile; learns which module is which */
	struct module_table *modules;
	struct space_table *spaces;
	struct chain_trie trie;	      /* private, as all below: what was walked alone */
	struct event_walk_stacks stacks; /* node of @trie -> stack of the profile */
	VEC(uint32_t) numbers;	      /* module.id -> module of the profile + 1, 0 for none yet */
};

static void walked_stacks_deinit(struct walked_stacks *w)
{
	chain_trie_deinit(&w->trie);
	vec_deinit(&w->stacks.of);
	vec_deinit(&w->numbers);
}

/* ---- places: modules and addresses of processes as those of the profile ---- */

static enum profile_module_kind kind_of(const struct module *mod)
{
	switch (mod->kind) {
	case MODULE_KERNEL:
	case MODULE_KERNEL_MODULE:
		return PROFILE_KERNEL;
	case MODULE_JIT:
		return PROFILE_JIT;
	case MODULE_UNKNOWN:
	case MODULE_GUEST:
		return PROFILE_UNKNOWN;
	default:
		return PROFILE_USER;
	}
}

/* The module of the profile that stands for @mod. */
static uint32_t walked_stacks_module(struct walked_stacks *w, struct module *mod)
{
	char build_id[2 * sizeof(mod->build_id) + 1] = "";

	while (w->numbers.len <= mod->id)
		vec_push(&w->numbers, 0);
	if (w->numbers.items[mod->id])
		return w->numbers.items[mod->id] - 1;

	image_build_id_hex(mod->build_id, mod->build_id_len, build_id);

	struct profile_module entry = {
		.name = profile_string(w->namer->profile, mod->name),
		.path = profile_string(w->namer->profile, mod->path),
		.build_id = profile_string(w->namer->profile, build_id),
		.kind = kind_of(mod),
	};
	uint32_t number = profile_add_module(w->namer->profile, &entry);

	w->numbers.items[mod->id] = number + 1;
	namer_set_module(w->namer, number, mod);
	return number;
}

static enum profile_frame_kind frame_kind_of(enum profile_module_kind kind)
{
	switch (kind) {
	case PROFILE_KERNEL:
		return PROFILE_FRAME_KERNEL;
	case PROFILE_JIT:
		return PROFILE_FRAME_JIT;
	default:
		return PROFILE_FRAME_NATIVE;
	}
}

static uint32_t location_of(struct walked_stacks *w, uint32_t module, uint64_t vaddr)
{
	struct profile *p = w->namer->profile;
	uint32_t location = profile_add_location(p, module, vaddr, frame_kind_of(p->modules.items[module].kind));

	p->locations.items[location].is_place = p->modules.items[module].kind == PROFILE_JIT;
	return location;
}

/* The location of address @ip in process @pid, as it is mapped now; PROFILE_NONE if nothing is. */
static uint32_t walked_stacks_locate(struct walked_stacks *w, uint32_t pid, uint64_t ip)
{
	const struct space_map *map = ip >> 63 ? space_table_find_kernel(w->spaces, ip)
					       : space_find(space_table_get(w->spaces, pid), ip);

	if (!map || !map->module)
		return PROFILE_NONE;
	return location_of(w, walked_stacks_module(w, map->module), ip - map->bias);
}

/* ---- stacks ---- */

static enum profile_how how_of(enum unwind_how how)
{
	switch (how) {
	case UNWIND_KERNEL_CHAIN:
		return PROFILE_HOW_CHAIN;
	case UNWIND_FP_UNCHECKED:
		return PROFILE_HOW_GUESS;
	default:
		return PROFILE_HOW_SURE;
	}
}

/* @nodes are the next @count of the trie that @stacks belong to, numbered from 1 on. */
static void walked_stacks_add(struct walked_stacks *w, struct event_walk_stacks *stacks, const struct chain_node *nodes, size_t count)
{
	if (!stacks->of.len)
		vec_push(&stacks->of, 0);
	for (size_t i = 0; i < count; i++) {
		const struct chain_node *node = &nodes[i];
		uint32_t parent = stacks->of.items[node->parent];
		uint32_t module = walked_stacks_module(w, module_table_get(w->modules, node->module));
		uint32_t location = location_of(w, module, node->vaddr);
		uint32_t stack = profile_add_stack(w->namer->profile, parent, location,
						   how_of((enum unwind_how)node->how));

		vec_push(&stacks->of, stack);
	}
}

/* The stack of @chain. */
static uint32_t walked_stacks_add_chain(struct walked_stacks *w, const struct unwind_chain *chain)
{
	uint32_t leaf = chain_trie_add(&w->trie, chain);
	size_t known = MAX(w->stacks.of.len, 1);

	walked_stacks_add(w, &w->stacks, w->trie.nodes.items + known, w->trie.nodes.len - known);
	return w->stacks.of.items[leaf];
}

/* ---- how many events of which kind were read, whatever the filter says ---- */

/* Each event is counted once, when it is read. */

#define LOST_MAX (UINT64_MAX / 8) /* sums of a few of these do not wrap */

/* Sums of what a file says stay where they are rather than wrap. */
static void add_lost(uint64_t *sum, uint64_t count)
{
	if (__builtin_add_overflow(*sum, count, sum))
		*sum = UINT64_MAX;
	*sum = MIN(*sum, LOST_MAX);
}

/* Rings of the side-band hold no samples, and none of the events that have counts. */
static void count_loss(struct stream_counts *stream, const struct event *ev)
{
	const struct event_lost *lost = &ev->lost;

	if (lost->event == RECORDING_NO_EVENT && ev->kind == EVENT_LOST)
		add_lost(&stream->lost_side_band, lost->count);
	else if (ev->kind == EVENT_LOST)
		add_lost(&stream->lost_records, lost->count);
	else if (lost->by_recorder)
		add_lost(&stream->dropped_samples, lost->count);
	else
		add_lost(&stream->lost_samples, lost->count);
}

/* The address of a wait's stack is not data: it says what was waited for. */
static bool has_data_address(const struct event_sample *sample, const struct recording *rec)
{
	return sample->addr && !(sample->event < rec->nevents && derive_is_off_cpu(rec, sample->event));
}

/* @ev is of @rec. Sums of losses that a file states stay below UINT64_MAX / 8 rather than wrap. */
static void stream_counts_add(struct stream_counts *stream, const struct recording *rec, const struct event *ev)
{
	if (ev->kind == EVENT_MANAGED)
		stream->managed[ev->managed.state]++;
	if (stream->events++ == 0)
		stream->first_ns = ev->time_ns;
	stream->last_ns = MAX(stream->last_ns, ev->time_ns);
	switch (ev->kind) {
	case EVENT_SAMPLE:
		stream->samples++;
		stream->branches += ev->sample.nbranches;
		stream->with_branches += ev->sample.nbranches != 0;
		stream->with_address += has_data_address(&ev->sample, rec);
		stream->with_weight += ev->sample.weight != 0;
		stream->cut += ev->sample.stack.cut && !ev->sample.stack.shortened;
		stream->shortened += ev->sample.stack.shortened;
		break;
	case EVENT_LOST:
	case EVENT_LOST_SAMPLES:
		count_loss(stream, ev);
		break;
	case EVENT_THROTTLE:
		stream->throttles += ev->throttle.stopped && !ev->throttle.by_recorder;
		break;
	default:
		break;
	}
}

/* ---- the loader ---- */

/* More threads would wait for the one that puts everything in order, and cost memory. */
#define THREADS_MAX 8

/* A thread as it was when it was last added to the profile: under these names, which the table of spaces has once each. */
struct added_thread {
	const char *comm, *process; /* NULL: not yet added */
	uint32_t life, number;
};

struct loader {
	struct loader_input in;
	struct loader_listener *listeners;
	struct filter *filter; /* of the walk */
	struct progress progress; /* on standard error */

	/* From events to stacks. */
	struct unwinder *unwinder;
	struct pool *pool; /* NULL: one thread is to do everything */
	struct namer namer;
	struct process_log processes; /* fills the profile's */
	VEC(struct added_thread) threads; /* by the table of spaces' number */
	struct managed_stacks *managed;
	struct wait_labels *wait_labels;
	VEC(uint32_t) places; /* of stacks of waits between passes() and take(), from @first_place on */
	size_t first_place;
	struct walked_stacks stacks;

	/* From stacks to rows; only loader_load() has these. */
	struct derive *derive;	 /* the transformers at work */
	struct reshape *reshape; /* NULL unless the filter changes stacks */
	struct runtime_frames *runtimes; /* NULL: their own frames stay, or there are none */
	struct profile_lives lives;
	struct profile_sum matched;
	struct loader_keep keep;
	bool too_much; /* periods add up to more than fits */
};

struct loader *loader_new(const struct loader_input *input)
{
	const struct binaries *b = input->binaries;
	struct loader *l = memory_zeroed(1, sizeof(*l));

	l->in = *input;
	l->unwinder = unwinder_new(b->modules, b->spaces, &(struct unwind_options){ 0 });
	l->processes.profile = input->profile;
	l->namer.profile = input->profile;
	l->namer.symbolizer = b->symbolizer;
	l->namer.depth = NAMER_ALL;
	l->stacks = (struct walked_stacks){ .namer = &l->namer, .modules = b->modules, .spaces = b->spaces };
	l->wait_labels = wait_labels_new();
	l->managed = managed_stacks_new(&l->namer, module_table_unknown(b->modules), input->args->native);
	return l;
}

void loader_free(struct loader *l)
{
	if (!l)
		return;
	walked_stacks_deinit(&l->stacks);
	vec_deinit(&l->threads);
	reshape_free(l->reshape);
	runtime_frames_free(l->runtimes);
	managed_stacks_free(l->managed);
	wait_labels_free(l->wait_labels);
	vec_deinit(&l->places);
	process_log_deinit(&l->processes);
	name_ahead_free(l->namer.ahead);
	namer_deinit(&l->namer);
	unwinder_free(l->unwinder);
	pool_free(l->pool);
	free(l);
}

void loader_listen(struct loader *l, struct loader_listener *listener)
{
	struct loader_listener **last = l ? &l->listeners : NULL;

	if (!last)
		return;
	while (*last)
		last = &(*last)->next;
	listener->next = NULL;
	*last = listener;
}

/* ---- from stacks to rows ---- */

static bool passes_stack(struct loader *l, uint32_t stack)
{
	if (!filter_needs_stacks(l->filter))
		return true;
	if (stack)
		loader_name(l, l->in.profile->stacks.items[stack].location);
	return filter_passes_stack(l->filter, l->in.profile, stack);
}

/* Most events are of a thread whose name is still the one it had at its last event. */
static uint32_t add_thread(struct loader *l, const struct space_thread *from)
{
	struct profile *p = l->in.profile;
	uint32_t life = process_log_life(&l->processes, from->pid);
	struct added_thread *added;

	while (l->threads.len <= from->index)
		vec_push(&l->threads, (struct added_thread){ 0 });
	added = &l->threads.items[from->index];
	if (added->comm == from->comm && added->process == from->process && added->life == life)
		return added->number;
	*added = (struct added_thread){ .comm = from->comm, .process = from->process, .life = life };
	added->number = profile_add_thread(p, &(struct profile_thread){ .pid = from->pid,
									.tid = from->tid,
									.comm = profile_string(p, from->comm),
									.process = profile_string(p, from->process),
									.life = life });
	return added->number;
}

/* Of those that neither ran nor switched, under the last name they had. */
static uint32_t find_thread(void *context, uint32_t pid, uint32_t tid)
{
	struct loader *l = context;

	return add_thread(l, space_table_thread(l->in.binaries->spaces, pid, tid));
}

static bool wants_thread(void *context, uint32_t thread)
{
	const struct loader *l = context;
	const struct profile *p = l->in.profile;
	const struct profile_thread *of = &p->threads.items[thread];

	/* Events of one thread tell of others, too: who comes to a CPU when it leaves. */
	return filter_passes_task(l->filter, &(struct event){ .pid = of->pid, .tid = of->tid }) &&
	       filter_passes_names(l->filter, profile_text(p, of->comm), profile_text(p, of->process));
}

/* Sums of periods fit in 64 bits but in damaged files. */
static int64_t weight_of(struct loader *l, const struct derived *from)
{
	int64_t weight = (int64_t)MIN(from->weight, (uint64_t)INT64_MAX);

	if (profile_fits(l->in.profile, weight))
		return weight;
	if (!l->too_much)
		diag_warn(l->in.diag, "'%s': periods add up to more than 2^63; the rest count as 0", path_shown(l->in.args->input));
	l->too_much = true;
	return 0;
}

/* @stack without the frames that are a runtime's alone. */
static uint32_t fold(struct loader *l, uint32_t stack)
{
	const struct profile *p = l->in.profile;

	if (!l->runtimes)
		return stack;
	for (uint32_t at = runtime_frames_wants(l->runtimes, p, stack) ? stack : 0; at; at = p->stacks.items[at].parent)
		loader_name(l, p->stacks.items[at].location);
	return runtime_frames_fold(l->runtimes, l->in.profile, stack);
}

/* What stands for @stack in the profile, if the filter changes stacks; false: samples with it are left out. */
static bool reshape(struct loader *l, uint32_t stack, uint32_t *ret)
{
	const struct profile *p = l->in.profile;

	*ret = stack;
	if (!l->reshape)
		return true;
	for (uint32_t at = stack; at && !reshape_knows(l->reshape, stack); at = p->stacks.items[at].parent)
		loader_name(l, p->stacks.items[at].location);
	return reshape_stack(l->reshape, l->in.profile, stack, ret);
}

static void add_time(struct loader *l, const struct derived *from, int64_t weight, uint32_t row)
{
	bool has_duration = !from->ev && !from->more;

	time_series_add(&l->in.profile->times, &(struct profile_time){ .time_ns = from->time_ns,
								       .duration_ns = has_duration ? from->weight : 0,
								       .has_duration = has_duration,
								       .weight = weight,
								       .row = row });
}

/* Put together of records that tell from when to when. */
static bool is_exact(const struct derived *from)
{
	return !from->ev && !from->more && !from->sampled;
}

static double variance_of(const struct derived *from, int64_t weight)
{
	if (is_exact(from))
		return 0;
	return from->more ? from->variance : (double)weight * (double)weight;
}

/* What comes out of the transformers. */
static void add_derived(void *context, const struct derived *from)
{
	struct loader *l = context;
	struct profile *p = l->in.profile;
	int64_t weight = weight_of(l, from);
	uint32_t folded = fold(l, from->stack), stack;

	if (!reshape(l, folded, &stack))
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
		.weight_sq = variance_of(from, weight),
		.exact = is_exact(from) ? weight : 0,
	};

	if (!passes_stack(l, folded) || !filter_passes_cpu(l->filter, from->cpu))
		return;
	for (struct loader_listener *at = l->listeners; at && from->ev; at = at->next)
		if (at->sample)
			at->sample(at->context, from->ev, &sample);
	if (l->matched.count == 0 || from->time_ns < p->start_ns)
		p->start_ns = from->time_ns;
	p->end_ns = MAX(p->end_ns, from->time_ns);
	l->matched.count += !from->more;
	l->matched.weight += weight;
	l->matched.weight_sq += sample.weight_sq;

	uint32_t row = profile_add_sample(p, &sample);

	if (l->namer.ahead)
		namer_want(&l->namer, sample.stack, sample.state != PROFILE_STATE_NONE);
	if (l->keep.times)
		add_time(l, from, weight, row);
	for (struct loader_listener *at = l->listeners; at && from->ev; at = at->next)
		if (at->row)
			at->row(at->context, from->ev, row);
}

/* Waits whose stacks are left out are left out here, too. */
static void add_span(void *context, const struct derived *from, bool is_single)
{
	struct loader *l = context;
	struct profile_span span = {
		.thread = from->thread,
		.waker = from->waker,
		.count = is_single,
		.state = (uint8_t)from->state,
		.from_ns = from->time_ns,
		.len_ns = from->weight,
		.run_ns = from->state == PROFILE_STATE_ON_CPU ? from->weight : 0,
	};

	uint32_t stack = from->state == PROFILE_STATE_ON_CPU ? 0 : fold(l, from->stack);

	if (from->state == PROFILE_STATE_ON_CPU ||
	    (reshape(l, stack, &span.stack) && passes_stack(l, stack) && filter_passes_cpu(l->filter, from->cpu)))
		span_list_add(&l->in.profile->spans, &span);
}

static void transform(struct loader *l, const struct walked_event *event)
{
	const struct event *ev = event->ev;
	struct derive_event from = {
		.ev = ev,
		.thread = PROFILE_NONE,
		.stack = event->stack,
		.stop = event->chain ? (uint8_t)event->chain->stop : 0,
		.place = event->place,
		.passes = filter_passes_event(l->filter, ev) &&
			  filter_passes_names(l->filter, event->thread->comm, event->thread->process),
	};

	if (ev->kind == EVENT_SAMPLE || (ev->kind == EVENT_SWITCH && derive_wants(l->derive, ev)))
		from.thread = add_thread(l, event->thread);
	derive_event(l->derive, &from);
}

/* ---- the walk ---- */

static void show_progress(struct loader *l)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const char *input = path_shown(l->in.args->input);
	const char *slash = strrchr(input, '/');
	uint64_t done, len;

	event_source_progress(l->in.source, &done, &len);
	progress_show(&l->progress, progress_text(&arena, slash ? slash + 1 : input, done, len, l->in.stream->samples,
						  progress_elapsed_ns(&l->progress)));
}

static void count_event(void *context, const struct event *ev)
{
	struct loader *l = context;

	process_log_event(&l->processes, ev);
	if (progress_due(&l->progress))
		show_progress(l);
	for (struct loader_listener *at = l->listeners; at; at = at->next)
		if (at->heard)
			at->heard(at->context, ev);
	managed_stacks_event(l->managed, ev);
	stream_counts_add(l->in.stream, l->in.recording, ev);
}

/* Is @ev the stack of a wait whose system call has an argument? */
static bool has_place(const struct loader *l, const struct event *ev)
{
	return l->derive && ev->kind == EVENT_SAMPLE && ev->sample.addr && ev->sample.event < l->in.recording->nevents &&
	       derive_is_off_cpu(l->in.recording, ev->sample.event);
}

/* Address spaces are as of now; when the stack is there, they may be ahead. */
static void push_place(struct loader *l, const struct event *ev)
{
	struct space *space = space_table_get(l->in.binaries->spaces, ev->pid);

	if (l->first_place == l->places.len)
		l->first_place = l->places.len = 0;
	vec_push(&l->places, wait_labels_place(l->wait_labels, space, ev->sample.addr - 1));
}

static bool passes(void *context, const struct event *ev, const struct space_thread **ret_thread)
{
	struct loader *l = context;
	struct space_table *spaces = l->in.binaries->spaces;
	bool anyones = l->derive && derive_wants_anyones(l->derive, ev);

	space_table_apply(spaces, ev);
	if (!anyones && !filter_passes_event(l->filter, ev) &&
	    !(l->derive && filter_passes_task(l->filter, ev) && derive_wants(l->derive, ev)))
		return false;
	*ret_thread = space_table_thread(spaces, ev->pid, ev->tid);
	/* Transformers follow threads that have other names now and then. */
	if (!anyones && !(l->derive && derive_wants(l->derive, ev)) &&
	    !filter_passes_names(l->filter, (*ret_thread)->comm, (*ret_thread)->process))
		return false;
	if (has_place(l, ev))
		push_place(l, ev);
	return true;
}

static struct err *take(void *context, const struct walked_event *event)
{
	struct loader *l = context;
	struct walked_event merged = *event;
	struct unwind_chain whole;
	struct err *err = NULL;

	if (has_place(l, event->ev))
		merged.place = l->places.items[l->first_place++];
	if (event->chain)
		merged.stack = managed_stacks_merge(l->managed, event->ev, event->stack,
						    stack_stop_is_complete(event->chain->stop));
	if (event->chain && managed_stacks_completed(l->managed, event->ev)) {
		whole = *event->chain;
		whole.stop = STACK_STOP_ROOT;
		whole.stop_module = NULL;
		merged.chain = &whole;
	}
	/* Of the transformers' samples it is judged what comes out. */
	if (merged.chain && !l->derive && !passes_stack(l, merged.stack))
		return NULL;
	l->in.stream->folded += event->chain && event->chain->folded;
	if (l->derive)
		transform(l, &merged);
	for (struct loader_listener *at = l->listeners; at && !err; at = at->next)
		if (at->event)
			err = at->event(at->context, &merged);
	return err;
}

static uint32_t add_chain(void *context, const struct unwind_chain *chain)
{
	struct loader *l = context;

	return walked_stacks_add_chain(&l->stacks, chain);
}

static void add_stacks(void *context, struct event_walk_stacks *stacks, const struct chain_node *nodes, size_t count)
{
	struct loader *l = context;

	walked_stacks_add(&l->stacks, stacks, nodes, count);
}

static struct err *walk_all(struct loader *l, bool flat)
{
	struct event_walk walk = { .source = l->in.source,
				   .modules = l->in.binaries->modules,
				   .search = &l->in.binaries->search,
				   .unwinder = l->unwinder,
				   .pool = l->pool,
				   .flat = flat,
				   .context = l,
				   .count = count_event,
				   .passes = passes,
				   .take = take,
				   .add_chain = add_chain,
				   .add_stacks = add_stacks };

	return event_walk(&walk);
}

/* What was read before the input ended badly is kept. */
static struct err *finish(struct loader *l)
{
	struct err *err = event_source_finish(l->in.source);

	if (!err || !l->in.stream->events)
		return err;
	diag_err(l->in.diag, err_wrap(err, l->in.recording->bad_records ? "'%s' is damaged: the readable parts are shown" :
									  "'%s' is incomplete: the part before its end is shown", path_shown(l->in.args->input)));
	return NULL;
}

static struct err *walk(struct loader *l, struct filter *filter, bool flat, bool prints)
{
	struct err *err;

	l->filter = filter;
	progress_begin(&l->progress, stderr, l->in.args->progress && !prints);
	err = walk_all(l, flat);
	progress_end(&l->progress);
	l->listeners = NULL;
	return err ? err : finish(l);
}

struct err *loader_each(struct loader *l, struct filter *filter, struct loader_listener *listener)
{
	loader_listen(l, listener);
	return walk(l, filter, listener->flat, listener->prints);
}

static unsigned walk_threads(const struct loader *l)
{
	for (const struct loader_listener *at = l->listeners; at; at = at->next)
		if (at->alone)
			return 1;
	return event_source_has_batches(l->in.source) ? (unsigned)MIN(MAX(l->in.args->threads, 1), THREADS_MAX) : 1;
}

/* Was code sampled that a runtime made whose own frames are left out? Its file is in the trace, then. */
static bool makes_code(const struct recording *rec)
{
	bool found = false;

	for (size_t i = 0; i < rec->nimages && rec->njit_maps && !found; i++)
		found = runtime_work_is_module(rec->images[i].path);
	return found;
}

/* Names are looked up ahead unless the filter, or what is left out of stacks, asks for names on the way. */
static void begin_threads(struct loader *l, const struct filter *filter)
{
	unsigned nthreads = walk_threads(l);

	if (nthreads == 1)
		return;
	l->pool = pool_new(nthreads, memory_keep_thread);
	if (l->namer.depth && !filter_needs_stacks(filter) && !l->reshape && !l->runtimes)
		l->namer.ahead = name_ahead_new(l->in.binaries->symbolizer, l->pool);
}

/* What transformers add is asked for by name like an event that was sampled. */
static void begin_transformers(struct loader *l, const struct filter *filter)
{
	const struct recording *rec = l->in.recording;
	struct derive_out out = { add_derived, find_thread, wants_thread, l->keep.spans ? add_span : NULL, l };
	struct derive_request request = {
		.profile = l->in.profile,
		.recording = rec,
		.from_ns = MAX(filter->from_ns, rec->start_ns),
		/* Switches go on for a moment after samples have ended. */
		.to_ns = MIN(filter->to_ns, rec->end_ns ? rec->end_ns : UINT64_MAX),
		.windows = filter->windows,
		.nwindows = filter->nbound,
		.min_wait_ns = filter->min_wait_ns,
		.max_wait_ns = filter->max_wait_ns,
		.each_wait = filter->each_wait,
	};

	memcpy(request.added, filter->derived, sizeof(request.added));
	l->derive = derive_new(&request, &out);
}

struct err *loader_load(struct loader *l, struct filter *filter, unsigned depth, const struct loader_keep *keep,
			struct profile_sum *ret_matched)
{
	struct err *err;

	if (reshape_is_given(&filter->reshape))
		l->reshape = reshape_new(&filter->reshape);
	if (!l->in.args->native && makes_code(l->in.recording))
		l->runtimes = runtime_frames_new();
	l->keep = *keep;
	l->namer.depth = depth;
	begin_threads(l, filter);
	begin_transformers(l, filter);
	err = walk(l, filter, /* flat= */ false, /* prints= */ false);
	if (!err)
		derive_finish(l->derive);
	l->lives = derive_lives(l->derive);
	derive_free(l->derive);
	l->derive = NULL;
	*ret_matched = l->matched;
	return err;
}

/* ---- names, and what the walk found ---- */

void loader_name_rows(struct loader *l, unsigned depth)
{
	l->namer.depth = depth;
	namer_name_samples(&l->namer, &l->progress);
	same_names_tell_apart(l->in.profile);
}

void loader_label_waits(struct loader *l)
{
	wait_labels_settle(l->wait_labels, l->in.profile, l->in.binaries->modules, l->in.binaries->symbolizer);
}

void loader_name(struct loader *l, uint32_t location)
{
	namer_name(&l->namer, location);
}

struct profile_lives loader_lives(const struct loader *l)
{
	return l->lives;
}

uint64_t loader_managed_mismatched(const struct loader *l)
{
	return managed_stacks_counts(l->managed).mismatched;
}

bool loader_managed_label(const struct loader *l, const struct event *ev, const char *key, struct profile_label *ret)
{
	return managed_stacks_label(l->managed, ev, key, ret);
}

uint32_t loader_locate(struct loader *l, uint32_t pid, uint64_t ip)
{
	return walked_stacks_locate(&l->stacks, pid, ip);
}

uint32_t loader_profile_module(struct loader *l, struct module *mod)
{
	return walked_stacks_module(&l->stacks, mod);
}

struct module *loader_module(const struct loader *l, uint32_t profile_module)
{
	struct module *mod = profile_module < l->namer.modules.len ? l->namer.modules.items[profile_module] : NULL;

	return mod ? mod : module_table_unknown(l->in.binaries->modules); /* the file of an interpreter's function */
}
