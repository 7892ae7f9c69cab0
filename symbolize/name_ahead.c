/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/name_ahead.h"

#include "formats/base/memory.h"
#include "formats/base/vec.h"

#include <stdlib.h>

/* One module. */
struct errand {
	struct pool_task task; /* must be first */
	struct naming *naming;
	bool under_way;
	const uint64_t *vaddrs;
	size_t count; /* 0: read the tables */
};

struct name_ahead {
	struct symbolizer *symbolizer;
	struct pool *pool;
	VEC(struct errand *) errands; /* by module id; NULL: not named yet */
};

struct name_ahead *name_ahead_new(struct symbolizer *symbolizer, struct pool *pool)
{
	struct name_ahead *a = memory_zeroed(1, sizeof(*a));

	a->symbolizer = symbolizer;
	a->pool = pool;
	return a;
}

void name_ahead_free(struct name_ahead *a)
{
	if (!a)
		return;
	name_ahead_wait(a);
	for (size_t i = 0; i < a->errands.len; i++)
		free(a->errands.items[i]);
	vec_deinit(&a->errands);
	free(a);
}

static void run(struct pool_task *task, unsigned worker)
{
	struct errand *errand = (struct errand *)(void *)task;

	(void)worker;
	if (errand->count)
		naming_look_up(errand->naming, errand->vaddrs, errand->count);
	else
		naming_read(errand->naming);
}

static void begin(struct name_ahead *a, struct errand *errand)
{
	errand->task = (struct pool_task){ .run = run, .apart = true };
	errand->under_way = true;
	pool_submit(a->pool, &errand->task);
}

static void finish(struct name_ahead *a, struct errand *errand)
{
	if (errand && errand->under_way)
		pool_wait(a->pool, &errand->task);
	if (errand)
		errand->under_way = false;
}

/* The errand for @mod, which is new if its .naming is not known. */
static struct errand *errand_of(struct name_ahead *a, const struct module *mod)
{
	while (a->errands.len <= mod->id)
		vec_push(&a->errands, NULL);
	if (!a->errands.items[mod->id])
		a->errands.items[mod->id] = memory_zeroed(1, sizeof(struct errand));
	return a->errands.items[mod->id];
}

void name_ahead_read(struct name_ahead *a, struct module *mod)
{
	struct errand *errand = errand_of(a, mod);

	if (errand->naming)
		return;
	errand->naming = symbolizer_open(a->symbolizer, mod);
	begin(a, errand);
}

void name_ahead_look_up(struct name_ahead *a, struct module *mod, const uint64_t *vaddrs,
			size_t count)
{
	struct errand *errand = errand_of(a, mod);

	finish(a, errand);
	errand->naming = symbolizer_open(a->symbolizer, mod);
	errand->vaddrs = vaddrs;
	errand->count = count;
	begin(a, errand);
}

void name_ahead_wait(struct name_ahead *a)
{
	for (size_t i = 0; i < a->errands.len; i++)
		finish(a, a->errands.items[i]);
}
