/* SPDX-License-Identifier: Apache-2.0 */
/*
 * naming.h - what is known of one module: its files, their symbol tables and debug information, and where to look further.
 *
 * For symbolizer.c, which has one for each module. One thread at a time may use a naming, and it may be another each time:
 * namings share nothing but images, which lock what they must.
 */
#ifndef SYMBOLIZE_NAMING_H
#define SYMBOLIZE_NAMING_H

#include "formats/base/map.h"
#include "formats/base/vec.h"
#include "symbolize/name/demangle.h"
#include "symbolize/elf/cfi_section.h"
#include "symbolize/elf/code_starts.h"
#include "symbolize/elf/object_table.h"
#include "symbolize/elf/symtab.h"
#include "symbolize/name/jit_map.h"
#include "symbolize/name/line_source.h"
#include "symbolize/module/module.h"
#include "symbolize/name/symbol.h"

/* What a symbol table says about an address. */
struct naming_symbol {
	const char *name; /* NULL: nothing */
	uint64_t vaddr, len;
};

/* All that files say about an address. */
struct naming_answer {
	uint64_t vaddr;
	struct naming_symbol symbol;
	size_t first, count; /* of naming.frames: what debug information says */
};

/* What is known of one module. */
struct naming {
	struct module *mod;
	const struct recording *rec;
	struct image *images[MODULE_NAME_IMAGES_MAX];
	size_t nimages;
	/* Of each image, NULL until needed. */
	struct symtab *tabs[MODULE_NAME_IMAGES_MAX];
	struct object_table *objects[MODULE_NAME_IMAGES_MAX];
	struct cfi_section *cfi[MODULE_NAME_IMAGES_MAX]; /* where functions without a name begin */
	struct code_starts *starts[MODULE_NAME_IMAGES_MAX]; /* and those without a table, too */
	bool cfi_tried;
	struct line_source lines;
	struct jit_map *jit;
	uint64_t slide; /* of the running kernel against its file */
	VEC(struct naming_answer) answers;
	VEC(struct debug_frame) frames;
	struct map known; /* vaddr -> index of @answers: looked up beforehand */
	size_t nknown, nknown_frames; /* behind them is the answer to the last question */
	struct demangler *demangler; /* NULL: names stay as they are */
};

/* Opens the files of @mod, a module of @modules. For the owner of @modules. */
struct naming *naming_new(struct module_table *modules, struct module *mod,
			  const struct symbolizer_options *options);
void naming_free(struct naming *naming);

bool naming_is_kernel(const struct module *mod);

/* Of image @i, read when first needed. */
struct symtab *naming_symtab(struct naming *naming, size_t i);

/* @linkage_name as people read it; NULL for NULL. Valid until naming_free(). */
const char *naming_readable(struct naming *naming, const char *linkage_name);

/* In any thread: look up @vaddrs, so that symbolizer_find() has the answers at hand. */
void naming_look_up(struct naming *naming, const uint64_t *vaddrs, size_t count);

/* What is known of @vaddr: looked up beforehand, or now. Valid until the next call. */
const struct naming_answer *naming_answer(struct naming *naming, uint64_t vaddr);

#endif
