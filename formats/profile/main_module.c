/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main_module.c - a whole stack of a main thread begins in the program's own file, where _start is; those of other threads
 * begin in the C library.
 */
#include "formats/profile/main_module.h"

#include "formats/base/map.h"
#include "formats/base/vec.h"

struct search {
	const struct profile *p;
	struct map processes;  /* number and name, for exec keeps the number -> position + 1 */
	VEC(int64_t) weights; /* of all threads, by position */
	struct map beginnings; /* position << 32 | module -> weight of stacks that begin there */
};

static uint32_t process_of(struct search *search, const struct profile_thread *thread)
{
	bool is_new;
	uint64_t key = (uint64_t)thread->pid << 32 | thread->process;
	uint64_t *position = map_put(&search->processes, key, &is_new);

	if (is_new) {
		vec_push(&search->weights, 0);
		*position = search->weights.len;
	}
	return (uint32_t)*position - 1;
}

/* The module of the outermost frame of @stack, which has frames. */
static uint32_t first_module(const struct profile *p, uint32_t stack)
{
	while (p->stacks.items[stack].parent)
		stack = p->stacks.items[stack].parent;
	return p->locations.items[p->stacks.items[stack].location].module;
}

static void add(struct search *search, const struct profile_sample *sample)
{
	const struct profile *p = search->p;
	const struct profile_thread *thread = &p->threads.items[sample->thread];
	uint32_t process = process_of(search, thread);

	search->weights.items[process] += sample->weight;
	if (!sample->stack || sample->stop || thread->tid != thread->pid)
		return;

	uint32_t module = first_module(p, sample->stack);

	if (profile_module(p, module)->kind == PROFILE_USER)
		*map_put(&search->beginnings, (uint64_t)process << 32 | module, NULL) += (uint64_t)sample->weight;
}

/* By the process, then by what began there; ties by number. */
static bool is_better(const struct search *search, const struct map_slot *a,
		      const struct map_slot *b)
{
	int64_t weight = search->weights.items[a->key >> 32];
	int64_t other = search->weights.items[b->key >> 32];

	if (weight != other)
		return weight > other;
	return a->value != b->value ? a->value > b->value : a->key < b->key;
}

uint32_t main_module(const struct profile *p, uint32_t event)
{
	struct search search = { .p = p };
	const struct map_slot *best = NULL, *slot;
	size_t pos = 0;

	for (size_t i = 0; i < p->samples.len; i++) {
		if (p->samples.items[i].type == event)
			add(&search, &p->samples.items[i]);
	}
	while ((slot = map_next(&search.beginnings, &pos))) {
		if (!best || is_better(&search, slot, best))
			best = slot;
	}

	uint32_t module = best ? (uint32_t)best->key : 0;

	map_deinit(&search.processes);
	map_deinit(&search.beginnings);
	vec_deinit(&search.weights);
	return module;
}
