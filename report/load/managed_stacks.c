/* SPDX-License-Identifier: Apache-2.0 */
/*
 * managed_stacks.c - an interpreter's stack comes one nanosecond before its sample, so that at most one waits for each
 * thread.
 */
#include "report/load/managed_stacks.h"

#include "formats/base/path.h"
#include "report/load/namer.h"

#include "formats/base/map.h"
#include "formats/base/vec.h"

#include <stdlib.h>
#include <string.h>

#define CACHE_LEN 1024 /* locations of frames, found again without hashing their names */

/* A frame that is known: strings of a block are at one place for all its events. */
struct cached {
	struct event_managed_frame frame;
	uint32_t location;
	bool used;
};

struct managed_frame {
	uint32_t location;
	bool entry;
	bool in_c; /* a function of the interpreter's: no call of the loop */
};

/* Of one thread. */
struct waiting {
	uint64_t time_ns; /* of the sample that it belongs to; 0: none waits */
	uint32_t tid;
	struct event_managed managed; /* without its frames */
	uint32_t module;	      /* of the interpreter, in the profile */
	VEC(struct managed_frame) frames; /* innermost first */
	uint32_t without_line;	/* the innermost frame's location, its line not known */
	bool collects; /* its interpreter collects garbage */
	size_t nlabels;
	struct profile_label labels[EVENT_MANAGED_LABELS];
};

/* A frame of the native stack. */
struct native {
	uint32_t stack;
	bool loop, inner; /* a call of the interpreter's loop; code of the interpreter */
	bool compiled;	  /* of its JIT */
};

struct managed_stacks {
	struct namer *namer;
	struct module *unknown; /* stands for files of scripts */
	bool native;
	struct map by_thread; /* to struct waiting * */
	VEC(struct native) natives; /* innermost first */
	size_t nloops;
	const struct waiting *last; /* whose sample was merged last, at @last_ns */
	uint64_t last_ns;
	bool completed; /* its native stack had broken off */
	struct managed_counts counts;
	struct cached cache[CACHE_LEN];
};

struct managed_stacks *managed_stacks_new(struct namer *namer, struct module *unknown, bool native)
{
	struct managed_stacks *m = memory_zeroed(1, sizeof(*m));

	m->namer = namer;
	m->unknown = unknown;
	m->native = native;
	return m;
}

void managed_stacks_free(struct managed_stacks *m)
{
	const struct map_slot *slot;

	if (!m)
		return;
	for (size_t pos = 0; (slot = map_next(&m->by_thread, &pos));) {
		struct waiting *w = (struct waiting *)(uintptr_t)slot->value;

		vec_deinit(&w->frames);
		free(w);
	}
	map_deinit(&m->by_thread);
	vec_deinit(&m->natives);
	free(m);
}

struct managed_counts managed_stacks_counts(const struct managed_stacks *m)
{
	return m->counts;
}

bool managed_stacks_completed(const struct managed_stacks *m, const struct event *ev)
{
	return m->last && m->last_ns == ev->time_ns && m->last->tid == ev->tid && m->completed;
}

/* ---- what comes in --------------------------------------------------------------------------------- */

/* The file of a frame as a module, so that tables by module show it. */
static uint32_t file_module(struct managed_stacks *m, const char *file)
{
	struct profile_module module = {
		.name = profile_string(m->namer->profile, *file ? path_last_part(file) : "[unknown]"),
		.path = profile_string(m->namer->profile, file),
		.kind = PROFILE_USER,
	};
	uint32_t number = profile_add_module(m->namer->profile, &module);

	namer_set_module(m->namer, number, m->unknown);
	return number;
}

static uint32_t add_location(struct managed_stacks *m, const struct event_managed_frame *frame)
{
	struct profile *p = m->namer->profile;
	const char *name = *frame->name ? frame->name : "[unnamed]";
	struct profile_function function = {
		.name = profile_string(p, name),
		.module = file_module(m, frame->file),
		.file = profile_string(p, frame->file),
		.line = frame->first_line,
		.unnamed = !*frame->name,
	};
	struct profile_line line = {
		.function = profile_add_function(p, &function),
		.file = function.file,
		.line = frame->line,
	};

	return profile_add_named_location(p, PROFILE_FRAME_INTERPRETED, function.module, &line, 1);
}

static bool is_same(const struct profile *p, const struct cached *cached,
		    const struct event_managed_frame *frame)
{
	const struct event_managed_frame *known = &cached->frame;

	if (!cached->used || known->name != frame->name || known->file != frame->file ||
	    known->line != frame->line || known->first_line != frame->first_line)
		return false;
	/* The block may be gone, and another one's strings be where its were. */
	uint32_t line = p->locations.items[cached->location].first_line;
	const struct profile_function *function =
		&p->functions.items[p->lines.items[line].function];

	return strcmp(profile_text(p, function->file), frame->file) == 0 &&
	       (!*frame->name || strcmp(profile_text(p, function->name), frame->name) == 0);
}

static uint32_t location_of(struct managed_stacks *m, const struct event_managed_frame *frame)
{
	uint64_t hash = map_hash((uintptr_t)frame->name ^ map_hash((uintptr_t)frame->file) ^
				 (uint64_t)frame->line << 32);
	struct cached *cached = &m->cache[hash % CACHE_LEN];

	if (!is_same(m->namer->profile, cached, frame))
		*cached = (struct cached){ *frame, add_location(m, frame), true };
	return cached->location;
}

static struct waiting *waiting_of(struct managed_stacks *m, const struct event *ev, bool make)
{
	uint64_t key = (uint64_t)ev->pid << 32 | ev->tid;
	uint64_t *slot = make ? map_put(&m->by_thread, key, NULL) : map_get(&m->by_thread, key);

	if (slot && !*slot)
		*slot = (uintptr_t)memory_zeroed(1, sizeof(struct waiting));
	return slot ? (struct waiting *)(uintptr_t)*slot : NULL;
}

static void take_labels(struct managed_stacks *m, struct waiting *w, const struct event_managed *managed)
{
	struct profile *p = m->namer->profile;

	w->collects = false;
	w->nlabels = MIN(managed->nlabels, (size_t)EVENT_MANAGED_LABELS);
	for (size_t i = 0; i < w->nlabels; i++) {
		const struct event_managed_label *label = &managed->labels[i];

		w->labels[i] = (struct profile_label){
			.key = profile_string(p, label->key),
			.text = label->text ? profile_string(p, label->text) : 0,
			.is_number = !label->text,
			.number = (int64_t)label->number,
		};
		w->collects |= label->text && strcmp(label->key, "gc") == 0 && strcmp(label->text, "collecting") == 0;
	}
}

bool managed_stacks_label(const struct managed_stacks *m, const struct event *ev, const char *key,
			  struct profile_label *ret)
{
	const struct waiting *w = m->last;

	if (!w || m->last_ns != ev->time_ns || w->tid != ev->tid)
		return false;
	for (size_t i = 0; i < w->nlabels; i++) {
		if (strcmp(profile_text(m->namer->profile, w->labels[i].key), key) != 0)
			continue;
		*ret = w->labels[i];
		return true;
	}
	return false;
}

/* Does the interpreter compile scripts (opcache, YJIT)? */
static bool has_jit(enum event_managed_runtime runtime)
{
	return runtime == EVENT_MANAGED_PHP || runtime == EVENT_MANAGED_RUBY;
}

static uint32_t location_without_line(struct managed_stacks *m, const struct event_managed *managed)
{
	struct event_managed_frame frame = managed->frames[0];

	frame.line = 0;
	return location_of(m, &frame);
}

void managed_stacks_event(struct managed_stacks *m, const struct event *ev)
{
	const struct event_managed *managed = &ev->managed;

	if (ev->kind != EVENT_MANAGED)
		return;
	struct waiting *w = waiting_of(m, ev, true);

	w->time_ns = ev->time_ns + 1;
	w->managed = *managed;
	w->managed.frames = NULL;
	w->module = profile_string(m->namer->profile, managed->module);
	take_labels(m, w, managed);
	w->frames.len = 0;
	for (size_t i = 0; i < managed->nframes; i++)
		vec_push(&w->frames, ((struct managed_frame){ location_of(m, &managed->frames[i]),
							      managed->frames[i].entry,
							      strcmp(managed->frames[i].file, "[internal]") == 0 }));
	if (managed->nframes && has_jit(managed->runtime))
		w->without_line = location_without_line(m, managed);
}

/* ---- merging --------------------------------------------------------------------------------------- */

static bool in_loop(const struct event_managed *managed, uint64_t vaddr)
{
	for (size_t i = 0; i < managed->nloops; i++) {
		if (vaddr - managed->loops[i].vaddr < managed->loops[i].len)
			return true;
	}
	return false;
}

/*
 * Code that the interpreter's JIT made of the script (opcache, YJIT), whose frames are those of the script. In a Python process
 * it may be anybody's, numba's for one.
 */
static bool is_compiled(const struct event_managed *managed, const struct profile_location *at)
{
	return at->kind == PROFILE_FRAME_JIT && has_jit(managed->runtime);
}

/* Of the interpreter's own code: its binary, and the library in which PHP's JIT has what its code calls. */
static bool is_own(const struct managed_stacks *m, const struct waiting *w, const struct profile_location *at)
{
	const struct profile *p = m->namer->profile;
	const struct profile_module *module = &p->modules.items[at->module];

	return module->path == w->module || (w->managed.runtime == EVENT_MANAGED_PHP &&
					     strcmp(profile_text(p, module->name), "opcache.so") == 0);
}

static void gather_natives(struct managed_stacks *m, const struct waiting *w, uint32_t stack)
{
	const struct profile *p = m->namer->profile;

	m->natives.len = m->nloops = 0;
	for (; stack; stack = p->stacks.items[stack].parent) {
		const struct profile_location *at =
			&p->locations.items[p->stacks.items[stack].location];
		bool own = is_own(m, w, at);
		bool loop = p->modules.items[at->module].path == w->module && in_loop(&w->managed, at->vaddr);
		bool compiled = is_compiled(&w->managed, at);

		m->nloops += loop;
		vec_push(&m->natives, ((struct native){ stack, loop, own || compiled, compiled }));
	}
}

static size_t count_entries(const struct waiting *w)
{
	size_t count = 0;

	for (size_t i = 0; i < w->frames.len; i++)
		count += w->frames.items[i].entry ||
			 (i + 1 == w->frames.len && !w->frames.items[i].in_c);
	return count;
}

/* Does every program have it below main()? */
static bool is_startup(const struct managed_stacks *m, const struct native *native)
{
	static const char *const names[] = { "libc.", "libc-", "libpthread", "ld-", "python", "php", "ruby" };
	const struct profile *p = m->namer->profile;
	uint32_t location = p->stacks.items[native->stack].location;
	const char *name = profile_text(
		p, p->modules.items[p->locations.items[location].module].name);

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	}
	return native->inner;
}

/* How many frames from the root on are left out: all below the outermost call of the loop, if the interpreter is the program. */
static size_t startup_frames(const struct managed_stacks *m)
{
	size_t count = 0;

	for (size_t i = m->natives.len; i-- > 0 && !m->natives.items[i].loop; count++) {
		if (!is_startup(m, &m->natives.items[i]))
			return 0;
	}
	return m->native || !m->nloops ? 0 : count;
}

static uint32_t put_native(struct managed_stacks *m, uint32_t parent, const struct native *native)
{
	struct profile *p = m->namer->profile;
	const struct profile_stack *from = &p->stacks.items[native->stack];

	return profile_add_stack(p, parent, from->location, (enum profile_how)from->how);
}

/* The frames from *@at, a number counted from the root's side, up to the next entry, which begins another call. */
static uint32_t put_call(struct managed_stacks *m, const struct waiting *w, uint32_t parent, size_t *at)
{
	do {
		const struct managed_frame *frame = &w->frames.items[--*at];

		parent = profile_add_stack(m->namer->profile, parent, frame->location, PROFILE_HOW_SURE);
	} while (*at && !w->frames.items[*at - 1].entry);
	return parent;
}

/* Above the function whose objects are collected, in place of the interpreter's own functions that do it. */
static uint32_t put_collector(struct managed_stacks *m, const struct waiting *w, uint32_t parent)
{
	struct profile *p = m->namer->profile;

	if (m->native || !w->collects)
		return parent;
	struct profile_function function = { .name = profile_string(p, "(garbage collection)"), .module = PROFILE_NONE };
	struct profile_line line = { .function = profile_add_function(p, &function) };

	return profile_add_stack(p, parent, profile_add_named_location(p, PROFILE_FRAME_RUNTIME, PROFILE_NONE, &line, 1),
				 PROFILE_HOW_SURE);
}

/* As many calls as there are: the outermost native one is the outermost entry. @spare: entries whose calls are not there. */
static uint32_t interleave(struct managed_stacks *m, const struct waiting *w, size_t spare)
{
	size_t left = w->frames.len;
	bool collector = false; /* it is there */
	uint32_t at = 0;

	/* Such as Ruby's Enumerator#each, which a fiber begins with. */
	if (left && w->frames.items[left - 1].in_c && !w->frames.items[left - 1].entry)
		at = put_call(m, w, at, &left);
	for (size_t i = m->natives.len - startup_frames(m); i-- > 0;) {
		const struct native *native = &m->natives.items[i];

		if (native->loop && left) {
			for (; spare; spare--)
				at = put_call(m, w, at, &left);
			if (left)
				at = put_call(m, w, at, &left);
		} else if (m->native || !native->inner) {
			at = left || collector ? at : put_collector(m, w, at);
			collector |= !left;
			at = put_native(m, at, native);
		}
	}
	while (left)
		at = put_call(m, w, at, &left);
	return collector ? at : put_collector(m, w, at);
}

/*
 * The interpreter's frames, and above them what ran on the innermost call of its loop; all that there is of a stack that
 * broke off before it came to one.
 */
static uint32_t keep_both(struct managed_stacks *m, const struct waiting *w, bool complete)
{
	size_t left = w->frames.len, inner = 0;
	uint32_t at = 0;

	while (left)
		at = put_call(m, w, at, &left);
	at = put_collector(m, w, at);
	while (inner < m->natives.len && !m->natives.items[inner].loop && !m->natives.items[inner].compiled)
		inner++;
	if (inner == m->natives.len && complete)
		inner = 0;
	while (inner-- > 0) {
		if (m->native || !m->natives.items[inner].inner)
			at = put_native(m, at, &m->natives.items[inner]);
	}
	return at;
}

/*
 * The loop has been entered, and has not pushed its frame yet; or it has popped it already: one more native call than
 * entries. It is the innermost one.
 */
static void forgive_innermost(struct managed_stacks *m)
{
	size_t i = 0;

	while (!m->natives.items[i].loop)
		i++;
	m->natives.items[i].loop = false;
	m->nloops--;
}

/* Code of a JIT is entered without the loop, and has no unwind tables: that calls do not fit says nothing there. */
static bool has_compiled(const struct managed_stacks *m)
{
	for (size_t i = 0; i < m->natives.len; i++)
		if (m->natives.items[i].compiled)
			return true;
	return false;
}

/*
 * Compiled code writes down its instruction only before it calls something that may fail. While it runs itself, or a helper that cannot fail,
 * memory and registers have an instruction of before, and so another line.
 */
static void forget_line(struct managed_stacks *m, struct waiting *w)
{
	size_t i = 0;

	while (i < m->natives.len && !m->natives.items[i].loop && !m->natives.items[i].compiled)
		i++;
	if (i < m->natives.len && m->natives.items[i].compiled && !w->frames.items[0].in_c)
		w->frames.items[0].location = w->without_line;
}

static uint32_t merge(struct managed_stacks *m, const struct waiting *w, bool complete)
{
	size_t entries = count_entries(w);

	if (m->nloops == entries + 1)
		forgive_innermost(m);
	if (m->nloops == entries || (!complete && m->nloops && m->nloops < entries)) {
		m->counts.merged++;
		return interleave(m, w, entries - m->nloops);
	}
	if ((m->nloops || complete) && !has_compiled(m))
		m->counts.mismatched++;
	else
		m->counts.merged++;
	return keep_both(m, w, complete);
}

uint32_t managed_stacks_merge(struct managed_stacks *m, const struct event *ev, uint32_t stack,
			      bool complete)
{
	struct waiting *w = m->by_thread.len ? waiting_of(m, ev, false) : NULL;

	if (!w || w->time_ns != ev->time_ns)
		return stack;
	w->time_ns = 0;
	w->tid = ev->tid;
	m->last = w;
	m->last_ns = ev->time_ns;
	m->completed = false;
	if (!w->frames.len)
		return stack;
	gather_natives(m, w, stack);
	forget_line(m, w);

	uint64_t mismatched = m->counts.mismatched;
	uint32_t merged = merge(m, w, complete);

	m->completed = !complete && w->managed.state == EVENT_MANAGED_WHOLE &&
		       m->counts.mismatched == mismatched;
	return merged;
}
