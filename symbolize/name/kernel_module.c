/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_module.c - the file's functions by name.
 */
#include "symbolize/name/kernel_module.h"

#include "formats/base/bisect.h"
#include "formats/base/memory.h"
#include "symbolize/elf/symtab.h"

#include <stdlib.h>
#include <string.h>

struct kernel_module {
	struct symtab *tab;
	const struct symtab_entry **by_name;
	size_t count;
};

static int compare_names(const void *a, const void *b)
{
	const struct symtab_entry *x = *(const struct symtab_entry *const *)a;
	const struct symtab_entry *y = *(const struct symtab_entry *const *)b;

	return strcmp(x->name, y->name);
}

struct kernel_module *kernel_module_new(struct image *img)
{
	struct kernel_module *mod = memory_zeroed(1, sizeof(*mod));
	const struct symtab_entry *entries;

	mod->tab = symtab_new(img);
	entries = symtab_entries(mod->tab, &mod->count);
	mod->by_name = memory_zeroed(mod->count, sizeof(*mod->by_name));
	for (size_t i = 0; i < mod->count; i++)
		mod->by_name[i] = &entries[i];
	if (mod->count)
		qsort(mod->by_name, mod->count, sizeof(*mod->by_name), compare_names);
	return mod;
}

void kernel_module_free(struct kernel_module *mod)
{
	if (!mod)
		return;
	symtab_free(mod->tab);
	free(mod->by_name);
	free(mod);
}

/* The only one of that name. */
static const struct symtab_entry *find(const struct kernel_module *mod, const char *name)
{
	size_t low = BISECT(mod->count, i, strcmp(mod->by_name[i]->name, name) < 0);

	if (low == mod->count || strcmp(mod->by_name[low]->name, name) != 0)
		return NULL;
	bool several = low + 1 < mod->count && !strcmp(mod->by_name[low + 1]->name, name);

	return several ? NULL : mod->by_name[low];
}

bool kernel_module_place(const struct kernel_module *mod, const struct recording_ksym *sym,
			 uint64_t addr, uint64_t *ret_vaddr)
{
	const struct symtab_entry *entry = find(mod, sym->name);

	if (!entry || addr - sym->addr >= symtab_end(mod->tab, entry) - entry->vaddr)
		return false;
	*ret_vaddr = entry->vaddr + (addr - sym->addr);
	return true;
}
