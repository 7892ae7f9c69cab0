/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/name/name_ahead.h"

#include "formats/base/memory.h"
#include "formats/base/vec.h"
#include "symbolize/name/naming.h"

#include <pthread.h>
#include <stdlib.h>

#define AT_ONCE 64 /* addresses that are worth a task */

/* One module. */
struct errand {
	struct pool_task task; /* must be first */
	struct naming *naming;
	bool under_way;
	pthread_mutex_t lock; /* of @asked; never held for long */
	VEC(uint64_t) asked, taken; /* addresses that wait, and those that the task looks up */
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

static void finish(struct name_ahead *a, struct errand *errand)
{
	if (errand->under_way)
		pool_wait(a->pool, &errand->task);
	errand->under_way = false;
}

void name_ahead_free(struct name_ahead *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->errands.len; i++) {
		struct errand *errand = a->errands.items[i];

		if (!errand)
			continue;
		finish(a, errand);
		pthread_mutex_destroy(&errand->lock);
		vec_deinit(&errand->asked);
		vec_deinit(&errand->taken);
		free(errand);
	}
	vec_deinit(&a->errands);
	free(a);
}

/* Tasks wait long for their turn. What was asked meanwhile is looked up with the rest, and not in the end. */
static void take(struct errand *errand)
{
	errand->taken.len = 0;
	pthread_mutex_lock(&errand->lock);
	vec_append(&errand->taken, errand->asked.items, errand->asked.len);
	errand->asked.len = 0;
	pthread_mutex_unlock(&errand->lock);
}

static void run(struct pool_task *task, unsigned worker)
{
	struct errand *errand = (struct errand *)(void *)task;

	(void)worker;
	take(errand);
	naming_look_up(errand->naming, errand->taken.items, errand->taken.len);
}

/* What was asked for is looked up, if nothing is under way. */
static void begin(struct name_ahead *a, struct errand *errand)
{
	if ((errand->under_way && !pool_done(a->pool, &errand->task)) || !errand->asked.len)
		return;
	errand->task = (struct pool_task){
		.run = run,
		.apart = true,
		.weight = line_source_weight(&errand->naming->lines),
	};
	errand->under_way = true;
	pool_submit(a->pool, &errand->task);
}

static struct errand *errand_of(struct name_ahead *a, struct module *mod)
{
	while (a->errands.len <= mod->id)
		vec_push(&a->errands, NULL);
	if (!a->errands.items[mod->id]) {
		struct errand *errand = memory_zeroed(1, sizeof(*errand));

		errand->naming = symbolizer_open(a->symbolizer, mod);
		pthread_mutex_init(&errand->lock, NULL);
		a->errands.items[mod->id] = errand;
	}
	return a->errands.items[mod->id];
}

/* The first address has tables unpacked and indexed, which is best begun at once. */
void name_ahead_ask(struct name_ahead *a, struct module *mod, uint64_t vaddr)
{
	struct errand *errand = errand_of(a, mod);

	pthread_mutex_lock(&errand->lock);
	vec_push(&errand->asked, vaddr);
	size_t waiting = errand->asked.len;

	pthread_mutex_unlock(&errand->lock);
	if (!errand->under_way || waiting % AT_ONCE == 0)
		begin(a, errand);
}

void name_ahead_begin(struct name_ahead *a)
{
	for (size_t i = 0; i < a->errands.len; i++) {
		if (a->errands.items[i])
			begin(a, a->errands.items[i]);
	}
}

void name_ahead_wait(struct name_ahead *a, const struct module *mod)
{
	struct errand *errand = mod->id < a->errands.len ? a->errands.items[mod->id] : NULL;

	name_ahead_begin(a);
	if (!errand)
		return;
	finish(a, errand);
	begin(a, errand); /* what came meanwhile */
	finish(a, errand);
}
