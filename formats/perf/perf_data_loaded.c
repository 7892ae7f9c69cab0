/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_data_loaded.c - a sorted array without overlaps: what overlaps becomes one.
 */
#include "formats/perf/perf_data_loaded.h"

#include "formats/base/bisect.h"

#include <string.h>

/* Thousands are unusual, and each moves those behind it. */
#define LOADED_MAX 16384

/* Names of what was at an address one after the other. */
#define NAME_MAX_LEN 256

static const char *either_name(struct arena *arena, const char *old, const char *name)
{
	if (strcmp(old, name) == 0 || strlen(old) > NAME_MAX_LEN)
		return old;
	return arena_printf(arena, "%s or %s", old, name);
}

/* Take those from number @first on out that overlap @sym, which then stands for them, too. */
static void take_in(struct perf_data_loaded *loaded, size_t first, struct recording_ksym *sym, struct arena *arena)
{
	struct recording_ksym *items = loaded->symbols.items;
	size_t last = first;

	for (; last < loaded->symbols.len && items[last].addr < sym->addr + sym->len; last++) {
		uint64_t end = MAX(items[last].addr + items[last].len, sym->addr + sym->len);

		sym->addr = MIN(items[last].addr, sym->addr);
		sym->len = end - sym->addr;
		sym->name = either_name(arena, items[last].name, sym->name);
	}
	if (last == first)
		return;
	memmove(items + first, items + last, (loaded->symbols.len - last) * sizeof(*items));
	loaded->symbols.len -= last - first;
}

void perf_data_loaded_add(struct perf_data_loaded *loaded, struct recording *rec, const struct event_ksymbol *symbol)
{
	struct recording_ksym sym = { .addr = symbol->addr, .len = symbol->len, .module = "" };
	size_t at;

	if (symbol->removed || !sym.len || sym.addr + sym.len < sym.addr || loaded->symbols.len >= LOADED_MAX)
		return;
	sym.name = arena_strdup(&rec->arena, symbol->name);
	at = BISECT(loaded->symbols.len, i, loaded->symbols.items[i].addr + loaded->symbols.items[i].len <= sym.addr);
	take_in(loaded, at, &sym, &rec->arena);
	vec_push(&loaded->symbols, sym);
	memmove(loaded->symbols.items + at + 1, loaded->symbols.items + at,
		(loaded->symbols.len - 1 - at) * sizeof(sym));
	loaded->symbols.items[at] = sym;
	rec->loaded = loaded->symbols.items;
	rec->nloaded = loaded->symbols.len;
}

void perf_data_loaded_deinit(struct perf_data_loaded *loaded)
{
	vec_deinit(&loaded->symbols);
}
