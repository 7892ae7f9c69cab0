/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_names.c - the names of one thread are a chain, newest first.
 */
#include "symbolize/module/thread_names.h"

#include "formats/base/map.h"
#include "formats/base/memory.h"
#include "formats/base/vec.h"
#include "formats/perf/jitdump.h"

#include <string.h>

struct named {
	const char *comm, *name;
	size_t older; /* number of the one before, from 1 on; 0: there is none */
};

struct thread_names {
	VEC(struct named) items;
	struct map newest; /* by process and thread: number, from 1 on */
};

static uint64_t key_of(uint32_t pid, uint32_t tid)
{
	return (uint64_t)pid << 32 | tid;
}

static void add(struct thread_names *names, uint32_t pid, const struct jitdump_record *rec)
{
	uint64_t *slot = map_put(&names->newest, key_of(pid, rec->tid), NULL);

	for (size_t i = (size_t)*slot; i; i = names->items.items[i - 1].older) {
		if (strcmp(names->items.items[i - 1].comm, rec->comm) == 0)
			return;
	}
	vec_push(&names->items, ((struct named){ rec->comm, rec->name, (size_t)*slot }));
	*slot = names->items.len;
}

static void add_all(struct thread_names *names, const struct recording_jit_map *map)
{
	struct jitdump_record rec;
	struct jitdump dump;
	struct err *err = map->dump ? jitdump_open(&dump, map->dump, map->dump_len) : NULL;

	if (err || !map->dump) {
		err_free(err);
		return;
	}
	while (jitdump_next(&dump, &rec)) {
		if (rec.kind == JITDUMP_THREAD && *rec.name)
			add(names, map->pid, &rec);
	}
}

struct thread_names *thread_names_new(const struct recording *rec)
{
	struct thread_names *names = memory_zeroed(1, sizeof(*names));

	for (size_t i = 0; i < rec->njit_maps; i++)
		add_all(names, &rec->jit_maps[i]);
	return names;
}

void thread_names_free(struct thread_names *names)
{
	if (!names)
		return;
	vec_deinit(&names->items);
	map_deinit(&names->newest);
	free(names);
}

const char *thread_names_find(const struct thread_names *names, uint32_t pid, uint32_t tid, const char *comm)
{
	const uint64_t *slot = map_get(&names->newest, key_of(pid, tid));

	for (size_t i = slot ? (size_t)*slot : 0; i; i = names->items.items[i - 1].older) {
		if (strcmp(names->items.items[i - 1].comm, comm) == 0)
			return names->items.items[i - 1].name;
	}
	return comm;
}
