/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strtab.c - a hash table of numbers over an array of strings.
 */
#include "formats/base/strtab.h"

#include "formats/base/map.h"
#include "formats/base/memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Eight bytes at a time: names of C++ functions are long. */
static uint64_t hash_text(const char *text, size_t len)
{
	uint64_t hash = len, word;

	for (; len >= sizeof(word); len -= sizeof(word), text += sizeof(word)) {
		memcpy(&word, text, sizeof(word));
		hash = map_hash(hash ^ word);
	}
	word = 0;
	memcpy(&word, text, len);
	return map_hash(hash ^ word);
}

static bool is_text(const char *string, const char *text, size_t len)
{
	return strncmp(string, text, len) == 0 && !string[len];
}

static uint32_t locate(const struct strtab *tab, const char *text, size_t len)
{
	uint32_t i = (uint32_t)hash_text(text, len) & (tab->nslots - 1);

	while (tab->slots[i] && !is_text(tab->strings[tab->slots[i] - 1], text, len))
		i = (i + 1) & (tab->nslots - 1);
	return i;
}

static void grow(struct strtab *tab)
{
	tab->nslots = tab->nslots ? tab->nslots * 2 : 64;
	free(tab->slots);
	tab->slots = memory_table(tab->nslots, sizeof(*tab->slots));
	for (uint32_t id = 0; id < tab->len; id++)
		tab->slots[locate(tab, tab->strings[id], strlen(tab->strings[id]))] = id + 1;
}

static uint32_t append(struct strtab *tab, const char *text, size_t len)
{
	if (tab->len == tab->cap) {
		tab->cap = tab->cap ? tab->cap * 2 : 64;
		tab->strings = memory_resize(tab->strings, tab->cap, sizeof(*tab->strings));
	}
	tab->strings[tab->len] = arena_memdup(&tab->arena, text, len);
	return tab->len++;
}

uint32_t strtab_add_len(struct strtab *tab, const char *text, size_t len)
{
	len = strnlen(text, len); /* what stands behind a NUL could never be read again */
	if (!tab->len && len)
		strtab_add_len(tab, "", 0);
	if ((tab->len + 1) * 2 > tab->nslots)
		grow(tab);

	uint32_t slot = locate(tab, text, len);

	if (!tab->slots[slot])
		tab->slots[slot] = append(tab, text, len) + 1;
	return tab->slots[slot] - 1;
}

uint32_t strtab_add(struct strtab *tab, const char *text)
{
	return strtab_add_len(tab, text, strlen(text));
}

const char *strtab_get(const struct strtab *tab, uint32_t id)
{
	return tab->len ? tab->strings[id] : "";
}

void strtab_deinit(struct strtab *tab)
{
	arena_deinit(&tab->arena);
	free(tab->strings);
	free(tab->slots);
	*tab = (struct strtab){ 0 };
}
