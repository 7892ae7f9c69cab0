/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_list.c - a list is collected in a bitmap, which sorts it and removes duplicates.
 */
#include "record/system/cpu_list.h"

#include "record/system/text_file.h"

#include <inttypes.h>
#include <string.h>

#define ONLINE "/sys/devices/system/cpu/online"

struct bitmap {
	uint8_t bits[CPU_LIST_MAX / 8];
	size_t len; /* bits that are set */
};

static void set(struct bitmap *map, uint32_t cpu)
{
	uint8_t bit = (uint8_t)(1u << (cpu % 8));

	map->len += !(map->bits[cpu / 8] & bit);
	map->bits[cpu / 8] |= bit;
}

/* Read decimal digits at *@pos. */
static bool take_number(const char **pos, uint32_t *ret)
{
	uint32_t value = 0;
	const char *p = *pos;

	for (; *p >= '0' && *p <= '9'; p++) {
		value = value * 10 + (uint32_t)(*p - '0');
		if (value >= CPU_LIST_MAX)
			return false;
	}
	if (p == *pos)
		return false;
	*pos = p;
	*ret = value;
	return true;
}

/* "3" or "0-3" at *@pos. */
static bool take_range(const char **pos, struct bitmap *map)
{
	uint32_t first, last;

	if (!take_number(pos, &first))
		return false;
	last = first;
	if (**pos == '-') {
		(*pos)++;
		if (!take_number(pos, &last) || last < first)
			return false;
	}
	for (uint32_t cpu = first; cpu <= last; cpu++)
		set(map, cpu);
	return true;
}

static bool parse(const char *text, struct bitmap *map)
{
	text += strspn(text, " \t\n");
	if (!*text)
		return true;
	for (;;) {
		if (!take_range(&text, map))
			return false;
		if (*text != ',')
			break;
		text++;
	}
	return text[strspn(text, " \t\n")] == 0;
}

static void to_list(const struct bitmap *map, struct arena *arena, struct cpu_list *ret)
{
	struct cpu_list list = { .cpus = ARENA_ARRAY(arena, uint32_t, map->len) };

	for (uint32_t cpu = 0; cpu < CPU_LIST_MAX; cpu++)
		if (map->bits[cpu / 8] & (1u << (cpu % 8)))
			list.cpus[list.len++] = cpu;
	*ret = list;
}

struct err *cpu_list_parse(const char *text, struct arena *arena, struct cpu_list *ret)
{
	struct bitmap map = { .len = 0 };

	if (!parse(text, &map))
		return err_new(ERR_USAGE, "'%s' is not a list of CPUs such as 0-3,8", text);
	to_list(&map, arena, ret);
	return NULL;
}

struct err *cpu_list_read(const char *path, struct arena *arena, struct cpu_list *ret)
{
	const char *text = NULL;
	struct err *err = text_file_read(path, arena, &text);

	if (!err)
		err = cpu_list_parse(text, arena, ret);
	return err ? err_wrap(err, "CPUs of '%s'", path) : NULL;
}

void cpu_list_online(struct arena *arena, struct cpu_list *ret)
{
	CLEANUP(err_freep) struct err *err = cpu_list_read(ONLINE, arena, ret);

	if (!err && ret->len)
		return;
	*ret = (struct cpu_list){ .cpus = ARENA_NEW(arena, uint32_t), .len = 1 };
}

bool cpu_list_has(const struct cpu_list *list, uint32_t cpu)
{
	for (size_t i = 0; i < list->len; i++)
		if (list->cpus[i] == cpu)
			return true;
	return false;
}

const char *cpu_list_text(const struct cpu_list *list, struct arena *arena)
{
	const char *text = "";

	for (size_t i = 0; i < list->len;) {
		size_t last = i;

		while (last + 1 < list->len && list->cpus[last + 1] == list->cpus[last] + 1)
			last++;
		text = arena_printf(arena, "%s%s%" PRIu32, text, *text ? "," : "", list->cpus[i]);
		if (last > i)
			text = arena_printf(arena, "%s-%" PRIu32, text, list->cpus[last]);
		i = last + 1;
	}
	return text;
}
