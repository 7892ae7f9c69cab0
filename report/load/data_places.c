/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_places.c - a data address is in a variable of a file, in the heap, on a stack, or in memory without a name.
 *
 * The kernel tells of no mapping for the stack of a new program, so an address a little above the sample's stack
 * pointer, where nothing else is mapped, is on the stack. A file's variables that are zero at first lie in anonymous memory behind its last
 * mapping, and belong to the file as far as its segment reaches.
 */
#include "report/load/data_places.h"

#include "report/view/memory_source.h"
#include "symbolize/name/symbolizer.h"
#include "symbolize/module/space.h"

#include <string.h>

#define STACK_BELOW 256           /* bytes below the stack pointer that may be in use: the red zone and more */
#define STACK_ABOVE (8ull << 20) /* the usual limit of a stack */

bool data_places_wanted(const struct view_levels *levels, struct data_places *ret)
{
	bool any = false;

	*ret = (struct data_places){ 0 };
	for (unsigned i = 0; i < levels->len; i++) {
		enum view_by by = levels->items[i].by;

		ret->objects |= by == VIEW_DATA_SYMBOL;
		ret->addresses |= by == VIEW_DATA_ADDRESS;
		ret->lines |= by == VIEW_DATA_LINE;
		ret->sources |= by == VIEW_DATA_SOURCE;
		any |= by >= VIEW_DATA_SYMBOL && by <= VIEW_DATA_SOURCE;
	}
	ret->objects |= ret->addresses || ret->lines;
	return any;
}

void data_places_deinit(struct data_places *places)
{
	vec_deinit(&places->latencies);
}

/* ---- whose memory ---- */

struct memory {
	const char *object, *module;
};

/* 0 if it was not recorded. */
static uint64_t stack_pointer(const struct event_sample *sample, const struct arch *arch)
{
	if (sample->regs && sample->regs->mask >> arch->sp & 1)
		return sample->regs->values[arch->sp];
	return sample->stack.base;
}

static bool is_on_stack(uint64_t sp, uint64_t addr)
{
	return sp && addr - (sp - STACK_BELOW) < STACK_BELOW + STACK_ABOVE;
}

static struct memory plain(const char *object)
{
	return (struct memory){ object, "" };
}

/* The file whose zeroed variables @map, anonymous memory, holds; NULL: it is plain memory. */
static const struct space_map *file_before(struct session *s, struct space *space,
					   const struct space_map *map, uint64_t addr)
{
	const struct space_map *before = space_find(space, map->start - 1);
	struct image *img;
	size_t count;

	if (!before || before->module->kind != MODULE_FILE || !before->mapped)
		return NULL;
	img = module_image(s->binaries.modules, before->module);
	const struct image_segment *segments = img ? image_segments(img, &count) : NULL;

	for (size_t i = 0; segments && i < count; i++)
		if (addr - before->bias - segments[i].vaddr < segments[i].memory_len)
			return before;
	return NULL;
}

static struct memory in_file(struct session *s, const struct space_map *map, uint64_t addr)
{
	const char *object = map->mapped ? symbolizer_object(s->binaries.symbolizer, map->module,
							     addr - map->bias)
					 : NULL;

	return (struct memory){ object ? object : "[no symbol]", map->module->name };
}

/* Memory of no file: a thread's stack where its stack pointer is, and the heap has its name only once it has grown. */
static struct memory in_anonymous(struct session *s, struct space *space,
				  const struct space_map *map, const struct event *ev)
{
	uint64_t addr = ev->sample.addr;
	uint64_t sp = stack_pointer(&ev->sample, s->recording->arch);
	const struct space_map *file = file_before(s, space, map, addr);

	if (file)
		return in_file(s, file, addr);
	if (sp >= map->start && sp < map->end && is_on_stack(sp, addr))
		return plain("[stack]");
	return plain(map->module->path);
}

static struct memory find_memory(struct session *s, const struct event *ev)
{
	uint64_t addr = ev->sample.addr;
	struct space *space = space_table_get(s->binaries.spaces, ev->pid);
	const struct space_map *map;

	if (!addr)
		return plain("[no address]");
	if (addr >> 63)
		return plain("[kernel memory]");
	map = space_find(space, addr);
	if (!map)
		return plain(is_on_stack(stack_pointer(&ev->sample, s->recording->arch), addr)
				     ? "[stack]"
				     : "[unknown]");
	switch (map->module->kind) {
	case MODULE_FILE:
	case MODULE_VDSO:
		return in_file(s, map, addr);
	case MODULE_JIT:
		return plain("[generated code]");
	default:
		return in_anonymous(s, space, map, ev);
	}
}

static void find(void *context, const struct event *ev, struct profile_sample *sample)
{
	struct data_places *places = context;
	struct session *s = places->s;
	struct profile_data data = { 0 };
	uint64_t addr = ev->sample.addr;
	bool known = memory_source_known(ev->sample.data_src);

	if (places->objects) {
		struct memory memory = find_memory(s, ev);

		data.object = profile_string(s->profile, memory.object);
		data.module = profile_string(s->profile, memory.module);
	}
	if (places->addresses)
		data.addr = addr;
	else if (places->lines)
		data.addr = addr - addr % PROFILE_DATA_LINE_LEN;
	if (places->sources && known)
		data.source = ev->sample.data_src;
	places->samples++;
	places->with_address += addr != 0;
	places->with_source += known;
	sample->data = profile_add_data(s->profile, &data);
}

static void add_latency(void *context, const struct event *ev, uint32_t row)
{
	struct data_places *places = context;

	while (places->latencies.len <= row)
		vec_push(&places->latencies, ((struct latency){ 0 }));
	if (!ev->sample.weight)
		return;
	latency_add(&places->latencies.items[row], ev->sample.weight, ev->sample.period);
	places->with_latency++;
}

void data_places_listen(struct data_places *places, struct session *s)
{
	places->s = s;
	places->listener = (struct loader_listener){
		.context = places, .sample = find, .row = add_latency, .alone = true
	};
	loader_listen(s->loader, &places->listener);
}
