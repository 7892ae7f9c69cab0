/* SPDX-License-Identifier: Apache-2.0 */
/*
 * descriptors.c - runs of looks that agree, a list for each descriptor.
 */
#include "report/load/derive/descriptors.h"

#include "formats/base/bisect.h"
#include "formats/base/map.h"
#include "formats/base/memory.h"
#include "formats/base/vec.h"

#include <stdlib.h>

#define SURE_LOOKS 2

/* From the first to the last of some looks that agree. */
struct run {
	uint64_t first_ns, last_ns;
	uint32_t name;
};

struct history {
	uint32_t life; /* of its process */
	uint64_t looks;
	VEC(struct run) runs;
};

struct descriptors {
	struct map numbers; /* pid and number -> index in histories + 1 */
	struct map lives;   /* pid -> how many processes had it */
	VEC(struct history) histories;
};

struct descriptors *descriptors_new(void)
{
	return memory_zeroed(1, sizeof(struct descriptors));
}

void descriptors_free(struct descriptors *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->histories.len; i++)
		vec_deinit(&d->histories.items[i].runs);
	vec_deinit(&d->histories);
	map_deinit(&d->numbers);
	map_deinit(&d->lives);
	free(d);
}

static uint32_t life_of(const struct descriptors *d, uint32_t pid)
{
	const uint64_t *life = map_get(&d->lives, pid);

	return life ? (uint32_t)*life : 0;
}

static uint64_t key_of(uint32_t pid, uint32_t number)
{
	return (uint64_t)pid << 32 | number;
}

void descriptors_look(struct descriptors *d, uint32_t pid, uint32_t number, uint64_t time_ns, uint32_t name)
{
	bool fresh;
	uint64_t *index = map_put(&d->numbers, key_of(pid, number), &fresh);
	struct history *h;

	if (fresh) {
		vec_push(&d->histories, ((struct history){ .life = life_of(d, pid) }));
		*index = d->histories.len;
	}
	h = &d->histories.items[*index - 1];
	if (h->life != life_of(d, pid)) {
		h->life = life_of(d, pid);
		h->looks = h->runs.len = 0;
	}
	h->looks++;
	if (h->runs.len && h->runs.items[h->runs.len - 1].name == name)
		h->runs.items[h->runs.len - 1].last_ns = time_ns;
	else
		vec_push(&h->runs, ((struct run){ time_ns, time_ns, name }));
}

void descriptors_forget(struct descriptors *d, uint32_t pid)
{
	++*map_put(&d->lives, pid, NULL);
}

/* NULL: it was not looked at. */
static const struct history *history_of(const struct descriptors *d, uint32_t pid, uint32_t number)
{
	const uint64_t *index = map_get(&d->numbers, key_of(pid, number));
	const struct history *h = index ? &d->histories.items[*index - 1] : NULL;

	return h && h->runs.len && h->life == life_of(d, pid) ? h : NULL;
}

bool descriptors_settled(const struct descriptors *d, uint32_t pid, uint32_t number, uint64_t time_ns)
{
	const struct history *h = history_of(d, pid, number);

	return h && h->looks >= SURE_LOOKS && h->runs.items[h->runs.len - 1].last_ns >= time_ns;
}

bool descriptors_find(const struct descriptors *d, uint32_t pid, uint32_t number, uint64_t from_ns, uint64_t to_ns,
		      uint32_t *ret)
{
	const struct history *h = history_of(d, pid, number);
	size_t at;

	if (!h)
		return false;
	at = BISECT(h->runs.len, i, h->runs.items[i].last_ns < from_ns);
	if (at < h->runs.len && h->runs.items[at].first_ns <= to_ns)
		*ret = h->runs.items[at].name;
	else if (h->runs.len == 1 && h->looks >= SURE_LOOKS)
		*ret = h->runs.items[0].name;
	else
		return false;
	return true;
}
