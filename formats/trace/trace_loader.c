/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_loader.c - a ring of blocks that are on their way: at its tail they are handed to the pool, at its head they
 * are waited for.
 */
#include "formats/trace/trace_loader.h"

#include "formats/base/memory.h"
#include "formats/base/vec.h"

#include <stdlib.h>

#define AHEAD_MAX 8 /* blocks */

/*
 * Writers end a block before it expands to this, and the batches that threads walk hold on to theirs. With more than
 * AHEAD_MEMORY in use, only what is asked for is loaded.
 */
#define EXPANDED_LEN ((size_t)24 << 20)
#define AHEAD_MEMORY (5 * EXPANDED_LEN)

struct load {
	struct pool_task task; /* must be first */
	struct trace_loader *loader;
	struct trace_chunk *chunk;
	struct trace_place place;
	struct err *err;
};

struct trace_loader {
	const struct trace_file *file;
	const struct recording *rec;
	struct trace_chunks *chunks;
	struct pool *pool;
	VEC(struct trace_place) places;
	size_t begun, taken; /* of @places; between them are those on their way */
	struct load ring[AHEAD_MAX];
};

struct trace_loader *trace_loader_new(const struct trace_file *file, const struct recording *rec,
				      struct trace_chunks *chunks)
{
	struct trace_loader *loader = memory_zeroed(1, sizeof(*loader));

	loader->file = file;
	loader->rec = rec;
	loader->chunks = chunks;
	return loader;
}

void trace_loader_settle(struct trace_loader *loader)
{
	if (!loader->pool)
		return;
	for (size_t i = loader->taken; i < loader->begun; i++) {
		struct load *load = &loader->ring[i % AHEAD_MAX];

		pool_wait(loader->pool, &load->task);
		err_free(load->err);
		trace_chunks_put(loader->chunks, load->chunk);
	}
	loader->begun = loader->taken;
	loader->pool = NULL;
}

void trace_loader_free(struct trace_loader *loader)
{
	if (!loader)
		return;
	trace_loader_settle(loader);
	vec_deinit(&loader->places);
	free(loader);
}

void trace_loader_use(struct trace_loader *loader, struct pool *pool)
{
	loader->pool = pool;
}

void trace_loader_add(struct trace_loader *loader, const struct trace_place *place)
{
	vec_push(&loader->places, *place);
}

static void run(struct pool_task *task, unsigned worker)
{
	struct load *load = (struct load *)(void *)task;
	const struct trace_loader *loader = load->loader;

	(void)worker;
	load->err = trace_chunk_load(load->chunk, loader->file, &load->place, loader->rec);
}

static void begin(struct trace_loader *loader)
{
	struct load *load = &loader->ring[loader->begun % AHEAD_MAX];

	*load = (struct load){
		.task = { .run = run, .weight = 1 }, /* before what was loaded is walked: more comes of it */
		.loader = loader,
		.chunk = trace_chunks_get(loader->chunks),
		.place = loader->places.items[loader->begun++],
	};
	if (loader->pool)
		pool_submit(loader->pool, &load->task);
	else
		run(&load->task, 0);
}

/* May another block be loaded, before it is needed? */
static bool has_room(const struct trace_loader *loader)
{
	const struct trace_place *place = &loader->places.items[loader->begun];
	const struct trace_chunks *chunks = loader->chunks;
	size_t ahead = loader->begun - loader->taken;

	if (!loader->pool || ahead >= MIN(pool_threads(loader->pool) + 1, AHEAD_MAX))
		return false;
	return MAX(MAX(place->len, EXPANDED_LEN), chunks->len_max) <=
	       AHEAD_MEMORY / (chunks->nused + 1);
}

struct err *trace_loader_next(struct trace_loader *loader, struct trace_chunk **ret)
{
	struct load *load;

	while (loader->begun < loader->places.len &&
	       (loader->begun == loader->taken || has_room(loader)))
		begin(loader);
	*ret = NULL;
	if (loader->taken == loader->begun)
		return NULL;
	load = &loader->ring[loader->taken++ % AHEAD_MAX];
	if (loader->pool)
		pool_wait(loader->pool, &load->task);
	if (load->err)
		trace_chunks_put(loader->chunks, load->chunk);
	else
		*ret = load->chunk;
	return load->err;
}
