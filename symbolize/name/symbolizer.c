/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbolizer.c - a naming for each module, and what it answers in words that people read.
 *
 * The function that has code of its own is named by the symbol table, so that stripped and unstripped
 * files agree and clones (.cold, .part) are distinguished.
 */
#include "symbolize/name/symbolizer.h"

#include "formats/base/arena.h"
#include "formats/base/vec.h"
#include "symbolize/elf/object_table.h"
#include "symbolize/name/naming.h"

#include <stdlib.h>
#include <string.h>

struct symbolizer {
	struct module_table *modules;
	const struct recording *rec;
	struct symbolizer_options options;
	struct arena arena;
	VEC(struct naming *) namings; /* by module id */
};

struct symbolizer *symbolizer_new(struct module_table *modules,
				  const struct symbolizer_options *options)
{
	struct symbolizer *s = memory_zeroed(1, sizeof(*s));

	s->modules = modules;
	s->rec = module_table_recording(modules);
	s->options = *options;
	return s;
}

void symbolizer_free(struct symbolizer *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->namings.len; i++)
		naming_free(s->namings.items[i]);
	vec_deinit(&s->namings);
	arena_deinit(&s->arena);
	free(s);
}

void symbolizer_keep(struct symbolizer *s, struct diag *diag)
{
	for (size_t i = 0; i < s->namings.len; i++) {
		struct naming *naming = s->namings.items[i];
		struct err *err = naming ? line_source_keep(&naming->lines) : NULL;

		if (err)
			diag_err(diag, err);
	}
}

struct naming *symbolizer_open(struct symbolizer *s, struct module *mod)
{
	while (s->namings.len <= mod->id)
		vec_push(&s->namings, NULL);
	if (!s->namings.items[mod->id])
		s->namings.items[mod->id] = naming_new(s->modules, mod, &s->options);
	return s->namings.items[mod->id];
}

/* What debug information says, for the functions that were inlined and the one that has the code. */
static void fill_frame(struct naming *naming, const struct debug_frame *from,
		       struct symbol_frame *ret)
{
	ret->linkage_name = debug_frame_linkage(from);
	ret->function = naming_readable(naming, ret->linkage_name);
	ret->file = from->file;
	ret->line = from->line;
	ret->column = from->column;
	ret->function_file = from->decl_file;
	ret->function_line = from->decl_line;
}

static void fill_outermost(struct naming *naming, const struct naming_symbol *symbol,
			   struct symbol_frame *frame)
{
	frame->function_vaddr = symbol->vaddr;
	frame->function_len = symbol->len;
	if (!symbol->name)
		return;
	frame->function = naming_readable(naming, symbol->name);
	frame->linkage_name = symbol->name;
}

/* What a dump of the JIT says of the source. */
static void fill_jit_line(struct naming *naming, uint64_t vaddr, struct symbol_frame *frame)
{
	const struct jit_symbol *jit = naming->jit ? jit_map_find(naming->jit, vaddr) : NULL;

	if (jit)
		jit_symbol_line(jit, vaddr, &frame->file, &frame->line);
}

const struct symbol_frame *symbolizer_find(struct symbolizer *s, struct module *mod, uint64_t vaddr,
					   size_t *ret_count)
{
	struct naming *naming = symbolizer_open(s, mod);
	const struct naming_answer *answer = naming_answer(naming, vaddr);
	size_t count = answer->count ? answer->count : 1;
	struct symbol_frame *frames = ARENA_ARRAY(&s->arena, struct symbol_frame, count);

	for (size_t i = 0; i < answer->count; i++) {
		fill_frame(naming, &naming->frames.items[answer->first + i], &frames[i]);
		frames[i].inlined = i + 1 < answer->count;
	}
	fill_outermost(naming, &answer->symbol, &frames[count - 1]);
	if (!answer->count && !s->options.no_inline)
		fill_jit_line(naming, vaddr, &frames[0]);
	*ret_count = count;
	return frames;
}

const char *symbolizer_object(struct symbolizer *s, struct module *mod, uint64_t vaddr)
{
	struct naming *naming = symbolizer_open(s, mod);

	for (size_t i = 0; i < naming->nimages; i++) {
		const struct object_entry *entry;

		if (!naming->objects[i])
			naming->objects[i] = object_table_new(naming->images[i]);
		entry = object_table_find(naming->objects[i], vaddr - naming->slide);
		if (entry)
			return naming_readable(naming, entry->name);
	}
	return NULL;
}

const uint8_t *symbolizer_jit_code(struct symbolizer *s, struct module *mod, uint64_t vaddr,
				   size_t *ret_len)
{
	struct naming *naming = symbolizer_open(s, mod);
	const struct jit_symbol *jit = naming->jit ? jit_map_find(naming->jit, vaddr) : NULL;

	if (!jit || !jit->code)
		return NULL;
	vaddr = code_place_address(vaddr);
	*ret_len = jit->len - (vaddr - jit->start);
	return jit->code + (vaddr - jit->start);
}

bool symbolizer_kernel_file(struct symbolizer *s, struct module *mod, uint64_t vaddr,
			    struct symbol_kernel_file *ret)
{
	struct naming *naming = symbolizer_open(s, mod);

	for (size_t i = 0; mod->kind == MODULE_KERNEL && i < naming->nimages; i++) {
		struct image *img = naming->images[i];

		ret->code = image_bytes_at(img, vaddr - naming->slide, &ret->len);
		ret->path = image_path(img);
		ret->slide = naming->slide;
		if (ret->code)
			return true;
	}
	return false;
}

void symbolizer_lines(struct symbolizer *s, struct module *mod, uint64_t begin, uint64_t end,
		      struct line_table_maker *maker)
{
	line_source_gather(&symbolizer_open(s, mod)->lines, begin, end, maker);
}

static const char *note_kernel(struct symbolizer *s, const struct naming *naming)
{
	if (!s->rec->nksyms && !naming->nimages && s->rec->ksyms_remedy)
		return arena_printf(&s->arena, "no symbols: %s", s->rec->ksyms_remedy);
	if (!s->rec->nksyms && !naming->nimages && !s->rec->complete)
		return "no symbols: the file ends before them; the recorder was killed, or the "
		       "copy is not whole";
	if (!s->rec->nksyms && !naming->nimages)
		return "no symbols: kernel addresses were hidden from the recorder; record as root "
		       "or "
		       "with kernel.kptr_restrict=0";
	if (naming->lines.table)
		return "symbols and lines from the recording";
	if (naming->mod->kind == MODULE_KERNEL_MODULE && line_source_has_lines(&naming->lines))
		return arena_printf(&s->arena, "symbols from the recording, lines from %s",
				    image_path(naming->lines.images[0]));
	return line_source_was_used(&naming->lines) ? "symbols from the recording, lines from vmlinux"
						    : "symbols from the recording";
}

static const char *note_jit(struct symbolizer *s, const struct naming *naming)
{
	const struct jit_symbol *symbols = NULL;
	size_t count = 0;

	if (naming->jit)
		symbols = jit_map_symbols(naming->jit, &count);
	if (!count && (!naming->jit || (!jit_map_nplaces(naming->jit) && !jit_map_skipped(naming->jit))))
		return "no symbols: run the program so that it writes a dump of its code (node "
		       "--perf-prof, java with libperf-jvmti) or /tmp/perf-PID.map (node "
		       "--perf-basic-prof, python -X perf); java needs a recorder that may read its memory";
	size_t ncodes = 0, nplaces = jit_map_nplaces(naming->jit);

	if (nplaces)
		return arena_printf(&s->arena, "%zu pieces of code and %zu places in them, from the runtime's own tables",
				    count, nplaces);

	for (size_t i = 0; i < count; i++)
		ncodes += symbols[i].code != NULL;
	if (ncodes)
		return arena_printf(&s->arena, "%zu symbols from its JIT, %zu of them with code",
				    count, ncodes);
	return arena_printf(&s->arena, "%zu symbols from its perf map, %zu lines not understood",
			    count, jit_map_skipped(naming->jit));
}

/*
 * The first file with a full symbol table; without one, the first that has any symbols. What is embedded
 * in the trace has those that were sampled, in a full table whatever the file had.
 */
static const char *note_file(struct symbolizer *s, struct naming *naming, const struct module *mod)
{
	const struct image *some = NULL;
	const struct image *full = NULL;
	size_t embedded = 0;

	for (size_t i = 0; i < naming->nimages; i++) {
		const struct symtab *tab = naming_symtab(naming, i);
		size_t count;

		symtab_entries(tab, &count);
		if (module_image_is_embedded(mod, naming->images[i])) {
			embedded += count;
			continue;
		}
		if (!full && symtab_is_full(tab))
			full = naming->images[i];
		if (!some && count)
			some = naming->images[i];
	}
	const char *missing = line_source_missing(&naming->lines);

	if (missing)
		return arena_printf(&s->arena,
				    "symbols and lines, but few inlined calls: '%s' was not found",
				    missing);
	if (naming->lines.table && !line_table_is_empty(naming->lines.table))
		return "symbols, lines and inlined calls from the trace";
	if (line_source_has_lines(&naming->lines))
		return arena_printf(&s->arena, "symbols, lines and inlined calls from %s",
				    image_path(naming->images[0]));
	if (full)
		return arena_printf(&s->arena, "symbols from %s; no debug information for lines",
				    image_path(full));
	if (some)
		return arena_printf(
			&s->arena,
			"dynamic symbols only, from %s; its debug package names the rest",
			image_path(some));
	if (embedded)
		return "symbols from the trace; lines need the file and its debug information (preport "
		       "bundle)";
	return arena_printf(&s->arena, "no symbols: %s", module_files_note(mod));
}

const char *symbolizer_note(struct symbolizer *s, struct module *mod)
{
	struct naming *naming = symbolizer_open(s, mod);

	if (naming_is_kernel(mod))
		return note_kernel(s, naming);
	if (mod->kind == MODULE_JIT)
		return note_jit(s, naming);
	if (mod->kind == MODULE_UNKNOWN)
		return "no symbols: nothing was known to be mapped there";
	if (mod->kind == MODULE_GUEST)
		return "no symbols: code of a virtual machine's guest";
	return note_file(s, naming, mod);
}
