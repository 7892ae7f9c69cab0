/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof.c - builds protobuf-c messages in an arena, packs them, compresses with zlib.
 *
 * Ids in the file are the profile's numbers plus one, since 0 means "none" there. The profile's strings keep
 * their numbers; what is added here (labels, units) follows them.
 */
#include "formats/profile/pprof.h"

#include "formats/base/gzip.h"
#include "formats/base/text.h"
#include "formats/profile/main_module.h"
#include "formats/profile/pprof.pb-c.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* The labels' keys, in the order in which they are written. */
enum { KEY_PID, KEY_TID, KEY_CPU, KEY_PROCESS, KEY_THREAD, KEYS };

/* Where an event's weight is among the values of a sample, and whether the number of samples is in front of it. */
struct columns {
	size_t weight;
	bool counted;
};

struct builder {
	const struct profile *p;
	struct columns *columns; /* of each value type */
	struct arena arena;
	struct strtab extra; /* strings beyond the profile's own */
	Pprof__Profile out;
	int64_t keys[KEYS];
};

/* @count messages and pointers to them, as protobuf-c wants them. */
#define NEW_MESSAGES(b, type, init, count, ret_pointers)                                             \
	({                                                                                           \
		size_t count_ = (count);                                                             \
		type *items_ = ARENA_ARRAY(&(b)->arena, type, count_);                               \
		type **pointers_ = ARENA_ARRAY(&(b)->arena, type *, count_);                         \
		for (size_t i_ = 0; i_ < count_; i_++) {                                             \
			items_[i_] = (type)init;                                                     \
			pointers_[i_] = &items_[i_];                                                 \
		}                                                                                    \
		*(ret_pointers) = pointers_;                                                         \
		items_;                                                                              \
	})

/* The number in the file of a string that the profile may not have. */
static int64_t add_string(struct builder *b, const char *text)
{
	uint32_t id = strtab_add(&b->extra, text);

	return id ? (int64_t)MAX(b->p->strings.len, 1) + id - 1 : 0;
}

static void build_strings(struct builder *b)
{
	uint32_t own = MAX(b->p->strings.len, 1), extra = b->extra.len ? b->extra.len - 1 : 0;
	char **strings = ARENA_ARRAY(&b->arena, char *, own + extra);

	for (uint32_t i = 0; i < own; i++)
		strings[i] = (char *)text_escape(&b->arena, strtab_get(&b->p->strings, i));
	for (uint32_t i = 0; i < extra; i++)
		strings[own + i] = (char *)text_escape(&b->arena, strtab_get(&b->extra, i + 1));
	b->out.string_table = strings;
	b->out.n_string_table = own + extra;
}

/* pprof's own words for units. */
static const char *unit_of(const struct profile *p, const struct profile_value_type *event)
{
	const char *unit = profile_text(p, event->unit);

	if (strcmp(unit, "ns") == 0)
		return "nanoseconds";
	return strcmp(unit, "events") == 0 ? "count" : unit;
}

static void build_types(struct builder *b, uint32_t default_event)
{
	const struct profile *p = b->p;
	Pprof__ValueType *type = NEW_MESSAGES(b, Pprof__ValueType, PPROF__VALUE_TYPE__INIT, p->types.len * 2,
					      &b->out.sample_type);

	b->columns = ARENA_ARRAY(&b->arena, struct columns, p->types.len);
	for (size_t i = 0; i < p->types.len; i++, type++) {
		const struct profile_value_type *event = &p->types.items[i];
		const char *name = profile_text(p, event->name);
		struct profile_sum sum = profile_total(p, (uint32_t)i);
		bool wait = strcmp(name, "off-cpu") == 0; /* Go's block and mutex profiles: tools that know those show waits alike */

		b->columns[i].counted = profile_is_counted(&sum);
		if (b->columns[i].counted) {
			type->type = add_string(b, wait ? "contentions" : p->types.len == 1 ? "samples" :
							   arena_printf(&b->arena, "samples:%s", name));
			type->unit = add_string(b, "count");
			type++;
			b->out.n_sample_type++;
		}
		type->type = wait ? add_string(b, "delay") : event->name;
		type->unit = add_string(b, unit_of(p, event));
		b->columns[i].weight = b->out.n_sample_type++;
		if (i != default_event)
			continue;
		b->out.period_type = type;
		b->out.default_sample_type = type->type;
		b->out.period = event->is_freq && event->rate ? (int64_t)(1000000000 / event->rate) :
								(int64_t)event->rate;
	}
}

static void build_mappings(struct builder *b, uint32_t main_module)
{
	const struct profile *p = b->p;
	Pprof__Mapping *mappings = NEW_MESSAGES(b, Pprof__Mapping, PPROF__MAPPING__INIT,
						p->modules.len, &b->out.mapping);

	b->out.n_mapping = p->modules.len;
	for (size_t i = 0; i < p->modules.len; i++) {
		mappings[i].id = i + 1;
		mappings[i].filename = p->modules.items[i].path;
		mappings[i].build_id = p->modules.items[i].build_id;
		mappings[i].has_functions = true;
		mappings[i].has_filenames = true;
		mappings[i].has_line_numbers = true;
		mappings[i].has_inline_frames = true;
	}
	for (size_t i = 0; i < p->locations.len; i++) {
		const struct profile_location *location = &p->locations.items[i];
		uint64_t vaddr = profile_address(location);

		if (!location->has_vaddr || location->module == PROFILE_NONE)
			continue;

		Pprof__Mapping *mapping = &mappings[location->module];

		if (vaddr >= mapping->memory_limit)
			mapping->memory_limit = vaddr == UINT64_MAX ? vaddr : vaddr + 1;
	}
	if (main_module >= p->modules.len)
		return;

	Pprof__Mapping **first = b->out.mapping, *chosen = first[main_module];

	memmove(first + 1, first, main_module * sizeof(*first));
	*first = chosen;
}

static void build_locations(struct builder *b)
{
	const struct profile *p = b->p;
	Pprof__Location *locations = NEW_MESSAGES(b, Pprof__Location, PPROF__LOCATION__INIT,
						  p->locations.len, &b->out.location);
	Pprof__Line **lines;
	Pprof__Line *line = NEW_MESSAGES(b, Pprof__Line, PPROF__LINE__INIT, p->lines.len, &lines);

	b->out.n_location = p->locations.len;
	for (size_t i = 0; i < p->lines.len; i++) {
		line[i].function_id = (uint64_t)p->lines.items[i].function + 1;
		line[i].line = p->lines.items[i].line;
	}
	for (size_t i = 0; i < p->locations.len; i++) {
		const struct profile_location *location = &p->locations.items[i];

		locations[i].id = i + 1;
		if (location->module != PROFILE_NONE)
			locations[i].mapping_id = (uint64_t)location->module + 1;
		locations[i].address = profile_address(location);
		locations[i].line = lines + location->first_line;
		locations[i].n_line = location->nlines;
	}
}

static void build_functions(struct builder *b)
{
	const struct profile *p = b->p;
	Pprof__Function *functions = NEW_MESSAGES(b, Pprof__Function, PPROF__FUNCTION__INIT,
						  p->functions.len, &b->out.function);

	b->out.n_function = p->functions.len;
	for (size_t i = 0; i < p->functions.len; i++) {
		const struct profile_function *function = &p->functions.items[i];

		functions[i].id = i + 1;
		functions[i].name = function->name;
		functions[i].system_name = function->linkage_name ? function->linkage_name :
								    function->name;
		functions[i].filename = function->file;
		functions[i].start_line = function->line;
	}
}

/* The locations from @stack to the root; equal stacks share one array. */
static void set_stack(struct builder *b, Pprof__Sample *out, uint32_t stack)
{
	const struct profile_stack *stacks = b->p->stacks.items;
	size_t depth = 0;

	for (uint32_t at = stack; at; at = stacks[at].parent)
		depth++;
	out->location_id = ARENA_ARRAY(&b->arena, uint64_t, depth);
	for (uint32_t at = stack; at; at = stacks[at].parent)
		out->location_id[out->n_location_id++] = (uint64_t)stacks[at].location + 1;
}

static void add_number_label(struct builder *b, Pprof__Sample *out, int key, uint32_t number)
{
	Pprof__Label *label = out->label[out->n_label];

	if (number == PROFILE_NONE)
		return;
	label->key = b->keys[key];
	label->num = number;
	out->n_label++;
}

static void add_text_label(Pprof__Sample *out, int64_t key, uint32_t text)
{
	Pprof__Label *label = out->label[out->n_label];

	if (!text)
		return;
	label->key = key;
	label->str = text;
	out->n_label++;
}

/* Of the profile itself, whose strings keep their numbers. */
static void add_own_label(Pprof__Sample *out, const struct profile_label *from)
{
	Pprof__Label *label = out->label[out->n_label++];

	label->key = from->key;
	label->str = from->text;
	label->num = from->number;
	label->num_unit = from->unit;
}

static void set_labels(struct builder *b, Pprof__Sample *out, const struct profile_sample *sample)
{
	const struct profile_thread *thread = &b->p->threads.items[sample->thread];
	const struct profile_label_set *set = &b->p->label_sets.items[sample->labels];

	NEW_MESSAGES(b, Pprof__Label, PPROF__LABEL__INIT, KEYS + set->count, &out->label);

	add_number_label(b, out, KEY_PID, thread->pid);
	add_number_label(b, out, KEY_TID, thread->tid);
	add_number_label(b, out, KEY_CPU, sample->cpu);
	add_text_label(out, b->keys[KEY_PROCESS], thread->process);
	add_text_label(out, b->keys[KEY_THREAD], thread->comm);
	for (uint32_t i = 0; i < set->count; i++)
		add_own_label(out, &b->p->labels.items[set->first + i]);
}

static void build_samples(struct builder *b)
{
	const struct profile *p = b->p;
	Pprof__Sample *samples = NEW_MESSAGES(b, Pprof__Sample, PPROF__SAMPLE__INIT,
					      p->samples.len, &b->out.sample);
	size_t ntypes = b->out.n_sample_type;

	b->out.n_sample = p->samples.len;
	for (size_t i = 0; i < p->samples.len; i++) {
		const struct profile_sample *sample = &p->samples.items[i];

		set_stack(b, &samples[i], sample->stack);
		set_labels(b, &samples[i], sample);
		samples[i].value = ARENA_ARRAY(&b->arena, int64_t, ntypes);
		samples[i].n_value = ntypes;
		const struct columns *columns = &b->columns[sample->type];

		if (columns->counted)
			samples[i].value[columns->weight - 1] =
				sample->weight < 0 ? -(int64_t)sample->count : (int64_t)sample->count;
		samples[i].value[columns->weight] = sample->weight;
	}
}

/* Of a recording: where it was made, and what is missing. */
static void build_comments(struct builder *b, const struct profile_facts *facts)
{
	uint64_t lost = facts->lost_by_kernel + facts->lost_by_recorder;

	if (!*facts->hostname)
		return;
	b->out.comment = ARENA_ARRAY(&b->arena, int64_t, 2);
	b->out.comment[b->out.n_comment++] =
		add_string(b, arena_printf(&b->arena, "recorded by %s on %s (%s)", facts->tool, facts->hostname, facts->os_release));
	b->out.comment[b->out.n_comment++] =
		add_string(b, arena_printf(&b->arena, "lost: %" PRIu64 " of %" PRIu64 " samples", lost, facts->samples + lost));
}

static void build(struct builder *b, const struct profile_facts *facts)
{
	static const char *const key_names[KEYS] = { "pid", "tid", "cpu", "process", "thread" };

	b->out = (Pprof__Profile)PPROF__PROFILE__INIT;
	for (int i = 0; i < KEYS; i++)
		b->keys[i] = add_string(b, key_names[i]);
	build_types(b, facts->first_type);
	build_mappings(b, main_module(b->p, facts->first_type));
	build_functions(b);
	build_locations(b);
	build_samples(b);
	if (facts->has_wall)
		b->out.time_nanos = (int64_t)facts->wall_ns;
	if (facts->has_duration)
		b->out.duration_nanos = (int64_t)facts->duration_ns;
	build_comments(b, facts);
	build_strings(b);
}

static void builder_deinit(struct builder *b)
{
	arena_deinit(&b->arena);
	strtab_deinit(&b->extra);
}

struct err *pprof_write(const struct profile *p, const struct profile_facts *facts, FILE *out)
{
	CLEANUP(builder_deinit) struct builder b = { .p = p };

	build(&b, facts);

	size_t len = pprof__profile__get_packed_size(&b.out);
	CLEANUP(memory_freep) uint8_t *packed = memory_alloc(len);

	pprof__profile__pack(&b.out, packed);

	CLEANUP(writer_deinit) struct writer file = { 0 };
	struct err *err = gzip_encode(packed, len, &file);

	if (err)
		return err;
	fwrite(file.data, 1, file.len, out);
	return ferror(out) ? err_system(errno, "cannot write the profile") : NULL;
}
