/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_keys.c - a level turns a path into a 64-bit identity, and each new identity into a key with texts.
 */
#include "report/view/view_keys.h"

#include "formats/base/map.h"
#include "report/view/entry.h"
#include "report/view/memory_source.h"
#include "report/view/own_code.h"
#include "report/view/process_levels.h"
#include "report/view/runtime_work.h"
#include "report/view/wait_frames.h"

#include <inttypes.h>
#include <string.h>

/* ---- the frames of one sample row as views and trees look at them ---- */

/* From a stack's locations to its functions, cut where the user asked for it. */

/* Without the innermost @inlined lines. */
static void add_frames(struct view_paths *paths, uint32_t location, uint32_t inlined)
{
	const struct profile *p = paths->profile;
	const struct profile_location *at = &p->locations.items[location];
	struct view_frame frame = { PROFILE_NONE, location, PROFILE_NONE };

	if (at->nlines == 0)
		vec_push(&paths->frames, frame);
	for (uint32_t i = inlined; i < at->nlines; i++) {
		frame.line = at->first_line + i;
		frame.function = paths->functions[p->lines.items[frame.line].function];
		vec_push(&paths->frames, frame);
	}
}

static bool is_cut_at(const struct view_paths *paths, const struct view_frame *frame)
{
	return frame->line != PROFILE_NONE &&
	       paths->cut_at[paths->profile->lines.items[frame->line].function];
}

/* Keep the part of @path that was asked for; false if the function is not on it. */
static bool cut_path(const struct view_paths *paths, struct view_path *path)
{
	size_t at = path->len;

	for (size_t i = 0; i < path->len; i++) {
		if (!is_cut_at(paths, &path->frames[i]))
			continue;
		at = i;
		if (paths->cut == VIEW_CALLEES)
			break;
	}
	if (at == path->len)
		return false;
	if (paths->cut == VIEW_CALLEES) {
		path->len = at;
		path->empty = "[self]";
	} else {
		path->frames += at + 1;
		path->len -= at + 1;
		path->empty = "[no caller]";
	}
	return true;
}

/* What to say of a stack that has no frames. */
static const char *empty_text(const struct profile_sample *row)
{
	static const char *const texts[PROFILE_STATES] = {
		[PROFILE_STATE_NONE] = "[no stack]",
		[PROFILE_STATE_ON_CPU] = "[on a CPU, not sampled]",
		[PROFILE_STATE_RUNNABLE] = "[new thread, or stack not sampled]",
		[PROFILE_STATE_BLOCKED] = "[stack not sampled]",
		[PROFILE_STATE_EARLIER] = "[waits since before the recording]",
		[PROFILE_STATE_LOST] = "[switches lost]",
		[PROFILE_STATE_LEFT_OUT] = "[switches left out]",
		[PROFILE_STATE_CALL] = "[stack not sampled]",
		[PROFILE_STATE_REQUEST] = "[no stack]",
		[PROFILE_STATE_CONTENDED] = "[no stack]",
	};

	return texts[row->state < PROFILE_STATES ? row->state : PROFILE_STATE_NONE];
}

static bool is_wait(const struct profile_sample *row)
{
	return row->state == PROFILE_STATE_RUNNABLE || row->state == PROFILE_STATE_BLOCKED ||
	       row->state >= PROFILE_STATE_CALL;
}

bool view_paths_make(struct view_paths *paths, const struct profile_sample *row,
		     struct view_path *ret)
{
	const struct profile *p = paths->profile;
	bool shortened = is_wait(row) && !paths->native;
	uint32_t leaf = shortened ? wait_frames_leaf(p, row) : row->stack;

	paths->frames.len = 0;
	if (paths->idle && paths->idle[row - p->samples.items]) {
		*ret = (struct view_path){ .row = row, .idle = true, .empty = "[waiting for work]" };
		return paths->cut == VIEW_WHOLE;
	}
	for (uint32_t stack = leaf; stack && paths->frames.len < paths->frames_max;
	     stack = p->stacks.items[stack].parent) {
		uint32_t location = p->stacks.items[stack].location;

		add_frames(paths, location, shortened && stack == leaf ? wait_frames_inlined_wrappers(p, location) : 0);
	}
	*ret = (struct view_path){ .frames = paths->frames.items,
				   .len = paths->frames.len,
				   .row = row,
				   .empty = empty_text(row) };
	return paths->cut == VIEW_WHOLE || cut_path(paths, ret);
}

void view_paths_deinit(struct view_paths *paths)
{
	vec_deinit(&paths->frames);
}

/* ---- keys ---- */

#define EMPTY_IDENTITY UINT64_MAX       /* no frame to look at */
#define SHORT_IDENTITY (UINT64_MAX - 1) /* none at this depth */
#define IDLE_IDENTITY  (UINT64_MAX - 2) /* a thread without work */
#define STATE_IDENTITY (UINT64_MAX - 3) /* and less, by the thread's state: a span without a stack */

struct level_keys {
	struct view_level level;
	const char *name; /* of the level */
	struct map numbers; /* identity -> key + 1 */
	VEC(struct view_key) keys;
};

struct view_keys {
	const struct profile *p;
	struct arena *arena;
	uint32_t *functions; /* by function: the first that looks the same */
	uint32_t *threads, *processes;
	struct strtab texts;       /* of levels of processes */
	struct map process_texts;  /* level and thread -> number in it */
	struct map lines; /* file and line -> number + 1 */
	struct map objects, addrs; /* of data: -> number */
	struct map syscalls;	   /* where the name stands -> number */
	struct map entry_of;	   /* stack and mode -> string of @entries */
	struct strtab entries;
	struct runtime_work *work; /* NULL until it is asked for */
	struct strtab works;
	struct map numbers;	   /* of labels: -> number */
	struct map own;		   /* location and line -> is it one's own? */
	unsigned nlevels;
	struct level_keys levels[VIEW_LEVELS_MAX];
};

/* The number that stands for @id: @fresh if the id is new. */
static uint32_t number_of(struct map *map, uint64_t id, uint32_t fresh)
{
	bool is_new;
	uint64_t *value = map_put(map, id, &is_new);

	if (is_new)
		*value = fresh;
	return (uint32_t)*value;
}

static void merge_functions(struct view_keys *keys)
{
	const struct profile *p = keys->p;
	struct map seen = { 0 };

	keys->functions = ARENA_ARRAY(keys->arena, uint32_t, p->functions.len + 1);
	for (uint32_t i = 0; i < p->functions.len; i++) {
		const struct profile_function *function = &p->functions.items[i];
		uint32_t path = profile_module(p, function->module)->path;

		keys->functions[i] = number_of(&seen, map_pair(function->name, path), i);
	}
	map_deinit(&seen);
}

static void merge_threads(struct view_keys *keys)
{
	const struct profile *p = keys->p;
	struct map tasks = { 0 }, threads = { 0 }, processes = { 0 };

	keys->threads = ARENA_ARRAY(keys->arena, uint32_t, p->threads.len + 1);
	keys->processes = ARENA_ARRAY(keys->arena, uint32_t, p->threads.len + 1);
	for (uint32_t i = 0; i < p->threads.len; i++) {
		const struct profile_thread *thread = &p->threads.items[i];
		uint32_t task = number_of(&tasks, map_pair(thread->pid, thread->tid), i);

		keys->threads[i] = number_of(&threads, map_pair(task, thread->comm), i);
		keys->processes[i] = number_of(&processes, map_pair(thread->pid, thread->process), i);
	}
	map_deinit(&tasks);
	map_deinit(&threads);
	map_deinit(&processes);
}

struct view_keys *view_keys_new(const struct profile *p, const struct view_levels *levels,
				struct arena *arena)
{
	struct view_keys *keys = memory_zeroed(1, sizeof(*keys));

	keys->p = p;
	keys->arena = arena;
	keys->nlevels = levels->len;
	for (unsigned i = 0; i < levels->len; i++)
		keys->levels[i] = (struct level_keys){ .level = levels->items[i],
						       .name = view_level_name(levels, i) };
	merge_functions(keys);
	merge_threads(keys);
	return keys;
}

void view_keys_free(struct view_keys *keys)
{
	if (!keys)
		return;
	for (unsigned i = 0; i < keys->nlevels; i++) {
		map_deinit(&keys->levels[i].numbers);
		vec_deinit(&keys->levels[i].keys);
	}
	strtab_deinit(&keys->texts);
	map_deinit(&keys->process_texts);
	map_deinit(&keys->lines);
	map_deinit(&keys->objects);
	map_deinit(&keys->addrs);
	map_deinit(&keys->syscalls);
	map_deinit(&keys->entry_of);
	strtab_deinit(&keys->entries);
	runtime_work_free(keys->work);
	strtab_deinit(&keys->works);
	map_deinit(&keys->numbers);
	map_deinit(&keys->own);
	free(keys);
}

uint32_t view_keys_function(const struct view_keys *keys, uint32_t function)
{
	return keys->functions[function];
}

const uint32_t *view_keys_functions(const struct view_keys *keys)
{
	return keys->functions;
}

uint32_t view_keys_process(const struct view_keys *keys, uint32_t thread)
{
	return keys->processes[thread];
}

/* ---- identities ---- */

static uint64_t line_identity(struct view_keys *keys, const struct view_frame *frame)
{
	if (frame->line == PROFILE_NONE)
		return map_pair(PROFILE_NONE, frame->function);

	const struct profile_line *line = &keys->p->lines.items[frame->line];
	uint32_t number =
		number_of(&keys->lines, map_pair(line->file, line->line), (uint32_t)keys->lines.len);

	return map_pair(number, frame->function);
}

/* Rows differ by everything that the view's levels use together: each level looks at its own part. */
static uint64_t data_identity(struct view_keys *keys, enum view_by by, uint32_t number)
{
	const struct profile_data *data = &keys->p->data.items[number];
	uint64_t object = map_pair(data->object, data->module), addr = data->addr;

	if (by == VIEW_DATA_SYMBOL)
		return object;
	if (by == VIEW_DATA_SOURCE)
		return data->source;
	if (by == VIEW_DATA_TYPE)
		return data->type;
	if (by == VIEW_DATA_FIELD)
		return map_pair(data->type, data->field);
	if (by == VIEW_DATA_LINE)
		addr -= addr % PROFILE_DATA_LINE_LEN;
	return map_pair(number_of(&keys->objects, object, (uint32_t)keys->objects.len),
		    number_of(&keys->addrs, addr, (uint32_t)keys->addrs.len));
}

/* The frame at depth @depth from the root, which is 1; the leaf is the last. NULL if the stack ends before. */
static const struct view_frame *frame_at_depth(const struct view_path *path, uint32_t depth)
{
	return depth <= path->len ? &path->frames[path->len - depth] : NULL;
}

/* The label of @row that is called @name; NULL if it has none. */
static const struct profile_label *label_of(const struct view_keys *keys, const struct profile_sample *row,
					    const char *name)
{
	const struct profile *p = keys->p;
	const struct profile_label_set *set = &p->label_sets.items[row->labels];

	for (uint32_t i = 0; i < set->count; i++)
		if (strcmp(profile_text(p, p->labels.items[set->first + i].key), name) == 0)
			return &p->labels.items[set->first + i];
	return NULL;
}

/* What tells rows apart that are no stacks: texts that labels, or the names of kernel functions, give. */
static const char *wait_text(const struct view_keys *keys, enum view_by by, const struct profile_sample *row)
{
	const struct profile_label *label = label_of(keys, row, view_by_name(by)); /* labels are called like levels */

	if (label)
		return profile_text(keys->p, label->text);
	if (by == VIEW_LOCK)
		return "[no lock]";
	if (by == VIEW_FILE)
		return wait_frames_takes_descriptor(keys->p, row) ? "" : "[no file]";
	if (by == VIEW_ERROR)
		return row->state >= PROFILE_STATE_CALL ? "[no error]" : "";
	return by == VIEW_SYSCALL ? wait_frames_syscall(keys->p, row) : "";
}

static uint64_t wait_text_identity(struct view_keys *keys, enum view_by by, const struct profile_sample *row)
{
	uint64_t hash = 0;

	for (const char *c = wait_text(keys, by, row); *c; c++)
		hash = map_hash(hash ^ (uint8_t)*c);
	return number_of(&keys->syscalls, hash, (uint32_t)keys->syscalls.len);
}

/* Threads without work wait for nothing that would be worth a row. */
static bool is_of_what_waits(enum view_by by)
{
	return by == VIEW_WAIT || by == VIEW_LOCK || by == VIEW_FILE;
}

static uint64_t wait_identity(struct view_keys *keys, enum view_by by, const struct view_path *path)
{
	const struct profile_sample *row = path->row;

	if (path->idle && is_of_what_waits(by))
		return IDLE_IDENTITY;
	if (by == VIEW_STATE)
		return row->state == PROFILE_STATE_NONE ? PROFILE_STATE_ON_CPU : row->state;
	return by == VIEW_WAIT ? wait_frames_kind(keys->p, row) : wait_text_identity(keys, by, row);
}

static bool is_own(struct view_keys *keys, const struct view_frame *frame)
{
	bool is_new;
	uint64_t *own = map_put(&keys->own, map_pair(frame->location, frame->line), &is_new);

	if (is_new)
		*own = own_code_is(keys->p, frame->location, frame->line);
	return *own;
}

/* The innermost frame of someone's own code; NULL if there is none. */
static const struct view_frame *own_frame(struct view_keys *keys, const struct view_path *path)
{
	for (size_t i = 0; i < path->len; i++)
		if (is_own(keys, &path->frames[i]))
			return &path->frames[i];
	return NULL;
}

static bool has_line(const struct profile *p, const struct view_frame *frame)
{
	return frame->line != PROFILE_NONE && p->lines.items[frame->line].line;
}

/* The innermost frame of a script that is someone's own, else of any that has a line, as functions of the interpreter have none, else of any; NULL if none is. */
static const struct view_frame *script_frame(struct view_keys *keys, const struct view_path *path)
{
	const struct view_frame *first = NULL;

	for (size_t i = 0; i < path->len; i++) {
		const struct view_frame *frame = &path->frames[i];

		if (!own_code_is_script(keys->p, frame->location))
			continue;
		if (is_own(keys, frame))
			return frame;
		if (!first || (!has_line(keys->p, first) && has_line(keys->p, frame)))
			first = frame;
	}
	return first;
}

/* Stacks that came the same way have the same. */
static uint32_t entry_identity(struct view_keys *keys, const struct profile_sample *row)
{
	bool is_new;
	uint64_t *known = map_put(&keys->entry_of, map_pair(row->stack, row->user), &is_new);

	if (is_new) {
		CLEANUP(arena_deinit) struct arena arena = { 0 };

		*known = strtab_add(&keys->entries, entry_name(keys->p, row, &arena));
	}
	return (uint32_t)*known;
}

static const char *work_name(struct view_keys *keys, const struct profile_sample *row)
{
	if (!keys->work)
		keys->work = runtime_work_new(keys->p);
	return runtime_work_name(keys->work, row);
}

/* The number of a text of a thread's process. */
static uint32_t process_text(struct view_keys *keys, enum view_by by, uint32_t thread)
{
	bool is_new;
	uint64_t *number = map_put(&keys->process_texts, map_pair((uint32_t)by, thread), &is_new);

	if (is_new)
		*number = strtab_add(&keys->texts,
				     process_level_text(keys->p, by, thread, keys->arena));
	return (uint32_t)*number;
}

static uint64_t field_identity(struct view_keys *keys, const struct profile_sample *row, const char *name)
{
	const struct profile_label *label = label_of(keys, row, name);

	if (!label)
		return SHORT_IDENTITY;
	if (!label->is_number)
		return label->text;
	return map_pair(1, number_of(&keys->numbers, (uint64_t)label->number, (uint32_t)keys->numbers.len));
}

static uint64_t identity(struct view_keys *keys, const struct level_keys *at,
			 const struct view_path *path, size_t frame)
{
	const struct view_frame *leaf = path->len ? &path->frames[frame] : NULL;
	const struct view_level *level = &at->level;

	if (process_level_is(level->by))
		return process_text(keys, level->by, path->row->thread);
	switch (level->by) {
	case VIEW_THREAD:
		return keys->threads[path->row->thread];
	case VIEW_PROCESS:
		return keys->processes[path->row->thread];
	case VIEW_PROGRAM:
		return keys->p->threads.items[path->row->thread].process;
	case VIEW_COMM:
		return keys->p->threads.items[path->row->thread].comm;
	case VIEW_CPU:
		return path->row->cpu;
	case VIEW_STATE:
	case VIEW_WAIT:
	case VIEW_SYSCALL:
	case VIEW_LOCK:
	case VIEW_FILE:
	case VIEW_WAKER:
	case VIEW_ERROR:
		return wait_identity(keys, level->by, path);
	case VIEW_DATA_SYMBOL:
	case VIEW_DATA_ADDRESS:
	case VIEW_DATA_LINE:
	case VIEW_DATA_SOURCE:
	case VIEW_DATA_TYPE:
	case VIEW_DATA_FIELD:
		return data_identity(keys, level->by, path->row->data);
	case VIEW_ENTRY:
		return entry_identity(keys, path->row);
	case VIEW_RUNTIME:
		return strtab_add(&keys->works, work_name(keys, path->row));
	case VIEW_FIELD:
		return field_identity(keys, path->row, at->name);
	default:
		break;
	}
	if (path->idle)
		return IDLE_IDENTITY;
	if (!leaf)
		return path->row->state && !path->row->stack ? STATE_IDENTITY - path->row->state
							     : EMPTY_IDENTITY;
	if (level->by == VIEW_DEPTH)
		leaf = frame_at_depth(path, level->depth);
	if (level->by == VIEW_MINE)
		leaf = own_frame(keys, path);
	if (level->by == VIEW_SCRIPT || level->by == VIEW_SCRIPT_LINE)
		leaf = script_frame(keys, path);
	if (!leaf)
		return SHORT_IDENTITY;

	switch (level->by) {
	case VIEW_CALLER:
		return map_pair(leaf->function, path->len > 1 ? leaf[1].function : PROFILE_NONE);
	case VIEW_MODULE:
		return profile_module(keys->p, keys->p->locations.items[leaf->location].module)->path;
	case VIEW_LINE:
	case VIEW_SCRIPT_LINE:
		return line_identity(keys, leaf);
	case VIEW_ADDRESS:
		return leaf->location;
	default:
		return leaf->function;
	}
}

/* ---- texts ---- */

static const char *function_name(const struct view_keys *keys, uint32_t function)
{
	if (function == PROFILE_NONE)
		return "[not named]";
	return profile_text(keys->p, keys->p->functions.items[function].name);
}

static const struct profile_module *module_of(const struct view_keys *keys,
					      const struct view_frame *frame)
{
	return profile_module(keys->p, keys->p->locations.items[frame->location].module);
}

static const char *line_text(const struct view_keys *keys, const struct view_frame *frame)
{
	const struct profile_line *line;

	if (frame->line == PROFILE_NONE)
		return "[no line]";
	line = &keys->p->lines.items[frame->line];
	if (!line->line)
		return "[no line]";
	if (!line->file) /* as of Java: the class says which file */
		return arena_printf(keys->arena, "%s:%" PRIu32, function_name(keys, frame->function), line->line);
	return arena_printf(keys->arena, "%s:%" PRIu32, profile_text(keys->p, line->file),
			    line->line);
}

static const char *u32_text(const struct view_keys *keys, uint32_t value)
{
	return value == UINT32_MAX ? "" : arena_printf(keys->arena, "%" PRIu32, value);
}

static struct view_key thread_texts(const struct view_keys *keys, enum view_by by,
				    const struct profile_sample *row)
{
	const struct profile_thread *thread = &keys->p->threads.items[row->thread];
	const char *comm = profile_text(keys->p, thread->comm);
	const char *pid = u32_text(keys, thread->pid);

	switch (by) {
	case VIEW_THREAD:
		return (struct view_key){ .fields = { comm, pid, u32_text(keys, thread->tid) } };
	case VIEW_PROCESS:
		return (struct view_key){ .fields = { profile_text(keys->p, thread->process),
						      pid } };
	case VIEW_PROGRAM:
		return (struct view_key){ .fields = { profile_text(keys->p, thread->process) } };
	case VIEW_COMM:
		return (struct view_key){ .fields = { comm } };
	default:
		return (struct view_key){ .fields = { u32_text(keys, row->cpu) } };
	}
}

static struct view_key data_texts(const struct view_keys *keys, enum view_by by, uint32_t number)
{
	const struct profile_data *data = &keys->p->data.items[number];
	const char *object = profile_text(keys->p, data->object);
	const char *module = profile_text(keys->p, data->module);
	uint64_t addr = by == VIEW_DATA_LINE ? data->addr - data->addr % PROFILE_DATA_LINE_LEN : data->addr;
	const char *at = data->addr ? arena_printf(keys->arena, "0x%" PRIx64, addr) : "";

	if (by == VIEW_DATA_TYPE || by == VIEW_DATA_FIELD)
		return (struct view_key){ .fields = { profile_text(keys->p, data->type),
						      profile_text(keys->p, data->field) } };
	if (by == VIEW_DATA_SYMBOL)
		return (struct view_key){ .fields = { object, module } };
	if (by != VIEW_DATA_SOURCE)
		return (struct view_key){ .fields = { at, object, module } };
	at = memory_source_level(keys->arena, data->source);
	return (struct view_key){ .fields = { *at ? at : "[not reported]",
					      memory_source_tlb(keys->arena, data->source),
					      memory_source_rest(keys->arena, data->source) } };
}

static struct view_key wait_texts(const struct view_keys *keys, enum view_by by,
				  const struct view_path *path)
{
	const struct profile_sample *row = path->row;
	const char *text = path->idle && is_of_what_waits(by) ? "waiting for work"
			   : by == VIEW_STATE  ? profile_state_name(row->state)
			   : by == VIEW_WAIT ? wait_kind_name(wait_frames_kind(keys->p, row))
					     : wait_text(keys, by, row);

	return (struct view_key){ .fields = { *text ? text : "[not known]" } };
}

static struct view_key frame_texts(const struct view_keys *keys, enum view_by by,
				   const struct view_frame *frame, bool has_caller)
{
	const struct profile_module *mod = module_of(keys, frame);
	const char *name = function_name(keys, frame->function);
	const char *module = profile_text(keys->p, mod->name);
	struct view_key key = { .unnamed = frame->function != PROFILE_NONE &&
					   keys->p->functions.items[frame->function].unnamed };

	switch (by) {
	case VIEW_CALLER:
		key.fields[0] = name;
		key.fields[1] = has_caller ? function_name(keys, frame[1].function) : "[no caller]";
		key.fields[2] = module;
		break;
	case VIEW_MODULE:
		key.fields[0] = *module ? module : "[unknown]";
		key.fields[1] = profile_text(keys->p, mod->path);
		key.unnamed = false;
		break;
	case VIEW_LINE:
	case VIEW_SCRIPT_LINE:
	case VIEW_ADDRESS:
		key.fields[0] =
			by != VIEW_ADDRESS
				? line_text(keys, frame)
				: arena_printf(keys->arena, "0x%" PRIx64,
					       profile_address(&keys->p->locations.items[frame->location]));
		key.fields[1] = name;
		key.fields[2] = module;
		break;
	default:
		key.fields[0] = name;
		key.fields[1] = module;
	}
	return key;
}

static struct view_key field_texts(const struct view_keys *keys, const struct profile_sample *row, const char *name)
{
	const struct profile_label *label = label_of(keys, row, name);
	const char *unit = label ? profile_text(keys->p, label->unit) : "";

	if (!label)
		return (struct view_key){ .fields = { "[none]" } };
	if (!label->is_number)
		return (struct view_key){ .fields = { profile_text(keys->p, label->text) } };
	if (strcmp(unit, VIEW_ADDRESS_UNIT) == 0)
		return (struct view_key){ .fields = { arena_printf(keys->arena, "0x%" PRIx64, (uint64_t)label->number) } };
	return (struct view_key){ .fields = { arena_printf(keys->arena, "%" PRId64 "%s%s", label->number,
							   *unit ? " " : "", unit) } };
}

static struct view_key empty_texts(enum view_by by, const char *text)
{
	struct view_key key = { .fields = { text } };
	unsigned nfields;

	view_fields(by, &nfields);
	for (unsigned i = 1; i < nfields; i++)
		key.fields[i] = "";
	return key;
}

static struct view_key texts(struct view_keys *keys, const struct level_keys *of,
			     const struct view_path *path, size_t frame)
{
	const struct view_frame *at = path->len ? &path->frames[frame] : NULL;
	const struct view_level *level = &of->level;

	if (process_level_is(level->by)) {
		uint32_t number = process_text(keys, level->by, path->row->thread);

		return (struct view_key){ .fields = {
			arena_strdup(keys->arena, strtab_get(&keys->texts, number)) } };
	}
	if (level->by == VIEW_THREAD || level->by == VIEW_PROCESS || level->by == VIEW_PROGRAM ||
	    level->by == VIEW_COMM || level->by == VIEW_CPU)
		return thread_texts(keys, level->by, path->row);
	if (level->by >= VIEW_DATA_SYMBOL && level->by <= VIEW_DATA_FIELD)
		return data_texts(keys, level->by, path->row->data);
	if (level->by >= VIEW_STATE && level->by <= VIEW_ERROR)
		return wait_texts(keys, level->by, path);
	if (level->by == VIEW_FIELD)
		return field_texts(keys, path->row, of->name);
	if (level->by == VIEW_ENTRY)
		return (struct view_key){ .fields = { entry_name(keys->p, path->row, keys->arena) } };
	if (level->by == VIEW_RUNTIME)
		return (struct view_key){ .fields = { work_name(keys, path->row) } };
	if (!at) {
		struct view_key key = empty_texts(level->by, path->empty);

		key.idle = path->idle;
		return key;
	}
	if (level->by == VIEW_DEPTH) {
		at = frame_at_depth(path, level->depth);
		if (!at)
			return empty_texts(level->by, "[stack ends before]");
	}
	if (level->by == VIEW_MINE) {
		at = own_frame(keys, path);
		if (!at)
			return empty_texts(level->by, "[none of your own]");
	}
	if (level->by == VIEW_SCRIPT || level->by == VIEW_SCRIPT_LINE) {
		at = script_frame(keys, path);
		if (!at)
			return empty_texts(level->by, "[no script]");
	}
	return frame_texts(keys, level->by, at, path->len > 1);
}

uint32_t view_keys_find(struct view_keys *keys, unsigned level, const struct view_path *path,
			size_t frame)
{
	struct level_keys *at = &keys->levels[level];
	uint32_t fresh = (uint32_t)at->keys.len;
	uint64_t id = identity(keys, at, path, frame);
	uint32_t key = number_of(&at->numbers, id, fresh);

	if (key == fresh)
		vec_push(&at->keys, texts(keys, at, path, frame));
	return key;
}

const struct view_key *view_keys_get(const struct view_keys *keys, unsigned level, uint32_t key)
{
	return &keys->levels[level].keys.items[key];
}
