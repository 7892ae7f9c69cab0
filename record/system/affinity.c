/* SPDX-License-Identifier: Apache-2.0 */
/*
 * affinity.c - sched_setaffinity(2), with sets sized for the highest CPU number.
 */
#include "record/system/affinity.h"

#include "formats/base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

struct affinity_place {
	uint32_t cpu;
	const struct cpu_list *where; /* the same one for all CPUs of a node */
};

struct err *affinity_parse(void *field, const char *value)
{
	static const char *const names[] = {
		[AFFINITY_SYSTEM] = "sys",
		[AFFINITY_NODE] = "node",
		[AFFINITY_CPU] = "cpu",
	};
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct affinity_args *args = field;
	struct cpu_list list;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (names[i] && !strcmp(value, names[i])) {
			*args = (struct affinity_args){ .kind = (enum affinity_kind)i };
			return NULL;
		}
	}
	CLEANUP(err_freep) struct err *err = cpu_list_parse(value, &arena, &list);

	if (err || !list.len)
		return err_new(ERR_USAGE,
			       "'%s' is not one of sys, node, cpu, nor a list of CPUs such as 0-3,8", value);
	*args = (struct affinity_args){ AFFINITY_LIST, value };
	return NULL;
}

/* Run on @cpus; 0 or the errno. */
static int run_on(const struct cpu_list *cpus)
{
	size_t count = cpus->len ? cpus->cpus[cpus->len - 1] + 1 : 1;
	cpu_set_t *set = CPU_ALLOC(count);
	size_t len = CPU_ALLOC_SIZE(count);

	if (!set)
		memory_exhausted(len);
	CPU_ZERO_S(len, set);
	for (size_t i = 0; i < cpus->len; i++)
		CPU_SET_S(cpus->cpus[i], len, set);
	int error = sched_setaffinity(0, len, set) == 0 ? 0 : errno;

	CPU_FREE(set);
	return error;
}

/* The CPUs that this thread may run on; empty if unknown. */
static void read_allowed(struct arena *arena, struct cpu_list *ret)
{
	cpu_set_t *set = CPU_ALLOC(CPU_LIST_MAX);
	size_t len = CPU_ALLOC_SIZE(CPU_LIST_MAX);

	if (!set)
		memory_exhausted(len);
	CPU_ZERO_S(len, set);
	if (sched_getaffinity(0, len, set) != 0)
		CPU_ZERO_S(len, set);
	*ret = (struct cpu_list){ .cpus = ARENA_ARRAY(arena, uint32_t,
						      (size_t)CPU_COUNT_S(len, set) + 1) };
	for (uint32_t cpu = 0; cpu < CPU_LIST_MAX; cpu++) {
		if (CPU_ISSET_S(cpu, len, set))
			ret->cpus[ret->len++] = cpu;
	}
	CPU_FREE(set);
}

/* Give each CPU of @a its node's CPUs; without sysfs none is preferred. */
static void find_nodes(struct affinity *a, const char *nodes_dir)
{
	DIR *dir = opendir(nodes_dir);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		struct cpu_list *node = ARENA_NEW(&a->arena, struct cpu_list);
		CLEANUP(err_freep) struct err *err = NULL;

		if (strncmp(entry->d_name, "node", 4) != 0 || !strchr("0123456789", entry->d_name[4]))
			continue;
		err = cpu_list_read(arena_printf(&a->arena, "%s/%s/cpulist", nodes_dir, entry->d_name),
				    &a->arena, node);
		for (size_t i = 0; i < a->nplaces && !err; i++) {
			if (cpu_list_has(node, a->places[i].cpu))
				a->places[i].where = node;
		}
	}
	if (dir)
		closedir(dir);
}

static void find_places(struct affinity *a, const struct cpu_list *cpus, const char *nodes_dir)
{
	a->places = ARENA_ARRAY(&a->arena, struct affinity_place, cpus->len + 1);
	a->nplaces = cpus->len;
	for (size_t i = 0; i < cpus->len; i++) {
		struct cpu_list *itself = ARENA_NEW(&a->arena, struct cpu_list);

		*itself = (struct cpu_list){ .cpus = &cpus->cpus[i], .len = 1 };
		a->places[i] = (struct affinity_place){
			.cpu = cpus->cpus[i],
			.where = a->kind == AFFINITY_CPU ? itself : &a->before,
		};
	}
	if (a->kind == AFFINITY_NODE)
		find_nodes(a, nodes_dir);
}

static struct err *settle(struct affinity *a, const char *text)
{
	struct cpu_list list = { 0 };
	struct err *err = cpu_list_parse(text, &a->arena, &list);
	int error = err ? 0 : run_on(&list);

	if (!error)
		return err;
	return err_remedy(err_system(error, "--affinity=%s: the recorder cannot run there", text),
			  "at least one of these CPUs must be on line, and among those that this process may use: %s",
			  cpu_list_text(&a->before, &a->arena));
}

struct err *affinity_open(const struct affinity_args *args, const struct cpu_list *cpus,
			  const char *nodes_dir, struct affinity *ret)
{
	*ret = (struct affinity){ .kind = args->kind };
	if (ret->kind == AFFINITY_SYSTEM)
		return NULL;
	read_allowed(&ret->arena, &ret->before);
	if (ret->kind == AFFINITY_LIST)
		return settle(ret, args->list);
	find_places(ret, cpus, nodes_dir);
	return NULL;
}

static int by_cpu(const void *key, const void *item)
{
	uint32_t cpu = *(const uint32_t *)key;
	const struct affinity_place *place = item;

	return COMPARE(cpu, place->cpu);
}

void affinity_follow(struct affinity *a, uint32_t cpu)
{
	const struct affinity_place *place =
		a->nplaces ? bsearch(&cpu, a->places, a->nplaces, sizeof(*a->places), by_cpu) : NULL;

	if (!place || (a->here && a->here->where == place->where))
		return;
	if (run_on(place->where) == 0)
		a->here = place;
}

void affinity_close(struct affinity *a)
{
	if (a->here)
		run_on(&a->before);
	arena_deinit(&a->arena);
	*a = (struct affinity){ 0 };
}
