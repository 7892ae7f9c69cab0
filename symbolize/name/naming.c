/* SPDX-License-Identifier: Apache-2.0 */
/*
 * naming.c - looks, for each kind of module, into what knows it: symbol tables, the recording's kernel
 * symbols, a JIT's map; and debug information for what was inlined and where the source is.
 *
 * Files are opened at once, everything else at the first question.
 */
#include "symbolize/name/naming.h"

#include "formats/base/memory.h"
#include "symbolize/name/jit_files.h"
#include "symbolize/name/ksyms.h"

#include <stdlib.h>
#include <string.h>

bool naming_is_kernel(const struct module *mod)
{
	return mod->kind == MODULE_KERNEL || mod->kind == MODULE_KERNEL_MODULE;
}

/* The kernel's text begins with its first executable segment, and runs wherever the recording says. */
static uint64_t kernel_slide(const struct recording *rec, const struct image *img)
{
	size_t count;
	const struct image_segment *segments = image_segments(img, &count);

	for (size_t i = 0; i < count; i++) {
		if (segments[i].exec)
			return rec->kernel_text - segments[i].vaddr;
	}
	return 0;
}

static void describe_lines(struct naming *naming, struct module_table *modules,
			   const struct symbolizer_options *options)
{
	struct line_source *lines = &naming->lines;
	const struct module *mod = naming->mod;

	lines->mod = mod;
	lines->off = options->no_inline;
	lines->folder = options->cache;
	lines->slide = naming->slide;
	lines->nimages = naming->nimages;
	memcpy(lines->images, naming->images, sizeof(lines->images));
	lines->rec = naming->rec;
	if (mod->kind == MODULE_KERNEL_MODULE && !lines->off)
		lines->nimages = module_name_images(modules, naming->mod, lines->images);
	if (!lines->off && naming->rec)
		lines->table = line_table_find_recorded(naming->rec, mod->path, mod->build_id,
							mod->build_id_len,
							module_table_diag(modules));
}

struct naming *naming_new(struct module_table *modules, struct module *mod,
			  const struct symbolizer_options *options)
{
	struct naming *naming = memory_zeroed(1, sizeof(*naming));

	*naming = (struct naming){ .mod = mod, .rec = module_table_recording(modules) };
	if (options->demangle != DEMANGLE_OFF)
		naming->demangler = demangler_new(options->demangle);
	if (mod->kind == MODULE_JIT)
		naming->jit = jit_files_open(modules, mod);
	if (mod->kind == MODULE_FILE || mod->kind == MODULE_VDSO)
		naming->nimages = module_name_images(modules, mod, naming->images);
	if (mod->kind == MODULE_KERNEL && naming->rec->kernel_text)
		naming->nimages = module_name_images(modules, mod, naming->images);
	if (mod->kind == MODULE_KERNEL && naming->nimages)
		naming->slide = kernel_slide(naming->rec, naming->images[0]);
	describe_lines(naming, modules, options);
	return naming;
}

void naming_free(struct naming *naming)
{
	if (!naming)
		return;
	for (size_t i = 0; i < naming->nimages; i++) {
		symtab_free(naming->tabs[i]);
		object_table_free(naming->objects[i]);
		cfi_section_free(naming->cfi[i]);
		code_starts_free(naming->starts[i]);
	}
	line_source_deinit(&naming->lines);
	jit_map_free(naming->jit);
	vec_deinit(&naming->answers);
	map_deinit(&naming->known);
	demangler_free(naming->demangler);
	vec_deinit(&naming->frames);
	free(naming);
}

struct symtab *naming_symtab(struct naming *naming, size_t i)
{
	if (!naming->tabs[i])
		naming->tabs[i] = symtab_new(naming->images[i]);
	return naming->tabs[i];
}

static struct naming_symbol find_in_images(struct naming *naming, uint64_t vaddr)
{
	for (size_t i = 0; i < naming->nimages; i++) {
		const struct symtab *tab = naming_symtab(naming, i);
		const struct symtab_entry *entry = symtab_find(tab, vaddr - naming->slide);

		if (entry)
			return (struct naming_symbol){ entry->name, entry->vaddr + naming->slide,
						symtab_end(tab, entry) - entry->vaddr };
	}
	return (struct naming_symbol){ 0 };
}

static struct naming_symbol find_by_table(struct naming *naming, uint64_t vaddr)
{
	struct cfi_fde fde;

	for (size_t i = 0; i < naming->nimages && !naming->cfi_tried; i++)
		naming->cfi[i] = cfi_section_new(naming->images[i]);
	naming->cfi_tried = true;
	for (size_t i = 0; i < naming->nimages; i++) {
		if (naming->cfi[i] && cfi_section_find(naming->cfi[i], vaddr - naming->slide, &fde))
			return (struct naming_symbol){ NULL, fde.begin + naming->slide,
						fde.end - fde.begin };
	}
	return (struct naming_symbol){ 0 };
}

/* In what has no table either, as the assembly of a codec. */
static struct naming_symbol find_by_callers(struct naming *naming, uint64_t vaddr)
{
	for (size_t i = 0; i < naming->nimages; i++) {
		if (!naming->starts[i])
			naming->starts[i] = code_starts_new(naming->images[i], naming_symtab(naming, i));
		uint64_t start = code_starts_find(naming->starts[i], vaddr - naming->slide);

		if (start)
			return (struct naming_symbol){ NULL, start + naming->slide,
						code_starts_end(naming->starts[i], start) - start };
	}
	return (struct naming_symbol){ 0 };
}

/* A function without a name still has a beginning and an end, by call frame information or by who calls it. */
static struct naming_symbol find_unnamed(struct naming *naming, uint64_t vaddr)
{
	struct naming_symbol symbol = find_by_table(naming, vaddr);

	return symbol.len ? symbol : find_by_callers(naming, vaddr);
}

static struct naming_symbol find_symbol(struct naming *naming, uint64_t vaddr)
{
	const struct recording_ksym *ksym =
		naming_is_kernel(naming->mod) ? ksyms_find(naming->rec, vaddr) : NULL;
	const struct jit_symbol *jit = naming->jit ? jit_map_find(naming->jit, vaddr) : NULL;

	if (ksym)
		return (struct naming_symbol){ ksym->name, ksym->addr, ksym->len };
	if (jit)
		return (struct naming_symbol){ jit->name, jit->start | (vaddr ^ code_place_address(vaddr)), jit->len };
	struct naming_symbol symbol = find_in_images(naming, vaddr);

	return symbol.name ? symbol : find_unnamed(naming, vaddr);
}

const char *naming_readable(struct naming *naming, const char *linkage_name)
{
	if (!linkage_name || !naming->demangler)
		return linkage_name;
	return demangler_name(naming->demangler, linkage_name);
}

/* What the recorder read in a runtime's tables, or an object's debug information: the functions at @vaddr. */
static size_t find_calls(const struct naming *naming, uint64_t vaddr,
			 struct debug_frame ret[DEBUG_INFO_FRAMES_MAX])
{
	const struct jit_symbol *symbol = naming->lines.off ? NULL : jit_map_find(naming->jit, vaddr);
	const struct jit_place *place = naming->lines.off ? NULL : jit_map_place(naming->jit, vaddr);
	const struct jit_call *calls = place ? jit_map_calls(naming->jit, place) : NULL;
	size_t count = place ? MIN(place->count, (size_t)DEBUG_INFO_FRAMES_MAX) : 0;

	if (!place && symbol)
		return jit_map_source(naming->jit, symbol, vaddr, ret);
	for (size_t i = 0; i < count; i++)
		ret[i] = (struct debug_frame){ .name = calls[i].name,
					       .file = *calls[i].file ? calls[i].file : NULL,
					       .line = calls[i].line,
					       .decl_file = *calls[i].file ? calls[i].file : NULL,
					       .decl_line = calls[i].begin };
	return count;
}

static void look_up(struct naming *naming, uint64_t vaddr)
{
	struct debug_frame found[DEBUG_INFO_FRAMES_MAX];
	struct naming_answer answer = { .vaddr = vaddr, .first = naming->frames.len };

	answer.symbol = find_symbol(naming, vaddr);
	answer.count = naming->jit ? find_calls(naming, vaddr, found) :
				     line_source_find(&naming->lines, vaddr, found);
	vec_append(&naming->frames, found, answer.count);
	vec_push(&naming->answers, answer);
}

/* The demangler remembers, so that who asks for the names finds them made. */
static void make_readable(struct naming *naming, const struct naming_answer *answer)
{
	naming_readable(naming, answer->symbol.name);
	for (size_t i = 0; i < answer->count; i++)
		naming_readable(naming, debug_frame_linkage(&naming->frames.items[answer->first + i]));
}

void naming_look_up(struct naming *naming, const uint64_t *vaddrs, size_t count)
{
	naming->answers.len = naming->nknown;
	naming->frames.len = naming->nknown_frames;
	for (size_t i = 0; i < count; i++) {
		bool is_new;
		uint64_t *slot = map_put(&naming->known, vaddrs[i], &is_new);

		if (!is_new)
			continue;
		*slot = naming->answers.len;
		look_up(naming, vaddrs[i]);
		make_readable(naming, &naming->answers.items[naming->answers.len - 1]);
	}
	naming->nknown = naming->answers.len;
	naming->nknown_frames = naming->frames.len;
}

const struct naming_answer *naming_answer(struct naming *naming, uint64_t vaddr)
{
	const uint64_t *known = map_get(&naming->known, vaddr);

	if (known)
		return &naming->answers.items[*known];
	naming->answers.len = naming->nknown;
	naming->frames.len = naming->nknown_frames;
	look_up(naming, vaddr);
	return &naming->answers.items[naming->nknown];
}
