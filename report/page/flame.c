/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flame.c - a path_tree of names; brothers are put in order once at the end, so that the picture does not depend on the
 * order of samples.
 */
#include "report/page/flame.h"

#include "formats/base/text.h"
#include "report/view/path_tree.h"
#include "report/view/view.h"

#include <inttypes.h>

struct builder {
	struct flame *flame;
	struct strtab names;
	struct path_tree nodes; /* of numbers of names; flame->nodes has the same numbers */
};

static uint32_t child_of(struct builder *b, uint32_t parent, const char *name)
{
	struct flame *flame = b->flame;
	uint32_t node = path_tree_child(&b->nodes, parent, strtab_add(&b->names, name));

	if (node == flame->nodes.len) {
		struct flame_node fresh = {
			.name = arena_strdup(&flame->arena, name),
			.depth = flame->nodes.items[parent].depth + 1,
		};

		flame->depth = MAX(flame->depth, fresh.depth);
		vec_push(&flame->nodes, fresh);
	}
	return node;
}

static void add_sample(struct builder *b, const struct profile_sample *sample, const char **frames,
		       size_t count)
{
	struct flame *flame = b->flame;
	uint32_t node = 0;

	for (size_t i = 0; i <= count; i++) {
		flame->nodes.items[node].weight += sample->weight;
		flame->nodes.items[node].off += profile_state_waits(sample->state) ? sample->weight : 0;
		flame->nodes.items[node].count += sample->count;
		if (i < count)
			node = child_of(b, node, frames[i]);
	}
	flame->nodes.items[node].self += sample->weight;
}

static int compare_names(const void *context, uint32_t a, uint32_t b)
{
	const struct flame *flame = context;

	return strcmp(flame->nodes.items[a].name, flame->nodes.items[b].name);
}

static void sort_brothers(struct builder *b)
{
	struct flame_node *nodes = b->flame->nodes.items;
	const struct path_tree *tree = &b->nodes;

	path_tree_sort(&b->nodes, compare_names, b->flame);
	for (size_t i = tree->order.len; i-- > 1;) {
		uint32_t node = tree->order.items[i];
		struct flame_node *parent = &nodes[tree->nodes.items[node].parent];

		nodes[node].next = parent->first_child;
		parent->first_child = node;
	}
}

/* What a sample's stack stands on, instead of the name of its process. */
static void set_group(const struct profile *p, const struct profile_sample *sample,
		      enum flame_by by, struct arena *arena, const char **frame)
{
	const struct profile_thread *thread = &p->threads.items[sample->thread];

	if (by == FLAME_BY_COMM)
		*frame = text_escape(arena, profile_text(p, thread->comm));
	else if (by == FLAME_BY_CPU)
		*frame = sample->cpu == UINT32_MAX
				 ? "[no CPU]"
				 : arena_printf(arena, "CPU %" PRIu32, sample->cpu);
}

static bool is_recorder(const struct profile *p, const struct profile_sample *sample,
			const struct flame_options *options)
{
	return options->recorder_pid && options->by != FLAME_BY_CPU &&
	       p->threads.items[sample->thread].pid == options->recorder_pid;
}

static void reverse(const char **frames, size_t count)
{
	for (size_t i = 0; i < count / 2; i++) {
		const char *frame = frames[i];

		frames[i] = frames[count - 1 - i];
		frames[count - 1 - i] = frame;
	}
}

static void add_row(struct builder *b, const struct profile *p, const struct flame_options *options,
		    const struct profile_sample *sample, struct arena *arena)
{
	struct folded_options names = options->frames;
	const char **frames;

	names.pid = options->by == FLAME_BY_PROCESS;
	names.tid = options->by == FLAME_BY_THREAD;

	size_t count = folded_frames(p, sample, &names, arena, &frames);
	size_t skip = options->by == FLAME_BY_NONE;

	set_group(p, sample, options->by, arena, &frames[0]);
	if (is_recorder(p, sample, options))
		frames[0] = arena_printf(arena, "%s" VIEW_RECORDER_MARK, frames[0]);
	if (options->reverse)
		reverse(frames + skip, count - skip);
	add_sample(b, sample, frames + skip, count - skip);
}

void flame_init(struct flame *flame, const struct profile *p, const struct flame_options *options)
{
	CLEANUP(arena_deinit) struct arena scratch = { 0 };
	struct builder b = { .flame = flame };

	*flame = (struct flame){
		.grouped = options->by != FLAME_BY_NONE && !options->reverse,
	};
	path_tree_init(&b.nodes);
	vec_push(&flame->nodes, ((struct flame_node){ .name = "all" }));
	for (size_t i = 0; i < p->samples.len; i++) {
		if (p->samples.items[i].type != options->frames.event)
			continue;
		arena_reset(&scratch);
		add_row(&b, p, options, &p->samples.items[i], &scratch);
	}
	sort_brothers(&b);
	strtab_deinit(&b.names);
	path_tree_deinit(&b.nodes);
}

void flame_deinit(struct flame *flame)
{
	vec_deinit(&flame->nodes);
	arena_deinit(&flame->arena);
}
