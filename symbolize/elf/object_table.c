/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object_table.c - string tables are copied whole, as symtab.c does, and entries point into the copy.
 */
#include "symbolize/elf/object_table.h"

#include "formats/base/bisect.h"
#include "formats/base/vec.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#define OVERLAPS_MAX 64                 /* entries that a search looks back over */
#define NAMES_MAX    (UINT32_C(1) << 31) /* bytes */

struct candidate {
	uint64_t vaddr, len;
	uint32_t name; /* offset in the names */
	uint32_t rank; /* lower is better */
};

struct object_table {
	VEC(struct candidate) items;
	VEC(struct object_entry) entries;
	VEC(char) names;
};

static uint32_t rank_of(const Elf64_Sym *sym)
{
	unsigned bind = ELF64_ST_BIND(sym->st_info);

	return bind == STB_GLOBAL ? 0 : bind == STB_WEAK ? 1 : 2;
}

static bool is_wanted(const Elf64_Sym *sym, size_t names_len)
{
	uint64_t end;

	return ELF64_ST_TYPE(sym->st_info) == STT_OBJECT && sym->st_size &&
	       sym->st_shndx != SHN_UNDEF && sym->st_shndx != SHN_COMMON &&
	       sym->st_name < names_len &&
	       !__builtin_add_overflow(sym->st_value, sym->st_size, &end);
}

static void read_table(struct object_table *table, Elf *elf, Elf_Scn *scn, const GElf_Shdr *shdr)
{
	Elf_Data *symbols = elf_getdata(scn, NULL);
	Elf_Scn *strings = elf_getscn(elf, shdr->sh_link);
	Elf_Data *names = strings ? elf_getdata(strings, NULL) : NULL;
	size_t base = table->names.len;

	if (!symbols || symbols->d_type != ELF_T_SYM || !symbols->d_buf || !names ||
	    !names->d_buf || names->d_size > NAMES_MAX - base - 1)
		return;
	vec_append(&table->names, (const char *)names->d_buf, names->d_size);
	vec_push(&table->names, '\0');
	for (size_t i = 1; i < symbols->d_size / sizeof(Elf64_Sym); i++) {
		Elf64_Sym sym; /* copied, since the table may lie at any offset in the file */

		memcpy(&sym, (const char *)symbols->d_buf + i * sizeof(sym), sizeof(sym));
		if (!is_wanted(&sym, names->d_size) ||
		    !table->names.items[base + sym.st_name])
			continue;
		vec_push(&table->items,
			 ((struct candidate){ sym.st_value, sym.st_size,
					      (uint32_t)(base + sym.st_name), rank_of(&sym) }));
	}
}

static int by_address(const void *left, const void *right, void *context)
{
	const struct candidate *a = left, *b = right;
	const char *names = context;

	if (a->vaddr != b->vaddr)
		return a->vaddr < b->vaddr ? -1 : 1;
	if (a->len != b->len) /* what encloses others comes first */
		return a->len > b->len ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return strcmp(names + a->name, names + b->name);
}

static void settle(struct object_table *table)
{
	const struct candidate *last = NULL;

	if (table->items.len)
		qsort_r(table->items.items, table->items.len, sizeof(*table->items.items),
			by_address, table->names.items);
	for (size_t i = 0; i < table->items.len; i++) {
		const struct candidate *c = &table->items.items[i];

		if (last && last->vaddr == c->vaddr && last->len == c->len)
			continue;
		last = c;
		vec_push(&table->entries,
			 ((struct object_entry){ c->vaddr, c->len,
						 table->names.items + c->name }));
	}
	vec_deinit(&table->items);
}

struct object_table *object_table_new(struct image *img)
{
	struct object_table *table = memory_zeroed(1, sizeof(*table));
	Elf *elf = image_elf(img);
	bool usable = elf && !image_is_relocatable(img);

	for (Elf_Scn *scn = usable ? elf_nextscn(elf, NULL) : NULL; scn;
	     scn = elf_nextscn(elf, scn)) {
		GElf_Shdr shdr;

		if (gelf_getshdr(scn, &shdr) &&
		    (shdr.sh_type == SHT_SYMTAB || shdr.sh_type == SHT_DYNSYM))
			read_table(table, elf, scn, &shdr);
	}
	settle(table);
	return table;
}

void object_table_free(struct object_table *table)
{
	if (!table)
		return;
	vec_deinit(&table->items);
	vec_deinit(&table->entries);
	vec_deinit(&table->names);
	free(table);
}

const struct object_entry *object_table_find(const struct object_table *table, uint64_t vaddr)
{
	size_t low = BISECT(table->entries.len, i, table->entries.items[i].vaddr <= vaddr);

	for (size_t back = 0; low > back && back < OVERLAPS_MAX; back++) {
		const struct object_entry *entry = &table->entries.items[low - back - 1];

		if (vaddr - entry->vaddr < entry->len)
			return entry;
	}
	return NULL;
}
