/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/name/line_source.h"

#include "formats/base/bisect.h"
#include "formats/base/memory.h"
#include "formats/recording.h"
#include "symbolize/elf/image.h"
#include "symbolize/elf/symtab.h"
#include "symbolize/name/ksyms.h"

#include <stdlib.h>
#include <string.h>

/* ---- a kernel module's place in its file ---- */

/*
 * The kernel loads each section of a module wherever it likes, and leaves no record of it that could be trusted
 * afterwards; but it says where each function is. So a place is a function and a distance from its beginning. The
 * image's addresses are those that image.h gives relocatable files.
 */

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

/* @img, the very file that was running, must outlive the result. */
static struct kernel_module *kernel_module_new(struct image *img)
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

static void kernel_module_free(struct kernel_module *mod)
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

/*
 * Where @addr, which @sym covers in the kernel, is in the file. False if the file has no function of that name, or
 * several, or a shorter one.
 */
static bool kernel_module_place(const struct kernel_module *mod, const struct recording_ksym *sym, uint64_t addr,
				uint64_t *ret_vaddr)
{
	const struct symtab_entry *entry = find(mod, sym->name);

	if (!entry || addr - sym->addr >= symtab_end(mod->tab, entry) - entry->vaddr)
		return false;
	*ret_vaddr = entry->vaddr + (addr - sym->addr);
	return true;
}

/* Incomplete answers are not kept: what is missing may be there the next time. */
struct err *line_source_keep(struct line_source *source)
{
	if (source->cache && source->debug && !debug_info_missing(source->debug))
		return line_cache_save(source->cache);
	return NULL;
}

void line_source_deinit(struct line_source *source)
{
	err_free(line_source_keep(source));
	line_cache_free(source->cache);
	line_cache_free(source->retired);
	kernel_module_free(source->places);
	debug_info_free(source->debug);
	line_table_free(source->table);
	*source = (struct line_source){ 0 };
}

/* Where @vaddr is in the files; 0, where nothing is, if it is not known. */
static uint64_t place_of(struct line_source *source, uint64_t vaddr)
{
	const struct recording_ksym *sym;
	uint64_t place = 0;

	if (source->mod->kind != MODULE_KERNEL_MODULE)
		return vaddr - source->slide;
	if (!source->places && source->nimages)
		source->places = kernel_module_new(source->images[0]);
	sym = source->places ? ksyms_find(source->rec, vaddr) : NULL;
	if (sym)
		kernel_module_place(source->places, sym, vaddr, &place);
	return place;
}

static void open_debug(struct line_source *source)
{
	if (source->debug_tried || source->off)
		return;
	source->debug_tried = true;
	for (size_t i = 0; i < source->nimages && !source->debug; i++) {
		source->debug = debug_info_new(source->images[i]);
		if (source->debug && source->images[i] != source->cached) {
			source->retired = source->cache; /* is about another file */
			source->cache = NULL;
		}
	}
}

static void open_cache(struct line_source *source)
{
	if (source->cache_tried || source->off || !source->folder)
		return;
	source->cache_tried = true;
	for (size_t i = 0; i < source->nimages && !source->cached; i++) {
		const struct image *img = source->images[i];

		if (!image_has_section(img, ".debug_info") ||
		    module_image_is_embedded(source->mod, img))
			continue;
		source->cached = img;
		source->cache = line_cache_open(source->folder, img);
	}
}

static size_t find_in_debug(struct line_source *source, uint64_t vaddr,
			    struct debug_frame ret[DEBUG_INFO_FRAMES_MAX])
{
	size_t count;

	open_debug(source);
	if (!source->debug)
		return 0;
	count = debug_info_find(source->debug, vaddr, ret);
	if (source->cache)
		line_cache_add(source->cache, vaddr, debug_info_next(source->debug, vaddr), ret,
			       count);
	return count;
}

size_t line_source_find(struct line_source *source, uint64_t vaddr,
			struct debug_frame ret[DEBUG_INFO_FRAMES_MAX])
{
	size_t count = source->table ? line_table_find(source->table, vaddr, ret) : 0;

	if (count)
		return count;
	vaddr = place_of(source, vaddr);
	open_cache(source);
	count = source->cache ? line_cache_find(source->cache, vaddr, ret) : 0;
	return count ? count : find_in_debug(source, vaddr, ret);
}

void line_source_gather(struct line_source *source, uint64_t begin, uint64_t end,
			struct line_table_maker *maker)
{
	struct debug_frame found[DEBUG_INFO_FRAMES_MAX];

	open_debug(source);
	for (uint64_t vaddr = begin, next; source->debug && vaddr < end; vaddr = next) {
		uint64_t at = place_of(source, vaddr);
		size_t count = debug_info_find(source->debug, at, found);
		uint64_t left = at ? debug_info_next(source->debug, at) - at : 1;

		next = left < end - vaddr ? vaddr + left : end;
		line_table_maker_add(maker, vaddr, next, found, count);
	}
}

bool line_source_was_used(const struct line_source *source)
{
	return source->debug || source->cache;
}

bool line_source_has_lines(const struct line_source *source)
{
	for (size_t i = 0; i < source->nimages && !source->debug_tried; i++) {
		if (image_has_section(source->images[i], ".debug_info"))
			return !source->off;
	}
	return source->debug;
}

uint64_t line_source_weight(const struct line_source *source)
{
	for (size_t i = 0; i < source->nimages && !source->off; i++) {
		size_t len = image_section_stored_len(source->images[i], ".debug_info");

		if (len)
			return len;
	}
	return 0;
}

const char *line_source_missing(const struct line_source *source)
{
	return source->debug ? debug_info_missing(source->debug) : NULL;
}
