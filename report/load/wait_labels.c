/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_labels.c - a lock in a variable of a file has its name. Mappings of data are rarely recorded: what lies behind the
 * code of a file may be its data, and is if the file has a variable there. Any other lock goes by its address and the function
 * that waited.
 */
#include "report/load/wait_labels.h"

#include "formats/base/map.h"
#include "formats/base/memory.h"
#include "report/load/derive/derive_kind.h"
#include "report/view/wait_frames.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct place {
	uint64_t addr;
	struct space_map below; /* the mapping that holds it, or the one below; .module NULL: there is none */
};

struct wait_labels {
	struct map numbers; /* of what a place is: -> number in places + 1 */
	VEC(struct place) places;
};

struct wait_labels *wait_labels_new(void)
{
	return memory_zeroed(1, sizeof(struct wait_labels));
}

void wait_labels_free(struct wait_labels *w)
{
	if (!w)
		return;
	map_deinit(&w->numbers);
	vec_deinit(&w->places);
	free(w);
}

uint32_t wait_labels_place(struct wait_labels *w, struct space *space, uint64_t addr)
{
	const struct space_map *below = space_at_or_below(space, addr);
	struct place place = { .addr = addr };
	uint64_t key = map_hash(addr);
	uint64_t *number;
	bool fresh;

	if (below) {
		place.below = *below;
		key = map_hash(key ^ map_hash(below->module->id + 1) ^ (addr - below->start));
	}
	number = map_put(&w->numbers, key, &fresh);
	if (fresh) {
		vec_push(&w->places, place);
		*number = w->places.len;
	}
	return (uint32_t)*number;
}

/* ---- texts ---- */

/* While settling. */
struct settling {
	const struct wait_labels *labels;
	struct profile *p;
	struct module_table *modules;
	struct symbolizer *symbolizer;
	struct arena arena;
	uint32_t place_key, lock_key, file_key, waker_stack_key;
	struct map objects; /* place -> string + 1; 0: it has no name */
};

static const char *object_at(struct settling *s, const struct place *place)
{
	struct module *mod = place->below.module;
	struct image *img = mod ? module_image(s->modules, mod) : NULL;
	uint64_t bias;

	if (!img || !(place->below.exec ? image_bias : image_data_bias)(img, place->below.start, place->below.file_offset, &bias))
		return NULL;
	return symbolizer_object(s->symbolizer, mod, place->addr - bias);
}

/* "jobs_lock (server)", NULL if it is in no variable that has a name. */
static const char *object_text(struct settling *s, uint32_t number)
{
	const struct place *place = &s->labels->places.items[number - 1];
	bool fresh;
	uint64_t *known = map_put(&s->objects, number, &fresh);

	if (fresh) {
		const char *object = object_at(s, place);

		*known = object ? profile_string(s->p, arena_printf(&s->arena, "%s (%s)", object, place->below.module->name)) + 1 : 0;
	}
	return *known ? profile_text(s->p, (uint32_t)(*known - 1)) : NULL;
}

static const char *leaf_name(const struct profile *p, const struct profile_sample *row)
{
	uint32_t leaf = wait_frames_leaf(p, row);
	const struct profile_location *at = &p->locations.items[p->stacks.items[leaf].location];

	return leaf && at->nlines ? profile_text(p, p->functions.items[p->lines.items[at->first_line].function].name) : NULL;
}

#define PYTHON_GIL "Python GIL"

/* The interpreter's frames may be left out; the only conditions in its state are about the GIL. */
static bool is_gil(const struct wait_lock *lock, const char *object)
{
	return object && strncmp(object, "_PyRuntime ", 11) == 0 && strcmp(lock->what, "condition") == 0;
}

static const char *lock_text(struct settling *s, const struct profile_sample *row, uint32_t place)
{
	struct wait_lock lock = wait_frames_lock(s->p, row);
	const char *object = place ? object_text(s, place) : NULL;
	const char *leaf = leaf_name(s->p, row), *in = leaf ? leaf : "[unknown]";

	if (lock.only_one || is_gil(&lock, object))
		return lock.only_one ? lock.what : PYTHON_GIL;
	if (object)
		return arena_printf(&s->arena, "%s %s", lock.what, object);
	if (place && !lock.of_thread)
		return arena_printf(&s->arena, "%s 0x%" PRIx64 " in %s", lock.what, s->labels->places.items[place - 1].addr, in);
	return arena_printf(&s->arena, "%s in %s", lock.what, in);
}

/* Is left out where its names were not asked for. */
static uint32_t add_waker(struct settling *s, uint32_t stack, struct profile_label *ret)
{
	const char *name = wait_frames_waker(s->p, stack, &s->arena);

	*ret = (struct profile_label){ .key = profile_string(s->p, DERIVE_WAKER_FUNCTION), .text = profile_string(s->p, name) };
	return *name != 0;
}

#define LABELS_MAX 10

static void settle_row(struct settling *s, struct profile_sample *row)
{
	struct profile *p = s->p;
	const struct profile_label_set set = p->label_sets.items[row->labels];
	struct profile_label labels[LABELS_MAX + 1];
	uint32_t count = 0, place = 0;

	for (uint32_t i = 0; i < set.count && count < LABELS_MAX; i++) {
		struct profile_label label = p->labels.items[set.first + i];

		if (label.key == s->place_key)
			place = (uint32_t)label.number;
		else if (label.key == s->waker_stack_key)
			count += add_waker(s, (uint32_t)label.number, &labels[count]);
		else if (label.key != s->file_key || wait_frames_takes_descriptor(p, row))
			labels[count++] = label;
	}
	if (wait_frames_kind(p, row) == WAIT_LOCK)
		labels[count++] = (struct profile_label){ .key = s->lock_key,
							  .text = profile_string(p, lock_text(s, row, place)) };
	row->labels = profile_add_labels(p, labels, count);
}

void wait_labels_settle(const struct wait_labels *w, struct profile *p, struct module_table *modules,
			struct symbolizer *symbolizer)
{
	struct settling s = {
		.labels = w,
		.p = p,
		.modules = modules,
		.symbolizer = symbolizer,
		.place_key = profile_string(p, DERIVE_PLACE),
		.lock_key = profile_string(p, DERIVE_LOCK),
		.file_key = profile_string(p, DERIVE_FILE),
		.waker_stack_key = profile_string(p, DERIVE_WAKER_STACK),
	};

	for (size_t i = 0; i < p->samples.len; i++) {
		struct profile_sample *row = &p->samples.items[i];

		if (row->state == PROFILE_STATE_BLOCKED || row->state == PROFILE_STATE_RUNNABLE ||
		    row->state == PROFILE_STATE_EARLIER)
			settle_row(&s, row);
		arena_reset(&s.arena);
	}
	map_deinit(&s.objects);
	arena_deinit(&s.arena);
}
