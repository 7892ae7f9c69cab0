/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile.c - append-only tables, each with a hash index of numbers so that equal entries are found.
 *
 * An index keeps the hash beside the number: most unequal entries are distinguished without being touched,
 * and growing needs no second look at the entries.
 */
#include "formats/profile/profile.h"

#include "formats/base/map.h"

#include <string.h>

#define SLOTS_FIRST 64

struct index_slot {
	uint32_t hash;
	uint32_t number; /* + 1; 0 marks a free slot */
};

struct index {
	struct index_slot *slots;
	uint32_t nslots; /* a power of two, or 0 */
	uint32_t len;
};

struct profile_index {
	struct index modules, functions, locations, named_locations, stacks, threads, data, label_sets,
		samples;
};

const struct profile_module profile_no_module = { .kind = PROFILE_UNKNOWN };

typedef bool equal_fn(const struct profile *p, uint32_t number, const void *entry);

static void index_grow(struct index *index)
{
	struct index old = *index;

	index->nslots = old.nslots ? old.nslots * 2 : SLOTS_FIRST;
	index->slots = memory_table(index->nslots, sizeof(*index->slots));
	for (uint32_t i = 0; i < old.nslots; i++) {
		uint32_t at = old.slots[i].hash & (index->nslots - 1);

		if (!old.slots[i].number)
			continue;
		while (index->slots[at].number)
			at = (at + 1) & (index->nslots - 1);
		index->slots[at] = old.slots[i];
	}
	free(old.slots);
}

/* The number of the entry that is equal to @entry, or @fresh, which is then entered. */
static inline uint32_t index_find(struct index *index, const struct profile *p, uint64_t hash64,
				  equal_fn *equal, const void *entry, uint32_t fresh)
{
	uint32_t hash = (uint32_t)(hash64 >> 32);

	if (index->len >= index->nslots / 4 * 3)
		index_grow(index);

	uint32_t at = hash & (index->nslots - 1);

	for (; index->slots[at].number; at = (at + 1) & (index->nslots - 1)) {
		if (index->slots[at].hash == hash && equal(p, index->slots[at].number - 1, entry))
			return index->slots[at].number - 1;
	}
	index->slots[at] = (struct index_slot){ hash, fresh + 1 };
	index->len++;
	return fresh;
}

/* Ask for the memory in which a look-up of @hash begins. */
static void index_fetch(const struct index *index, uint64_t hash)
{
	if (index->nslots)
		__builtin_prefetch(&index->slots[hash >> 32 & (index->nslots - 1)]);
}

/* The number of the first entry that index_find() would compare with one of @hash; PROFILE_NONE if it would compare none. */
static uint32_t index_first(const struct index *index, uint64_t hash64)
{
	uint32_t hash = (uint32_t)(hash64 >> 32), at = hash & (index->nslots - 1);

	if (!index->nslots)
		return PROFILE_NONE;
	for (; index->slots[at].number; at = (at + 1) & (index->nslots - 1))
		if (index->slots[at].hash == hash)
			return index->slots[at].number - 1;
	return PROFILE_NONE;
}

struct profile *profile_new(void)
{
	struct profile *p = memory_zeroed(1, sizeof(*p));
	struct profile_stack root = { .parent = 0, .location = PROFILE_NONE };

	p->index = memory_zeroed(1, sizeof(*p->index));
	strtab_add(&p->strings, "");
	profile_add_data(p, &(struct profile_data){ 0 });
	profile_add_process(p, &(struct profile_process){ .pid = PROFILE_NONE });
	vec_push(&p->label_sets, ((struct profile_label_set){ 0 }));
	vec_push(&p->process_names, ((struct profile_process_name){ 0 }));
	vec_push(&p->stacks, root);
	return p;
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	free(p->index->modules.slots);
	free(p->index->functions.slots);
	free(p->index->locations.slots);
	free(p->index->named_locations.slots);
	free(p->index->stacks.slots);
	free(p->index->threads.slots);
	free(p->index->data.slots);
	free(p->index->label_sets.slots);
	free(p->index->samples.slots);
	free(p->index);
	vec_deinit(&p->modules);
	vec_deinit(&p->functions);
	vec_deinit(&p->locations);
	vec_deinit(&p->lines);
	vec_deinit(&p->stacks);
	vec_deinit(&p->threads);
	vec_deinit(&p->processes);
	vec_deinit(&p->process_names);
	vec_deinit(&p->types);
	vec_deinit(&p->label_sets);
	vec_deinit(&p->labels);
	vec_deinit(&p->data);
	vec_deinit(&p->samples);
	time_series_deinit(&p->times);
	span_list_deinit(&p->spans);
	vec_deinit(&p->branches.stacks);
	vec_deinit(&p->branches.all);
	strtab_deinit(&p->strings);
	free(p);
}

uint32_t profile_string(struct profile *p, const char *text)
{
	return strtab_add(&p->strings, text);
}

const char *profile_text(const struct profile *p, uint32_t string)
{
	return strtab_get(&p->strings, string);
}

static bool same_module(const struct profile *p, uint32_t number, const void *entry)
{
	const struct profile_module *a = &p->modules.items[number], *b = entry;

	return a->path == b->path && a->build_id == b->build_id;
}

uint32_t profile_add_module(struct profile *p, const struct profile_module *mod)
{
	uint32_t fresh = (uint32_t)p->modules.len;
	uint64_t hash = map_hash(map_pair(mod->path, mod->build_id));
	uint32_t number = index_find(&p->index->modules, p, hash, same_module, mod, fresh);

	if (number == fresh)
		vec_push(&p->modules, *mod);
	return number;
}

static bool same_function(const struct profile *p, uint32_t number, const void *entry)
{
	const struct profile_function *a = &p->functions.items[number], *b = entry;

	uint32_t name = a->plain_name ? a->plain_name : a->name;

	return name == b->name && a->module == b->module && a->file == b->file &&
	       a->line == b->line && a->linkage_name == b->linkage_name && a->vaddr == b->vaddr;
}

uint32_t profile_add_function(struct profile *p, const struct profile_function *function)
{
	uint32_t fresh = (uint32_t)p->functions.len;
	uint64_t hash = map_hash(map_hash(map_pair(function->name, function->module)) ^
				 map_pair(function->linkage_name ^ function->file, function->line) ^
				 function->vaddr << 20);
	uint32_t number = index_find(&p->index->functions, p, hash, same_function, function, fresh);

	if (number == fresh)
		vec_push(&p->functions, *function);
	return number;
}

static bool same_location(const struct profile *p, uint32_t number, const void *entry)
{
	const struct profile_location *a = &p->locations.items[number], *b = entry;

	return a->vaddr == b->vaddr && a->module == b->module;
}

uint32_t profile_add_location(struct profile *p, uint32_t module, uint64_t vaddr,
			      enum profile_frame_kind kind)
{
	struct profile_location location = { .module = module,
					     .vaddr = vaddr,
					     .kind = (uint8_t)kind,
					     .has_vaddr = true };
	uint32_t fresh = (uint32_t)p->locations.len;
	uint64_t hash = map_hash(vaddr ^ (uint64_t)module << 48);
	uint32_t number =
		index_find(&p->index->locations, p, hash, same_location, &location, fresh);

	if (number == fresh)
		vec_push(&p->locations, location);
	return number;
}

static bool same_stack(const struct profile *p, uint32_t number, const void *entry)
{
	const struct profile_stack *a = &p->stacks.items[number], *b = entry;

	return a->parent == b->parent && a->location == b->location && a->how == b->how;
}

/* A location without address that is looked for, and its lines. */
struct named {
	struct profile_location location;
	const struct profile_line *lines;
};

static bool same_line(const struct profile_line *a, const struct profile_line *b)
{
	return a->function == b->function && a->file == b->file && a->line == b->line;
}

static bool same_named_location(const struct profile *p, uint32_t number, const void *entry)
{
	const struct named *b = entry;
	const struct profile_location *a = &p->locations.items[number];

	if (a->kind != b->location.kind || a->module != b->location.module ||
	    a->nlines != b->location.nlines)
		return false;
	for (uint32_t i = 0; i < a->nlines; i++)
		if (!same_line(&p->lines.items[a->first_line + i], &b->lines[i]))
			return false;
	return true;
}

uint32_t profile_add_named_location(struct profile *p, enum profile_frame_kind kind, uint32_t module,
				    const struct profile_line *lines, uint32_t count)
{
	struct named named = { .location = { .module = module, .nlines = count, .kind = (uint8_t)kind },
			       .lines = lines };
	uint32_t fresh = (uint32_t)p->locations.len;
	uint64_t hash = map_hash(map_pair(module, count) + (uint64_t)kind);

	for (uint32_t i = 0; i < count; i++)
		hash = map_hash(map_hash(hash ^ map_pair(lines[i].function, lines[i].line)) ^ lines[i].file);

	uint32_t number = index_find(&p->index->named_locations, p, hash, same_named_location,
				     &named, fresh);

	if (number != fresh)
		return number;
	vec_push(&p->locations, named.location);
	profile_set_lines(p, fresh, lines, count);
	return fresh;
}

/*
 * Most stacks have one child, or the same one again and again, whose entry is read next anyway; the index costs two misses of
 * the cache more, which is most of what reading millions of stacks in no order takes. So the first child of a stack is not in the
 * index, and what is below a new stack is new without a look into it.
 */
static bool is_child(const struct profile *p, uint32_t number, uint32_t location, enum profile_how how)
{
	const struct profile_stack *child = &p->stacks.items[number];

	return number && child->location == location && child->how == how;
}

/*
 * Of the hash of the caller's stack and not of its number: so all hashes of a stack are known before any part of it is found.
 */
static uint64_t hash_stack(uint32_t parent_hash, uint32_t location, enum profile_how how)
{
	return map_hash(map_pair(parent_hash, location) + (uint64_t)how);
}

static uint32_t find_stack(struct profile *p, uint32_t parent, uint32_t location, enum profile_how how)
{
	uint64_t hash = hash_stack(p->stacks.items[parent].hash, location, how);
	struct profile_stack stack = { .parent = parent,
				       .location = location,
				       .hash = (uint32_t)hash,
				       .depth = p->stacks.items[parent].depth + 1,
				       .how = (uint8_t)how };
	uint32_t fresh = (uint32_t)p->stacks.len, first = p->stacks.items[parent].first_child, number = fresh;

	if (!first)
		p->stacks.items[parent].first_child = fresh;
	else if (is_child(p, first, location, how))
		number = first;
	else
		number = index_find(&p->index->stacks, p, hash, same_stack, &stack, fresh);
	if (number == fresh)
		vec_push(&p->stacks, stack);
	p->stacks.items[parent].last_child = number;
	return number;
}

static uint32_t add_stack(struct profile *p, uint32_t parent, uint32_t location, enum profile_how how)
{
	uint32_t number = p->stacks.items[parent].last_child;

	return is_child(p, number, location, how) ? number : find_stack(p, parent, location, how);
}

static uint32_t cut_marker(struct profile *p)
{
	struct profile_function function = { .name = profile_string(p, PROFILE_CUT_MARKER), .module = PROFILE_NONE };
	struct profile_line line = { .function = profile_add_function(p, &function) };

	return profile_add_named_location(p, PROFILE_FRAME_MARKER, PROFILE_NONE, &line, 1);
}

/*
 * Before the frame on top of a stack that is full, which is its leaf no longer, or is the place of the marker already:
 *
 *	… c d e          + f   ->  … c [frames left out] f
 *	… c [left out] f + g   ->  … c [frames left out] g
 */
static uint32_t below_cut(struct profile *p, uint32_t full)
{
	uint32_t before = p->stacks.items[p->stacks.items[full].parent].parent;

	p->stacks_cut++;
	return add_stack(p, before, cut_marker(p), PROFILE_HOW_SURE);
}

uint32_t profile_add_stack(struct profile *p, uint32_t parent, uint32_t location, enum profile_how how)
{
	if (p->stacks.items[parent].depth >= PROFILE_DEPTH_MAX)
		parent = below_cut(p, parent);
	return add_stack(p, parent, location, how);
}

#define FETCHED_AT_ONCE 16 /* a processor waits for some ten lines of the cache at a time */

/* Ask for the memory of @count calls behind a stack of @hash, and for all at once, since each takes as long as reading many bytes. */
static void fetch_calls(const struct profile *p, uint32_t hash, const uint32_t *locations, size_t count)
{
	uint64_t hashes[FETCHED_AT_ONCE];

	for (size_t i = 0; i < count; i++) {
		hashes[i] = hash_stack(hash, locations[i], PROFILE_HOW_SURE);
		hash = (uint32_t)hashes[i];
		index_fetch(&p->index->stacks, hashes[i]);
	}
	for (size_t i = 0; i < count; i++) {
		uint32_t number = index_first(&p->index->stacks, hashes[i]);

		if (number != PROFILE_NONE)
			__builtin_prefetch(&p->stacks.items[number]);
	}
}

uint32_t profile_add_calls(struct profile *p, uint32_t parent, const uint32_t *locations, size_t count, uint32_t *ret_stacks)
{
	for (size_t i = 0; i < count; i++) {
		if (i % FETCHED_AT_ONCE == 0 && count - i > 2 && p->stacks.items[parent].first_child)
			fetch_calls(p, p->stacks.items[parent].hash, locations + i, MIN(count - i, (size_t)FETCHED_AT_ONCE));
		if (p->stacks.items[parent].depth >= PROFILE_DEPTH_MAX)
			parent = below_cut(p, parent);
		parent = find_stack(p, parent, locations[i], PROFILE_HOW_SURE);
		if (ret_stacks)
			ret_stacks[i] = parent;
	}
	return parent;
}

static bool same_thread(const struct profile *p, uint32_t number, const void *entry)
{
	const struct profile_thread *a = &p->threads.items[number], *b = entry;

	return a->tid == b->tid && a->pid == b->pid && a->comm == b->comm &&
	       a->process == b->process && a->life == b->life;
}

uint32_t profile_add_thread(struct profile *p, const struct profile_thread *thread)
{
	uint32_t fresh = (uint32_t)p->threads.len;
	uint64_t hash = map_hash(map_hash(map_pair(thread->pid, thread->tid)) ^
				 map_pair(thread->comm, thread->process));
	uint32_t number = index_find(&p->index->threads, p, hash, same_thread, thread, fresh);

	if (number == fresh)
		vec_push(&p->threads, *thread);
	return number;
}

static bool same_data(const struct profile *p, uint32_t number, const void *entry)
{
	const struct profile_data *a = &p->data.items[number], *b = entry;

	return a->object == b->object && a->module == b->module && a->addr == b->addr &&
	       a->source == b->source && a->type == b->type && a->field == b->field;
}

uint32_t profile_add_data(struct profile *p, const struct profile_data *data)
{
	uint32_t fresh = (uint32_t)p->data.len;
	uint64_t hash = map_hash(map_hash(map_pair(data->object, data->module)) ^
				 map_hash(data->addr) ^ map_hash(map_pair(data->type, data->field)) ^
				 data->source);
	uint32_t number = index_find(&p->index->data, p, hash, same_data, data, fresh);

	if (number == fresh)
		vec_push(&p->data, *data);
	return number;
}

uint32_t profile_add_value_type(struct profile *p, const struct profile_value_type *type)
{
	vec_push(&p->types, *type);
	return (uint32_t)p->types.len - 1;
}

uint32_t profile_add_process(struct profile *p, const struct profile_process *process)
{
	struct profile_process entry = *process;

	entry.first_name = entry.last_name = 0;
	vec_push(&p->processes, entry);
	return (uint32_t)p->processes.len - 1;
}

void profile_add_process_name(struct profile *p, uint32_t process, uint64_t time_ns, uint32_t name)
{
	struct profile_process *to = &p->processes.items[process];
	struct profile_process_name entry = { .time_ns = time_ns, .name = name };
	uint32_t number = (uint32_t)p->process_names.len;

	vec_push(&p->process_names, entry);
	if (to->last_name)
		p->process_names.items[to->last_name].next = number;
	else
		to->first_name = number;
	to->last_name = number;
}

/* ---- labels ---- */

/* A set of labels that is looked for. */
struct labels {
	const struct profile_label *items;
	uint32_t count;
};

static bool same_label(const struct profile_label *a, const struct profile_label *b)
{
	return a->key == b->key && a->text == b->text && a->unit == b->unit &&
	       a->is_number == b->is_number && a->number == b->number;
}

static bool same_labels(const struct profile *p, uint32_t number, const void *entry)
{
	const struct profile_label_set *a = &p->label_sets.items[number];
	const struct labels *b = entry;

	if (a->count != b->count)
		return false;
	for (uint32_t i = 0; i < a->count; i++)
		if (!same_label(&p->labels.items[a->first + i], &b->items[i]))
			return false;
	return true;
}

static int compare_labels(const void *a, const void *b)
{
	const struct profile_label *x = a, *y = b;
	int order = COMPARE(x->key, y->key);

	order = order ? order : COMPARE(x->is_number, y->is_number);
	order = order ? order : COMPARE(x->text, y->text);
	order = order ? order : COMPARE(x->number, y->number);
	return order ? order : COMPARE(x->unit, y->unit);
}

/* In order, each once; returns how many. */
static uint32_t sort_labels(struct profile_label *labels, uint32_t count)
{
	uint32_t kept = 1;

	qsort(labels, count, sizeof(*labels), compare_labels);
	for (uint32_t i = 1; i < count; i++)
		if (!same_label(&labels[kept - 1], &labels[i]))
			labels[kept++] = labels[i];
	return kept;
}

uint32_t profile_add_labels(struct profile *p, const struct profile_label *labels, uint32_t count)
{
	CLEANUP(memory_freep) struct profile_label *sorted = NULL;
	struct labels set = { 0 };
	uint64_t hash = 0;

	if (!count)
		return 0;
	sorted = memory_alloc(count * sizeof(*sorted));
	memcpy(sorted, labels, count * sizeof(*sorted));
	set = (struct labels){ sorted, sort_labels(sorted, count) };
	for (uint32_t i = 0; i < set.count; i++)
		hash = map_hash(hash ^ map_pair(sorted[i].key, sorted[i].text) ^
				map_hash((uint64_t)sorted[i].number ^ sorted[i].unit));

	uint32_t fresh = (uint32_t)p->label_sets.len;
	uint32_t number = index_find(&p->index->label_sets, p, hash, same_labels, &set, fresh);

	if (number == fresh) {
		vec_push(&p->label_sets,
			 ((struct profile_label_set){ (uint32_t)p->labels.len, set.count }));
		vec_append(&p->labels, sorted, set.count);
	}
	return number;
}

void profile_set_lines(struct profile *p, uint32_t location, const struct profile_line *lines,
		       uint32_t count)
{
	struct profile_location *at = &p->locations.items[location];

	at->first_line = (uint32_t)p->lines.len;
	at->nlines = count;
	vec_append(&p->lines, lines, count);
}

static bool same_sample(const struct profile *p, uint32_t number, const void *entry)
{
	const struct profile_sample *a = &p->samples.items[number], *b = entry;

	return a->stack == b->stack && a->thread == b->thread && a->cpu == b->cpu &&
	       a->type == b->type && a->stop == b->stop && a->user == b->user &&
	       a->state == b->state && a->data == b->data && a->labels == b->labels;
}

static uint64_t hash_sample(const struct profile_sample *sample)
{
	uint64_t tail = map_pair(sample->cpu, sample->type << 16 | (uint32_t)sample->state << 9 |
						     sample->stop << 1 | sample->user);

	return map_hash(map_hash(map_pair(sample->stack, sample->thread)) ^ tail ^ map_pair(sample->data, sample->labels));
}

static uint32_t add_to_row(struct profile *p, const struct profile_sample *sample, uint64_t hash)
{
	uint32_t fresh = (uint32_t)p->samples.len;
	uint32_t number = index_find(&p->index->samples, p, hash, same_sample, sample, fresh);

	if (number == fresh) {
		vec_push(&p->samples, *sample);
		return number;
	}

	struct profile_sample *row = &p->samples.items[number];

	row->count += sample->count;
	row->weight = (int64_t)((uint64_t)row->weight + (uint64_t)sample->weight); /* may wrap, of a hostile file */
	row->weight_sq += sample->weight_sq;
	row->exact = (int64_t)((uint64_t)row->exact + (uint64_t)sample->exact);
	return number;
}

static void use_weight(struct profile *p, int64_t weight)
{
	p->weight_used += (uint64_t)(weight < 0 ? -weight : weight);
}

uint32_t profile_add_sample(struct profile *p, const struct profile_sample *sample)
{
	use_weight(p, sample->weight);
	return add_to_row(p, sample, hash_sample(sample));
}

/* Ask for the memory of the row that may be that of @hash. */
static void fetch_row(const struct profile *p, uint64_t hash)
{
	uint32_t number = index_first(&p->index->samples, hash);

	if (number != PROFILE_NONE)
		profile_fetch_row(p, number);
}

void profile_queue_flush(struct profile *p, struct profile_queue *queue)
{
	for (uint32_t i = 0; i < queue->len; i++)
		fetch_row(p, queue->hashes[i]);
	for (uint32_t i = 0; i < queue->len; i++)
		add_to_row(p, &queue->samples[i], queue->hashes[i]);
	queue->len = 0;
}

void profile_queue_sample(struct profile *p, struct profile_queue *queue, const struct profile_sample *sample)
{
	uint64_t hash = hash_sample(sample);

	use_weight(p, sample->weight);
	index_fetch(&p->index->samples, hash);
	queue->samples[queue->len] = *sample;
	queue->hashes[queue->len++] = hash;
	if (queue->len == PROFILE_QUEUE_LEN)
		profile_queue_flush(p, queue);
}

struct profile_sum profile_total(const struct profile *p, uint32_t type)
{
	struct profile_sum sum = { 0 };

	for (size_t i = 0; i < p->samples.len; i++) {
		const struct profile_sample *row = &p->samples.items[i];

		if (type != PROFILE_NONE && row->type != type)
			continue;
		sum.count += row->count;
		sum.weight = (int64_t)((uint64_t)sum.weight + (uint64_t)row->weight);
		sum.weight_sq += row->weight_sq;
		sum.exact = (int64_t)((uint64_t)sum.exact + (uint64_t)row->exact);
	}
	return sum;
}
